//! Tests without an attribute that build a runtime: refused, or run once, as `CCT_PLAIN_TESTS` says.

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::{Builder, Handle, Runtime};
use cct_executor::task::{LocalSet, spawn_local, yield_now};
use cct_executor::time::{Duration, Instant, sleep, timeout};
use cct_executor::{always, spawn, task};
use cct_sync::{Mutex, Semaphore, mpsc, oneshot};
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::future::pending;
use std::hint::black_box;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A test that must pass where plain tests are run once.
macro_rules! once {
    ($name:ident $body:block) => {
        passes! { ["once"] $name $body }
    };
}

/// A test that fails where plain tests are run, and says this.
macro_rules! fails {
    ($name:ident $body:block says $($text:literal)*) => {
        #[test]
        fn $name() {
            if is_again() {
                return $body;
            }
            let output = again(stringify!($name), "once", &[]);
            assert_eq!(output.status.code(), Some(101), "{output:?}");
            let text = said(&output);
            $(assert!(text.contains($text), "{text}");)*
        }
    };
}

/// Counts how often it is dropped.
struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn without_the_variable_they_are_refused() {
    let error = Runtime::new().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .contains("CCT_PLAIN_TESTS=explore or once"),
        "{error}"
    );
}

#[test]
fn a_value_that_cannot_be_understood_is_named() {
    if is_again() {
        let error = Runtime::new().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = "invalid CCT_PLAIN_TESTS `twice`: expected `explore`, `once` or `refuse`";
        assert!(error.to_string().contains(text), "{error}");
        return;
    }
    let output = again("a_value_that_cannot_be_understood_is_named", "twice", &[]);
    assert!(output.status.success(), "{output:?}");
}

once!(tasks_go_on_from_one_block_on_to_the_next {
    let runtime = Runtime::new().unwrap();
    let (sender, mut receiver) = mpsc::channel(1);
    let server = runtime.spawn(async move {
        for n in 0..3 {
            sender.send(n).await.unwrap();
        }
    });
    assert_eq!(runtime.block_on(receiver.recv()), Some(0));
    assert_eq!(runtime.block_on(receiver.recv()), Some(1));
    assert_eq!(receiver.blocking_recv(), Some(2));
    runtime.block_on(server).unwrap();
    assert_eq!(runtime.block_on(receiver.recv()), None);
});

once!(time_is_virtual_and_closures_may_block {
    let runtime = Runtime::new().unwrap();
    let began = Instant::now();
    runtime.block_on(async {
        let slow = task::spawn_blocking(|| Handle::current().block_on(sleep(Duration::from_secs(3600))));
        slow.await.unwrap();
    });
    let late = began.elapsed().checked_sub(Duration::from_secs(3600));
    assert!(late.is_some_and(|late| late < Duration::from_millis(2)), "{late:?}");
});

#[cfg(target_os = "linux")]
once!(closures_may_wait_by_means_of_others {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (lock, told) = (Arc::new(std::sync::Mutex::new(0)), oneshot::channel());
    let (same, (tell, told)) = (lock.clone(), told);
    let first = runtime.spawn_blocking(move || {
        let mut held = same.lock().unwrap();
        tell.send(()).unwrap();
        futures::executor::block_on(sleep(Duration::from_secs(1)));
        *held += 1;
    });
    let second = runtime.spawn(async move {
        told.await.unwrap();
        let waits = task::spawn_blocking(move || *lock.lock().unwrap());
        waits.await.unwrap()
    });
    assert_eq!(runtime.block_on(second).unwrap(), 1);
    runtime.block_on(first).unwrap();
});

once!(tasks_of_one_thread_take_turns_in_order {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    for n in 0..3 {
        let order = order.clone();
        runtime.spawn(async move {
            order.lock().await.push(n);
            yield_now().await;
            order.lock().await.push(n + 10);
        });
    }
    assert!(order.try_lock().unwrap().is_empty());
    runtime.block_on(async {
        while order.lock().await.len() < 6 {
            yield_now().await;
        }
    });
    let mut order = order.blocking_lock().clone();
    assert_eq!(order[..3], [0, 1, 2]);
    order.sort_unstable();
    assert_eq!(order, [0, 1, 2, 10, 11, 12]);
});

once!(what_is_left_is_dropped_with_the_last_runtime {
    let count = Arc::new(AtomicU32::new(0));
    let (one, other) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    let (first, second) = (Dropped(count.clone()), Dropped(count.clone()));
    one.spawn(async move {
        let _first = first;
        pending::<()>().await;
    });
    other.spawn(async move {
        let _second = second;
        pending::<()>().await;
    });
    one.block_on(yield_now());
    drop(one);
    assert_eq!(count.load(Relaxed), 1);
    other.block_on(async { spawn(async {}).await.unwrap() });
    drop(other);
    assert_eq!(count.load(Relaxed), 2);
    assert!(Handle::try_current().is_err(), "the world is over");
});

once!(one_world_follows_another {
    for n in 0..3_u64 {
        let runtime = Runtime::new().unwrap();
        let began = Instant::now();
        runtime.block_on(async { sleep(Duration::from_secs(n)).await });
        assert_eq!(began.elapsed().as_secs(), n);
    }
});

once!(a_panic_that_is_caught_leaves_all_as_it_is {
    let caught = std::panic::catch_unwind(|| {
        let runtime = Runtime::new().unwrap();
        runtime.spawn(pending::<()>());
        runtime.block_on(async { panic!("on purpose") })
    });
    let payload: Box<dyn std::any::Any + Send> = caught.unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
    let runtime = Runtime::new().unwrap();
    let error = runtime.block_on(spawn_a_panic());
    assert!(error.is_panic());
});

async fn spawn_a_panic() -> task::JoinError {
    spawn(async { panic!("of a task") }).await.unwrap_err()
}

once!(a_panic_that_nobody_asks_for_is_as_in_tokio {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        drop(spawn(async { panic!("nobody asks") }));
        sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(runtime.block_on(async { 3 }), 3);
});

once!(a_runtime_that_is_never_dropped_is_left {
    let runtime = Runtime::new().unwrap();
    assert_eq!(runtime.block_on(async { spawn(async { 7 }).await.unwrap() }), 7);
    runtime.spawn(pending::<()>());
    std::mem::forget(runtime);
});

once!(a_runtime_dropped_by_its_own_task_is_left {
    let runtime = Arc::new(Runtime::new().unwrap());
    let (keep, kept) = oneshot::channel::<Arc<Runtime>>();
    let task = runtime.spawn(async move { kept.await.unwrap().shutdown_kindly() });
    assert!(keep.send(runtime.clone()).is_ok());
    runtime.block_on(task).unwrap();
});

/// What a task can do with a runtime that others have, too.
trait Kindly {
    fn shutdown_kindly(self);
}

impl Kindly for Arc<Runtime> {
    fn shutdown_kindly(self) {
        if let Some(runtime) = Arc::into_inner(self) {
            runtime.shutdown_background();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn dropped_by_a_thread(runtime: Runtime) {
    let (sender, dropped) = std::sync::mpsc::channel::<()>();
    let task = runtime.spawn(async move {
        pending::<()>().await;
        drop(sender);
    });
    let thread = std::thread::spawn(move || drop(runtime));
    let end = dropped.recv_timeout(Duration::from_secs(5));
    assert_eq!(end, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    thread.join().unwrap();
    assert!(task.is_finished());
}

#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn hold_runtimes_in_thread_locals() {
    thread_local! {
        static EARLY: RefCell<Option<Runtime>> = const { RefCell::new(None) };
        static LATE: (Runtime, LocalSet) = (Runtime::new().unwrap(), LocalSet::new());
    }
    EARLY.with_borrow_mut(|early| *early = Some(Runtime::new().unwrap()));
    EARLY.with_borrow(|early| {
        let runtime = early.as_ref().unwrap();
        runtime.block_on(async {
            spawn(pending::<()>());
            spawn(sleep(Duration::from_secs(60)));
            yield_now().await;
        });
    });
    let local = |(runtime, set): &(Runtime, LocalSet)| {
        set.block_on(runtime, async { spawn_local(async { 1 }).await.unwrap() })
    };
    assert_eq!(LATE.with(local), 1);
    let thread = std::thread::spawn(move || LATE.with(local));
    assert_eq!(thread.join().unwrap(), 1);
}

passes!(["once" "explore"] a_thread_local_may_hold_a_runtime {
    hold_runtimes_in_thread_locals();
});

passes!(["once" "explore"] a_runtime_that_a_thread_drops_loses_its_tasks {
    dropped_by_a_thread(Builder::new_current_thread().build().unwrap());
    let _other = Runtime::new().unwrap();
    dropped_by_a_thread(Builder::new_current_thread().build().unwrap());
});

/// A thread with a runtime of its own, which answers with one more than it is sent.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn answering_thread(
    mut questions: mpsc::Receiver<u32>,
    answers: mpsc::Sender<u32>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            while let Some(question) = questions.recv().await {
                sleep(Duration::from_millis(1)).await;
                answers.send(question + 1).await.unwrap();
            }
        });
    })
}

/// Has a thread answer, for as long as somebody asks.
#[cfg(target_os = "linux")]
fn converse(runtime: &Runtime, ask: mpsc::Sender<u32>, mut answered: mpsc::Receiver<u32>) {
    runtime.block_on(async {
        for question in 0..20 {
            ask.send(question).await.unwrap();
            assert_eq!(answered.recv().await, Some(question + 1));
        }
    });
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn spawn_from_a_thread(handle: Handle, sender: oneshot::Sender<u32>) {
    std::thread::spawn(move || {
        let task = handle.spawn(async {
            yield_now().await;
            1
        });
        handle.spawn(async move { sender.send(task.await.unwrap() + 1) });
    });
}

#[cfg(target_os = "linux")]
once!(threads_of_a_test_spawn_tasks {
    let runtime = Runtime::new().unwrap();
    let (sender, receiver) = oneshot::channel();
    spawn_from_a_thread(runtime.handle().clone(), sender);
    assert_eq!(runtime.block_on(receiver), Ok(2));
});

#[cfg(target_os = "linux")]
once!(threads_of_a_test_have_runtimes_of_their_own {
    let runtime = Runtime::new().unwrap();
    let (ask, questions) = mpsc::channel(1);
    let (answers, answered) = mpsc::channel(1);
    let thread = answering_thread(questions, answers);
    converse(&runtime, ask, answered);
    thread.join().unwrap();
});

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn nap() {
    std::thread::sleep(Duration::from_millis(2));
}

// No world is around the test itself.
#[cfg(target_os = "linux")]
once!(threads_that_a_test_starts_outside_of_worlds_have_runtimes {
    let (ask, questions) = mpsc::channel(1);
    let (answers, mut answered) = mpsc::channel(1);
    let thread = answering_thread(questions, answers);
    for question in 0..20 {
        ask.blocking_send(question).unwrap();
        assert_eq!(answered.blocking_recv(), Some(question + 1));
        // The thread waits for longer than nothing, and for whom it does not know.
        nap();
    }
    drop(ask);
    thread.join().unwrap();
});

// The first world is another thread's.
#[cfg(target_os = "linux")]
once!(a_test_and_threads_that_it_has_started_before_have_runtimes {
    let (ask, questions) = mpsc::channel(1);
    let (answers, answered) = mpsc::channel(1);
    let thread = answering_thread(questions, answers);
    converse(&Runtime::new().unwrap(), ask, answered);
    thread.join().unwrap();
});

// What is not `Send` is the thread's own, and comes back to it.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn block_on_in_a_thread(runtime: Arc<Runtime>) -> std::thread::JoinHandle<u32> {
    std::thread::spawn(move || {
        let own = std::rc::Rc::new(std::cell::Cell::new(1));
        let theirs = own.clone();
        let two = runtime.block_on(async {
            sleep(Duration::from_secs(1)).await;
            theirs.set(theirs.get() + spawn(async { 1 }).await.unwrap());
            std::rc::Rc::clone(&theirs)
        });
        let handle = runtime.handle().clone();
        handle.block_on(yield_now());
        let _entered = handle.enter();
        let task = Handle::current().spawn(async { 1 });
        let more = spawn(async move { task.await.unwrap() + 1 });
        own.get() + two.get() + runtime.block_on(more).unwrap()
    })
}

#[cfg(target_os = "linux")]
once!(threads_of_a_test_block_on_its_runtime_and_enter_it {
    let runtime = Arc::new(Runtime::new().unwrap());
    let thread = block_on_in_a_thread(runtime.clone());
    assert_eq!(thread.join().unwrap(), 6);
    // While the test itself is in the runtime, too.
    let thread = block_on_in_a_thread(runtime.clone());
    runtime.block_on(async { sleep(Duration::from_secs(3)).await });
    assert_eq!(thread.join().unwrap(), 6);
});

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn panic_in_a_thread(runtime: Arc<Runtime>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || runtime.block_on(async { panic!("of the future") }))
}

#[cfg(target_os = "linux")]
once!(what_a_thread_blocks_on_panics_there {
    let runtime = Arc::new(Runtime::new().unwrap());
    let panic = panic_in_a_thread(runtime.clone()).join().unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"of the future"));
    assert_eq!(runtime.block_on(async { 1 }), 1);
});

/// What another test has left in a static, whose thread is gone.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn left_by_a_thread() -> Arc<Runtime> {
    let other = std::thread::spawn(|| {
        let runtime = Arc::new(Runtime::new().unwrap());
        assert_eq!(runtime.block_on(async { 1 }), 1);
        runtime
    });
    other.join().unwrap()
}

#[cfg(target_os = "linux")]
once!(a_runtime_whose_thread_is_gone_runs_what_is_awaited {
    let runtime = left_by_a_thread();
    for _ in 0..2 {
        let task = async {
            sleep(Duration::from_secs(1)).await;
            spawn(async { 1 }).await.unwrap()
        };
        assert_eq!(runtime.block_on(task), 1);
    }
    assert_eq!(runtime.handle().block_on(async { 2 }), 2);
});

/// Builds a runtime further down the stack than anything reaches later, and leaves something else there.
#[inline(never)]
fn built_far_below() -> Runtime {
    #[inline(never)]
    fn below() -> Runtime {
        let _room = black_box([0_u64; 4_000]);
        Runtime::new().unwrap()
    }
    let runtime = below();
    let something = || black_box([u64::MAX / 3; 12_000]);
    let _ = something();
    runtime
}

once!(a_task_can_look_at_its_stack_wherever_the_test_stands {
    let runtime = built_far_below();
    let task = runtime.spawn(async { Backtrace::force_capture().to_string() });
    let stack = runtime.block_on(task).unwrap();
    assert!(stack.contains("a_task_can_look"), "{stack}");
});

#[cfg(target_os = "linux")]
once!(who_spins_when_its_world_ends_goes_on {
    let runtime = Runtime::new().unwrap();
    runtime.spawn(async {
        yield_now().await;
        always!(false, "the end of the world");
    });
    (0..100).for_each(|_| std::thread::yield_now());
    drop(runtime);
    (0..100).for_each(|_| std::thread::yield_now());
});

fails!(an_assertion_fails_as_ever {
    let runtime = Runtime::new().unwrap();
    let two = runtime.block_on(async { 2 });
    assert_eq!(two, 3, "of a plain test");
} says "of a plain test" "tests/plain.rs");

fails!(who_waits_for_ever_is_told {
    let runtime = Runtime::new().unwrap();
    let count = Arc::new(AtomicU32::new(0));
    let dropped = Dropped(count.clone());
    runtime.spawn(async move {
        let _dropped = dropped;
        pending::<()>().await;
    });
    let permits = Arc::new(Semaphore::new(0));
    runtime.spawn(async move { permits.acquire().await.map(drop) });
    runtime.block_on(pending::<()>());
} says "the world of this test, which was run once, is over: deadlock"
    "the test waits at cct-executor/tests/plain.rs:"
    "\ntask 1, spawned at cct-executor/tests/plain.rs:"
    "waits: cct does not know for what"
    "waits: acquire at cct-executor/tests/plain.rs:");

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn start_a_thread() {
    std::thread::spawn(|| ()).join().unwrap();
}

#[cfg(target_os = "linux")]
fails!(who_has_started_a_thread_is_told_that_it_is_not_the_worlds {
    let runtime = Runtime::new().unwrap();
    start_a_thread();
    runtime.block_on(pending::<()>());
} says "it has started threads (1): they, and sockets of `std::net`, are not the world's");

once!(who_has_entered_a_runtime_is_in_it_when_it_is_shut_down {
    {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        runtime.shutdown_background();
        let handle = Handle::current();
        assert_eq!(handle.block_on(async { 1 }), 1);
        let task = handle.spawn(async {});
        assert!(handle.block_on(task).unwrap_err().is_cancelled());
    }
    assert!(Handle::try_current().is_err());
});

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn send_from_a_thread(sender: oneshot::Sender<()>) {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        sender.send(())
    });
}

#[cfg(target_os = "linux")]
once!(what_a_thread_sends_arrives_while_others_spin {
    let runtime = Runtime::new().unwrap();
    runtime.spawn(async {
        loop {
            yield_now().await;
        }
    });
    let (sender, receiver) = oneshot::channel();
    send_from_a_thread(sender);
    runtime.block_on(receiver).unwrap();
});

#[cfg(target_os = "linux")]
once!(what_a_thread_sends_arrives_before_time_moves_far {
    let runtime = Runtime::new().unwrap();
    let (sender, receiver) = oneshot::channel();
    send_from_a_thread(sender);
    let hour = Duration::from_secs(3600);
    runtime.block_on(async { timeout(hour, receiver).await.unwrap() }).unwrap();
});

/// A thread that keeps a lock for longer than the second of the machine's time after which a world in which
/// nothing happens is over.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn held_for_long(lock: &'static std::sync::Mutex<u32>) -> std::thread::JoinHandle<()> {
    let (held, is_held) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut value = lock.lock().unwrap();
        held.send(()).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        *value = 7;
    });
    is_held.recv().unwrap();
    thread
}

// Its stack is the thread's own: it cannot be left where it waits, as polls are that wait in vain.
#[cfg(target_os = "linux")]
once!(who_waits_for_a_thread_waits_when_the_world_is_over_too {
    let lock: &'static std::sync::Mutex<u32> = Box::leak(Box::default());
    let thread = held_for_long(lock);
    let runtime = Builder::new_current_thread().build().unwrap();
    let value = runtime.block_on(async { *lock.lock().unwrap() });
    assert_eq!(value, 7);
    drop(runtime);
    thread.join().unwrap();
});
