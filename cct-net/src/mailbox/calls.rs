//! Calls: requests that are answered, over a pair of mailboxes.

use super::Peer;
use super::calls_builder::CallsBuilder;
use super::handle::{Mailbox, Sender};
use super::waiting::{Number, Waiting};
use cct_executor::node::NodeId;
use cct_executor::task::{AbortHandle, Builder};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::panic::Location;
use std::sync::Arc;

/// A request on its way.
#[derive(Clone)]
pub(super) struct Asked<Q> {
    number: Number,
    pub(super) request: Q,
}

/// An answer on its way.
pub(super) struct Answered<A> {
    number: Number,
    pub(super) answer: A,
}

/// The calls that a node is to answer, and where its own begin.
///
/// Calls of the same name on different nodes belong together. All that one node asks another arrives in
/// order, whichever of its tasks ask, as over one connection, unless they are
/// [`unordered`](CallsBuilder::unordered): a client that has a connection of its own is a node of its
/// own. When it is dropped, requests to this
/// node are lost; its callers go on.
pub struct Calls<Q: Send + 'static, A: Send + 'static> {
    requests: Mailbox<Asked<Q>>,
    caller: Caller<Q, A>,
}

/// Makes calls, from any task. Clones are alike.
pub struct Caller<Q: Send + 'static, A: Send + 'static>(Arc<Desk<Q, A>>);

struct Desk<Q: Send + 'static, A: Send + 'static> {
    requests: Sender<Asked<Q>>,
    answers: Sender<Answered<A>>,
    binding: u64,
    waiting: Arc<Waiting<A>>,
    /// The task that hands answers to those who wait.
    clerk: AbortHandle,
}

/// A request to this node.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<Q, A: Send + 'static> {
    /// Who asks.
    pub from: NodeId,
    /// What is asked.
    pub request: Q,
    /// The way back.
    pub answer: Answer<A>,
}

/// The way back to a caller, who waits for ever if it is dropped.
#[must_use = "whoever asked waits"]
pub struct Answer<A: Send + 'static> {
    to: NodeId,
    number: Number,
    sender: Sender<Answered<A>>,
}

impl<Q: Send + 'static, A: Send + 'static> Calls<Q, A> {
    /// Binds a name on the node of the task that calls. A node that only asks does so too.
    ///
    /// # Errors
    /// As for [`Builder::bind`](super::Builder::bind).
    #[track_caller]
    pub fn bind(name: impl Into<String>) -> io::Result<Calls<Q, A>> {
        Calls::builder(name).bind()
    }

    /// Calls with options.
    pub fn builder(name: impl Into<String>) -> CallsBuilder<Q, A> {
        CallsBuilder::new(name.into())
    }

    #[track_caller]
    pub(super) fn begin(builder: CallsBuilder<Q, A>) -> io::Result<Calls<Q, A>> {
        let site = Location::caller();
        let requests = builder.requests.bind()?;
        let mut answers = builder.answers.bind()?;
        let waiting = Arc::new(Waiting::new(site));
        let (binding, theirs, sender) = (answers.binding(), waiting.clone(), answers.sender());
        let clerk = Builder::new().name("answers").spawn(async move {
            loop {
                let (_, answered) = answers.recv_at(site).await;
                let Answered { number, answer } = answered;
                // Before a restart, somebody else may have asked.
                if number.0 == binding {
                    theirs.answer(number.1, answer);
                }
            }
        })?;
        let desk = Desk {
            requests: requests.sender(),
            answers: sender,
            binding,
            waiting,
            clerk: clerk.abort_handle(),
        };
        let caller = Caller(Arc::new(desk));
        Ok(Calls { requests, caller })
    }

    /// The name it was bound under.
    pub fn name(&self) -> &str {
        self.requests.name()
    }

    /// The node it was bound on.
    pub fn node(&self) -> NodeId {
        self.requests.node()
    }

    /// Something to call others with.
    pub fn caller(&self) -> Caller<Q, A> {
        self.caller.clone()
    }

    /// Waits for the next request.
    ///
    /// # Scheduling points
    /// One, before it looks.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Call<Q, A>> + Send + use<'_, Q, A> {
        let sender = &self.caller.0.answers;
        let received = self.requests.recv();
        async move {
            let (from, asked) = received.await;
            Call {
                from,
                request: asked.request,
                answer: Answer {
                    to: from,
                    number: asked.number,
                    sender: sender.clone(),
                },
            }
        }
    }
}

impl<Q: Send + 'static, A: Send + 'static> Caller<Q, A> {
    /// Asks a node, and waits for its answer.
    ///
    /// Nobody is told when the request or the answer is lost, or the node crashes: callers that want
    /// to give up put a time-out around it.
    ///
    /// # Scheduling points
    /// One, before it sends.
    ///
    /// # Cancel safety
    /// The request is sent when it is first polled; if it is dropped later, the answer is dropped
    /// when it arrives.
    ///
    /// # Errors
    /// `NotFound` if there is no such node.
    #[track_caller]
    pub fn call<P: Peer>(
        &self,
        to: P,
        request: Q,
    ) -> impl Future<Output = io::Result<A>> + Send + use<'_, Q, A, P> {
        let (to, site) = (to.node(), Location::caller());
        async move {
            let to = to?;
            let Desk {
                waiting, binding, ..
            } = &*self.0;
            poll_fn(|_| waiting.point(site)).await;
            let ticket = waiting.begin();
            let number = (*binding, ticket.number);
            let outbox = &self.0.requests.0;
            outbox.send_now(to, Asked { number, request })?;
            Ok(poll_fn(|cx| ticket.poll(cx, site)).await)
        }
    }

    /// The node that it calls from.
    pub fn node(&self) -> NodeId {
        self.0.requests.node()
    }
}

impl<A: Send + 'static> Answer<A> {
    /// Answers. Nobody is told if the answer is lost.
    ///
    /// # Scheduling points
    /// One, before it sends, at granularity `sync`.
    #[track_caller]
    pub fn send(self, answer: A) {
        let number = self.number;
        let sent = self.sender.send(self.to, Answered { number, answer });
        debug_assert!(sent.is_ok(), "cct bug: a caller that is no node");
    }
}

impl<Q: Send + 'static, A: Send + 'static> Clone for Caller<Q, A> {
    fn clone(&self) -> Self {
        Caller(self.0.clone())
    }
}

impl<Q: Send + 'static, A: Send + 'static> Drop for Desk<Q, A> {
    fn drop(&mut self) {
        self.clerk.abort();
    }
}

impl<Q: Send + 'static, A: Send + 'static> fmt::Debug for Calls<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls")
            .field("name", &self.name())
            .field("node", &self.node().0)
            .finish_non_exhaustive()
    }
}

impl<Q: Send + 'static, A: Send + 'static> fmt::Debug for Caller<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("node", &self.node().0)
            .finish_non_exhaustive()
    }
}

impl<A: Send + 'static> fmt::Debug for Answer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("to", &self.to.0)
            .finish_non_exhaustive()
    }
}
