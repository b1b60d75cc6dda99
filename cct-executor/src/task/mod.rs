//! Tasks.
pub mod coop;
