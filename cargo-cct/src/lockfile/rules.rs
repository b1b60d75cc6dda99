//! What is done about a lock file, from what it says and what is known about it.

use crate::patch::VERSION;
use toml_edit::{DocumentMut, Item};

/// The content of a lock file; `None` where there is no file.
pub(crate) type Content = Option<Vec<u8>>;

/// What to do with the file that is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It is as it was before.
    Nothing,
    /// It is as cargo left it when we called it: what was there before comes back.
    Restore,
    /// Somebody else has written it since: it stays.
    Keep,
}

/// `written` is what cargo left when we called it, as far as that was noted. If we were killed before, a file that
/// names a tokio that only we have is ours.
pub(crate) fn judge(present: &Content, before: &Content, written: Option<&Content>) -> Verdict {
    if present == before {
        return Verdict::Nothing;
    }
    let ours = match written {
        Some(written) => present == written,
        None => false,
    };
    let noted = written.and_then(|written| written.as_deref());
    let unnoted = !noted.is_some_and(names_ours);
    if ours || (unnoted && present.as_deref().is_some_and(names_ours)) {
        Verdict::Restore
    } else {
        Verdict::Keep
    }
}

/// Whether a lock file has our package in tokio's place.
pub(crate) fn names_ours(lock: &[u8]) -> bool {
    let Some(lock) = std::str::from_utf8(lock).ok() else {
        return false;
    };
    let lock: DocumentMut = match lock.parse() {
        Ok(lock) => lock,
        Err(_) => return false,
    };
    let packages = lock.get("package").and_then(Item::as_array_of_tables);
    packages.into_iter().flatten().any(|package| {
        let says = |key| package.get(key).and_then(Item::as_str);
        says("name") == Some("tokio") && says("version") == Some(VERSION)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &str = "[[package]]\nname = \"tokio\"\nversion = \"1.54.1\"\n";
    const OURS: &str = "version = 4\n\n[[package]]\nname = \"tokio\"\nversion = \"1.999.0\"\n";

    fn lock(text: &str) -> Content {
        Some(text.into())
    }

    #[test]
    fn what_cargo_wrote_for_us_goes() {
        let verdict = judge(&lock(OURS), &lock(REAL), Some(&lock(OURS)));
        assert_eq!(verdict, Verdict::Restore);
        // There was no file.
        let verdict = judge(&lock(OURS), &None, Some(&lock(OURS)));
        assert_eq!(verdict, Verdict::Restore);
    }

    #[test]
    fn what_was_not_changed_is_left_alone() {
        let verdict = judge(&lock(REAL), &lock(REAL), Some(&lock(OURS)));
        assert_eq!(verdict, Verdict::Nothing);
        assert_eq!(judge(&None, &None, None), Verdict::Nothing);
    }

    #[test]
    fn what_somebody_else_wrote_stays() {
        let others = lock("[[package]]\nname = \"tokio\"\nversion = \"1.60.0\"\n");
        assert_eq!(
            judge(&others, &lock(REAL), Some(&lock(OURS))),
            Verdict::Keep
        );
        assert_eq!(judge(&others, &lock(REAL), None), Verdict::Keep);
        // Removed in the meantime.
        assert_eq!(judge(&None, &lock(REAL), Some(&lock(OURS))), Verdict::Keep);
        // Changed by hand, once it was ours.
        let changed = lock(&format!("{OURS}# mine\n"));
        assert_eq!(
            judge(&changed, &lock(REAL), Some(&lock(OURS))),
            Verdict::Keep
        );
    }

    /// Killed while cargo wrote it, before that could be noted.
    #[test]
    fn a_tokio_that_only_we_have_tells() {
        assert_eq!(judge(&lock(OURS), &lock(REAL), None), Verdict::Restore);
        assert_eq!(
            judge(&lock(OURS), &lock(REAL), Some(&lock(REAL))),
            Verdict::Restore
        );
        assert!(!names_ours(REAL.as_bytes()));
        assert!(!names_ours(b"\xff"));
        // Another package of that version.
        assert!(!names_ours(
            b"[[package]]\nname = \"mio\"\nversion = \"1.999.0\"\n"
        ));
    }
}
