//! What tasks are made of: the future, and the cell its result goes to.

use super::error::JoinError;
use super::id::Id;
use crate::execution::tasks::TaskBody;
use crate::execution::waker::{TaskWaker, Waiter};
use crate::execution::world::WORLD;
use crate::raw::shared::Shared;
use pin_project_lite::pin_project;
use std::any::Any;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

/// Where a task's result waits for its join handle.
pub(crate) struct JoinCell<T> {
    state: Shared<JoinState<T>>,
    /// The task whose result it is.
    task: TaskWaker,
}

struct JoinState<T> {
    result: Option<Result<T, JoinError>>,
    waiter: Option<Waiter>,
    done: bool,
    /// The join handle is alive.
    awaited: bool,
}

impl<T> JoinCell<T> {
    pub(crate) fn new(task: TaskWaker) -> Arc<Self> {
        let state = JoinState {
            result: None,
            waiter: None,
            done: false,
            awaited: true,
        };
        Arc::new(JoinCell {
            state: Shared::new(state),
            task,
        })
    }

    /// A waker for the task, where the cell itself cannot be one because `T` is not `Send`.
    pub(crate) fn separate_waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::new(self.task))
    }

    /// Stores the result and wakes whoever waits. Returns whether the join handle is alive.
    fn complete(&self, result: Result<T, JoinError>) -> bool {
        let (unwanted, waiter, awaited) = self.state.with(|state| {
            state.done = true;
            let unwanted = if state.awaited {
                state.result = Some(result);
                None
            } else {
                Some(result)
            };
            (unwanted, state.waiter.take(), state.awaited)
        });
        drop(unwanted);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
        awaited
    }

    pub(crate) fn cancelled(&self, id: Id) {
        self.complete(Err(JoinError::cancelled(id)));
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state.with(|state| state.done)
    }

    /// Takes the result, or notes whom to wake.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Result<T, JoinError>> {
        let mut old = None;
        let polled = self.state.with(|state| match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                assert!(!state.done, "JoinHandle polled after completion");
                if !state
                    .waiter
                    .as_ref()
                    .is_some_and(|waiter| waiter.will_wake(cx))
                {
                    old = state.waiter.replace(Waiter::from_context(cx));
                }
                Poll::Pending
            }
        });
        drop(old);
        polled
    }

    /// The join handle is dropped. Returns a result that nobody will ever see.
    pub(crate) fn detach(&self) -> Option<Result<T, JoinError>> {
        let (result, waiter) = self.state.with(|state| {
            state.awaited = false;
            (state.result.take(), state.waiter.take())
        });
        drop(waiter);
        result
    }
}

impl<T: Send> Wake for JoinCell<T> {
    fn wake(self: Arc<Self>) {
        self.task.wake_task();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.task.wake_task();
    }
}

pin_project! {
    /// The body of a spawned future.
    pub(crate) struct FutureBody<F: Future> {
        #[pin]
        future: Option<F>,
        cell: Arc<JoinCell<F::Output>>,
        id: Id,
        waker: Option<Waker>,
    }
}

impl<F: Future> FutureBody<F> {
    pub(crate) fn new(future: F, cell: Arc<JoinCell<F::Output>>, id: Id) -> Self {
        FutureBody {
            future: Some(future),
            cell,
            id,
            waker: None,
        }
    }
}

impl<F: Future> TaskBody for FutureBody<F> {
    fn set_waker(self: Pin<&mut Self>, waker: Waker) {
        *self.project().waker = Some(waker);
    }

    #[inline]
    fn poll(self: Pin<&mut Self>) -> Poll<()> {
        let mut this = self.project();
        let waker = this
            .waker
            .as_ref()
            .expect("cct bug: a task without a waker");
        let cx = &mut Context::from_waker(waker);
        let future = this
            .future
            .as_mut()
            .as_pin_mut()
            .expect("cct bug: poll after the end");
        let output = ready!(future.poll(cx));
        this.future.set(None);
        this.cell.complete(Ok(output));
        Poll::Ready(())
    }

    fn cancel(self: Pin<&mut Self>) {
        let mut this = self.project();
        this.future.set(None);
        this.cell.cancelled(*this.id);
    }

    fn panicked(self: Pin<&mut Self>, payload: Box<dyn Any + Send>) -> bool {
        let mut this = self.project();
        this.future.set(None);
        this.cell.complete(Err(JoinError::panic(*this.id, payload)))
    }
}

/// The body of a blocking closure.
pub(crate) struct BlockingBody<F, T> {
    closure: Option<F>,
    cell: Arc<JoinCell<T>>,
    id: Id,
}

impl<F, T> BlockingBody<F, T> {
    pub(crate) fn new(closure: F, cell: Arc<JoinCell<T>>, id: Id) -> Self {
        BlockingBody {
            closure: Some(closure),
            cell,
            id,
        }
    }
}

impl<F: FnOnce() -> T + Unpin, T> TaskBody for BlockingBody<F, T> {
    /// The closure waits with wakers of its own.
    fn set_waker(self: Pin<&mut Self>, _: Waker) {}

    fn poll(mut self: Pin<&mut Self>) -> Poll<()> {
        let closure = self.closure.take().expect("cct bug: a closure runs twice");
        let output = super::blocking::allow_blocking(closure);
        self.cell.complete(Ok(output));
        Poll::Ready(())
    }

    fn cancel(mut self: Pin<&mut Self>) {
        self.closure = None;
        self.cell.cancelled(self.id);
    }

    fn panicked(self: Pin<&mut Self>, payload: Box<dyn Any + Send>) -> bool {
        self.cell.complete(Err(JoinError::panic(self.id, payload)))
    }
}

/// What a scenario may return: `()`, a `Result` whose error can be shown, or never.
pub trait ScenarioResult {
    /// The error's text, if it is one.
    fn into_result(self) -> Result<(), String>;
}

impl ScenarioResult for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

/// The type of what never returns, which stable Rust cannot name directly.
type Never = <fn() -> ! as never::Returns>::Output;

mod never {
    /// A function pointer's output.
    pub trait Returns {
        /// It.
        type Output;
    }

    impl<T> Returns for fn() -> T {
        type Output = T;
    }
}

impl ScenarioResult for Never {
    fn into_result(self) -> Result<(), String> {
        self
    }
}

impl<T: ScenarioResult, E: Debug> ScenarioResult for Result<T, E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
            .and_then(T::into_result)
    }
}

pin_project! {
    /// The body of the scenario's own task.
    pub(crate) struct MainBody<F> {
        #[pin]
        future: Option<F>,
        waker: Option<Waker>,
    }
}

impl<F> MainBody<F> {
    pub(crate) fn new(future: F) -> Self {
        MainBody {
            future: Some(future),
            waker: None,
        }
    }
}

impl<F: Future<Output: ScenarioResult>> TaskBody for MainBody<F> {
    fn set_waker(self: Pin<&mut Self>, waker: Waker) {
        *self.project().waker = Some(waker);
    }

    #[inline]
    fn poll(self: Pin<&mut Self>) -> Poll<()> {
        let mut this = self.project();
        let waker = this
            .waker
            .as_ref()
            .expect("cct bug: a task without a waker");
        let cx = &mut Context::from_waker(waker);
        let future = this
            .future
            .as_mut()
            .as_pin_mut()
            .expect("cct bug: poll after the end");
        let result = ready!(future.poll(cx)).into_result();
        this.future.set(None);
        WORLD.with(|world| world.main_finished(result));
        Poll::Ready(())
    }

    fn cancel(self: Pin<&mut Self>) {
        self.project().future.set(None);
    }

    fn panicked(self: Pin<&mut Self>, _payload: Box<dyn Any + Send>) -> bool {
        self.project().future.set(None);
        false
    }
}
