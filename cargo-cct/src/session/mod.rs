//! The steps that every command takes, in their order: find the project, borrow its lock file, write the folder,
//! have cargo take ours for tokio, and look whether it did.

mod steps;
mod update;

pub(crate) use steps::{Patched, Session};
