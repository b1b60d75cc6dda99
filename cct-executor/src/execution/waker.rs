//! Wakers of tasks, and waiters: wakers free of reference counts.
//!
//! A wake-up of a world that is over is ignored. A wake-up from a foreign thread is left at the
//! world's home, where the step loop finds and reports it: nothing controls when it comes.

use super::world::WORLD;
use crate::raw::shared::Home;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// Wakes one task of one world.
#[derive(Clone, Copy)]
pub(crate) struct TaskWaker {
    pub(crate) home: &'static Home,
    pub(crate) serial: u64,
    pub(crate) key: u32,
}

fn wake(home: &'static Home, serial: u64, key: u32) {
    let here = WORLD.with(|world| {
        let here = world.serial.get() == serial;
        if here {
            world.wake(key);
        }
        here
    });
    if !here && !home.is_here() {
        home.post(serial, key, None);
    }
}

impl TaskWaker {
    #[inline]
    pub(crate) fn wake_task(&self) {
        if WORLD.with(|world| world.recording.get()) {
            self.note_wake();
        }
        wake(self.home, self.serial, self.key);
    }
}

impl TaskWaker {
    #[cold]
    fn note_wake(&self) {
        // What a panic's unwinding drops comes of the failure, and is no cause of it.
        if std::thread::panicking() {
            return;
        }
        WORLD.with(|world| {
            if world.is_running() && world.serial.get() == self.serial {
                world.with(|core, _| core.note_wake(self.key));
            }
        });
    }

    /// There is one more waker of the task in the hands of others, or one less.
    #[inline]
    pub(crate) fn wakers_changed(&self, more: bool) {
        WORLD.with(|world| {
            if world.recording.get() && world.serial.get() == self.serial {
                world.count_waker(self.key, more);
            }
        });
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_task();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_task();
    }
}

/// Whom to wake. Like a [`Waker`], but without reference counts when the waker polled with is the
/// running task's own, as it nearly always is.
#[derive(Clone, Debug)]
pub struct Waiter(Inner);

#[derive(Clone)]
enum Inner {
    Task {
        home: &'static Home,
        serial: u64,
        key: u32,
    },
    Other(Waker),
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Inner::Task { key, .. } => f.debug_tuple("Task").field(key).finish(),
            Inner::Other(waker) => waker.fmt(f),
        }
    }
}

impl Waiter {
    /// The waiter of this poll.
    #[inline]
    pub fn from_context(cx: &Context<'_>) -> Waiter {
        Waiter::own(cx).unwrap_or_else(|| Waiter(Inner::Other(cx.waker().clone())))
    }

    /// Makes sure, if it can be done without running code of the waker's, that there is a waiter of this
    /// poll: where the waker is the running task's own. Returns whether there is one now. For use in a
    /// [`Shared`](crate::shim::Shared), from where other waiters must be made outside.
    #[inline]
    pub fn fill(waiter: &mut Option<Waiter>, cx: &Context<'_>) -> bool {
        if waiter.is_none() {
            *waiter = Waiter::own(cx);
        }
        waiter.is_some()
    }

    /// The waiter of this poll, if its waker is the running task's own.
    #[inline]
    fn own(cx: &Context<'_>) -> Option<Waiter> {
        let (serial, key) = WORLD.with(|world| {
            let running = world.running.get();
            (running.waker == cx.waker().data() && !running.waker.is_null())
                .then(|| (world.serial.get(), running.key))
        })?;
        let home = Home::here()?;
        Some(Waiter(Inner::Task { home, serial, key }))
    }

    /// A waiter for any waker.
    pub(crate) fn of(waker: Waker) -> Waiter {
        Waiter(Inner::Other(waker))
    }

    /// Whether waking it would wake the waker of this poll.
    #[inline]
    pub fn will_wake(&self, cx: &Context<'_>) -> bool {
        match &self.0 {
            Inner::Task { serial, key, .. } => WORLD.with(|world| {
                let running = world.running.get();
                running.waker == cx.waker().data()
                    && running.key == *key
                    && world.serial.get() == *serial
            }),
            Inner::Other(waker) => waker.will_wake(cx.waker()),
        }
    }

    /// Wakes.
    #[inline]
    pub fn wake(self) {
        match self.0 {
            Inner::Task { home, serial, key } => wake(home, serial, key),
            Inner::Other(waker) => waker.wake(),
        }
    }

    /// The task, when it is a task of the world it was made in.
    #[inline]
    pub(crate) fn task(&self) -> Option<u32> {
        match self.0 {
            Inner::Task { key, .. } => Some(key),
            Inner::Other(_) => None,
        }
    }
}
