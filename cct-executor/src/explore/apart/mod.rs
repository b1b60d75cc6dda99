//! Tests in processes of their own, so that what earlier iterations and other tests have left in statics takes
//! no part.
//!
//! The program of the test is started anew, for this test alone, and told by a variable where to leave its
//! [`Verdict`]. There it replays one schedule, or explores with a process for each iteration (`forks`). Or it is run
//! once, threads taking part (`once`).
//!
//! 1. A test is asked for in the way of the standard library's harness, and only where that runs it.
//! 2. Such a process starts no further one of this kind. What the test itself starts inherits the variable, and is none.

#[cfg(unix)]
mod answer;
#[cfg(unix)]
mod attempt;
#[cfg(unix)]
mod forks;
mod once;
#[cfg(unix)]
mod order;
#[cfg(unix)]
mod plain;
#[cfg(unix)]
mod plain_world;
#[cfg(unix)]
mod shorten;
#[cfg(unix)]
mod spawned;
#[cfg(unix)]
mod told;

pub(crate) use once::{Once, tell_once};
pub(super) use once::{ask_once, is_once};
#[cfg(unix)]
pub(super) use order::Order;
#[cfg(unix)]
pub(super) use plain::{Explored, explore_plain};
#[cfg(unix)]
pub(super) use plain_world::PlainWorld;
#[cfg(unix)]
pub(super) use spawned::note_other;
#[cfg(unix)]
pub(super) use told::{Teller, Where, code_has_ended};

use super::checker::running_test;
use super::env;
use super::result::Report;
use super::testcase::IS_THERE_ALREADY;
use super::trace_log::Surroundings;
use crate::words::{NONDETERMINISM, ReplayToken};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a test is to do in a process of its own.
pub(super) enum Task<'a> {
    Replay(&'a ReplayToken),
    Explore,
}

const IN_EACH_OTHERS_WAY: &str = "iterations that run at the same time get in each other's way outside of the program, \
     in a file of a fixed name maybe. So one ran after the other; CCT_WORKERS=1 does so from the beginning";

/// What a test says there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Verdict {
    pub(crate) says: Says,
    /// Its report.
    pub(crate) text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    Passed,
    /// With a failure of this class.
    Failed(String),
    /// It failed as tests do in which threads take part; why it is to be run once.
    Threads(String),
    /// It could not be run, or the schedule did not fit.
    Unable,
}

impl Verdict {
    fn of(report: &Report, threads: Option<String>) -> Verdict {
        let says = match (&report.error, &report.failure, threads) {
            // Also of one that never comes to its end.
            (.., Some(why)) => Says::Threads(why),
            (Some(_), ..) => Says::Unable,
            (None, Some(failure), None) => Says::Failed(failure.kind.class().to_owned()),
            (None, None, None) => Says::Passed,
        };
        Verdict {
            says,
            text: report.text(),
        }
    }

    /// With more to be noted.
    pub(super) fn with(mut self, notes: &[String]) -> Verdict {
        for note in notes {
            self.text.push_str(&format!("  note: {note}\n"));
        }
        self
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.says {
            Says::Passed => f.write_str("passed")?,
            Says::Failed(class) => write!(f, "failed: {class}")?,
            Says::Threads(why) => write!(f, "threads: {why}")?,
            Says::Unable => f.write_str("unable")?,
        }
        write!(f, "\n{}", self.text)
    }
}

/// Takes back what `Display` gives; `None` is what a process leaves that did not come to it.
fn understand(text: &str) -> Option<Verdict> {
    let (says, text) = text.split_once('\n')?;
    let says = match says.split_once(": ") {
        Some(("failed", class)) => Says::Failed(class.to_owned()),
        Some(("threads", why)) => Says::Threads(why.to_owned()),
        None if says == "passed" => Says::Passed,
        None if says == "unable" => Says::Unable,
        _ => return None,
    };
    Some(Verdict {
        says,
        text: text.to_owned(),
    })
}

/// Leaves the verdict where whoever started this process looks for it; with why threads take part, if they do.
pub(super) fn tell(file: &Path, report: &Report, threads: Option<String>) {
    // Who finds nothing takes it that the test did not run.
    let _ = std::fs::write(file, Verdict::of(report, threads).to_string());
}

/// Whether the standard library's harness runs this test, on this thread, so that it can be asked for it again.
pub(super) fn can_be_asked(test: &str) -> bool {
    running_test().as_deref() == Some(test)
}

/// Runs a test in a process of its own. `None` if it did not come to a verdict.
///
/// That something is not under control, or a file there already, may come of two iterations that use one file, so they are
/// tried one by one then.
pub(super) fn ask(test: &str, task: &Task<'_>) -> Option<Verdict> {
    let verdict = ask_with(test, task, None)?;
    let met = match &verdict.says {
        Says::Failed(class) => class == NONDETERMINISM,
        Says::Threads(why) => why.starts_with(IS_THERE_ALREADY),
        Says::Passed | Says::Unable => false,
    };
    if !met {
        return Some(verdict);
    }
    match ask_with(test, task, Some(1)) {
        Some(alone) if ![&verdict.says, &Says::Unable].contains(&&alone.says) => {
            Some(alone.with(&[IN_EACH_OTHERS_WAY.to_owned()]))
        }
        _ => Some(verdict),
    }
}

fn ask_with(test: &str, task: &Task<'_>, workers: Option<usize>) -> Option<Verdict> {
    let place = Place::new().ok()?;
    let mut command = asked_for(test, &place).ok()?;
    if Surroundings::of_this_thread().hear() {
        File::create(heard(&place.answer())).ok()?;
    }
    if let Some(workers) = workers {
        command.env(env::WORKERS, workers.to_string());
    }
    match task {
        Task::Replay(token) => {
            let file = place.0.join("token");
            std::fs::write(&file, token.to_string()).ok()?;
            command.env(env::REPLAY, format!("@{}", file.display()));
        }
        Task::Explore => {
            command.env(env::ISOLATION, "process");
        }
    }
    command.status().ok()?;
    understand(&std::fs::read_to_string(place.answer()).ok()?)
}

/// Beside the place for an answer: where the test was run before somebody listens to what is traced, whom it may itself
/// have made.
fn heard(answer: &Path) -> PathBuf {
    answer.with_extension("heard")
}

/// Whether this process was started where that was seen.
pub(super) fn is_heard() -> bool {
    let answer = env::Settings::from_env().ok().and_then(|all| all.apart);
    answer.is_some_and(|answer| heard(&answer).exists())
}

/// Whether this process, or one that it was copied from, is to answer there; and not one that has left its variables to
/// this one.
pub(super) fn is_ours(answer: &Path) -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        let begun = answer.with_extension("begun");
        File::create_new(begun).is_ok()
    })
}

/// The test's program, asked for this test, to answer there. What it prints as a harness says nothing that the
/// answer does not. Its temporary files are its own, and go with the place.
fn asked_for(test: &str, place: &Place) -> io::Result<Command> {
    let temporary = place.0.join("tmp");
    std::fs::create_dir(&temporary)?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args([
            test,
            "--exact",
            "--include-ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(env::APART, place.answer())
        .env("TMPDIR", temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

/// A folder that is gone when this is dropped.
struct Place(PathBuf);

impl Place {
    fn new() -> io::Result<Place> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("cct-apart-{process}-{number}"));
        std::fs::create_dir_all(&folder)?;
        Ok(Place(folder))
    }

    /// The file that the answer is left in.
    fn answer(&self) -> PathBuf {
        self.0.join("answer")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_understood() {
        for says in [
            Says::Passed,
            Says::Unable,
            Says::Failed("poll that does not return".to_owned()),
            Says::Threads("they do (deadlock): run once".to_owned()),
        ] {
            let text = "cct: a test\n  note: two lines\n".to_owned();
            let verdict = Verdict { says, text };
            assert_eq!(understand(&verdict.to_string()), Some(verdict));
        }
        for text in ["", "passed", "perhaps\n", "failed\n"] {
            assert_eq!(understand(text), None);
        }
    }
}
