//! The only room with `unsafe`: suspended stacks, cells that belong to a thread, tasks in one
//! allocation, copies of the process.
//!
//! Everything it offers is safe to use from outside. Each block argues its case in a SAFETY
//! comment. Miri judges `shared`, `slot` and `task`; it cannot run `stack` and
//! `beside`, which switch machine stacks, nor `fork`.
#![expect(
    unsafe_code,
    reason = "the one room where it is allowed; see the module's documentation"
)]

pub(crate) mod afar;
pub(crate) mod beside;
mod door;
pub(crate) mod entangled;
#[cfg(unix)]
pub(crate) mod fork;
pub(crate) mod guest;
mod handover;
pub(crate) mod local;
pub(crate) mod rest;
pub(crate) mod room;
pub(crate) mod shared;
pub(crate) mod slot;
pub(crate) mod stack;
pub(crate) mod task;
