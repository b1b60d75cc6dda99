//! Random scripts on the machine's files: through `cct_tokio::fs` they must do what they do through tokio's.
//! See [`cct_tests::fuzz`].
//!
//! Apart from `fuzz_files`, as both sides work in the directory that the process is in.

#![cfg(target_os = "linux")]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same interpreters"
)]

#[path = "fuzz_files/disk.rs"]
mod disk;

use cct_tests::Log;
use cct_tests::fuzz::Worlds::Fifo;
use cct_tests::fuzz::compare;

/// They take some seconds, unoptimised.
const SEEDS: u64 = 60;

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
mod on_ours {
    pub(crate) mod rt {
        pub(crate) use crate::disk::links;
        pub(crate) use cct_tokio::fs;
        pub(crate) use cct_tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
        use cct_tokio::task::coop::unconstrained;
        pub(crate) use std::fs::Metadata;
        use std::pin::pin;
        use std::time::Duration;

        pub(crate) fn permissions(mode: u32) -> std::fs::Permissions {
            std::os::unix::fs::PermissionsExt::from_mode(mode)
        }

        /// Waits until nothing is under way: only then time moves.
        pub(crate) async fn settle() {
            cct_tokio::time::sleep(Duration::from_millis(1)).await;
        }

        /// Polls a future once and drops it. What that began has not begun yet: a poll at a time.
        pub(crate) async fn abandon(future: impl Future) {
            settle().await;
            let mut future = pin!(unconstrained(future));
            std::future::poll_fn(|cx| {
                let _ = future.as_mut().poll(cx);
                std::task::Poll::Ready(())
            })
            .await;
        }
    }

    pub(crate) mod files;
}

#[test]
fn files_of_the_machine() {
    if !disk::permissions_bind() {
        return;
    }
    let theirs = |script, log: Log| {
        let written = log.clone();
        disk::within(written, move |top| on_tokio::files::play(script, log, top))
    };
    let ours = |script, log| async move {
        disk::without_rights();
        let directory = disk::Directory::new();
        on_ours::files::play(script, log, directory.path()).await;
    };
    if let Err(text) = compare(Fifo, 0..SEEDS, theirs, ours) {
        panic!("{text}");
    }
}
