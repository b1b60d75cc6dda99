//! Files of the machine: what `tokio::fs` does with them, written once and run on tokio and on ours, which
//! must note the same under every schedule.

#![cfg(target_os = "linux")]
#![expect(
    clippy::duplicate_mod,
    clippy::permissions_set_readonly_false,
    reason = "both sides compile the same contracts, which look at whatever can be done"
)]

mod background;
#[macro_use]
#[path = "../../../cct-net/tests/fs/list.rs"]
mod list;
mod scratch;
#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

use scratch::Scratch;

#[path = "../../../cct-net/tests/fs"]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use real_tokio::{
            fs,
            io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt},
            time,
        };
    }

    pub(crate) mod contract;
}

#[path = "../../../cct-net/tests/fs"]
mod on_ours {
    pub(crate) mod rt {
        pub(crate) use cct_tokio::{
            fs,
            io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt},
            time,
        };
    }

    pub(crate) mod contract;
}

macro_rules! contracts {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let scratch = Scratch::new(stringify!($name));
            let runtime = real_tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_time()
                .build()
                .expect("a runtime");
            let mut expected = Vec::new();
            let root = scratch.path().to_owned();
            runtime.block_on(on_tokio::contract::$name(root, &mut expected));
            drop(scratch);
            if expected == ["not for root"] {
                return;
            }
            worlds::everywhere(stringify!($name), 4, |checker| {
                let expected = expected.clone();
                checker.run(move || {
                    let expected = expected.clone();
                    async move {
                        let scratch = Scratch::new(concat!(stringify!($name), "-ours"));
                        let mut seen = Vec::new();
                        let root = scratch.path().to_owned();
                        on_ours::contract::$name(root, &mut seen).await;
                        assert_eq!(seen, expected, "ours on the left");
                    }
                })
            });
        }
    )*};
}

file_contracts!(contracts);
