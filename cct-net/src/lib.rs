//! A simulated network and simulated disks: every delivery and every fault is a choice.

pub mod check;
pub mod fabric;
pub mod fs;
