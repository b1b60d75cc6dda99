//! Futures that tell what happens to them, and a log they tell it to.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What happened, in order.
#[derive(Clone, Default)]
pub(super) struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub(super) fn add(&self, entry: impl Into<String>) {
        self.0.borrow_mut().push(entry.into());
    }

    /// All entries since the last call.
    pub(super) fn take(&self) -> String {
        self.0.take().join(" ")
    }

    /// A future that is ready at its `polls`-th poll, counted from 1; never, if that is 0.
    pub(super) fn probe<T>(&self, name: &'static str, polls: u32, output: T) -> Probe<T> {
        self.add(format!("make-{name}"));
        Probe {
            name,
            left: polls,
            output: Some(output),
            log: self.clone(),
        }
    }

    /// A value that tells when it is dropped.
    pub(super) fn value(&self, name: &'static str) -> Value {
        Value {
            name,
            log: self.clone(),
        }
    }
}

pub(super) struct Probe<T> {
    name: &'static str,
    left: u32,
    output: Option<T>,
    log: Log,
}

impl<T> Unpin for Probe<T> {}

impl<T> Future for Probe<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.log.add(format!("poll-{}", self.name));
        if self.left == 1 {
            return Poll::Ready(self.output.take().expect("polled again after it was ready"));
        }
        self.left = self.left.saturating_sub(1);
        Poll::Pending
    }
}

impl<T> Drop for Probe<T> {
    fn drop(&mut self) {
        self.log.add(format!("drop-{}", self.name));
    }
}

pub(super) struct Value {
    name: &'static str,
    log: Log,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.log.add(format!("drop-{}", self.name));
    }
}

/// Becomes a future when asked, and tells so.
pub(super) struct Later<T>(pub(super) Probe<T>);

impl<T> IntoFuture for Later<T> {
    type Output = T;
    type IntoFuture = Probe<T>;

    fn into_future(self) -> Probe<T> {
        self.0.log.add(format!("into-{}", self.0.name));
        self.0
    }
}

/// Polls once.
pub(super) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls until ready.
pub(super) fn run<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    for _ in 0..100 {
        if let Poll::Ready(output) = poll_once(future.as_mut()) {
            return output;
        }
    }
    panic!("still pending after 100 polls");
}

/// The message of the panic of `body`.
pub(super) fn panic_message(body: impl FnOnce()) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    let payload = result.expect_err("nothing panicked");
    match payload.downcast::<&str>() {
        Ok(text) => text.to_string(),
        Err(payload) => *payload.downcast::<String>().expect("a message"),
    }
}

/// Counts calls of [`Counter::next`].
#[derive(Default)]
pub(super) struct Counter(Cell<u32>);

impl Counter {
    pub(super) fn next(&self) -> u32 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}
