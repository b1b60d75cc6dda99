//! One source on both sides: what it notes must be the same.

#![expect(
    clippy::duplicate_mod,
    clippy::permissions_set_readonly_false,
    reason = "both sides compile the same contracts, which look at whatever can be done"
)]

use super::everywhere;
use std::path::PathBuf;

#[path = "."]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use tokio::fs;
        pub(crate) use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
        pub(crate) use tokio::time;
    }

    pub(crate) mod contract;
}

#[path = "."]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_executor::time;
        pub(crate) use cct_net::fs;
    }

    pub(crate) mod contract;
}

/// An empty directory on the real disk, gone when this is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("cct-net-fs-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a directory for a test");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

macro_rules! contracts {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let scratch = Scratch::new(stringify!($name));
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_time()
                .build()
                .expect("a runtime");
            let mut expected = Vec::new();
            let root = scratch.0.clone();
            runtime.block_on(on_tokio::contract::$name(root, &mut expected));
            if expected == ["not for root"] {
                return;
            }
            assert!(expected.len() > 5, "a contract that notes nothing says nothing");
            everywhere(stringify!($name), |checker| {
                let expected = expected.clone();
                let report = checker.iterations(12).run(move || {
                    let expected = expected.clone();
                    async move {
                        let root = PathBuf::from("/tmp/test");
                        cct_net::fs::create_dir(&root).await.expect("a new directory");
                        let mut seen = Vec::new();
                        on_cct::contract::$name(root, &mut seen).await;
                        for (seen, expected) in seen.iter().zip(&expected) {
                            assert_eq!(seen, expected, "ours on the left");
                        }
                        assert_eq!(seen.len(), expected.len());
                    }
                });
                report.assert_passed();
            });
        }
    )*};
}

file_contracts!(contracts);
contracts! {
    file_times
}
