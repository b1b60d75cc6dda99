//! The operations of one end of a connection.

use super::conn::Conn;
use super::state::{Effects, SideId, State};
use super::waiters::{Wait, waiting};
use crate::errno::of_socket;
use crate::io::{Interest, Ready};
use cct_executor::shim::{self, Access, OpKind};
use cct_executor::task::coop;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, ready};

type Site = &'static Location<'static>;

/// One end of a connection, as a handle has it. Dropping it closes the end.
pub(crate) struct End {
    pub(crate) conn: Arc<Conn>,
    pub(crate) id: SideId,
    /// Where it was connected or accepted.
    site: Site,
    /// Whether the last read gave way before it acted, and the last write.
    gave_way: [AtomicBool; 2],
}

/// Which direction an operation waits for.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

/// One operation.
#[derive(Clone, Copy)]
struct Op<'a> {
    kind: OpKind,
    way: Way,
    wait: Wait<'a>,
    site: Site,
}

fn over() -> io::Error {
    io::Error::other("the scenario that this socket belongs to is over")
}

/// Of several buffers without a byte the kernel does not even ask the socket.
fn is_nothing(bufs: &[impl Deref<Target = [u8]>]) -> bool {
    bufs.iter().all(|buf| buf.is_empty())
}

impl Way {
    fn interest(self) -> Interest {
        match self {
            Way::In => Interest::READABLE,
            Way::Out => Interest::WRITABLE,
        }
    }
}

impl End {
    /// The end that a listener hands out. Like tokio, its tasks suppose that there already is
    /// something to read.
    pub(crate) fn accepted(conn: Arc<Conn>, site: Site) -> End {
        let ready = Ready::READABLE | Ready::WRITABLE;
        conn.run(|state, _| state.suppose(1, ready));
        conn.resources[1].made_at(site);
        let mut end = End::new(conn, 1);
        end.site = site;
        end
    }

    pub(crate) fn new(conn: Arc<Conn>, id: SideId) -> End {
        End {
            site: conn.site,
            conn,
            id,
            gave_way: [AtomicBool::new(false), AtomicBool::new(false)],
        }
    }

    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// How many bytes can be read.
    pub(crate) fn readable(&self) -> usize {
        self.conn.state.with(|state| state.readable(self.id))
    }

    /// Acts if the end is known to be ready, and takes notice if it is not.
    fn attempt<R>(
        &self,
        state: &mut State,
        way: Way,
        act: impl FnOnce(&mut State) -> Option<R>,
    ) -> Option<R> {
        let told = state.told(self.id, way.interest());
        if told.ready.is_empty() {
            return None;
        }
        let done = act(state);
        if done.is_none() {
            state.disprove(self.id, told);
        }
        done
    }

    fn poll_op<R>(
        &self,
        cx: &mut Context<'_>,
        op: Op<'_>,
        act: impl FnOnce(&mut State, &mut Effects) -> Option<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        let resource = &self.conn.resources[self.id];
        let budget = ready!(coop::poll_proceed(cx));
        let done = self.conn.run(|state, fx| {
            let done = self.attempt(state, op.way, |state| act(state, fx));
            if done.is_none() {
                let waiters = &mut state.sides[self.id].waiters;
                waiters.register(cx, op.way.interest(), op.wait);
            }
            done
        });
        match done {
            Some(done) => {
                budget.made_progress();
                Poll::Ready(done)
            }
            None if !self.conn.is_current() => Poll::Ready(Err(over())),
            None => {
                op.wait.blocked(resource, op.kind, op.site);
                Poll::Pending
            }
        }
    }

    /// How much of what is possible an operation does: all, where short ones were not asked for.
    fn part(
        &self,
        short: bool,
        possible: impl FnOnce(&State) -> usize,
        label: &'static str,
    ) -> usize {
        if !short {
            return usize::MAX;
        }
        let possible = self.conn.state.with(|state| possible(state));
        if possible < 2 {
            return usize::MAX;
        }
        match shim::choose(3, label) {
            0 => usize::MAX,
            1 => possible.div_ceil(2),
            _ => 1,
        }
    }

    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let op = Op {
            kind: OpKind::Read,
            way: Way::In,
            wait,
            site,
        };
        ready!(self.point_in(cx, Access::Write, site));
        let limit = self.read_limit(bufs);
        let wanted = bufs.iter().map(|buf| buf.len()).sum();
        let done = ready!(self.poll_op(cx, op, |state, fx| {
            let done = state.read(self.id, bufs, limit, fx);
            if matches!(done, Some(Ok(count)) if 0 < count && count < wanted) {
                state.drained(self.id);
            }
            done
        }));
        self.ended(&done, wanted);
        Poll::Ready(done)
    }

    /// Says in reports how reading or writing so many bytes has ended, if nothing came of it.
    fn ended(&self, done: &io::Result<usize>, wanted: usize) {
        let resource = &self.conn.resources[self.id];
        match done {
            Ok(0) if wanted > 0 => resource.outcome(|| "nothing: it has ended".to_owned()),
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                resource.outcome(|| error.to_string());
            }
            _ => {}
        }
    }

    fn read_limit(&self, bufs: &[IoSliceMut<'_>]) -> usize {
        let wanted = || bufs.iter().map(|buf| buf.len()).sum();
        self.part(
            self.conn.options.short_reads,
            |state| state.readable(self.id).min(wanted()),
            "short read",
        )
    }

    fn write_limit(&self, bufs: &[IoSlice<'_>]) -> usize {
        let wanted = || bufs.iter().map(|buf| buf.len()).sum();
        self.part(
            self.conn.options.short_writes,
            |state| state.writable(self.id).min(wanted()),
            "short write",
        )
    }

    pub(crate) fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let op = Op {
            kind: OpKind::Read,
            way: Way::In,
            wait,
            site,
        };
        ready!(self.point_in(cx, Access::Read, site));
        let bufs = &mut [IoSliceMut::new(buf)];
        let limit = self.read_limit(bufs);
        self.poll_op(cx, op, |state, _| state.peek(self.id, bufs, limit))
    }

    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
        vectored: bool,
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let op = Op {
            kind: OpKind::Write,
            way: Way::Out,
            wait: Wait::Poll,
            site,
        };
        ready!(self.point_out(cx, site));
        let limit = self.write_limit(bufs);
        let wanted = bufs.iter().map(|buf| buf.len()).sum();
        let done = ready!(self.poll_op(cx, op, |state, fx| {
            if vectored && is_nothing(bufs) {
                return Some(Ok(0));
            }
            let done = state.write(self.id, bufs, limit, fx);
            if matches!(done, Some(Ok(count)) if 0 < count && count < wanted) {
                state.filled(self.id);
            }
            done
        }));
        self.ended(&done, wanted);
        Poll::Ready(done)
    }

    /// The point before something is sent. h2 and others hold a lock of `std` while they write.
    fn point_out(&self, cx: &Context<'_>, site: Site) -> Poll<()> {
        let resource = &self.conn.resources[self.id];
        let op = (OpKind::Write, Access::Write);
        let waits = || self.waits(Way::Out);
        resource.point_that_returns(cx, op, site, &self.gave_way[1], waits)
    }

    /// The point before something is read. `tokio::io::split` holds a lock of `std` meanwhile.
    fn point_in(&self, cx: &Context<'_>, access: Access, site: Site) -> Poll<()> {
        let resource = &self.conn.resources[self.id];
        if shim::decides_sync_points() {
            ready!(resource.point(OpKind::Read, access, site));
            resource.called_here();
            Poll::Ready(())
        } else {
            let op = (OpKind::Read, access);
            let waits = || self.waits(Way::In);
            resource.point_that_returns(cx, op, site, &self.gave_way[0], waits)
        }
    }

    /// Whether an operation is to wait, as the last one found: a poll may try that several times.
    fn waits(&self, way: Way) -> bool {
        let told = self
            .conn
            .state
            .with(|state| state.told(self.id, way.interest()));
        told.ready.is_empty()
    }

    /// Writes no more. Like tokio, does not complain about a connection that is no more, and is ready at once.
    pub(crate) fn poll_shutdown(&self, site: Site) -> Poll<io::Result<()>> {
        let resource = &self.conn.resources[self.id];
        resource.sync_point(OpKind::Close, Access::Write, site);
        resource.called_here();
        self.shutdown();
        Poll::Ready(Ok(()))
    }

    pub(crate) fn shutdown(&self) {
        self.conn.run(|state, fx| state.shutdown(self.id, fx));
    }

    pub(crate) fn try_read(
        &self,
        bufs: &mut [IoSliceMut<'_>],
        vectored: bool,
        site: Site,
    ) -> io::Result<usize> {
        self.conn.resources[self.id].sync_point(OpKind::Read, Access::Write, site);
        let limit = self.read_limit(bufs);
        let done = self.conn.run(|state, fx| {
            self.attempt(state, Way::In, |state| match vectored && is_nothing(bufs) {
                true => Some(Ok(0)),
                false => state.read(self.id, bufs, limit, fx),
            })
        });
        let done = done.unwrap_or_else(|| Err(ErrorKind::WouldBlock.into()));
        self.ended(&done, bufs.iter().map(|buf| buf.len()).sum());
        done
    }

    pub(crate) fn try_write(
        &self,
        bufs: &[IoSlice<'_>],
        vectored: bool,
        site: Site,
    ) -> io::Result<usize> {
        self.conn.resources[self.id].sync_point(OpKind::Write, Access::Write, site);
        let limit = self.write_limit(bufs);
        let done = self.conn.run(|state, fx| {
            self.attempt(state, Way::Out, |state| {
                match vectored && is_nothing(bufs) {
                    true => Some(Ok(0)),
                    false => state.write(self.id, bufs, limit, fx),
                }
            })
        });
        let done = done.unwrap_or_else(|| Err(ErrorKind::WouldBlock.into()));
        self.ended(&done, bufs.iter().map(|buf| buf.len()).sum());
        done
    }

    /// Runs `f`, which uses the socket, if the end is known to be ready for some of `interest`.
    pub(crate) fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        let told = self.conn.state.with(|state| state.told(self.id, interest));
        if told.ready.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let done = f();
        if matches!(&done, Err(error) if error.kind() == ErrorKind::WouldBlock) {
            self.conn.run(|state, _| state.disprove(self.id, told));
            return Err(ErrorKind::WouldBlock.into()); // as tokio's has no number
        }
        done
    }

    pub(crate) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        wait: Wait<'_>,
        site: Site,
    ) -> Poll<io::Result<Ready>> {
        let kind = if interest.is_readable() {
            OpKind::Read
        } else {
            OpKind::Write
        };
        let resource = &self.conn.resources[self.id];
        ready!(resource.point(kind, Access::Read, site));
        let budget = ready!(wait.spend(cx));
        let ready = self.conn.state.with(|state| {
            let ready = state.told(self.id, interest).ready;
            let told = wait.was_woken() || !ready.is_empty();
            if !told {
                state.sides[self.id].waiters.register(cx, interest, wait);
            }
            told.then_some(ready)
        });
        if let Some(ready) = ready {
            if let Some(budget) = budget {
                budget.made_progress();
            }
            return Poll::Ready(Ok(ready));
        }
        if !self.conn.is_current() {
            return Poll::Ready(Err(over()));
        }
        wait.blocked(resource, kind, site);
        Poll::Pending
    }

    /// Waits until the handshake is over.
    pub(crate) async fn connected(&self, site: Site) -> io::Result<()> {
        let connected = waiting(|cx, wait| {
            let op = Op {
                kind: OpKind::Connect,
                way: Way::Out,
                wait,
                site,
            };
            self.poll_op(cx, op, |state, _| state.connected(self.id))
        });
        connected.await
    }

    /// Fails once the kernel has forgotten whom this end was connected to.
    pub(crate) fn check_peer(&self) -> io::Result<()> {
        let known = self.conn.state.with(|state| state.knows_peer(self.id));
        known
            .then_some(())
            .ok_or_else(|| of_socket(ErrorKind::NotConnected))
    }

    pub(crate) fn take_error(&self) -> Option<io::Error> {
        let error = self.conn.state.with(|state| state.take_error(self.id));
        error.map(of_socket)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Outside of the connection's world there is nobody to tell.
        if let Some(hosts) = self.conn.hosts.upgrade() {
            let resource = &self.conn.resources[self.id];
            resource.sync_point(OpKind::Close, Access::Write, self.site());
            // Tasks that polled it once are not told of what becomes of it.
            let waiters = |state: &mut State| std::mem::take(&mut state.sides[self.id].waiters);
            drop(self.conn.state.with(waiters));
            self.conn.close(self.id);
            hosts.forget_conn(&self.conn, self.id);
        }
    }
}
