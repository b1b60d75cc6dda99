//! What each variable may say. The attribute takes the same texts.

use super::error::{EnvError, Kind};
use super::{Isolation, PlainTests, RegressionsMode, SeedSetting};
use crate::words::spelling::duration;
use crate::words::{Clock, Granularity, ReplayToken, SettingError};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

/// How many workers there may be, wherever it is said.
pub(in crate::explore) const WORKER_COUNT: RangeInclusive<usize> = 1..=1024;

/// Digits only: `parse` alone would also take a plus sign.
fn whole_number(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

pub(super) fn above_0(name: &str, text: &str) -> Result<u64, EnvError> {
    whole_number(text).filter(|&n| n > 0).ok_or_else(|| {
        let expected = "expected a whole number above 0, such as 1000";
        EnvError::invalid(name, text, expected)
    })
}

pub(super) fn rows(text: &str) -> Result<usize, EnvError> {
    if text == "all" {
        return Ok(usize::MAX);
    }
    let number = whole_number(text).and_then(|n| usize::try_from(n).ok());
    number.filter(|&n| n > 0).ok_or_else(|| {
        let expected = "expected a whole number above 0, such as 100, or `all`";
        EnvError::invalid("CCT_REPORT_ROWS", text, expected)
    })
}

pub(super) fn workers(text: &str) -> Result<usize, EnvError> {
    let number = whole_number(text).and_then(|n| usize::try_from(n).ok());
    number.filter(|n| WORKER_COUNT.contains(n)).ok_or_else(|| {
        let expected = "expected a whole number from 1 to 1024, such as 4";
        EnvError::invalid("CCT_WORKERS", text, expected)
    })
}

pub(super) fn switch(name: &str, text: &str) -> Result<bool, EnvError> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(EnvError::invalid(
            name,
            text,
            "expected `1` or `true`, or `0` or `false`",
        )),
    }
}

pub(super) fn isolation(text: &str) -> Result<Isolation, EnvError> {
    match text {
        "none" => Ok(Isolation::None),
        "thread" => Ok(Isolation::Thread),
        "process" => Ok(Isolation::Process),
        _ => {
            let expected = "expected `none`, `thread` or `process`";
            Err(EnvError::invalid("CCT_ISOLATION", text, expected))
        }
    }
}

pub(super) fn plain_tests(text: &str) -> Result<PlainTests, EnvError> {
    match text {
        "explore" => Ok(PlainTests::Explore),
        "once" => Ok(PlainTests::Once),
        "refuse" => Ok(PlainTests::Refuse),
        _ => {
            let expected = "expected `explore`, `once` or `refuse`";
            Err(EnvError::invalid("CCT_PLAIN_TESTS", text, expected))
        }
    }
}

pub(super) fn seed(text: &str) -> Result<SeedSetting, EnvError> {
    if text == "random" {
        return Ok(SeedSetting::Random);
    }
    text.parse().map(SeedSetting::Fixed).map_err(|_: String| {
        let expected = "expected a decimal number, 16 hexadecimal digits, or `random`";
        EnvError::invalid("CCT_SEED", text, expected)
    })
}

pub(super) fn time_budget(text: &str) -> Result<Option<Duration>, EnvError> {
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

pub(super) fn poll_limit(text: &str) -> Result<Duration, EnvError> {
    match parse_duration(text) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => {
            let expected =
                "expected a whole number above 0 and a unit (ms, s, m or h), such as `10s`";
            Err(EnvError::invalid(super::POLL_LIMIT, text, expected))
        }
    }
}

pub(super) fn outside(text: &str) -> Result<u64, EnvError> {
    let expected = |_| EnvError::invalid(super::OUTSIDE, text, "expected a whole number");
    text.parse().map_err(expected)
}

pub(super) fn granularity(text: &str) -> Result<Granularity, EnvError> {
    let expected =
        |error: SettingError| EnvError::invalid("CCT_GRANULARITY", text, error.expected());
    text.parse().map_err(expected)
}

pub(super) fn clock(text: &str) -> Result<Clock, EnvError> {
    let expected = |error: SettingError| EnvError::invalid("CCT_CLOCK", text, error.expected());
    text.parse().map_err(expected)
}

pub(super) fn regressions_mode(text: &str) -> Result<RegressionsMode, EnvError> {
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

pub(super) fn replay(
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
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    duration(text).ok_or_else(|| {
        format!(
            "invalid duration `{text}`: expected a whole number and a unit (ms, s, m or h), \
             such as `10s`"
        )
    })
}
