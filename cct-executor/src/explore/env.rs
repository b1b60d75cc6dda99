//! The environment: the only reader of `CCT_*` variables, and of `CI`.
//!
//! Owns what a variable may say. Does not apply it: [`Checker`](super::Checker) does.
//!
//! 1. A value that cannot be understood is an error, never ignored; so is a variable that begins
//!    with `CCT_` and is not known.
//! 2. Everything but [`Settings::from_env`] is a function of its arguments.

use crate::words::{ReplayToken, Seed, TokenError};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

const WORKERS: RangeInclusive<usize> = 1..=1024;
/// Bytes of a file with a token; a token that is longer is refused anyway.
const TOKEN_FILE_MAX: u64 = 1 << 27;
const VARIABLES: [&str; 8] = [
    "CCT_ITERATIONS",
    "CCT_SEED",
    "CCT_STRATEGY",
    "CCT_TIME_BUDGET",
    "CCT_REPLAY",
    "CCT_WORKERS",
    "CCT_REGRESSIONS",
    "CCT_LEARNT",
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
    /// `CCT_TIME_BUDGET`; `Some(None)` asks for no bound.
    pub(crate) time_budget: Option<Option<Duration>>,
    /// `CCT_REPLAY`.
    pub(crate) replay: Option<ReplayToken>,
    /// `CCT_WORKERS`.
    pub(crate) workers: Option<usize>,
    /// `CCT_LEARNT`: the file with what the strategy has learnt.
    pub(crate) learnt: Option<PathBuf>,
    /// `CCT_REGRESSIONS`, or what `CI` suggests.
    pub(crate) regressions: RegressionsMode,
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

impl Settings {
    /// What the environment of this process asks for.
    pub(crate) fn from_env() -> Result<Settings, EnvError> {
        Settings::parse(std::env::vars_os(), read_token_file)
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
                "CCT_ITERATIONS" => settings.iterations = Some(iterations(text)?),
                "CCT_SEED" => settings.seed = Some(seed(text)?),
                "CCT_STRATEGY" => settings.strategy = Some(text.to_owned()),
                "CCT_TIME_BUDGET" => settings.time_budget = Some(time_budget(text)?),
                "CCT_REPLAY" => settings.replay = Some(replay(text, &read)?),
                "CCT_LEARNT" => settings.learnt = Some(text.into()),
                "CCT_WORKERS" => settings.workers = Some(workers(text)?),
                _ => regressions = Some(regressions_mode(text)?),
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

/// Digits only: `parse` alone would also take a plus sign.
fn whole_number(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn iterations(text: &str) -> Result<u64, EnvError> {
    whole_number(text).filter(|&n| n > 0).ok_or_else(|| {
        let expected = "expected a whole number above 0, such as 1000";
        EnvError::invalid("CCT_ITERATIONS", text, expected)
    })
}

fn workers(text: &str) -> Result<usize, EnvError> {
    let number = whole_number(text).and_then(|n| usize::try_from(n).ok());
    number.filter(|n| WORKERS.contains(n)).ok_or_else(|| {
        let expected = "expected a whole number from 1 to 1024, such as 4";
        EnvError::invalid("CCT_WORKERS", text, expected)
    })
}

fn seed(text: &str) -> Result<SeedSetting, EnvError> {
    if text == "random" {
        return Ok(SeedSetting::Random);
    }
    text.parse().map(SeedSetting::Fixed).map_err(|_: String| {
        let expected = "expected a decimal number, 16 hexadecimal digits, or `random`";
        EnvError::invalid("CCT_SEED", text, expected)
    })
}

fn time_budget(text: &str) -> Result<Option<Duration>, EnvError> {
    if text == "none" {
        return Ok(None);
    }
    match parse_duration(text) {
        Ok(budget) if !budget.is_zero() => Ok(Some(budget)),
        _ => {
            let expected = "expected a whole number above 0 and a unit (ms, s, m or h), such as `10s`, \
                 or `none`";
            Err(EnvError::invalid("CCT_TIME_BUDGET", text, expected))
        }
    }
}

fn regressions_mode(text: &str) -> Result<RegressionsMode, EnvError> {
    match text {
        "off" => Ok(RegressionsMode::Off),
        "read" => Ok(RegressionsMode::Read),
        "write" => Ok(RegressionsMode::Write),
        _ => {
            let expected = "expected `read`, `write` (which also reads) or `off`";
            Err(EnvError::invalid("CCT_REGRESSIONS", text, expected))
        }
    }
}

fn replay(
    text: &str,
    read: &impl Fn(&Path) -> io::Result<String>,
) -> Result<ReplayToken, EnvError> {
    let Some(path) = text.trim().strip_prefix('@') else {
        return text
            .parse()
            .map_err(|error| Kind::Replay { file: None, error }.into());
    };
    let token = match read(Path::new(path)) {
        Ok(token) => token,
        Err(error) => {
            let (path, reason) = (path.to_owned(), error.to_string());
            return Err(Kind::Unreadable { path, reason }.into());
        }
    };
    token.parse().map_err(|error| {
        Kind::Replay {
            file: Some(path.to_owned()),
            error,
        }
        .into()
    })
}

/// A duration: a whole number and a unit, `ms`, `s`, `m` or `h`, such as `10s`. The attribute and
/// the environment take the same texts.
///
/// # Errors
/// If the text is anything else, or too long a time to express in milliseconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let millis = whole_number(number)
        .zip(factor)
        .and_then(|(n, factor)| n.checked_mul(factor));
    millis.map(Duration::from_millis).ok_or_else(|| {
        format!(
            "invalid duration `{text}`: expected a whole number and a unit (ms, s, m or h), \
             such as `10s`"
        )
    })
}

/// A variable that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EnvError {
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Unknown {
        name: String,
    },
    Empty {
        name: String,
    },
    Invalid {
        name: String,
        value: String,
        expected: &'static str,
    },
    Replay {
        file: Option<String>,
        error: TokenError,
    },
    Unreadable {
        path: String,
        reason: String,
    },
}

impl EnvError {
    fn invalid(name: &str, value: &str, expected: &'static str) -> EnvError {
        Kind::Invalid {
            name: name.to_owned(),
            value: value.to_owned(),
            expected,
        }
        .into()
    }
}

impl From<Kind> for EnvError {
    fn from(kind: Kind) -> Self {
        EnvError { kind }
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Unknown { name } => {
                write!(
                    f,
                    "unknown variable `{name}`: the known ones are {}",
                    VARIABLES.join(", ")
                )
            }
            Kind::Empty { name } => write!(f, "{name} is empty: give it a value or unset it"),
            Kind::Invalid {
                name,
                value,
                expected,
            } => {
                write!(f, "invalid {name} `{value}`: {expected}")
            }
            Kind::Replay { file: None, error } => write!(f, "invalid CCT_REPLAY: {error}"),
            Kind::Replay {
                file: Some(path),
                error,
            } => {
                write!(f, "invalid CCT_REPLAY `@{path}`: in that file, {error}")
            }
            Kind::Unreadable { path, reason } => write!(
                f,
                "invalid CCT_REPLAY `@{path}`: the file cannot be read ({reason}); \
                 a relative path starts at the directory of the test's package"
            ),
        }
    }
}

impl std::error::Error for EnvError {}

#[cfg(test)]
mod tests;
