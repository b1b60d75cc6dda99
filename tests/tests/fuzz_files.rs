//! Random scripts on files and directories: ours must do what tokio does on a disk of Linux. See
//! [`cct_tests::fuzz`].

#![cfg(target_os = "linux")]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same interpreters"
)]

#[path = "fuzz_files/disk.rs"]
mod disk;

use cct_tests::Log;
use cct_tests::fuzz::Worlds::{Any, Fifo};
use cct_tests::fuzz::compare;
use std::path::PathBuf;

/// Scripts for all granularities, and for round-robin; they take some seconds, unoptimised.
const SEEDS: u64 = 40;

#[path = "../src/scripts"]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use crate::disk::{abandon, links, settle};
        pub(crate) use std::fs::Metadata;
        pub(crate) use tokio::fs;
        pub(crate) use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

        pub(crate) fn permissions(mode: u32) -> std::fs::Permissions {
            std::os::unix::fs::PermissionsExt::from_mode(mode)
        }
    }

    pub(crate) mod files;
}

#[path = "../src/scripts"]
mod on_cct {
    pub(crate) mod rt {
        use cct_executor::task::coop::unconstrained;
        pub(crate) use cct_net::fs;
        pub(crate) use cct_net::fs::Metadata;
        use cct_net::fs::Permissions;
        use std::future::Future;
        use std::pin::pin;
        use std::time::Duration;

        pub(crate) fn permissions(mode: u32) -> Permissions {
            std::os::unix::fs::PermissionsExt::from_mode(mode)
        }

        pub(crate) fn links(found: &Metadata) -> u64 {
            found.nlink()
        }

        /// Waits until nothing is under way: only then time moves.
        pub(crate) async fn settle() {
            cct_executor::time::sleep(Duration::from_millis(1)).await;
        }

        /// Polls a future once, and has what that began come to its end.
        pub(crate) async fn abandon(future: impl Future) {
            settle().await;
            {
                let mut future = pin!(unconstrained(future));
                std::future::poll_fn(|cx| {
                    let _ = future.as_mut().poll(cx);
                    std::task::Poll::Ready(())
                })
                .await;
            }
            settle().await;
        }
    }

    pub(crate) mod files;
}

#[test]
fn files() {
    if !disk::permissions_bind() {
        return;
    }
    for (worlds, seeds) in [(Any, 0..SEEDS), (Fifo, SEEDS..SEEDS + SEEDS / 4)] {
        let theirs = |script, log: Log| {
            let written = log.clone();
            disk::within(written, move |top| on_tokio::files::play(script, log, top))
        };
        let ours = |script, log| async move {
            // The one directory that is there from the start.
            cct_net::fs::remove_dir("/tmp").await.expect("it is empty");
            on_cct::files::play(script, log, PathBuf::from("/")).await;
        };
        if let Err(text) = compare(worlds, seeds, theirs, ours) {
            panic!("{text}");
        }
    }
}
