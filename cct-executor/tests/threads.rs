//! Tests with the attribute in which threads of `std` take part: a failure, or run once, as `CCT_PLAIN_TESTS` says.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "threads are what it is about")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a test prints is looked at"
)]

mod again;
#[path = "threads/timers.rs"]
mod timers;

use again::{again, is_again, said};
use cct_executor::runtime::Handle;
use cct_executor::spawn;
use cct_executor::time::{Duration, Instant, sleep};
use cct_sync::{mpsc, oneshot};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread;

/// Failures that nobody can repeat are not to be remembered beside this file.
const OFF: [(&str, &str); 1] = [("CCT_REGRESSIONS", "off")];

/// A test that passes once threads may take part in it, and is no test but in a process of its own.
macro_rules! with_threads {
    ($name:ident ($($args:tt)*) $driver:ident $body:block) => {
        #[cct_executor::test(determinism_check = false, poll_limit = "1s", $($args)*)]
        async fn $name() {
            if is_again() $body
        }

        #[test]
        fn $driver() {
            if is_again() {
                return;
            }
            for how in ["once", "explore"] {
                let output = again(stringify!($name), how, &OFF);
                let text = said(&output);
                assert!(output.status.success(), "{text}");
                assert!(text.contains("which nobody can repeat ("), "{text}");
            }
            let output = again(stringify!($name), "refuse", &OFF);
            let text = said(&output);
            assert!(!output.status.success(), "{text}");
            let failed = concat!("cct: FAILED threads::", stringify!($name), ": ");
            assert!(text.contains(failed), "{text}");
        }
    };
}

with_threads! { sends() a_thread_that_sends {
    let (sender, mut receiver) = mpsc::channel(1);
    let thread = thread::spawn(move || {
        for number in 0..10 {
            sender.blocking_send(number).unwrap();
        }
    });
    for number in 0..10 {
        assert_eq!(receiver.recv().await, Some(number));
    }
    assert_eq!(receiver.recv().await, None);
    thread.join().unwrap();
} }

with_threads! { is_joined() a_thread_that_is_waited_for {
    let (question, asked) = oneshot::channel::<u32>();
    let (answer, answered) = oneshot::channel();
    let thread = thread::spawn(move || answer.send(asked.blocking_recv().unwrap() + 1));
    question.send(1).unwrap();
    thread.join().unwrap().unwrap();
    assert_eq!(answered.await, Ok(2));
} }

/// A poll waits for a thread that waits for the poll.
async fn waits_for_who_waits() {
    let (sender, receiver) = oneshot::channel();
    let thread = thread::spawn(move || sender.send(1));
    thread.join().unwrap().unwrap();
    assert_eq!(receiver.await, Ok(1));
}

#[cct_executor::test(determinism_check = false)]
async fn waits_in_a_poll() {
    if is_again() {
        waits_for_who_waits().await;
    }
}

#[cct_executor::test(determinism_check = false, isolation = "process")]
async fn waits_in_a_process() {
    if is_again() {
        waits_for_who_waits().await;
    }
}

#[test]
fn a_poll_that_only_a_thread_can_end_is_not_waited_for_long() {
    if is_again() {
        return;
    }
    for test in ["waits_in_a_poll", "waits_in_a_process"] {
        let begin = std::time::Instant::now();
        let output = again(test, "once", &OFF);
        let text = said(&output);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("which nobody can repeat ("), "{text}");
        // The usual limit of a poll is 10 s.
        assert!(begin.elapsed() < Duration::from_secs(6), "{text}");
    }
}

/// A thread takes part, and only the first run in a process passes.
async fn passes_once() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let before = RUNS.fetch_add(1, SeqCst);
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || sender.send(()));
    receiver.await.unwrap();
    assert_eq!(before, 0, "not the first");
}

with_threads! { finds_a_static_new() what_iterations_have_left_is_not_there {
    passes_once().await;
} }

#[cct_executor::test(determinism_check = false)]
async fn says_what_it_prints() {
    if is_again() {
        passes_once().await;
        println!("a printed line");
        eprintln!("another one");
    }
}

#[test]
fn what_a_test_prints_where_it_is_run_once_is_printed_here() {
    if is_again() {
        return;
    }
    let output = again("says_what_it_prints", "once", &OFF);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for line in ["a printed line\nanother one\n", "1 passed"] {
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }
}

#[cct_executor::test(determinism_check = false)]
#[should_panic(expected = "as it should")]
async fn should_panic_there() {
    if is_again() {
        passes_once().await;
    }
    panic!("as it should");
}

#[cct_executor::test(determinism_check = false)]
#[should_panic(expected = "as it should")]
async fn says_what_is_expected() {
    panic!("as it should");
}

#[cct_executor::test(determinism_check = false)]
#[should_panic(expected = "as it should")]
async fn says_something_else() {
    assert!(!is_again(), "as nobody thought");
    panic!("as it should");
}

#[test]
fn an_expected_failure_is_told_in_short() {
    if is_again() {
        return;
    }
    let output = again("says_what_is_expected", "refuse", &OFF);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    let failed = "cct: FAILED threads::says_what_is_expected: panic\n  panic at ";
    assert!(text.contains(failed), "{text}");
    assert!(text.contains(": as it should\n"), "{text}");
    assert!(
        !text.contains("steps") && !text.contains("replay: "),
        "{text}"
    );
    // All of it, where it is another one.
    let output = again("says_something_else", "refuse", &OFF);
    let text = said(&output);
    assert!(!output.status.success(), "{text}");
    for part in ["as nobody thought", "\n  replay: "] {
        assert!(text.contains(part), "{text}");
    }
}

#[cct_executor::test(determinism_check = false)]
async fn fails_there() {
    if is_again() {
        passes_once().await;
        panic!("as it should not");
    }
}

#[cct_executor::test(determinism_check = false)]
async fn ends_its_process() {
    if is_again() {
        passes_once().await;
        std::process::exit(7);
    }
}

#[cct_executor::test(determinism_check = false)]
async fn beside_a_has_a_thread() {
    if is_again() {
        let (tell, told) = oneshot::channel();
        thread::spawn(move || {
            let _ = tell.send(1);
            loop {
                thread::park();
            }
        });
        assert_eq!(told.await, Ok(1));
    }
}

#[cct_executor::test]
#[should_panic(expected = "as it should")]
async fn beside_b_panics() {
    cct_executor::task::yield_now().await;
    panic!("as it should");
}

#[test]
fn an_expected_panic_is_none_of_the_threads_of_other_tests() {
    if is_again() {
        return;
    }
    let mut variables = OFF.to_vec();
    variables.push(("RUST_TEST_THREADS", "1"));
    let text = said(&again("beside_", "explore", &variables));
    assert!(text.contains("2 passed"), "{text}");
    assert!(
        text.contains("cct: FAILED threads::beside_b_panics"),
        "{text}"
    );
    let blamed = "cct: threads::beside_b_panics: threads of std take part";
    assert!(!text.contains(blamed), "{text}");
}

#[test]
fn what_fails_where_it_is_run_once_fails() {
    if is_again() {
        return;
    }
    let output = again("should_panic_there", "once", &OFF);
    assert!(output.status.success(), "{}", said(&output));
    for (test, what) in [
        ("fails_there", "threads.rs"),
        ("fails_there", "as it should not"),
        ("ends_its_process", "ended before it did (exit status: 7)"),
    ] {
        let output = again(test, "once", &OFF);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(101), "{text}");
        assert_eq!(text.matches(what).count(), 1, "{text}");
        // Why there is no report of a schedule.
        assert!(text.contains("which nobody can repeat ("), "{text}");
    }
    let here = [OFF[0], ("CCT_ISOLATION", "none")];
    let text = said(&again("fails_there", "once", &here));
    for what in ["not the first", "which nobody can repeat ("] {
        assert_eq!(text.matches(what).count(), 1, "{text}");
    }
}

#[test]
fn without_processes_it_is_run_here() {
    if is_again() {
        return;
    }
    let here = [OFF[0], ("CCT_ISOLATION", "none")];
    let output = again("has_a_pool", "once", &here);
    assert!(output.status.success(), "{}", said(&output));
    let output = again("finds_a_static_new", "once", &here);
    let text = said(&output);
    assert!(text.contains("not the first"), "{text}");
}

with_threads! { joins() a_thread_that_is_joined_and_waits_for_a_task {
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = spawn(async move { sender.send(1).unwrap() });
    let thread = thread::spawn(move || receiver.recv().unwrap());
    assert_eq!(thread.join().unwrap(), 1);
    task.await.unwrap();
} }

with_threads! { joins_one_who_looks() a_thread_that_is_joined_and_waits_for_a_condition {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let told = shared.clone();
    let task = spawn(async move {
        *told.0.lock().unwrap() = true;
        told.1.notify_all();
    });
    let thread = thread::spawn(move || {
        let looked = shared.0.lock().unwrap();
        drop(shared.1.wait_while(looked, |set| !*set).unwrap());
    });
    thread.join().unwrap();
    task.await.unwrap();
} }

type Job = Box<dyn FnOnce() + Send>;

/// A thread that is made once for all, by the first who asks for it, as those of pools are.
fn pool() -> std::sync::mpsc::Sender<Job> {
    static POOL: OnceLock<Mutex<std::sync::mpsc::Sender<Job>>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let (sender, jobs) = std::sync::mpsc::channel::<Job>();
        thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Mutex::new(sender)
    });
    pool.lock().unwrap().clone()
}

with_threads! { has_a_pool() a_thread_of_a_pool_in_a_static {
    let (sender, receiver) = oneshot::channel();
    pool().send(Box::new(move || {
        let _ = sender.send(7);
    })).unwrap();
    let late = cct_executor::time::timeout(Duration::from_secs(5), receiver);
    assert_eq!(late.await, Ok(Ok(7)));
} }

/// Where threads are none of a world's.
#[test]
fn old_thread_begins() {
    if is_again() {
        drop(pool());
    }
}

#[cct_executor::test(determinism_check = false)]
async fn old_thread_is_asked() {
    if !is_again() {
        return;
    }
    let (sender, receiver) = oneshot::channel();
    let job = move || {
        // By then it has long been a deadlock to who knows nothing of the thread.
        thread::sleep(std::time::Duration::from_secs(1));
        let _ = sender.send(7);
    };
    pool().send(Box::new(job)).unwrap();
    assert_eq!(receiver.await, Ok(7));
}

#[test]
fn a_thread_that_another_test_has_started_is_another_one_there() {
    if is_again() {
        return;
    }
    for isolation in [None, Some(("CCT_ISOLATION", "process"))] {
        let in_turn = [OFF[0], ("RUST_TEST_THREADS", "1")];
        let variables: Vec<_> = in_turn.into_iter().chain(isolation).collect();
        let text = said(&again("old_thread_", "once", &variables));
        assert!(text.contains("2 passed"), "{text}");
        assert!(text.contains("which nobody can repeat ("), "{text}");
    }
}

// By the machine's clock: it is not the world's.
with_threads! { takes_its_time() what_a_thread_takes_passes_for_tasks {
    let (sender, receiver) = oneshot::channel();
    let (before, also) = (Instant::now(), std::time::Instant::now());
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        let _ = sender.send(());
    });
    receiver.await.unwrap();
    assert!(before.elapsed() >= Duration::from_millis(50), "{:?}", before.elapsed());
    assert!(also.elapsed() >= Duration::from_millis(50), "{:?}", also.elapsed());
} }

with_threads! { has_a_handle(start_paused = true) a_thread_with_a_handle {
    let handle = Handle::current();
    let before = Instant::now();
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        handle.spawn(async move {
            sleep(Duration::from_secs(60)).await;
            sender.send(()).unwrap();
        });
    });
    receiver.await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_secs(60));
} }

with_threads! { is_slept_for(flavor = "current_thread") a_thread_that_is_slept_for {
    let (sender, mut receiver) = oneshot::channel();
    thread::spawn(move || sender.send(1));
    // By virtual time, before which threads that take part have the machine's.
    thread::sleep(Duration::from_millis(100));
    assert_eq!(receiver.try_recv(), Ok(1));
} }

/// A runtime of a thread that lives as long as the sender.
fn elsewhere() -> (Handle, mpsc::UnboundedSender<()>) {
    let (keep, mut kept) = mpsc::unbounded_channel::<()>();
    let (handles, handle) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut runtime = cct_executor::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        handles.send(runtime.handle().clone()).unwrap();
        runtime.block_on(async { while kept.recv().await.is_some() {} });
    });
    (handle.recv().unwrap(), keep)
}

with_threads! { aborts() a_task_of_another_thread_is_aborted {
    let (handle, _keep) = elsewhere();
    let (started, has_started) = oneshot::channel();
    let (held, dropped) = oneshot::channel::<()>();
    let task = handle.spawn(async move {
        let _held = held;
        let _ = started.send(());
        std::future::pending::<()>().await;
    });
    has_started.await.unwrap();
    let of_it = task.abort_handle();
    assert!(!of_it.is_finished() && !task.is_finished());
    of_it.abort();
    assert!(dropped.await.is_err());
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(of_it.is_finished());
} }

with_threads! { meets() a_barrier_lies_between_threads {
    let (one, _keep_one) = elsewhere();
    let (other, _keep_other) = elsewhere();
    let barrier = Arc::new(cct_sync::Barrier::new(3));
    let others = [one, other].map(|handle| {
        let barrier = barrier.clone();
        handle.spawn(async move { barrier.wait().await.is_leader() })
    });
    let mut leaders = u32::from(barrier.wait().await.is_leader());
    for other in others {
        leaders += u32::from(other.await.unwrap());
    }
    assert_eq!(leaders, 1);
} }
