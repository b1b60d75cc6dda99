//! A test in which threads take part, run once in a process of its own: in the first one iterations have run, and left
//! in statics what the test makes once.
//!
//! Whoever starts the process leaves a file beside the place for the answer, by which it knows what it is for, and
//! takes all that it prints for what the test prints. So what the harness says before is taken back there, and the
//! answer says how much was printed when the test was over.

use super::{Place, asked_for};
use std::any::Any;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What is said beside an answer: that the test is run.
const BEGUN: &str = "begun";

/// What has come of such a run.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Once {
    /// What it printed.
    pub(crate) output: String,
    /// What it panicked with, or how its process ended before its time.
    pub(crate) failure: Option<String>,
}

/// What a process for one run is for; and where it says that it has begun.
fn beside(answer: &Path) -> PathBuf {
    answer.with_extension("once")
}

/// Where the process prints to.
fn printed(answer: &Path) -> PathBuf {
    answer.with_extension("printed")
}

/// Whether this process, which is to answer there, was started for such a run.
pub(in crate::explore) fn is_once(answer: &Path) -> bool {
    beside(answer).exists()
}

/// Runs a test once in a process of its own. `None` if it was not run there.
pub(in crate::explore) fn ask_once(test: &str) -> Option<Once> {
    let place = Place::new().ok()?;
    let answer = place.answer();
    fs::write(beside(&answer), "").ok()?;
    let both = File::options()
        .create(true)
        .append(true)
        .open(printed(&answer))
        .ok()?;
    let mut command = asked_for(test, &place).ok()?;
    command.stdout(both.try_clone().ok()?).stderr(both);
    let status = command.stdin(Stdio::null()).status().ok()?;
    if fs::read_to_string(beside(&answer)).ok()? != BEGUN {
        return None;
    }
    let printed = fs::read(printed(&answer)).unwrap_or_default();
    let told = fs::read_to_string(answer).unwrap_or_default();
    Some(understand(&told, &printed).unwrap_or_else(|| {
        let how =
            format!("the process in which the test was run once ended before it did ({status})");
        Once {
            output: format!("{}\ncct: {how}\n", String::from_utf8_lossy(&printed)),
            failure: Some(how),
        }
    }))
}

/// Does what such a process was started for, and tells what comes of it.
pub(crate) fn tell_once(answer: &Path, run: impl FnOnce()) {
    if begin(answer).is_err() {
        return;
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    // Who finds no answer takes it that the process did not come to it.
    let _ = io::stdout().flush();
    let length = fs::metadata(printed(answer)).map_or(u64::MAX, |printed| printed.len());
    let told = match outcome {
        Ok(()) => format!("passed {length}\n"),
        Err(payload) => format!("failed {length}\n{}", message(&*payload)),
    };
    let _ = fs::write(answer, told);
}

/// # Errors
/// When the files are not as whoever started this process has left them.
fn begin(answer: &Path) -> io::Result<()> {
    io::stdout().flush()?;
    File::options()
        .write(true)
        .open(printed(answer))?
        .set_len(0)?;
    fs::write(beside(answer), BEGUN)
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
        .to_owned()
}

/// What [`tell_once`] has left.
fn understand(told: &str, printed: &[u8]) -> Option<Once> {
    let (first, message) = told.split_once('\n')?;
    let (says, length) = first.split_once(' ')?;
    let length = usize::try_from(length.parse::<u64>().ok()?).ok();
    let length = length.map_or(printed.len(), |length| length.min(printed.len()));
    Some(Once {
        output: String::from_utf8_lossy(&printed[..length]).into_owned(),
        failure: match says {
            "passed" => None,
            "failed" => Some(message.to_owned()),
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood() {
        let printed = b"a line\n ok\n";
        let once = |failure: Option<&str>| {
            Some(Once {
                output: "a line\n".to_owned(),
                failure: failure.map(str::to_owned),
            })
        };
        assert_eq!(understand("passed 7\n", printed), once(None));
        let failed = once(Some("two\nlines"));
        assert_eq!(understand("failed 7\ntwo\nlines", printed), failed);
        for told in ["", "passed 7", "passed\n", "perhaps 7\n", "failed x\n"] {
            assert_eq!(understand(told, printed), None, "{told}");
        }
    }
}
