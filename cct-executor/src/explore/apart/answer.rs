//! What a process that ran one iteration tells of it, as bytes.
//!
//! Both sides are the same program, so there is no version; but a process may have been ended while it wrote, so
//! bytes that say nothing are none.

use crate::execution::harvest::{Harvest, Sightings, SometimesKey, TimeLimit};
use crate::execution::run::Entangled;
use crate::execution::sketch::Sketch;
use crate::words::{FailureKind, Limit, ReplayToken};
use cct_interpose::Blocks;
use std::collections::BTreeSet;
use std::time::Duration;

/// How an iteration ended, as far as it can be said without its failure: that comes from replaying it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    Passed,
    Failed,
    Cut(Limit),
    /// The strategy has nothing left to explore.
    Exhausted,
    /// A poll did not return, or would have aborted the process.
    Lost {
        abort: Option<(String, Option<String>)>,
        threads: Entangled,
    },
}

/// What an iteration leaves behind.
pub(super) struct Answer {
    pub(super) end: End,
    pub(super) steps: u64,
    pub(super) decisions: u64,
    pub(super) schedule_hash: u64,
    pub(super) joined_panics: u64,
    pub(super) leaky: bool,
    pub(super) strategy: String,
    pub(super) token: Option<ReplayToken>,
    pub(super) harvest: Harvest,
}

const LIMITS: [Limit; 4] = [Limit::Steps, Limit::Tasks, Limit::Time, Limit::Decisions];

impl End {
    /// That of a thread that was lost.
    pub(super) fn lost(kind: Option<FailureKind>, threads: Entangled) -> End {
        let abort = match kind {
            Some(FailureKind::Abort { message, location }) => Some((message, location)),
            other => other.map(|kind| (kind.to_string(), None)),
        };
        End::Lost { abort, threads }
    }

    fn write(&self, out: &mut Writer) {
        match self {
            End::Passed => out.number(0),
            End::Failed => out.number(1),
            End::Exhausted => out.number(2),
            End::Lost { abort, threads } => {
                out.number(3);
                out.number(u64::from(threads.visited));
                out.number(u64::from(threads.refused));
                out.number(threads.blocks as u64);
                out.option(abort.as_ref(), |out, (message, location)| {
                    out.text(message);
                    out.option(location.as_ref(), |out, text| out.text(text));
                });
            }
            End::Cut(limit) => {
                let at = LIMITS.iter().position(|known| known == limit);
                out.number(4 + at.expect("cct bug: a limit that is not listed") as u64);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<End> {
        Some(match from.number()? {
            0 => End::Passed,
            1 => End::Failed,
            2 => End::Exhausted,
            3 => End::Lost {
                threads: Entangled {
                    visited: from.number()? != 0,
                    refused: from.number()? != 0,
                    blocks: Blocks::from_number(u8::try_from(from.number()?).ok()?),
                },
                abort: from.option(|from| {
                    let message = from.text()?.to_owned();
                    let location = from.option(|from| Some(from.text()?.to_owned()))?;
                    Some((message, location))
                })?,
            },
            at => End::Cut(*LIMITS.get(usize::try_from(at).ok()?.checked_sub(4)?)?),
        })
    }
}

impl Answer {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        self.end.write(&mut out);
        let numbers = [
            self.steps,
            self.decisions,
            self.schedule_hash,
            self.joined_panics,
            u64::from(self.leaky),
        ];
        numbers.into_iter().for_each(|number| out.number(number));
        out.text(&self.strategy);
        out.option(self.token.as_ref(), |out, token| {
            out.text(&token.to_string());
        });
        out.list(&self.harvest.states, |out, (span, states)| {
            out.number(u64::from(*span));
            out.bytes(states.to_bytes());
        });
        out.list(&self.harvest.sometimes, |out, (key, seen)| {
            out.key(key);
            out.number(seen.evaluated);
            out.number(seen.reached);
        });
        out.list(&self.harvest.watermarks, |out, (key, value)| {
            out.key(key);
            out.number(*value);
        });
        out.list(&self.harvest.time_limits, |out, ((file, line), limit)| {
            out.text(file);
            out.number(u64::from(*line));
            out.number(limit.struck);
            out.number(nanoseconds(limit.margin));
        });
        out.0
    }

    pub(super) fn from_bytes(bytes: &[u8], names: &mut Names) -> Option<Answer> {
        let mut from = Reader(bytes);
        Some(Answer {
            end: End::read(&mut from)?,
            steps: from.number()?,
            decisions: from.number()?,
            schedule_hash: from.number()?,
            joined_panics: from.number()?,
            leaky: from.number()? != 0,
            strategy: from.text()?.to_owned(),
            token: from.option(|from| from.text()?.parse().ok())?,
            harvest: Harvest {
                states: from.list(|from| {
                    let span = u32::try_from(from.number()?).ok()?;
                    Some((span, Sketch::from_bytes(from.bytes()?)?))
                })?,
                sometimes: from.list(|from| {
                    let key = from.key(names)?;
                    let (evaluated, reached) = (from.number()?, from.number()?);
                    Some((key, Sightings { evaluated, reached }))
                })?,
                watermarks: from.list(|from| Some((from.key(names)?, from.number()?)))?,
                time_limits: from.list(|from| {
                    let file = names.keep(from.text()?);
                    let line = u32::try_from(from.number()?).ok()?;
                    let (struck, margin) = (from.number()?, Duration::from_nanos(from.number()?));
                    Some(((file, line), TimeLimit { struck, margin }))
                })?,
            },
        })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Names that are kept for as long as the process lives, each once.
#[derive(Default)]
pub(super) struct Names(BTreeSet<&'static str>);

impl Names {
    fn keep(&mut self, name: &str) -> &'static str {
        if let Some(kept) = self.0.get(name) {
            return kept;
        }
        let kept: &'static str = name.to_owned().leak();
        self.0.insert(kept);
        kept
    }
}

pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn key(&mut self, &(name, file, line): &SometimesKey) {
        self.text(name);
        self.text(file);
        self.number(u64::from(line));
    }

    pub(super) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
        mut write: impl FnMut(&mut Writer, T),
    ) {
        let items = items.into_iter();
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }
}

pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn key(&mut self, names: &mut Names) -> Option<SometimesKey> {
        let (name, file) = (self.text()?, self.text()?);
        let line = u32::try_from(self.number()?).ok()?;
        Some((names.keep(name), names.keep(file), line))
    }

    pub(super) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.number()? {
            0 => Some(None),
            _ => Some(Some(read(self)?)),
        }
    }

    pub(super) fn list<T, L: FromIterator<T>>(
        &mut self,
        mut read: impl FnMut(&mut Reader<'a>) -> Option<T>,
    ) -> Option<L> {
        let count = self.number()?;
        (0..count).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(end: End) -> Answer {
        let mut states = Sketch::new();
        (0..100).for_each(|state| states.add(state * 7919));
        let key = ("reached", "src/lib.rs", 7);
        let seen = Sightings {
            evaluated: 9,
            reached: 4,
        };
        let limit = TimeLimit {
            struck: 1,
            margin: Duration::from_millis(30),
        };
        Answer {
            end,
            steps: 1,
            decisions: 2,
            schedule_hash: u64::MAX,
            joined_panics: 3,
            leaky: true,
            strategy: "random".to_owned(),
            token: None,
            harvest: Harvest {
                states: [(3, states)].into(),
                sometimes: [(key, seen)].into(),
                watermarks: [(key, 11)].into(),
                time_limits: [(("src/lib.rs", 7), limit)].into(),
            },
        }
    }

    #[test]
    fn what_is_told_is_understood() {
        let lost = |abort| End::Lost {
            abort,
            threads: Entangled {
                visited: true,
                refused: false,
                blocks: Blocks::Machine,
            },
        };
        let mut ends = vec![End::Passed, End::Failed, End::Exhausted, lost(None)];
        ends.extend(LIMITS.map(End::Cut));
        ends.push(lost(Some((
            "twice".to_owned(),
            Some("a.rs:1:2".to_owned()),
        ))));
        for end in ends {
            let bytes = answer(end.clone()).to_bytes();
            let mut names = Names::default();
            let read = Answer::from_bytes(&bytes, &mut names).expect("an answer");
            assert_eq!(read.end, end);
            assert_eq!(read.to_bytes(), bytes);
            assert_eq!(names.0.len(), 2);
        }
    }

    #[test]
    fn what_was_cut_short_says_nothing() {
        let bytes = answer(End::Cut(Limit::Time)).to_bytes();
        for length in 0..bytes.len() {
            let read = Answer::from_bytes(&bytes[..length], &mut Names::default());
            assert!(read.is_none(), "{length} of {} bytes", bytes.len());
        }
    }
}
