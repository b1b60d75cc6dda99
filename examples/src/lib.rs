//! One lesson per module: a small program with a bug, and how the search finds it.
//!
//! Each module says what goes wrong and why ordinary tests miss it. Its tests assert that cct finds
//! the bug, and that the repaired program passes. Read them in this order:
//!
//! 1. [`lost_update`]: a lock that is released between reading and writing.
//! 2. [`abba_deadlock`]: two locks, taken in two orders; every schedule explored.
//! 3. [`cancelled_update`]: a future that is dropped halfway; cancellation as a choice.
//! 4. [`timeout_race`]: a time limit that expires although the work is done; clock policies.
//! 5. [`broken_chain`]: neighbours that fail together; an exploration order of one's own.
//! 6. [`stale_read`]: a replicated store over TCP under crashes and partitions; histories that no
//!    order explains.
//!
//! `real-bugs/`, next to this package, applies the same to bugs of published crates.

pub mod abba_deadlock;
pub mod broken_chain;
pub mod cancelled_update;
pub mod lost_update;
pub mod stale_read;
pub mod timeout_race;

#[cfg(test)]
mod readme;

/// Compiles and runs every code block of the README and of the guide.
#[cfg(doctest)]
pub mod documents {
    #[doc = include_str!("../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../docs/cargo-cct.md")]
    pub struct CargoCct;
    #[doc = include_str!("../../docs/reference.md")]
    pub struct Reference;
    #[doc = include_str!("../../docs/scenarios.md")]
    pub struct Scenarios;
    #[doc = include_str!("../../docs/failures.md")]
    pub struct Failures;
}
