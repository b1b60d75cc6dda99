//! Controlled concurrency testing for tokio-style Rust.

pub mod shim;
pub mod words;
mod raw;
pub mod strategy;
pub mod task;
