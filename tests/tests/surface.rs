//! Every name of `tokio::{sync, task, time}`, and of `tokio::runtime` what a program inside a world may
//! ask for, with its signature and traits: one text that must compile against tokio and against ours.
//! What the names do is the business of the contracts.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same questions"
)]
#![allow(
    dead_code,
    clippy::declare_interior_mutable_const,
    clippy::unit_arg,
    reason = "nothing here runs: types are asked for, and constants show that functions are `const`"
)]

#[path = "../src/surface"]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use tokio::{runtime, spawn, sync, task, task_local, time};
    }

    mod ask;
    mod runtime;
    mod sync;
    mod task;
    mod time;
}

#[path = "../src/surface"]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_executor::{runtime, spawn, task, task_local, time};
        pub(crate) use cct_sync as sync;
    }

    mod ask;
    mod runtime;
    mod sync;
    mod task;
    mod time;
}
