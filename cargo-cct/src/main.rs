//! `cargo cct`: the tests of a project that uses tokio, under controlled concurrency, without a change to it.
//!
//! ```console
//! $ cargo cct test
//! ```
//!
//! In any cargo project this runs `cargo test` with `cct-tokio` in the place of tokio, for all crates of the
//! graph, those of other people included. Each `#[tokio::test]` then explores schedules, and a failure is
//! reported with a token for `cargo cct replay TOKEN`.
//!
//! # How
//!
//! A folder in the target folder holds some packages: one named `tokio`, of a version above all that anybody asks
//! for, whose library is that of `cct-tokio`; and a renamed copy of the tokio that the project's lock file names,
//! of which `cct-tokio` uses traits and utilities that need no runtime; and copies of a few packages whose random
//! numbers could not be repeated. `[patch]` on cargo's command line puts them in the place of the real ones. The
//! build has a target folder of its own, and the project's `Cargo.lock` is put back as it was when the command ends,
//! however it ends.
//!
//! # Rooms
//!
//! - `cli`, `commands`, `doctor`: what a user asks for. `arguments`: which of `cargo test`'s arguments matter here.
//! - `session`: the steps, in their order. `project`, `graph`: what cargo says about the user's project.
//! - `patch`: the folder and what is in it. `lockfile`: the rules by which `Cargo.lock` comes back.
//! - `atomics`: code that tells of its atomic operations. `unstable`: code that asks for what cct has none of.
//! - `cargo`, `interrupt`, `say`: running cargo, being interrupted, talking to the user.

mod arguments;
mod atomics;
mod cargo;
mod cli;
mod commands;
mod doctor;
mod graph;
mod home;
mod interrupt;
mod lockfile;
mod patch;
mod profile;
mod project;
mod say;
mod session;
mod unstable;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = atomics::compile(std::env::args_os()) {
        return code;
    }
    interrupt::listen();
    match cli::run(std::env::args_os()) {
        Ok(code) => code,
        Err(error) => {
            say::error(&error);
            interrupt::code().unwrap_or(ExitCode::from(101))
        }
    }
}
