//! How calls are bound.

use super::builder::{Builder, Looks};
use super::calls::{Answered, Asked, Calls};
use cct_executor::words::fingerprint::variant_of;
use std::fmt;
use std::io;

/// [`Calls`] about to be bound.
#[must_use = "call bind"]
pub struct CallsBuilder<Q: Send + 'static, A: Send + 'static> {
    pub(super) requests: Builder<Asked<Q>>,
    pub(super) answers: Builder<Answered<A>>,
}

impl<Q: Send + 'static, A: Send + 'static> CallsBuilder<Q, A> {
    pub(super) fn new(name: String) -> CallsBuilder<Q, A> {
        let mut answers = Builder::new(format!("{name}: answers"));
        answers.looks = Looks {
            label: std::any::type_name::<A>(),
            variant: |answered: &Answered<A>| variant_of(&answered.answer),
        };
        let mut requests = Builder::new(name);
        requests.looks = Looks {
            label: std::any::type_name::<Q>(),
            variant: |asked: &Asked<Q>| variant_of(&asked.request),
        };
        CallsBuilder { requests, answers }
    }

    /// What is asked and answered from here may be overtaken by what is asked and answered later, as
    /// over several connections, or over one that is opened anew.
    pub fn unordered(self) -> CallsBuilder<Q, A> {
        CallsBuilder {
            requests: self.requests.unordered(),
            answers: self.answers.unordered(),
        }
    }

    /// What is asked from here may arrive twice, where a fault or a rule says so, and is then answered
    /// twice: by something in between that tries again. The caller gets the first answer.
    pub fn duplicable(self) -> CallsBuilder<Q, A>
    where
        Q: Clone,
    {
        CallsBuilder {
            requests: self.requests.duplicable(),
            answers: self.answers,
        }
    }

    /// Reports show requests and answers as `Debug` does, and not only their types.
    pub fn debug(mut self) -> CallsBuilder<Q, A>
    where
        Q: fmt::Debug,
        A: fmt::Debug,
    {
        self.requests.shown = Some(|asked| format!("{:?}", asked.request));
        self.answers.shown = Some(|answered| format!("{:?}", answered.answer));
        self
    }

    /// Binds the name on the node of the task that calls.
    ///
    /// # Errors
    /// As for [`Builder::bind`].
    #[track_caller]
    pub fn bind(self) -> io::Result<Calls<Q, A>> {
        Calls::begin(self)
    }
}

impl<Q: Send + 'static, A: Send + 'static> fmt::Debug for CallsBuilder<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallsBuilder").finish_non_exhaustive()
    }
}
