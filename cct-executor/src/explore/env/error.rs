//! What is said of a variable that cannot be understood: its name, its value, the remedy.

use super::VARIABLES;
use crate::words::TokenError;
use std::fmt;

/// A variable that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EnvError {
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
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
    pub(super) fn invalid(name: &str, value: &str, expected: &'static str) -> EnvError {
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
