//! What a test's flavor makes of its world.

use cct_executor::runtime::{Handle, RuntimeFlavor};
use cct_executor::task::yield_now;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};

/// As programs do that choose a way to block.
async fn flavor_and_panic() -> (RuntimeFlavor, bool) {
    let in_place = cct_executor::spawn(async { cct_executor::task::block_in_place(|| ()) });
    let panics = in_place.await.is_err();
    (Handle::current().runtime_flavor(), panics)
}

#[cct_executor::test(iterations = 20)]
async fn the_world_has_threads() {
    let seen = flavor_and_panic().await;
    assert_eq!(seen, (RuntimeFlavor::MultiThread, false));
}

#[cct_executor::test(flavor = "current_thread", iterations = 20)]
async fn a_world_may_be_said_to_have_one_thread() {
    let seen = flavor_and_panic().await;
    assert_eq!(seen, (RuntimeFlavor::CurrentThread, true));
    let thread = cct_executor::task::spawn_blocking(|| cct_executor::task::block_in_place(|| 1));
    assert_eq!(thread.await.unwrap(), 1);
}

#[cct_executor::test(flavor = "local", iterations = 20)]
async fn so_has_a_local_one() {
    let seen = flavor_and_panic().await;
    assert_eq!(seen, (RuntimeFlavor::CurrentThread, true));
}

#[cct_executor::test(flavor = "local", iterations = 20)]
async fn a_local_test_spawns_what_cannot_be_sent() {
    let shared = std::rc::Rc::new(std::cell::Cell::new(1));
    let theirs = shared.clone();
    let task = cct_executor::task::spawn_local(async move { theirs.set(2) });
    task.await.expect("nothing panics");
    assert_eq!(shared.get(), 2);
}

/// Set when it is woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// Whether who gives way is woken before the poll has returned: nobody's scheduler runs it.
fn is_woken_at_once() -> bool {
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let polled = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    flag.0.load(SeqCst)
}

#[cct_executor::test(flavor = "multi_thread", iterations = 20)]
async fn threads_run_tasks_and_not_the_test() {
    assert!(is_woken_at_once());
    cct_executor::task::yield_now().await;
    assert!(is_woken_at_once());
    let task = cct_executor::spawn(async { is_woken_at_once() });
    assert!(!task.await.unwrap());
}

#[cct_executor::test(flavor = "current_thread", iterations = 20)]
async fn one_thread_runs_the_test_too() {
    assert!(!is_woken_at_once());
}

#[cct_executor::test(iterations = 20)]
async fn without_a_flavor_it_is_as_in_tokios_default() {
    assert!(!is_woken_at_once());
}
