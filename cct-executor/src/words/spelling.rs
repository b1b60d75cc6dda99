//! Settings as text: what attributes and variables say, and what parses.

use super::config::{Clock, Granularity};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A text that is no setting of its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    kind: &'static str,
    text: String,
    expected: &'static str,
}

impl SettingError {
    /// What would have been one.
    pub fn expected(&self) -> &'static str {
        self.expected
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SettingError {
            kind,
            text,
            expected,
        } = self;
        write!(f, "invalid {kind} `{text}`: {expected}")
    }
}

impl std::error::Error for SettingError {}

/// As in attributes and variables: `"spawn".parse()`.
impl FromStr for Granularity {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        Ok(match text {
            "await" => Granularity::Await,
            "op" => Granularity::Op,
            "spawn" => Granularity::Spawn,
            "sync" => Granularity::Sync,
            "atomic" => Granularity::Atomic,
            _ => {
                return Err(SettingError {
                    kind: "granularity",
                    text: text.to_owned(),
                    expected: "expected `await`, `op`, `spawn`, `sync` or `atomic`",
                });
            }
        })
    }
}

/// As in attributes and variables.
impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Granularity::Await => "await",
            Granularity::Op => "op",
            Granularity::Spawn => "spawn",
            Granularity::Sync => "sync",
            Granularity::Atomic => "atomic",
        })
    }
}

/// As in attributes and variables: `"racing(5ms)".parse()`. A slack is a [`duration`].
impl FromStr for Clock {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let with_slack = || {
            let (kind, slack) = text.strip_suffix(')')?.split_once('(')?;
            let slack = duration(slack.trim())?;
            match kind {
                "racing" => Some(Clock::Racing(slack)),
                "lagging" => Some(Clock::Lagging(slack)),
                _ => None,
            }
        };
        let known = match text {
            "strict" => Some(Clock::Strict),
            "adversarial" => Some(Clock::Adversarial),
            _ => with_slack(),
        };
        known.ok_or_else(|| SettingError {
            kind: "clock",
            text: text.to_owned(),
            expected: "expected `strict`, `adversarial`, `lagging(1ms)` with the slack of work, or `racing(5ms)` with \
                       that between timers",
        })
    }
}

/// As in attributes and variables.
impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clock::Strict => f.pad("strict"),
            Clock::Racing(slack) => write!(f, "racing({slack:?})"),
            Clock::Adversarial => f.pad("adversarial"),
            Clock::Lagging(slack) => write!(f, "lagging({slack:?})"),
        }
    }
}

/// A whole number and a unit (ms, s, m or h), such as `10s`; `None` for anything else, or too long a time to express in
/// milliseconds.
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let millis = number.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_parses() {
        let ms = Duration::from_millis;
        for clock in [
            Clock::Strict,
            Clock::Adversarial,
            Clock::Racing(ms(5)),
            Clock::Lagging(ms(2_000)),
        ] {
            assert_eq!(clock.to_string().parse(), Ok(clock));
        }
        for granularity in [
            Granularity::Await,
            Granularity::Op,
            Granularity::Spawn,
            Granularity::Sync,
            Granularity::Atomic,
        ] {
            assert_eq!(granularity.to_string().parse(), Ok(granularity));
        }
    }

    #[test]
    fn what_does_not_parse_is_named() {
        let error = "fast".parse::<Clock>().unwrap_err().to_string();
        assert!(
            error.starts_with("invalid clock `fast`: expected `strict`"),
            "{error}"
        );
        let error = "Op".parse::<Granularity>().unwrap_err().to_string();
        assert!(
            error.starts_with("invalid granularity `Op`: expected `await`"),
            "{error}"
        );
        for text in [
            "",
            "ms",
            "-1ms",
            "+1ms",
            "1.5s",
            "1m30s",
            "18446744073709551615s",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!(duration("10 s"), Some(Duration::from_secs(10)));
    }
}
