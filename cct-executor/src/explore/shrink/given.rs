//! What an attempt is given, and what it leaves behind.

use super::guide::{Departure, Guide};
use crate::execution::Detail;
use crate::execution::run::{self, Finished};
use crate::words::explanation::Explanation;
use crate::words::{FailureKind, Outcome, ReplayToken, Trace};
use std::fmt;

/// The schedule of an attempt.
#[derive(Clone, Debug)]
pub(in crate::explore) struct Given {
    pub(super) source: Source,
    /// Departures like these are looked for.
    pub(super) patterns: Vec<Departure>,
    /// After this step there are no departures, and values are drawn.
    pub(super) fair_after: Option<u64>,
    /// It takes no more than these.
    pub(in crate::explore) steps_max: Option<u64>,
}

/// What is taken where it is not the plain choice.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Token(Box<ReplayToken>),
    Departures(Vec<Departure>),
}

/// What an attempt left behind.
pub(in crate::explore) struct Tried {
    pub(in crate::explore) outcome: Outcome,
    /// Operations and places at which tasks stood in the end, where the failure is that they stand.
    pub(in crate::explore) stand: Vec<String>,
    /// Whether another task's timer was still to fire.
    pub(in crate::explore) beside_a_timer: bool,
    pub(in crate::explore) departures: Vec<Departure>,
    /// See [`Guide::looking_for`].
    pub(in crate::explore) others: Vec<Departure>,
    pub(in crate::explore) trace: Trace,
    pub(in crate::explore) schedule_hash: u64,
}

impl Given {
    /// Whether nothing departs from the plain schedule.
    pub(super) fn is_plain(&self) -> bool {
        let departs = match &self.source {
            Source::Token(_) => true,
            Source::Departures(departures) => !departures.is_empty(),
        };
        !departs && self.patterns.is_empty() && self.fair_after.is_none()
    }

    fn new(source: Source) -> Given {
        Given {
            source,
            patterns: Vec::new(),
            fair_after: None,
            steps_max: None,
        }
    }

    /// A schedule that was found.
    pub(in crate::explore) fn along(token: &ReplayToken) -> Given {
        Given::new(Source::Token(Box::new(token.clone())))
    }

    /// The plain schedule but for these departures.
    pub(in crate::explore) fn with(departures: &[Departure]) -> Given {
        Given::new(Source::Departures(departures.to_vec()))
    }

    /// Whoever follows it, and keeps departures.
    pub(in crate::explore) fn guide(&self) -> Guide {
        let guide = match &self.source {
            Source::Token(token) => Guide::along(&token.trace),
            Source::Departures(departures) => Guide::with(departures),
        };
        let guide = guide.looking_for(&self.patterns);
        match self.fair_after {
            Some(step) => guide.fair_after(step),
            None => guide,
        }
    }

    /// What is recorded of it: of a schedule that was found, all that tasks wait for.
    pub(in crate::explore) fn detail(&self) -> Detail {
        match &self.source {
            Source::Token(_) => Detail::Story,
            Source::Departures(_) => Detail::Nothing,
        }
    }

    /// Takes back what `Display` gives.
    #[cfg(unix)]
    pub(in crate::explore) fn read(text: &str) -> Option<Given> {
        let (source, rest) = text.split_once('\n')?;
        let (patterns, most) = rest.split_once('\n').unwrap_or((rest, ""));
        let source = match source.split_once(' ')? {
            ("along", token) => Source::Token(Box::new(token.parse().ok()?)),
            ("with", list) => Source::Departures(departures(list)?),
            _ => return None,
        };
        Some(Given {
            patterns: departures(patterns.strip_prefix("like ")?)?,
            steps_max: match most {
                "" => None,
                most => Some(most.parse().ok()?),
            },
            ..Given::new(source)
        })
    }
}

#[cfg(unix)]
fn departures(list: &str) -> Option<Vec<Departure>> {
    let items = list.split(';').filter(|item| !item.is_empty());
    items.map(Departure::read).collect()
}

fn put(f: &mut fmt::Formatter<'_>, list: &[Departure]) -> fmt::Result {
    list.iter().try_for_each(|one| write!(f, "{one};"))
}

/// For another process, where no hang is looked at.
impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Token(token) => write!(f, "along {token}")?,
            Source::Departures(departures) => {
                f.write_str("with ")?;
                put(f, departures)?;
            }
        }
        f.write_str("\nlike ")?;
        put(f, &self.patterns)?;
        match self.steps_max {
            Some(most) => write!(f, "\n{most}"),
            None => Ok(()),
        }
    }
}

impl Tried {
    /// What an iteration leaves behind that a [`Guide`] has led, the last one on this thread.
    pub(in crate::explore) fn left_by(finished: Finished) -> (Tried, Option<Explanation>) {
        let guide = finished.decider.into_any().downcast::<Guide>();
        let guide = guide.expect("cct bug: another decider came back");
        let stand = finished.stand.iter();
        let tried = Tried {
            outcome: finished.end.outcome,
            stand: stand.map(|(op, site)| format!("{op} {site}")).collect(),
            beside_a_timer: false,
            departures: guide.departures,
            others: guide.others,
            trace: run::last_trace(),
            schedule_hash: finished.end.schedule_hash,
        };
        (tried, finished.explanation.map(|boxed| *boxed))
    }

    /// How it failed.
    pub(in crate::explore) fn kind(&self) -> Option<&FailureKind> {
        match &self.outcome {
            Outcome::Failed(failure) => Some(&failure.kind),
            Outcome::Passed | Outcome::Cut(_) => None,
        }
    }
}
