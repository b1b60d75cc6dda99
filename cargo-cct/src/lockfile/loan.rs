//! A loan, from its beginning to its end, by whoever that is brought about.

use super::files::{read, remove, replace};
use super::rules::{Content, Verdict, judge, names_ours};
use super::{Place, editor};
use crate::say;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, value};

/// What was there before.
const BEFORE: &str = "Cargo.lock.before";
/// What cargo left when we called it last.
const WRITTEN: &str = "Cargo.lock.written";
/// That there is a loan, of which file.
pub(super) const LOAN: &str = "loan.toml";

/// A lock file on loan. Dropping it brings the file back, and tells of errors.
#[derive(Debug)]
pub(crate) struct Loan<'a> {
    place: &'a Place,
    pub(super) path: PathBuf,
    before: Content,
    pub(super) written: Option<Content>,
    over: bool,
}

impl<'a> Loan<'a> {
    /// Borrows the file, which need not exist.
    pub(crate) fn begin(place: &'a Place, path: &Path) -> Result<Self> {
        // A link stays one.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let before = read(&path)?;
        if before.as_deref().is_some_and(names_ours) {
            bail!(
                "`{}` names cct's tokio: another `cargo cct` with another target folder is at work, or was killed \
                 and its target folder removed. In the latter case bring the file back from version control, or \
                 run `cargo update -p tokio`",
                path.display()
            );
        }
        replace(&place.join(BEFORE), &before)?;
        replace(&place.join(WRITTEN), &None)?;
        let mut loan = DocumentMut::new();
        loan["path"] = value(path.to_string_lossy().into_owned());
        loan["existed"] = value(before.is_some());
        replace(&place.join(LOAN), &Some(loan.to_string().into_bytes()))?;
        Ok(Self {
            place,
            path,
            before,
            written: None,
            over: false,
        })
    }

    /// Finishes what a `cargo cct` that was killed could not.
    pub(crate) fn finish_an_earlier_one(place: &'a Place) -> Result<()> {
        let Some(loan) = read(&place.join(LOAN))? else {
            return Ok(());
        };
        let loan: DocumentMut = String::from_utf8(loan)?.parse()?;
        let path = loan.get("path").and_then(Item::as_str);
        let existed = loan.get("existed").and_then(Item::as_bool);
        let (Some(path), Some(existed)) = (path, existed) else {
            bail!("cannot understand `{}`", place.join(LOAN).display());
        };
        if !Path::new(path).parent().is_some_and(Path::exists) {
            say::note(format_args!(
                "an earlier run was killed, and `{path}` has no folder any more: nothing to put back"
            ));
            return remove(&place.join(LOAN));
        }
        let before = read(&place.join(BEFORE))?.filter(|_| existed);
        let mut left = Self {
            place,
            path: path.into(),
            before,
            written: read(&place.join(WRITTEN))?.map(Some),
            over: false,
        };
        say::note(format_args!(
            "an earlier run was killed: finishing with `{path}` first"
        ));
        left.give_back()
    }

    /// The file as it is now.
    pub(crate) fn present(&self) -> Result<Content> {
        read(&self.path)
    }

    /// Puts another content there, which is then ours.
    pub(crate) fn put(&mut self, content: &[u8]) -> Result<()> {
        let content = Some(content.to_owned());
        replace(&self.place.join(WRITTEN), &content)?;
        replace(&self.path, &content)?;
        self.written = Some(content);
        Ok(())
    }

    /// Has cargo work on it. What it leaves is ours, even if it fails.
    pub(crate) fn during<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let done = work();
        let present = read(&self.path)?;
        if self.written.as_ref() != Some(&present) {
            replace(&self.place.join(WRITTEN), &present)?;
            self.written = Some(present);
        }
        done
    }

    /// The end of the loan.
    pub(crate) fn end(mut self) -> Result<()> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<()> {
        self.over = true;
        match judge(&read(&self.path)?, &self.before, self.written.as_ref()) {
            Verdict::Nothing => {}
            Verdict::Restore => replace(&self.path, &self.before)?,
            Verdict::Keep if editor::is_its_doing(self)? => replace(&self.path, &self.before)?,
            Verdict::Keep => self.tell()?,
        }
        // First, as it is what says that there is a loan.
        for name in [LOAN, BEFORE, WRITTEN] {
            remove(&self.place.join(name))?;
        }
        Ok(())
    }

    /// Somebody else has written the file.
    fn tell(&self) -> Result<()> {
        let path = self.path.display();
        let kept = self.place.join("Cargo.lock.kept");
        replace(&kept, &self.before)?;
        let old = match &self.before {
            Some(_) => format!("what it was before is in `{}`", kept.display()),
            None => "before there was none".to_owned(),
        };
        say::note(format_args!(
            "`{path}` was changed by somebody else in the meantime, and is left as it is; {old}"
        ));
        Ok(())
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        if let Err(error) = self.give_back() {
            say::error(&error.context("the next `cargo cct` tries again"));
        }
    }
}
