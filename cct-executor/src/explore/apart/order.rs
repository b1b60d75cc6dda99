//! What a process that is started anew for a test without an attribute is to do with one of its worlds, as text.
//!
//! Whoever starts it leaves the order beside the place where the answer goes to.

use crate::explore::result::Shortened;
use crate::explore::shrink::Given;
use crate::words::ReplayToken;
use std::io;
use std::path::Path;

/// What the process is to do.
#[derive(Clone, Debug)]
pub(in crate::explore) enum Order {
    /// The plain schedule.
    Plain,
    /// The iteration of this number; of which the plain one took so many decisions.
    Search(u64, Option<u64>),
    /// These decisions again, of the iteration of this number.
    Again(u64, ReplayToken),
    /// An attempt at a shorter one of that iteration.
    Try(u64, Box<Given>),
    /// Decisions again, and to tell the story of the failure; found by this strategy.
    Tell(u64, ReplayToken, String, Option<Box<Shortened>>),
}

/// Where the order is for whoever answers there.
fn beside(answer: &Path) -> std::path::PathBuf {
    answer.with_extension("order")
}

impl Order {
    /// Leaves it for a process that answers there, about its world of this number.
    pub(super) fn leave(&self, answer: &Path, world: u32) -> io::Result<()> {
        std::fs::write(beside(answer), format!("{world}\n{self}"))
    }

    /// What is left for a process that answers there, and the number of the world that it is about.
    pub(in crate::explore) fn find(answer: &Path) -> Option<(u32, Order)> {
        let text = std::fs::read_to_string(beside(answer)).ok()?;
        let (world, order) = text.split_once('\n')?;
        Some((world.parse().ok()?, Order::read(order)?))
    }

    fn read(text: &str) -> Option<Order> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut lines = rest.lines();
        let mut words = first.split(' ');
        let number = |words: &mut std::str::Split<'_, char>| words.next()?.parse().ok();
        Some(match words.next()? {
            "plain" => Order::Plain,
            "search" => Order::Search(number(&mut words)?, number(&mut words)),
            "again" => Order::Again(number(&mut words)?, lines.next()?.parse().ok()?),
            "try" => Order::Try(number(&mut words)?, Box::new(Given::read(rest)?)),
            "tell" => Order::Tell(
                number(&mut words)?,
                lines.next()?.parse().ok()?,
                lines.next()?.to_owned(),
                match lines.next() {
                    Some(line) => Some(Box::new(shortened(line, lines.next()?)?)),
                    None => None,
                },
            ),
            _ => return None,
        })
    }

    /// The iteration that it is about.
    pub(in crate::explore) fn index(&self) -> u64 {
        match self {
            Order::Plain => 0,
            Order::Search(index, _)
            | Order::Again(index, _)
            | Order::Try(index, _)
            | Order::Tell(index, ..) => *index,
        }
    }
}

/// What is said of a schedule that was made shorter, and the one that was found.
fn shortened(line: &str, found: &str) -> Option<Shortened> {
    let [step, departures, attempts, complete] = line.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    Some(Shortened {
        found: found.parse().ok()?,
        step: step.parse().ok()?,
        departures: departures.parse().ok()?,
        attempts: attempts.parse().ok()?,
        complete: complete.parse().ok()?,
    })
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Order::Plain => f.write_str("plain"),
            Order::Search(index, None) => write!(f, "search {index}"),
            Order::Search(index, Some(length)) => write!(f, "search {index} {length}"),
            Order::Again(index, token) => write!(f, "again {index}\n{token}"),
            Order::Try(index, given) => write!(f, "try {index}\n{given}"),
            Order::Tell(index, token, strategy, shortened) => {
                write!(f, "tell {index}\n{token}\n{strategy}")?;
                let Some(how) = shortened else { return Ok(()) };
                write!(f, "\n{} {} {}", how.step, how.departures, how.attempts)?;
                write!(f, " {}\n{}", how.complete, how.found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Trace, WorldConfig};

    #[test]
    fn an_order_is_understood() {
        let token = ReplayToken::new("a test", &WorldConfig::default(), Trace::default(), 3);
        let shortened = Shortened {
            found: token.clone(),
            step: 1,
            departures: 2,
            attempts: 3,
            complete: true,
        };
        let departures = "with 1,2,3,4,5,6;\nlike 7,8,9,10,11,12;13,14,15,16,17,18;";
        let given = Given::read(departures).expect("departures");
        assert_eq!(given.to_string(), departures);
        for order in [
            Order::Plain,
            Order::Search(7, None),
            Order::Search(8, Some(120)),
            Order::Again(9, token.clone()),
            Order::Try(9, Box::new(Given::along(&token))),
            Order::Tell(10, token.clone(), "pct:d=3".to_owned(), None),
            Order::Tell(10, token, "pct:d=3".to_owned(), Some(Box::new(shortened))),
        ] {
            let text = order.to_string();
            let read = Order::read(&text).map(|read| read.to_string());
            assert_eq!(read.as_ref(), Some(&text));
        }
        for text in [
            "",
            "search",
            "again 3",
            "tell 3\nc1-nothing\nrandom",
            "else",
        ] {
            assert!(Order::read(text).is_none(), "{text}");
        }
    }
}
