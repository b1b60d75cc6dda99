//! The declarative macros, one file each topic, and what their expansions need.
//!
//! `select!`, `join!` and `try_join!` hand their input to `cct-macros`, with `$crate` in front, so
//! that a crate that exports them again needs nothing else.

mod assertions;
mod join;
pub(crate) mod maybe_done;
mod pin;
mod select;
mod task_local;
