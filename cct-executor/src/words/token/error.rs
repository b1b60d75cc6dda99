//! What can be wrong with the text of a token.

use super::ReplayToken;
use std::fmt;

/// Why a text is not a usable replay token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenError {
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    NotAToken(String),
    OtherFormat { format: u32, ours: u32 },
    TooLong { characters: usize, max: usize },
    TooManyDecisions { count: u128, max: u128 },
    Character { found: char, position: usize },
    CutShort { characters: usize, expected: usize },
    TooShort { characters: usize },
    Trailing { extra: usize, expected: usize },
    Damaged { characters: usize },
    Impossible(String),
    OtherTest { name: String, token: u32 },
}

impl TokenError {
    /// The token comes from a build that writes another format.
    pub fn is_other_format(&self) -> bool {
        matches!(self.kind, Kind::OtherFormat { .. })
    }

    /// The token is sound, but belongs to another test.
    pub fn is_other_test(&self) -> bool {
        matches!(self.kind, Kind::OtherTest { .. })
    }

    /// Characters were changed, lost or added on the way.
    pub fn is_damaged(&self) -> bool {
        matches!(
            self.kind,
            Kind::Character { .. }
                | Kind::CutShort { .. }
                | Kind::TooShort { .. }
                | Kind::Trailing { .. }
                | Kind::Damaged { .. }
        )
    }
}

impl From<Kind> for TokenError {
    fn from(kind: Kind) -> Self {
        TokenError { kind }
    }
}

const COPY: &str = "copy the whole token from the report";

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::NotAToken(text) => write!(
                f,
                "`{text}` is not a replay token: expected text that starts with `c1-`; {COPY}"
            ),
            Kind::OtherFormat { format, ours } => write!(
                f,
                "token is for format {format}, this build reads {ours}; \
                 find the failure again, or replay with the version of cct that printed the token"
            ),
            Kind::TooLong { characters, max } => write!(
                f,
                "the token is too long: {characters} characters, at most {max} are read; \
                 shrink the failure or lower the step limit"
            ),
            Kind::TooManyDecisions { count, max } => write!(
                f,
                "the token holds {count} decisions, at most {max} are read; \
                 shrink the failure or lower the step limit"
            ),
            Kind::Character { found, position } => write!(
                f,
                "the token is damaged: character {position} is {found:?}, which no token contains; \
                 {COPY}"
            ),
            Kind::CutShort {
                characters,
                expected,
            } => write!(
                f,
                "the token is cut short: {characters} of {expected} characters are there; {COPY}"
            ),
            Kind::TooShort { characters } => {
                write!(
                    f,
                    "the token is cut short: {characters} characters are too few; {COPY}"
                )
            }
            Kind::Trailing { extra, expected } => write!(
                f,
                "the token has {extra} characters too many: it ends after {expected}; \
                 remove what follows"
            ),
            Kind::Damaged { characters } => write!(
                f,
                "the token is damaged: its {characters} characters do not match its checksum; \
                 {COPY}"
            ),
            Kind::Impossible(what) => write!(
                f,
                "the token says something impossible: {what}; \
                 it was not written by this version of cct, find the failure again"
            ),
            Kind::OtherTest { name, token } => write!(
                f,
                "token belongs to another test: it is for the test with hash {token:08x}, \
                 `{name}` has {:08x}; run only the test that the token was printed for",
                ReplayToken::test_hash(name)
            ),
        }
    }
}

impl std::error::Error for TokenError {}
