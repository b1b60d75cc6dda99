//! The project's `Cargo.lock`, on loan: cargo writes it while ours stands in for tokio, and then it comes back.
//!
//! 1. What was there before is on disk before cargo is called, with the path it belongs to; it is removed when the
//!    loan is over. So whoever finds it (after a kill, or a power cut) can finish.
//! 2. A file that somebody else has changed in the meantime is never overwritten, unless it is what cargo makes of
//!    ours when an editor calls it. It is said where the old one is.
//! 3. Files are replaced as a whole.

mod editor;
mod files;
mod loan;
mod place;
mod rules;
#[cfg(test)]
mod tests;

pub(crate) use loan::Loan;
pub(crate) use place::Place;
