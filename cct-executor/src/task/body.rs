//! Where tasks end: the cell a result goes to, and the end of the scenario.

use super::error::JoinError;
use super::handle::AbortHandle;
use super::id::Id;
use crate::execution::waker::{TaskWaker, Waiter};
use crate::execution::world::{Phase, WORLD};
use crate::raw::shared::Shared;
use crate::raw::task::{Body, Ending, WakeTask};
use std::any::Any;
use std::convert::Infallible;
use std::fmt::Debug;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

/// Where a task's result waits for its join handle.
pub(crate) struct JoinCell<T> {
    state: Shared<JoinState<T>>,
    /// The task whose result it is.
    task: TaskWaker,
    id: Id,
}

struct JoinState<T> {
    result: Option<Result<T, JoinError>>,
    waiter: Option<Waiter>,
    done: bool,
    /// The join handle is alive.
    awaited: bool,
}

impl<T> JoinCell<T> {
    pub(crate) fn new(task: TaskWaker, id: Id) -> Self {
        let state = JoinState {
            result: None,
            waiter: None,
            done: false,
            awaited: true,
        };
        JoinCell {
            state: Shared::new(state),
            task,
            id,
        }
    }

    /// A waker for the task, where it cannot be one itself because `T` is not `Send`.
    pub(crate) fn separate_waker(&self) -> Waker {
        self.task.apart()
    }

    /// What can abort the task.
    #[inline]
    pub(super) fn handle(&self) -> AbortHandle {
        let TaskWaker { home, serial, key } = self.task;
        let id = self.id;
        AbortHandle {
            home,
            serial,
            key,
            id,
        }
    }

    /// Stores the result and wakes whoever waits. Returns whether the join handle is alive.
    pub(super) fn complete(&self, result: Result<T, JoinError>) -> bool {
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

impl<T> WakeTask for JoinCell<T> {
    fn wake_task(&self) {
        self.task.wake_task();
    }

    fn wakers_changed(&self, more: bool) {
        self.task.wakers_changed(more);
    }
}

impl<T> Ending<T> for JoinCell<T> {
    fn ended(&self, output: T) {
        self.complete(Ok(output));
    }

    fn cancelled(&self) {
        self.complete(Err(JoinError::cancelled(self.id)));
    }

    fn panicked(&self, payload: Box<dyn Any + Send>) -> bool {
        self.complete(Err(JoinError::panic(self.id, payload)))
    }

    fn drops_in_unwinding(&self) -> bool {
        as_on_tokio()
    }
}

/// Tokio drops the future of a poll that panics while that unwinds. What unwinds as the world closes is no panic, and a
/// destructor that panics then must not end the process.
fn as_on_tokio() -> bool {
    WORLD.with(|world| world.phase.get() == Phase::Running)
}

/// What a scenario may return: `()`, a `Result` whose error can be shown, an `ExitCode`, or never.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a scenario may return",
    label = "neither `()`, nor a `Result`, nor an `ExitCode`",
    note = "implement `cct_executor::ScenarioResult` for it: what is a failure must have a text"
)]
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

impl ScenarioResult for ExitCode {
    fn into_result(self) -> Result<(), String> {
        // By its text: not all compilers that we support can compare two of them.
        let text = format!("{self:?}");
        match text == format!("{:?}", ExitCode::SUCCESS) {
            true => Ok(()),
            false => Err(text),
        }
    }
}

impl ScenarioResult for Infallible {
    fn into_result(self) -> Result<(), String> {
        match self {}
    }
}

impl<T: ScenarioResult, E: Debug> ScenarioResult for Result<T, E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
            .and_then(T::into_result)
    }
}

/// The body of the scenario's own task.
pub(crate) fn main_body<F>(future: F, task: TaskWaker) -> Body
where
    F: Future<Output = Result<(), String>> + 'static,
{
    Body::new(future, MainEnding { task }).0
}

/// Where the scenario's own task ends.
struct MainEnding {
    task: TaskWaker,
}

impl WakeTask for MainEnding {
    fn wake_task(&self) {
        self.task.wake_task();
    }

    fn wakers_changed(&self, more: bool) {
        self.task.wakers_changed(more);
    }
}

impl Ending<Result<(), String>> for MainEnding {
    fn ended(&self, result: Result<(), String>) {
        WORLD.with(|world| world.main_finished(result));
    }

    fn cancelled(&self) {}

    fn panicked(&self, _payload: Box<dyn Any + Send>) -> bool {
        false
    }

    fn drops_in_unwinding(&self) -> bool {
        as_on_tokio()
    }
}
