//! A future that keeps its output until it is asked for. Part of `join!` and `try_join!`.

#![expect(missing_docs, reason = "fields inside `pin_project!` take no docs")]

use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// A future, or what it returned.
    ///
    /// Invariant: the future is dropped as soon as it is ready.
    #[derive(Debug)]
    #[project = MaybeDoneProjected]
    #[project_replace = MaybeDoneReplaced]
    pub enum MaybeDone<F: Future> {
        /// Not ready yet.
        Running { #[pin] future: F },
        /// Ready.
        Done { output: F::Output },
        /// Its output was taken.
        Taken,
    }
}

/// Wraps a future that has not been polled.
pub fn maybe_done<F: IntoFuture>(future: F) -> MaybeDone<F::IntoFuture> {
    MaybeDone::Running {
        future: future.into_future(),
    }
}

/// Wraps a future that returns a `Result`.
pub fn maybe_ok<T, E, F>(future: F) -> MaybeDone<F::IntoFuture>
where
    F: IntoFuture<Output = Result<T, E>>,
{
    maybe_done(future)
}

impl<F: Future> Future for MaybeDone<F> {
    type Output = ();

    #[inline]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let output = match self.as_mut().project() {
            MaybeDoneProjected::Running { future } => ready!(future.poll(cx)),
            MaybeDoneProjected::Done { .. } => return Poll::Ready(()),
            MaybeDoneProjected::Taken => panic!("joined futures polled after they completed"),
        };
        self.set(MaybeDone::Done { output });
        Poll::Ready(())
    }
}

impl<F: Future> MaybeDone<F> {
    /// The output of a future that is ready.
    #[inline]
    pub fn take_output(self: Pin<&mut Self>) -> F::Output {
        match self.project_replace(MaybeDone::Taken) {
            MaybeDoneReplaced::Done { output } => output,
            _ => unreachable!("cct bug: an output was taken twice, or too early"),
        }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> MaybeDone<F> {
    /// The error, if the future is ready and failed. A success stays where it is.
    #[inline]
    pub fn take_err(self: Pin<&mut Self>) -> Option<E> {
        if !matches!(&*self, MaybeDone::Done { output: Err(_) }) {
            return None;
        }
        self.take_output().err()
    }

    /// The success of a future that is ready and whose error was asked for.
    #[inline]
    pub fn take_ok(self: Pin<&mut Self>) -> T {
        match self.take_output() {
            Ok(value) => value,
            Err(_) => unreachable!("cct bug: an error was overlooked"),
        }
    }
}
