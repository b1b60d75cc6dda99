//! The executor.
//!
//! One thread; tasks in a Vec; the ready queue is a pair of Vecs (one drained in order while the
//! other fills); a waker is the task's index, so there is nothing to allocate or count; no choice
//! is made and nothing is recorded. Wakers must stay on the thread they came from: elsewhere they
//! do nothing.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

type Fut = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    fut: Option<Fut>,
    queued: bool,
}

struct Timer {
    at: u64,
    seq: u64,
    waker: Waker,
}
impl PartialEq for Timer {
    fn eq(&self, o: &Self) -> bool {
        (self.at, self.seq) == (o.at, o.seq)
    }
}
impl Eq for Timer {}
impl PartialOrd for Timer {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}
impl Ord for Timer {
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        (self.at, self.seq).cmp(&(o.at, o.seq))
    }
}

pub(super) struct Exec {
    tasks: Vec<Task>,
    free: Vec<u32>,
    ready: Vec<u32>,
    batch: Vec<u32>,
    timers: BinaryHeap<Reverse<Timer>>,
    timer_seq: u64,
    now: u64,
}

thread_local! {
    static CURRENT: Cell<*mut Exec> = const { Cell::new(ptr::null_mut()) };
}

/// Runs `f` on the executor that is running on this thread.
///
/// The reference never outlives the call, and no call of user code happens inside `f`, so there
/// is never a second one alive at the same time.
#[inline]
fn with<R>(f: impl FnOnce(&mut Exec) -> R) -> R {
    let e = CURRENT.get();
    assert!(!e.is_null(), "not inside run()");
    // SAFETY: see above; `run` keeps the executor alive while the pointer is set.
    f(unsafe { &mut *e })
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |p| RawWaker::new(p, &VTABLE),
    |p| wake(p as usize as u32),
    |p| wake(p as usize as u32),
    |_| {},
);

#[inline]
fn wake(i: u32) {
    let e = CURRENT.get();
    if e.is_null() {
        return;
    }
    // SAFETY: as in `with`. An index is that of a task, whose slot is never removed; `add` keeps
    // room in `ready` for every task once.
    unsafe {
        let e = &mut *e;
        let t = e.tasks.get_unchecked_mut(i as usize);
        if !t.queued {
            t.queued = true;
            let n = e.ready.len();
            e.ready.as_mut_ptr().add(n).write(i);
            e.ready.set_len(n + 1);
        }
    }
}

#[inline]
fn waker(i: u32) -> ManuallyDrop<Waker> {
    // SAFETY: the vtable's functions take any index and own nothing.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(i as usize as *const (), &VTABLE)) })
}

/// One iteration: a fresh executor, and the root run to its end.
pub(super) fn run(root: impl Future<Output = ()> + 'static) {
    let done = Exec::new().run(Box::pin(root));
    assert!(done, "the floor cannot go on: a deadlock");
}

/// Adds a task to the running executor.
pub(super) fn spawn_raw(fut: Fut) {
    with(|e| e.add(fut))
}

/// Virtual milliseconds since the start.
pub(super) fn now() -> u64 {
    with(|e| e.now)
}

pub(super) fn add_timer(at: u64, waker: Waker) {
    with(|e| {
        let seq = e.timer_seq;
        e.timer_seq += 1;
        e.timers.push(Reverse(Timer { at, seq, waker }));
    })
}

impl Exec {
    pub(super) fn new() -> Exec {
        Exec {
            tasks: Vec::with_capacity(16),
            free: Vec::new(),
            ready: Vec::with_capacity(16),
            batch: Vec::with_capacity(16),
            timers: BinaryHeap::new(),
            timer_seq: 0,
            now: 0,
        }
    }

    fn add(&mut self, fut: Fut) {
        let t = Task {
            fut: Some(fut),
            queued: true,
        };
        let i = match self.free.pop() {
            Some(i) => {
                // A late wake of the slot's last task may have queued it: then once is enough.
                if std::mem::replace(&mut self.tasks[i as usize], t).queued {
                    return;
                }
                i
            }
            None => {
                self.tasks.push(t);
                // Both queues can then hold every task once, without a check at each wake.
                let n = self.tasks.len();
                self.ready.reserve(n - self.ready.len());
                self.batch.reserve(n - self.batch.len());
                (n - 1) as u32
            }
        };
        self.ready.push(i);
    }

    /// Runs the root until all tasks are done or none can go on; returns whether all are done.
    pub(super) fn run(&mut self, root: Fut) -> bool {
        self.add(root);
        let me: *mut Exec = self;
        CURRENT.set(me);
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                CURRENT.set(ptr::null_mut());
            }
        }
        let _reset = Reset;
        // From here on every access goes through `me`: polls reach the executor through CURRENT.
        // SAFETY (all the unsafe below): single thread; no reference into the executor is held
        // across a poll; a future's box does not move when `tasks` grows, and is freed only here.
        loop {
            let n = unsafe {
                let e = &mut *me;
                std::mem::swap(&mut e.ready, &mut e.batch);
                e.ready.clear();
                e.batch.len()
            };
            if n == 0 {
                match unsafe { (*me).timers.pop() } {
                    None => break,
                    Some(Reverse(t)) => {
                        unsafe { (*me).now = t.at };
                        t.waker.wake();
                        continue;
                    }
                }
            }
            for k in 0..n {
                // `batch` keeps its length, but a spawn may move it.
                let (i, fut) = unsafe {
                    let e = &mut *me;
                    let i = *e.batch.get_unchecked(k);
                    let t = e.tasks.get_unchecked_mut(i as usize);
                    t.queued = false;
                    match &mut t.fut {
                        Some(f) => (i, ptr::from_mut(f.as_mut().get_unchecked_mut())),
                        None => continue, // woken after its end
                    }
                };
                let w = waker(i);
                let mut cx = Context::from_waker(&w);
                if let Poll::Ready(()) = unsafe { Pin::new_unchecked(&mut *fut) }.poll(&mut cx) {
                    let done = unsafe { &mut *me }.tasks[i as usize].fut.take();
                    drop(done); // may wake others
                    let e = unsafe { &mut *me };
                    if !e.tasks[i as usize].queued {
                        e.free.push(i);
                    }
                }
            }
        }
        self.tasks.iter().all(|t| t.fut.is_none())
    }
}
