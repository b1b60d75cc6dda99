//! What a process that is started anew for a test without an attribute is to do with its first world, as text.
//!
//! Whoever starts it leaves the order beside the place where the answer goes to.

use crate::words::ReplayToken;
use std::io;
use std::path::Path;

/// What the process is to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::explore) enum Order {
    /// The plain schedule.
    Plain,
    /// The iteration of this number; of which the plain one took so many decisions.
    Search(u64, Option<u64>),
    /// These decisions again, of the iteration of this number.
    Again(u64, ReplayToken),
    /// The same, and to tell the story of the failure; found by this strategy.
    Tell(u64, ReplayToken, String),
}

/// Where the order is for whoever answers there.
fn beside(answer: &Path) -> std::path::PathBuf {
    answer.with_extension("order")
}

impl Order {
    /// Leaves it for a process that answers there.
    pub(super) fn leave(&self, answer: &Path) -> io::Result<()> {
        std::fs::write(beside(answer), self.to_string())
    }

    /// What is left for a process that answers there.
    pub(in crate::explore) fn find(answer: &Path) -> Option<Order> {
        Order::read(&std::fs::read_to_string(beside(answer)).ok()?)
    }

    fn read(text: &str) -> Option<Order> {
        let mut lines = text.lines();
        let mut words = lines.next()?.split(' ');
        let number = |words: &mut std::str::Split<'_, char>| words.next()?.parse().ok();
        Some(match words.next()? {
            "plain" => Order::Plain,
            "search" => Order::Search(number(&mut words)?, number(&mut words)),
            "again" => Order::Again(number(&mut words)?, lines.next()?.parse().ok()?),
            "tell" => Order::Tell(
                number(&mut words)?,
                lines.next()?.parse().ok()?,
                lines.next()?.to_owned(),
            ),
            _ => return None,
        })
    }

    /// The iteration that it is about.
    pub(in crate::explore) fn index(&self) -> u64 {
        match self {
            Order::Plain => 0,
            Order::Search(index, _) | Order::Again(index, _) | Order::Tell(index, ..) => *index,
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Order::Plain => f.write_str("plain"),
            Order::Search(index, None) => write!(f, "search {index}"),
            Order::Search(index, Some(length)) => write!(f, "search {index} {length}"),
            Order::Again(index, token) => write!(f, "again {index}\n{token}"),
            Order::Tell(index, token, strategy) => write!(f, "tell {index}\n{token}\n{strategy}"),
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
        for order in [
            Order::Plain,
            Order::Search(7, None),
            Order::Search(8, Some(120)),
            Order::Again(9, token.clone()),
            Order::Tell(10, token, "pct:d=3".to_owned()),
        ] {
            assert_eq!(Order::read(&order.to_string()), Some(order));
        }
        for text in [
            "",
            "search",
            "again 3",
            "tell 3\nc1-nothing\nrandom",
            "else",
        ] {
            assert_eq!(Order::read(text), None);
        }
    }
}
