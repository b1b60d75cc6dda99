//! Packages that draw random numbers past the system, and the mends of their copies.
//!
//! Each seeds a generator from a counter of the process, which goes on from iteration to iteration: the same
//! decisions would lead to different runs, in code that nobody can change but their authors. The copies seed it
//! from the system's random bytes, and those are the world's where `cct-interpose` is at work. Nothing else in them is
//! changed, and where a version reads otherwise it is left alone.

use super::copies;
use super::folder::Locked;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

struct Mend {
    package: &'static str,
    file: &'static str,
    /// What stands there.
    old: &'static str,
    new: &'static str,
}

const MENDS: [Mend; 3] = [
    // The generator of a thread lives on there; a draw from the system has the engine take a new thread.
    Mend {
        package: "fastrand",
        file: "src/global_rng.rs",
        old: "thread::current().id().hash(&mut hasher);",
        new: "{\n        let _ = thread::current();\n        \
              std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0_u8)\n            \
              .hash(&mut hasher);\n    }",
    },
    // `futures::select!`: the branch that is polled first.
    Mend {
        package: "futures-util",
        file: "src/async_await/random.rs",
        old: "fn random() -> u64 {",
        new: "fn random() -> u64 {\n    \
              return std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0_u8);\n",
    },
    // `StreamMap`: the stream that is polled first. The seed is a hash by the system's keys already.
    Mend {
        package: "tokio-stream",
        file: "src/stream_map.rs",
        old: "COUNTER.fetch_add(1, Relaxed)",
        new: "COUNTER.load(Relaxed)",
    },
];

/// Whether there is a mend for the package, as it is in cargo's cache.
pub(super) fn fits(locked: &Locked) -> bool {
    of(locked).is_some_and(|mend| mended(mend, &locked.folder).is_some())
}

/// The names of all packages that have one.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MENDS.iter().map(|mend| mend.package)
}

/// A copy with the mend.
pub(super) fn copy(locked: &Locked, to: &Path) -> Result<()> {
    copies::package(&locked.folder, to, |_| ())?;
    let mend = of(locked).context("a package without a mend")?;
    let text = mended(mend, &locked.folder).context("a package that reads otherwise")?;
    let path = to.join(mend.file);
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

fn of(locked: &Locked) -> Option<&'static Mend> {
    MENDS.iter().find(|mend| mend.package == locked.name)
}

/// The file with the mend; `None` where it has not what is replaced, once.
fn mended(mend: &Mend, folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(mend.file)).ok()?;
    let once = text.matches(mend.old).count() == 1;
    once.then(|| text.replace(mend.old, mend.new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_as_it_should_is_mended() {
        let folder = std::env::temp_dir().join(format!("cargo-cct-mends-{}", std::process::id()));
        let mend = MENDS.iter().find(|mend| mend.package == "tokio-stream");
        let mend = mend.expect("a mend");
        let path = folder.join(mend.file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");

        let text = "RandomState::new().hash_one(COUNTER.fetch_add(1, Relaxed))\n";
        fs::write(&path, text).expect("a file");
        let mended_text = mended(mend, &folder).expect("one to mend");
        assert_eq!(
            mended_text,
            "RandomState::new().hash_one(COUNTER.load(Relaxed))\n"
        );

        for other in [
            "RandomState::new().hash_one(0)\n".to_owned(),
            text.repeat(2),
        ] {
            fs::write(&path, other).expect("a file");
            assert_eq!(mended(mend, &folder), None);
        }
        fs::remove_dir_all(&folder).expect("the end");
    }
}
