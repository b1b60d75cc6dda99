use super::files::read;
use super::loan::LOAN;
use super::rules::Content;
use super::{Loan, Place};
use anyhow::{Result, bail};
use std::fs::{self, File};
use std::path::PathBuf;

const BEFORE_TEXT: &[u8] = b"# the user's\n";
const OURS: &[u8] = b"[[package]]\nname = \"tokio\"\nversion = \"1.999.0\"\n";

/// A project's folder and ours, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("cargo-cct-loan-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn place(&self) -> Place {
        Place::enter(self.0.join("target/cct"), &self.0).expect("a place of one's own")
    }

    fn lock(&self) -> PathBuf {
        self.0.join("Cargo.lock")
    }

    fn present(&self) -> Content {
        read(&self.lock()).expect("a file or none")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_loan_that_is_dropped_gives_back() {
    let scratch = Scratch::new("dropped");
    fs::write(scratch.lock(), BEFORE_TEXT).expect("a lock file");
    let place = scratch.place();
    let mut loan = Loan::begin(&place, &scratch.lock()).expect("a loan");
    loan.put(OURS).expect("ours");
    drop(loan);
    assert_eq!(scratch.present().as_deref(), Some(BEFORE_TEXT));
    assert!(!place.join(LOAN).exists());
}

#[test]
fn a_file_that_was_not_there_is_removed() {
    let scratch = Scratch::new("none");
    let place = scratch.place();
    let mut loan = Loan::begin(&place, &scratch.lock()).expect("a loan");
    loan.during(|| Ok(fs::write(scratch.lock(), OURS)?))
        .expect("cargo writes it");
    loan.end().expect("the end");
    assert_eq!(scratch.present(), None);
}

/// What cargo leaves is ours even if it fails, or is interrupted.
#[test]
fn cargo_may_fail() {
    let scratch = Scratch::new("fails");
    fs::write(scratch.lock(), BEFORE_TEXT).expect("a lock file");
    let place = scratch.place();
    let mut loan = Loan::begin(&place, &scratch.lock()).expect("a loan");
    let failed: Result<()> = loan.during(|| {
        fs::write(scratch.lock(), "half resolved")?;
        bail!("no network")
    });
    assert!(failed.is_err());
    drop(loan);
    assert_eq!(scratch.present().as_deref(), Some(BEFORE_TEXT));
}

/// `std::mem::forget` is a kill that a test survives.
#[test]
fn the_next_one_finishes_after_a_kill() {
    let scratch = Scratch::new("killed");
    fs::write(scratch.lock(), BEFORE_TEXT).expect("a lock file");
    let place = scratch.place();
    let loan = Loan::begin(&place, &scratch.lock()).expect("a loan");
    // Cargo has written it, and that was not noted any more.
    fs::write(scratch.lock(), OURS).expect("cargo writes it");
    std::mem::forget(loan);
    Loan::finish_an_earlier_one(&place).expect("finished");
    assert_eq!(scratch.present().as_deref(), Some(BEFORE_TEXT));
    // Once.
    fs::write(scratch.lock(), "later").expect("a lock file");
    Loan::finish_an_earlier_one(&place).expect("nothing to finish");
    assert_eq!(scratch.present().as_deref(), Some(&b"later"[..]));
}

#[test]
fn after_a_kill_too_a_change_by_others_stays() {
    let scratch = Scratch::new("killed-changed");
    fs::write(scratch.lock(), BEFORE_TEXT).expect("a lock file");
    let place = scratch.place();
    let mut loan = Loan::begin(&place, &scratch.lock()).expect("a loan");
    loan.put(OURS).expect("ours");
    fs::write(scratch.lock(), "of another branch").expect("a lock file");
    std::mem::forget(loan);
    Loan::finish_an_earlier_one(&place).expect("finished");
    assert_eq!(
        scratch.present().as_deref(),
        Some(&b"of another branch"[..])
    );
    let kept = read(&place.join("Cargo.lock.kept")).expect("a file");
    assert_eq!(kept.as_deref(), Some(BEFORE_TEXT));
}

/// Another `cargo cct` has it, with another folder of its own.
#[test]
fn a_file_that_is_on_loan_already_is_not_lent() {
    let scratch = Scratch::new("twice");
    fs::write(scratch.lock(), OURS).expect("a lock file");
    let place = scratch.place();
    let error = Loan::begin(&place, &scratch.lock()).expect_err("on loan");
    assert!(error.to_string().contains("names cct's tokio"), "{error}");
}

/// Target folders are shared, and projects are removed.
#[test]
fn a_project_that_is_gone_keeps_nobody_from_work() {
    let scratch = Scratch::new("gone");
    let project = scratch.0.join("project");
    fs::create_dir_all(&project).expect("a folder");
    let lock = project.join("Cargo.lock");
    fs::write(&lock, BEFORE_TEXT).expect("a lock file");
    let place = scratch.place();
    std::mem::forget(Loan::begin(&place, &lock).expect("a loan"));
    fs::remove_dir_all(&project).expect("no project");
    Loan::finish_an_earlier_one(&place).expect("nothing to finish");
    assert!(!place.join(LOAN).exists() && !project.exists());
}

#[test]
fn one_at_a_time_is_in_a_place() {
    use fs4::{FileExt, TryLockError};
    let scratch = Scratch::new("held");
    let place = scratch.place();
    let other = File::open(place.join("held")).expect("a file");
    let held = FileExt::try_lock(&other);
    assert!(matches!(held, Err(TryLockError::WouldBlock)));
    let told = fs::read_to_string(place.join("held")).expect("text");
    assert!(
        told.starts_with(&format!("{} in `", std::process::id())),
        "{told}"
    );
    drop(place);
    FileExt::try_lock(&other).expect("free");
}
