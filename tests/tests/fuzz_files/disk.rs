//! A directory of the real disk for each script, and threads that work on it.
//!
//! tokio does what is asked of a disk on threads of its own. Here there is one, so that all is done
//! in the order in which it was asked for; and it has no rights of `root`, whoever runs the tests.

use cct_tests::tools::payload_text;
use cct_tests::{Log, note};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Uid, setfsuid};
use std::cell::Cell;
use std::fs::{self, Permissions};
use std::future::{Future, poll_fn};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{spawn_blocking, unconstrained};

/// Who works on the disk where `root` must not.
const NOBODY: u32 = 65534;

/// Plays in a new directory, which the process is in and which is gone afterwards. Panics are noted:
/// nothing is printed of them.
pub(crate) async fn within<F: Future<Output = ()>>(log: Log, play: impl FnOnce(PathBuf) -> F) {
    let directory = Directory::new();
    let threads = Builder::new_current_thread()
        .max_blocking_threads(1)
        .on_thread_start(without_rights)
        .build()
        .expect("a runtime");
    let threads = Threads(Some(threads));
    let mut future = pin!(play(directory.path()));
    poll_fn(|cx| {
        let _entered = threads.0.as_ref().map(Runtime::enter);
        let poll = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        poll.unwrap_or_else(|payload| {
            note!(log, "panic: {}", payload_text(payload.as_ref()));
            Poll::Ready(())
        })
    })
    .await;
}

/// Whether permissions mean anything here: in some containers `root` cannot do without its rights.
pub(crate) fn permissions_bind() -> bool {
    let bind = Cell::new(false);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(within(Log::new(), async |top: PathBuf| {
        let file = top.join("file");
        let made = tokio::fs::write(&file, "").await.is_ok();
        let closed = tokio::fs::set_permissions(&file, Permissions::from_mode(0o000)).await;
        let opened = tokio::fs::read(&file).await;
        bind.set(made && closed.is_ok() && opened.is_err());
    }));
    bind.get()
}

/// Only this thread loses its rights, and only those over files.
pub(crate) fn without_rights() {
    if Uid::effective().is_root() {
        setfsuid(Uid::from_raw(NOBODY));
    }
}

struct Threads(Option<Runtime>);

impl Drop for Threads {
    fn drop(&mut self) {
        // Scripts end when nothing is under way any more.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A new directory that the process is in. It is gone when this is dropped.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        umask(Mode::from_bits_truncate(0o022));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cct-files-{}-{number}", std::process::id());
        // What is in memory is as good, and faster.
        let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()].map(|dir| dir.join(&name));
        let path = places.into_iter().find(|path| fs::create_dir(path).is_ok());
        let path = path.expect("a directory for a test");
        let path = path.canonicalize().expect("it is there");
        if Uid::effective().is_root() {
            // Where not even root may do that, permissions are not compared.
            let _ = chown(&path, Some(NOBODY), None);
        }
        std::env::set_current_dir(&path).expect("it is there");
        Directory(path)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.clone()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::env::set_current_dir(std::env::temp_dir());
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn links(found: &fs::Metadata) -> u64 {
    found.nlink()
}

/// Waits until nothing is under way.
pub(crate) async fn settle() {
    spawn_blocking(|| ()).await.expect("that does not panic");
}

/// Polls a future once, while the thread that would do its work is busy, and drops it.
pub(crate) async fn abandon(future: impl Future) {
    settle().await;
    let (gate, closed) = mpsc::channel::<()>();
    spawn_blocking(move || closed.recv());
    let mut future = pin!(unconstrained(future));
    poll_fn(|cx| {
        let _ = future.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
    drop(gate);
}
