//! Threads that have a world around them, and end before its last runtime does: they stay for those who use it.
//!
//! On tokio a runtime is built in one thread and used in another as in the first. Here the world is the first thread's,
//! and runs on it alone.
//!
//! So does a test's own thread that ends before its runtime does, as that lies in a static, if it leaves tasks behind:
//! servers and actors, which later tests ask. Their threads have worlds of their own. Joining it the harness learns that it
//! has ended.

use super::{AROUND, end, leave};
use crate::execution::{lone, machine};
#[cfg(unix)]
use crate::explore::apart;
use crate::task::blocking::block_on;
use cct_interpose::Stay;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// What is known of the last runtime of a world: whether it is gone, or who waits for that.
#[derive(Debug, Default)]
pub(super) struct Gone(Mutex<(bool, Option<Waker>)>);

impl Gone {
    pub(super) fn tell(&self) {
        let waker = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.0 = true;
            known.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn wait(&self) {
        let wait = poll_fn(|cx| {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.0 {
                return Poll::Ready(());
            }
            known.1 = Some(cx.waker().clone());
            Poll::Pending
        });
        wait.await;
    }
}

/// From here on threads stay as long as they have to.
pub(super) fn see_to_it() {
    cct_interpose::on_thread_end(Stay {
        needed,
        stay,
        ended,
    });
}

fn around() -> Option<(u64, Arc<Gone>)> {
    AROUND.with_borrow(|around| {
        let around = around.as_ref()?;
        Some((around.world.serial(), around.gone.clone()))
    })
}

fn needed() -> bool {
    around().is_some()
}

/// A test has ended whose runtime has not, as it lies in a static. Where its world was ordered it is the only one of the
/// process, and ends with it, so that it is told what has come of it.
fn ended() {
    if !needed() {
        return;
    }
    lone::has_left();
    #[cfg(unix)]
    if let Some((serial, _)) = around().filter(|_| super::is_ordered()) {
        apart::code_has_ended();
        end(serial);
        return;
    }
    if lone::has_nobody_else() {
        return leave();
    }
    // What the thread does from here on is no test's.
    AROUND.with_borrow_mut(|around| around.as_mut().and_then(|around| around.watch.take()));
    machine::goes_on_for_ever();
}

/// Runs the world around this thread until its last runtime is dropped, or nobody has done anything with it for long.
fn stay() {
    let Some((serial, gone)) = around() else {
        return;
    };
    lone::has_left();
    // It is unwound if the world ends before.
    let is_gone = catch_unwind(AssertUnwindSafe(|| block_on(gone.wait()))).is_ok();
    if is_gone || cct_interpose::was_started() {
        end(serial);
    } else {
        leave();
    }
}
