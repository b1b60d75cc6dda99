//! The environment: the only reader of `CCT_*` variables, and of `CI`.
//!
//! Owns what a variable may say. Does not apply it: [`Checker`](super::Checker) does.
//!
//! 1. A value that cannot be understood is an error, never ignored; so is a variable that begins
//!    with `CCT_` and is not known.
//! 2. Everything but [`Settings::from_env`] is a function of its arguments.

mod error;
mod values;

use super::checker::Isolation;
use crate::words::{Clock, Granularity, ReplayToken, Seed};
use error::{EnvError, Kind};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(super) use values::WORKER_COUNT;

/// Bytes of a file with a token; a token that is longer is refused anyway.
const TOKEN_FILE_MAX: u64 = 1 << 27;
/// Where a process that was started for one test leaves its verdict.
pub(super) const APART: &str = "CCT_APART";
/// What random bytes derive from outside of worlds, where a whole test is to repeat itself. `cct-interpose` reads it.
pub(super) const OUTSIDE: &str = "CCT_OUTSIDE";
/// A test of a property is not to begin with the cases that have failed before, which would be other worlds before those
/// that are meant; nor are those of a schedule to be remembered.
#[cfg(unix)]
pub(super) const DRAW_NOTHING_FIRST: [(&str, &str); 1] =
    [("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true")];
pub(super) const ISOLATION: &str = "CCT_ISOLATION";
pub(super) const POLL_LIMIT: &str = "CCT_POLL_LIMIT";
pub(super) const REPLAY: &str = "CCT_REPLAY";
pub(super) const PLAIN_TESTS: &str = "CCT_PLAIN_TESTS";
pub(super) const SEED: &str = "CCT_SEED";
pub(super) const WORKERS: &str = "CCT_WORKERS";
const VARIABLES: [&str; 21] = [
    "CCT_ITERATIONS",
    SEED,
    "CCT_STRATEGY",
    "CCT_GRANULARITY",
    "CCT_CLOCK",
    "CCT_SPURIOUS_POLLS",
    "CCT_PARTIAL_IO",
    "CCT_TIME_BUDGET",
    "CCT_MAX_STEPS",
    POLL_LIMIT,
    ISOLATION,
    REPLAY,
    "CCT_REPLAY_WITH",
    "CCT_REPLAY_TAKEN",
    WORKERS,
    "CCT_REGRESSIONS",
    "CCT_LEARNT",
    "CCT_REPORT_ROWS",
    PLAIN_TESTS,
    APART,
    OUTSIDE,
];

/// What the environment asks for. `None` is what it does not mention.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Settings {
    /// `CCT_ITERATIONS`, above 0.
    pub(crate) iterations: Option<u64>,
    /// `CCT_SEED`.
    pub(crate) seed: Option<SeedSetting>,
    /// `CCT_STRATEGY`, as it stands.
    pub(crate) strategy: Option<String>,
    /// `CCT_GRANULARITY`.
    pub(crate) granularity: Option<Granularity>,
    /// `CCT_CLOCK`.
    pub(crate) clock: Option<Clock>,
    /// `CCT_SPURIOUS_POLLS`.
    pub(crate) spurious_polls: Option<bool>,
    /// `CCT_PARTIAL_IO`.
    pub(crate) partial_io: Option<bool>,
    /// `CCT_TIME_BUDGET`; `Some(None)` asks for no bound.
    pub(crate) time_budget: Option<Option<Duration>>,
    /// `CCT_MAX_STEPS`, above 0.
    pub(crate) max_steps: Option<u64>,
    /// `CCT_POLL_LIMIT`, above 0.
    pub(crate) poll_limit: Option<Duration>,
    /// `CCT_ISOLATION`.
    pub(crate) isolation: Option<Isolation>,
    /// `CCT_REPLAY`.
    pub(crate) replay: Option<ReplayToken>,
    /// `CCT_REPLAY_WITH`: the command that takes a token, where it is not `cargo test`.
    pub(crate) replay_with: Option<String>,
    /// `CCT_REPLAY_TAKEN`: the file that is made when a test has read the token.
    pub(crate) replay_taken: Option<PathBuf>,
    /// `CCT_WORKERS`.
    pub(crate) workers: Option<usize>,
    /// `CCT_LEARNT`: the file with what the strategy has learnt.
    pub(crate) learnt: Option<PathBuf>,
    /// `CCT_REPORT_ROWS`, above 0; the largest number for all.
    pub(crate) report_rows: Option<usize>,
    /// `CCT_PLAIN_TESTS`.
    pub(crate) plain_tests: PlainTests,
    /// `CCT_APART`: this process was started for one test, which leaves its verdict in this file.
    pub(crate) apart: Option<PathBuf>,
    /// `CCT_OUTSIDE`: random bytes derive from this, outside of worlds.
    pub(crate) outside: Option<u64>,
    /// `CCT_REGRESSIONS`, or what `CI` suggests.
    pub(crate) regressions: RegressionsMode,
}

/// What is done with tests that build a runtime outside of worlds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PlainTests {
    #[default]
    Refuse,
    /// They run once, in plain order.
    Once,
    /// They are explored, with a process for each iteration, and then run once.
    Explore,
}

/// Where the run's seed comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeedSetting {
    /// This one.
    Fixed(Seed),
    /// Another one every time.
    Random,
}

impl SeedSetting {
    /// The seed; a new one at each call if it is to be random.
    pub(crate) fn seed(self) -> Seed {
        match self {
            SeedSetting::Fixed(seed) => seed,
            SeedSetting::Random => random_seed(),
        }
    }
}

#[expect(
    clippy::disallowed_types,
    reason = "the user asked for a seed that differs from process to process; reports print it"
)]
fn random_seed() -> Seed {
    use std::hash::{BuildHasher, RandomState};
    Seed(RandomState::new().hash_one("seed"))
}

/// What happens with the files of remembered failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum RegressionsMode {
    /// They are left alone.
    Off,
    /// Remembered failures run first.
    Read,
    /// Also, new failures are written down.
    #[default]
    Write,
}

impl RegressionsMode {
    /// Remembered failures run first.
    pub(crate) fn read(self) -> bool {
        self != RegressionsMode::Off
    }

    /// New failures are written down.
    pub(crate) fn write(self) -> bool {
        self == RegressionsMode::Write
    }
}

/// What this program was given, for a process that runs it again.
pub(super) fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1)
}

/// Begins this program again, in this process, where random bytes outside of worlds derive from this.
///
/// # Errors
/// When the system cannot.
#[cfg(unix)]
pub(super) fn run_again_with(outside: Seed) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    match std::env::current_exe() {
        Ok(program) => std::process::Command::new(program)
            .args(arguments())
            .env(OUTSIDE, outside.0.to_string())
            .envs(DRAW_NOTHING_FIRST)
            .exec(),
        Err(error) => error,
    }
}

impl Settings {
    /// What the environment of this process asks for.
    pub(crate) fn from_env() -> Result<Settings, EnvError> {
        let mut settings = Settings::parse(std::env::vars_os(), read_token_file)?;
        settings.apart = settings
            .apart
            .filter(|answer| super::apart::is_ours(answer));
        if let (Some(_), Some(taken)) = (&settings.replay, &settings.replay_taken) {
            // Where it cannot be made, whoever waits for it errs on the side of an error.
            let _ = File::create(taken);
        }
        Ok(settings)
    }

    /// What these variables ask for. `read` gives the text of a file with a token.
    pub(crate) fn parse(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        read: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Settings, EnvError> {
        let mut settings = Settings::default();
        let (mut ci, mut regressions) = (false, None);
        for (name, value) in variables {
            let name = name.to_string_lossy();
            if name == "CI" {
                ci = is_set(&value);
                continue;
            }
            if !name.starts_with("CCT_") {
                continue;
            }
            if !VARIABLES.contains(&&*name) {
                return Err(Kind::Unknown {
                    name: name.into_owned(),
                }
                .into());
            }
            let text = value.to_str().ok_or_else(|| {
                EnvError::invalid(&name, &value.to_string_lossy(), "expected valid UTF-8")
            })?;
            if text.trim().is_empty() {
                return Err(Kind::Empty {
                    name: name.into_owned(),
                }
                .into());
            }
            match &*name {
                "CCT_ITERATIONS" => settings.iterations = Some(values::above_0(&name, text)?),
                "CCT_MAX_STEPS" => settings.max_steps = Some(values::above_0(&name, text)?),
                SEED => settings.seed = Some(values::seed(text)?),
                "CCT_STRATEGY" => settings.strategy = Some(text.to_owned()),
                "CCT_GRANULARITY" => settings.granularity = Some(values::granularity(text)?),
                "CCT_CLOCK" => settings.clock = Some(values::clock(text)?),
                "CCT_SPURIOUS_POLLS" => {
                    settings.spurious_polls = Some(values::switch(&name, text)?);
                }
                "CCT_PARTIAL_IO" => {
                    settings.partial_io = Some(values::switch(&name, text)?);
                }
                "CCT_TIME_BUDGET" => settings.time_budget = Some(values::time_budget(text)?),
                POLL_LIMIT => settings.poll_limit = Some(values::poll_limit(text)?),
                ISOLATION => settings.isolation = Some(values::isolation(text)?),
                APART => settings.apart = Some(text.into()),
                OUTSIDE => settings.outside = Some(values::outside(text)?),
                REPLAY => settings.replay = Some(values::replay(text, &read)?),
                PLAIN_TESTS => settings.plain_tests = values::plain_tests(text)?,
                "CCT_REPLAY_WITH" => settings.replay_with = Some(text.to_owned()),
                "CCT_REPLAY_TAKEN" => settings.replay_taken = Some(text.into()),
                "CCT_LEARNT" => settings.learnt = Some(text.into()),
                "CCT_REPORT_ROWS" => settings.report_rows = Some(values::rows(text)?),
                WORKERS => settings.workers = Some(values::workers(text)?),
                _ => regressions = Some(values::regressions_mode(text)?),
            }
        }
        let usual = if ci {
            RegressionsMode::Read
        } else {
            RegressionsMode::Write
        };
        settings.regressions = regressions.unwrap_or(usual);
        Ok(settings)
    }
}

/// Whether a variable that is a mere switch is on.
fn is_set(value: &OsStr) -> bool {
    !value.is_empty() && value != "0" && !value.eq_ignore_ascii_case("false")
}

fn read_token_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(TOKEN_FILE_MAX)
        .read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
