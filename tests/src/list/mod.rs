//! The lists of all contracts. A contract that is in no list is dead code, and a warning.

mod runtime;
mod sync;
