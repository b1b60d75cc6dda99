//! Random scripts of single operations: ours must do what tokio does. See [`cct_tests::fuzz`].

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same interpreters"
)]

use cct_tests::fuzz::Worlds::{Any, Fifo};
use cct_tests::fuzz::compare;

/// Scripts for each interpreter; they take some seconds together, unoptimised.
const SEEDS: u64 = 100;

macro_rules! scripts {
    ($($worlds:ident: $($file:ident)*;)*) => {
        #[path = "../src/scripts"]
        mod on_tokio {
            pub(crate) mod rt {
                pub(crate) use tokio::{sync, task, time};
            }

            $($(pub(crate) mod $file;)*)*
        }

        #[path = "../src/scripts"]
        mod on_cct {
            pub(crate) mod rt {
                pub(crate) use cct_executor::{task, time};
                pub(crate) use cct_sync as sync;
            }

            $($(pub(crate) mod $file;)*)*
        }

        $($(#[test]
        fn $file() {
            let (theirs, ours) = (on_tokio::$file::play, on_cct::$file::play);
            if let Err(text) = compare($worlds, 0..SEEDS, theirs, ours) {
                panic!("{text}");
            }
        })*)*
    };
}

scripts! {
    Any: semaphore mutex rwlock notify barrier once_cell set_once
        mpsc mpsc_unbounded oneshot watch broadcast time;
    Fifo: tasks;
}
