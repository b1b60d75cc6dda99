use super::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Counts what it is told; dropped, it counts 100.
struct Log(Arc<AtomicU32>);

impl Log {
    fn new() -> (Log, Arc<AtomicU32>) {
        let count = Arc::new(AtomicU32::new(0));
        (Log(count.clone()), count)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.fetch_add(100, Ordering::Relaxed);
    }
}

impl WakeTask for Log {
    fn wake_task(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl<T> Ending<T> for Log {
    fn ended(&self, _: T) {
        self.0.fetch_add(10, Ordering::Relaxed);
    }

    fn cancelled(&self) {
        self.0.fetch_add(20, Ordering::Relaxed);
    }

    fn panicked(&self, _: Box<dyn Any + Send>) -> bool {
        self.0.fetch_add(30, Ordering::Relaxed);
        true
    }
}

/// Notes when it is dropped, and the waker of each poll.
struct Once {
    waker: Rc<Cell<Option<Waker>>>,
    polled: bool,
}

impl Future for Once {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.waker.set(Some(cx.waker().clone()));
        if std::mem::replace(&mut self.polled, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

fn once() -> (Once, Rc<Cell<Option<Waker>>>) {
    let waker = Rc::new(Cell::new(None));
    let future = Once {
        waker: waker.clone(),
        polled: false,
    };
    (future, waker)
}

fn poll(body: &Body) -> Poll<()> {
    body.lend().expect("it is free").poll()
}

#[test]
fn the_future_goes_with_its_body_though_share_and_waker_live_on() {
    let (future, waker) = once();
    let (log, count) = Log::new();
    let (body, share) = Body::new(future, log);
    assert!(poll(&body).is_pending());
    let clone = waker.take().expect("polled");
    assert_eq!(Rc::strong_count(&waker), 2, "the future holds one");
    drop(body);
    assert_eq!(Rc::strong_count(&waker), 1, "it is gone");
    // The last of them goes on another thread, and there is nothing of this one left in it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a foreign thread is what is tested"
    )]
    thread::spawn(move || {
        clone.wake_by_ref();
        drop(share);
        clone.wake();
    })
    .join()
    .expect("no panic");
    assert_eq!(count.load(Ordering::Relaxed), 102);
}

#[test]
fn the_end_is_told_once_the_future_is_dropped() {
    let (future, waker) = once();
    let (log, count) = Log::new();
    let (body, share) = Body::new(future, log);
    assert!(poll(&body).is_pending());
    assert!(poll(&body).is_ready());
    assert_eq!(count.load(Ordering::Relaxed), 10);
    assert_eq!(Rc::strong_count(&waker), 1);
    drop((body, waker.take()));
    assert_eq!(
        count.load(Ordering::Relaxed),
        10,
        "the share holds the ending"
    );
    drop(share);
    assert_eq!(count.load(Ordering::Relaxed), 110);
}

#[test]
fn a_body_is_cancelled_and_hears_of_panics() {
    for panics in [false, true] {
        let (future, waker) = once();
        let (log, count) = Log::new();
        let (mut body, _share) = Body::new(future, log);
        if panics {
            assert!(body.panicked(Box::new("boom")));
        } else {
            body.cancel();
        }
        assert_eq!(Rc::strong_count(&waker), 1);
        assert_eq!(count.load(Ordering::Relaxed), if panics { 30 } else { 20 });
    }
}

#[test]
fn a_local_task_polls_with_the_waker_it_was_given() {
    let (future, waker) = once();
    let (log, _) = Log::new();
    struct Other;
    impl std::task::Wake for Other {
        fn wake(self: Arc<Self>) {}
    }
    let given = Waker::from(Arc::new(Other));
    let (body, _share) = Body::local(future, log, given.clone());
    assert_eq!(body.waker_data(), given.data());
    assert!(poll(&body).is_pending());
    assert_eq!(waker.take().expect("polled").data(), given.data());
}

#[test]
fn a_task_that_is_its_own_waker_is_known_by_it() {
    let (future, waker) = once();
    let (body, _share) = Body::new(future, Log::new().0);
    assert!(poll(&body).is_pending());
    let first = waker.take().expect("polled");
    assert_eq!(first.data(), body.waker_data());
    assert!(poll(&body).is_ready());
    assert!(waker.take().is_some_and(|second| second.will_wake(&first)));
}

/// Panics in its poll; asks first whether its task can be polled meanwhile.
struct Panics(Rc<Cell<Option<Body>>>);

impl Future for Panics {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let body = self.0.take().expect("put there by the test");
        assert!(body.lend().is_none(), "a poll inside itself");
        self.0.set(Some(body));
        panic!("boom")
    }
}

#[test]
fn a_body_lends_once_at_a_time_and_again_after_a_panic() {
    let place = Rc::new(Cell::new(None));
    let (log, count) = Log::new();
    let (body, _share) = Body::new(Panics(place.clone()), log);
    let lent = body.lend().expect("it is free");
    assert!(body.is_lent());
    place.set(Some(body));
    let poll = std::panic::AssertUnwindSafe(|| lent.poll());
    let payload = std::panic::catch_unwind(poll).expect_err("it panics");
    let mut body = place.take().expect("put back by the poll");
    assert!(!body.is_lent());
    assert!(body.panicked(payload));
    assert_eq!(Rc::strong_count(&place), 1, "the future is gone");
    assert_eq!(count.load(Ordering::Relaxed), 30);
}

/// Leaks on purpose, which Miri would take amiss.
#[cfg(not(miri))]
#[test]
fn a_body_that_goes_while_it_is_lent_leaves_its_future() {
    let (future, waker) = once();
    let (log, count) = Log::new();
    let (body, share) = Body::new(future, log);
    let lent = body.lend().expect("it is free");
    drop(body);
    assert!(lent.poll().is_pending(), "it can still be polled");
    drop((share, waker.take()));
    assert_eq!(Rc::strong_count(&waker), 2, "the future is still there");
    assert_eq!(count.load(Ordering::Relaxed), 0);
}
