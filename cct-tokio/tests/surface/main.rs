//! Every name of tokio that is modelled, with its signature: one text that must compile against tokio and
//! against what stands in for it. What the names do is the business of the contracts.

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
#![cfg(unix)]

/// Against tokio the questions of `tests` and of `cct-net` are asked there.
#[path = "."]
mod on_tokio {
    mod rt {
        pub(crate) use real_tokio::*;
    }

    #[path = "../../../cct-net/tests/surface/ask.rs"]
    mod ask;
    mod machine;
    mod net;
    mod paths;
}

#[path = "."]
mod on_ours {
    mod rt {
        pub(crate) use cct_tokio::*;
    }

    #[path = "../../../cct-net/tests/surface/ask.rs"]
    mod ask;
    mod machine;
    mod net;
    mod paths;
}

#[path = "../../../tests/src/surface"]
mod tasks {
    mod rt {
        pub(crate) use cct_tokio::{runtime, spawn, sync, task, task_local, time};
    }

    mod ask;
    mod runtime;
    mod sync;
    mod task;
    mod time;
}

#[path = "../../../cct-net/tests/surface"]
mod machine {
    mod rt {
        pub(crate) use cct_tokio::{fs, io, net, signal};
    }

    mod ask;
    mod fs;
    mod net;
    mod signal;
}
