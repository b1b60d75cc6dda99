//! The folder that stands in for tokio: some packages, and a file that says who wrote them.
//!
//! `tokio/` has a manifest only: its library is that of `cct-tokio`, where that lies. `real-tokio/` is a copy of
//! the tokio that the project has locked. The others are copies, with a mend, of packages whose random numbers
//! would not be the same in each iteration.
//!
//! 1. What has not changed is not written again, as cargo would build it again.
//! 2. A folder that was not written by this program is not touched.

mod copies;
mod facade;
mod features;
mod files;
mod folder;
mod mends;

pub(crate) use facade::VERSION;
pub(crate) use folder::{Locked, PatchFolder, Replaced, is_of_use};
pub(crate) use mends::names as with_mends;
