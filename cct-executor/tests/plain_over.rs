//! Handles to the world around a test's own code, when it is over: what they are to spawn is cancelled, as by tokio.

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::{Handle, Runtime};
use cct_executor::{spawn, task};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

fn handle_to_the_past() -> Handle {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async { spawn(async {}).await.unwrap() });
    runtime.handle().clone()
}

passes!(["once"] what_is_spawned_is_cancelled {
    let handle = handle_to_the_past();
    let (guard, kept) = (Arc::new(()), Arc::new(()));
    let (one, other) = (guard.clone(), kept.clone());
    let task = handle.spawn(async move { drop(one) });
    let blocking = handle.spawn_blocking(move || drop(other));
    assert_eq!((Arc::strong_count(&guard), Arc::strong_count(&kept)), (1, 1));
    assert!(task.is_finished() && blocking.is_finished());
    task.abort();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(blocking.await.unwrap_err().is_cancelled());
    });
});

passes!(["once"] what_is_spawned_by_who_has_entered_is_cancelled {
    let handle = handle_to_the_past();
    let _inside = handle.enter();
    let spawned = [spawn(async { 1 }), task::spawn_blocking(|| 2)];
    assert!(spawned.iter().all(task::JoinHandle::is_finished));
});

/// Has a handle clean up, as it is dropped.
struct CleansUp(Handle, Arc<AtomicU32>);

impl Drop for CleansUp {
    fn drop(&mut self) {
        let done = self.1.clone();
        self.0.spawn(async move { done.fetch_add(1, Relaxed) });
    }
}

passes!(["once"] who_outlives_the_runtime_may_spawn_as_it_is_dropped {
    let done = Arc::new(AtomicU32::new(0));
    let kept;
    let runtime = Runtime::new().unwrap();
    kept = CleansUp(runtime.handle().clone(), done.clone());
    drop(CleansUp(runtime.handle().clone(), done.clone()));
    runtime.block_on(async { task::yield_now().await });
    drop(runtime);
    drop(kept);
    assert_eq!(done.load(Relaxed), 1);
});

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
mod threads {
    use super::*;

    passes!(["once"] threads_find_it_over_too {
        let handle = handle_to_the_past();
        let thread = std::thread::spawn(move || handle.spawn(async { 1 }).is_finished());
        assert!(thread.join().unwrap());
    });
}
