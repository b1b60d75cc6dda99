//! Connections that wait to be accepted.
//!
//! As on Linux the queue holds one more than the backlog says. An attempt that finds it full is not
//! refused: it waits until there is room, or until it times out.

use super::conn::Conn;
use super::waiters::{Wait, Waiters, Wakes};
use crate::io::{Interest, Ready};
use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared};
use cct_executor::task::coop;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A socket that listens.
pub(crate) struct Listening {
    state: Shared<Queue>,
    resource: Resource,
    /// What accepted connections have instead of the world's buffers.
    pub(crate) buffers: Buffers,
}

/// Sizes of a socket's buffers, where they were chosen.
#[derive(Clone, Copy, Default)]
pub(crate) struct Buffers {
    pub(crate) send: Option<usize>,
    pub(crate) recv: Option<usize>,
}

struct Queue {
    backlog: usize,
    /// Attempts that were let in and are not open yet.
    opening: usize,
    open: VecDeque<Arc<Conn>>,
    /// Attempts that found no room.
    outside: VecDeque<Arc<Conn>>,
    acceptors: Waiters,
    closed: bool,
    /// Its host is gone, and resets nothing.
    gone: bool,
}

impl Queue {
    fn is_full(&self) -> bool {
        self.open.len() + self.opening > self.backlog
    }

    /// Acceptors, who may look now.
    fn woken(&mut self) -> Wakes {
        let mut wakes = Wakes::default();
        self.acceptors.move_to(Ready::READABLE, &mut wakes);
        wakes
    }

    /// Lets in whoever waited longest, if there is room now.
    fn let_in(&mut self) -> Option<Arc<Conn>> {
        while !self.is_full() {
            let conn = self.outside.pop_front()?;
            if conn.state.with(|state| state.is_opening(0)) {
                self.opening += 1;
                return Some(conn);
            }
        }
        None
    }
}

impl Listening {
    /// Whether anybody waits to be accepted.
    pub(crate) fn has_queue(&self) -> bool {
        let waits = |queue: &mut Queue| queue.opening > 0 || !queue.open.is_empty();
        self.state.with(waits)
    }

    /// How many wait to be accepted.
    pub(crate) fn summary(&self) -> String {
        self.state.with(|queue| {
            let (open, backlog) = (queue.open.len(), queue.backlog);
            format!("{open} of {backlog} wait to be accepted")
        })
    }

    pub(crate) fn new(
        backlog: u32,
        buffers: Buffers,
        site: &'static Location<'static>,
    ) -> Arc<Listening> {
        Arc::new(Listening {
            state: Shared::new(Queue {
                backlog: backlog as usize,
                opening: 0,
                open: VecDeque::new(),
                outside: VecDeque::new(),
                acceptors: Waiters::default(),
                closed: false,
                gone: false,
            }),
            resource: Resource::at(ResourceKind::Socket, site),
            buffers,
        })
    }

    fn publish(&self) {
        let digest = self
            .state
            .with(|queue| (queue.open.len() << 8 | queue.opening) as u64);
        self.resource.set_state(digest);
    }

    /// An attempt to connect arrives.
    pub(crate) fn admit(&self, conn: &Arc<Conn>) {
        let admitted = self.state.with(|queue| {
            let full = queue.is_full();
            if full {
                queue.outside.push_back(conn.clone());
            } else {
                queue.opening += 1;
            }
            !full
        });
        if admitted {
            conn.send_syn_ack();
        } else {
            conn.limit_opening();
        }
        self.publish();
    }

    /// An attempt to connect from the same node; returns whether there was room.
    pub(crate) fn admit_at_once(&self, conn: &Arc<Conn>) -> bool {
        let wakes = self.state.with(|queue| {
            if queue.is_full() {
                return None;
            }
            queue.open.push_back(conn.clone());
            Some(queue.woken())
        });
        self.publish();
        wakes.map(Wakes::wake).is_some()
    }

    /// A connection that was let in is open.
    pub(crate) fn opened(&self, conn: &Arc<Conn>) {
        let wakes = self.state.with(|queue| {
            queue.opening = queue.opening.saturating_sub(1);
            if queue.closed {
                return Err(queue.gone);
            }
            queue.open.push_back(conn.clone());
            Ok(queue.woken())
        });
        self.publish();
        match wakes {
            Ok(wakes) => wakes.wake(),
            Err(gone) if gone => {}
            Err(_) => conn.refuse(),
        }
    }

    /// A connection that was let in will never be open.
    pub(crate) fn forget_opening(&self) {
        let next = self.state.with(|queue| {
            queue.opening = queue.opening.saturating_sub(1);
            queue.let_in()
        });
        self.publish();
        if let Some(conn) = next {
            conn.send_syn_ack();
        }
    }

    /// The next connection.
    pub(crate) fn poll_accept(
        &self,
        cx: &mut Context<'_>,
        wait: Wait<'_>,
        site: &'static Location<'static>,
    ) -> Poll<Arc<Conn>> {
        ready!(self.resource.point(OpKind::Accept, Access::Write, site));
        let budget = ready!(coop::poll_proceed(cx));
        let (conn, let_in) = self.state.with(|queue| match queue.open.pop_front() {
            Some(conn) => (Some(conn), queue.let_in()),
            None => {
                queue.acceptors.register(cx, Interest::READABLE, wait);
                (None, None)
            }
        });
        if let Some(conn) = let_in {
            conn.send_syn_ack();
        }
        match conn {
            Some(conn) => {
                budget.made_progress();
                self.publish();
                Poll::Ready(conn)
            }
            None => {
                wait.blocked(&self.resource, OpKind::Accept, site);
                Poll::Pending
            }
        }
    }

    /// The socket is closed: what waits in its queue is reset. With a host that is gone nobody is
    /// left to do so.
    pub(crate) fn close(&self, host_is_gone: bool) {
        let (open, outside) = self.state.with(|queue| {
            queue.closed = true;
            queue.gone = host_is_gone;
            let open = std::mem::take(&mut queue.open);
            (open, std::mem::take(&mut queue.outside))
        });
        if !host_is_gone {
            open.iter().chain(&outside).for_each(Conn::refuse);
        }
    }
}
