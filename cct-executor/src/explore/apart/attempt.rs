//! What a process tells of an attempt at a shorter schedule, as bytes.

use super::answer::{Reader, Writer};
use crate::explore::shrink::{Departure, Tried, What, Words};
use crate::words::{Failure, FailureKind, Outcome, ReplayToken};
use std::sync::Arc;

/// Failures of an order, which can be told from each other by these.
fn put_kind(out: &mut Writer, kind: &FailureKind) {
    match kind {
        FailureKind::Panic { message, location } => {
            out.number(1);
            out.text(message);
            out.option(location.as_ref(), |out, text| out.text(text));
        }
        FailureKind::Error { message } => {
            out.number(2);
            out.text(message);
        }
        FailureKind::Broken { message, location } => {
            out.number(3);
            out.text(message);
            out.text(location);
        }
        FailureKind::Deadlock { waiting } => {
            out.number(4);
            out.number(u64::from(*waiting));
        }
        _ => out.number(0),
    }
}

/// `None` within is a failure of another kind, or none.
fn take_kind(from: &mut Reader<'_>) -> Option<Option<FailureKind>> {
    Some(Some(match from.number()? {
        0 => return Some(None),
        1 => FailureKind::Panic {
            message: from.text()?.to_owned(),
            location: from.option(|from| Some(from.text()?.to_owned()))?,
        },
        2 => FailureKind::Error {
            message: from.text()?.to_owned(),
        },
        3 => FailureKind::Broken {
            message: from.text()?.to_owned(),
            location: from.text()?.to_owned(),
        },
        4 => FailureKind::Deadlock {
            waiting: u32::try_from(from.number()?).ok()?,
        },
        _ => return None,
    }))
}

/// What a choice is, which the places in this process's memory would not tell another one.
fn put_words(out: &mut Writer, words: &Words) {
    out.option(words.task, |out, task| out.number(u64::from(task)));
    out.number(u64::from(words.is_value) + 2 * u64::from(words.starts));
    out.text(&words.what);
    out.text(&words.at);
}

fn take_words(from: &mut Reader<'_>) -> Option<What> {
    let task = from.option(|from| u32::try_from(from.number()?).ok())?;
    let flags = from.number()?;
    Some(What::Told(Arc::new(Words {
        task,
        is_value: flags & 1 != 0,
        starts: flags & 2 != 0,
        what: from.text()?.to_owned(),
        at: from.text()?.to_owned(),
    })))
}

impl Tried {
    /// With a token for its trace.
    pub(super) fn to_bytes(&self, token: &ReplayToken) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        let step = match &self.outcome {
            Outcome::Failed(failure) => {
                put_kind(&mut out, &failure.kind);
                failure.step
            }
            Outcome::Passed | Outcome::Cut(_) => {
                out.number(0);
                0
            }
        };
        out.number(step);
        out.list(&self.stand, |out, place| out.text(place));
        out.list(&self.departures, |out, one| {
            out.text(&one.to_string());
            put_words(out, &one.taken.words());
            put_words(out, &one.plain.words());
        });
        out.list(&self.others, |out, one| out.text(&one.to_string()));
        out.text(&token.to_string());
        out.number(self.schedule_hash);
        out.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Tried> {
        let mut from = Reader(bytes);
        let (kind, step) = (take_kind(&mut from)?, from.number()?);
        let other = |from: &mut Reader<'_>| Departure::read(from.text()?);
        let told = |from: &mut Reader<'_>| {
            let departure = Departure::read(from.text()?)?;
            Some(departure.telling(take_words(from)?, take_words(from)?))
        };
        Some(Tried {
            outcome: match kind {
                Some(kind) => Outcome::Failed(Failure { kind, step }),
                None => Outcome::Passed,
            },
            stand: from.list(|from| Some(from.text()?.to_owned()))?,
            beside_a_timer: false,
            departures: from.list(told)?,
            others: from.list(other)?,
            trace: from.text()?.parse::<ReplayToken>().ok()?.trace,
            schedule_hash: from.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Trace, WorldConfig};

    #[test]
    fn what_is_told_of_an_attempt_is_understood() {
        let other = Departure::read("7,1,2,18446744073709551615,3,9").expect("a departure");
        let words = |task, is_value, starts| {
            What::Told(Arc::new(Words {
                task,
                is_value,
                starts,
                what: "lock".to_owned(),
                at: "a.rs:5".to_owned(),
            }))
        };
        let taken = words(Some(3), false, true);
        let departure = other.clone().telling(taken, words(None, true, false));
        let token = ReplayToken::new("a test", &WorldConfig::default(), Trace::default(), 0);
        let panic = |location| FailureKind::Panic {
            message: "two\nlines".to_owned(),
            location,
        };
        for kind in [
            panic(None),
            panic(Some("a.rs:1:2".to_owned())),
            FailureKind::Deadlock { waiting: 3 },
        ] {
            let outcome = Outcome::Failed(Failure { kind, step: 8 });
            let tried = Tried {
                outcome,
                stand: vec!["lock a.rs:3:4".to_owned()],
                beside_a_timer: false,
                departures: vec![departure.clone(); 2],
                others: vec![other.clone()],
                trace: Trace::default(),
                schedule_hash: u64::MAX,
            };
            let bytes = tried.to_bytes(&token);
            let read = Tried::from_bytes(&bytes).expect("an attempt");
            assert_eq!(read.outcome, tried.outcome);
            assert_eq!(read.to_bytes(&token), bytes);
            for (read, told) in read.departures.iter().zip(&tried.departures) {
                assert_eq!(read.taken.words(), told.taken.words());
                assert_eq!(read.plain.words(), told.plain.words());
            }
            for length in 0..bytes.len() {
                assert!(Tried::from_bytes(&bytes[..length]).is_none());
            }
        }
    }
}
