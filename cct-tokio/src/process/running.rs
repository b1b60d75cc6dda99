//! A process of the machine, and pipes to it, in a test that is run once.

use super::outside_of_the_world;
use crate::io::{Interest, ReadBuf};
use crate::raw::{descriptors, process};
use cct_executor::shim::{MachineWait, machine_is_open, see_to_machine, wait_for_machine};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command as StdCommand, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Processes that nobody has waited for, and that may go on when their handle is gone: once they end they are looked after,
/// as their entry at the system stays until then.
static ORPHANS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether there are none.
fn see_to_orphans() -> bool {
    let mut orphans = lock(&ORPHANS);
    orphans.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    orphans.is_empty()
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Running {
    child: Arc<Mutex<Option<Child>>>,
    status: Option<ExitStatus>,
    kill_on_drop: bool,
    wait: Option<MachineWait>,
    /// As long as it runs time is the machine's: whoever asks now and then whether it has ended sleeps in between.
    _runs: Option<MachineWait>,
}

/// Its input and its outputs.
pub(super) type Pipes = [Option<Pipe>; 3];

impl Running {
    pub(super) fn start(
        command: &mut StdCommand,
        kill_on_drop: bool,
    ) -> io::Result<(Running, Pipes)> {
        if !machine_is_open() {
            let program = command.get_program().to_string_lossy();
            return Err(outside_of_the_world(format_args!("to start `{program}`")));
        }
        see_to_orphans();
        Running::of(command.spawn()?, kill_on_drop)
    }

    fn of(mut child: Child, kill_on_drop: bool) -> io::Result<(Running, Pipes)> {
        let ends = [
            child.stdin.take().map(OwnedFd::from),
            child.stdout.take().map(OwnedFd::from),
            child.stderr.take().map(OwnedFd::from),
        ];
        let [stdin, stdout, stderr] = ends.map(|end| end.map(Pipe::new).transpose());
        let child = Arc::new(Mutex::new(Some(child)));
        let running = Running {
            _runs: wait_for_machine(Waker::noop(), has_ended(child.clone())),
            child,
            status: None,
            kill_on_drop,
            wait: None,
        };
        Ok((running, [stdin?, stdout?, stderr?]))
    }

    pub(super) fn id(&self) -> Option<u32> {
        let child = lock(&self.child);
        let running = child.as_ref().filter(|_| self.status.is_none());
        running.map(Child::id)
    }

    pub(super) fn start_kill(&mut self) -> io::Result<()> {
        let mut child = lock(&self.child);
        let running = child.as_mut().filter(|_| self.status.is_none());
        running.map_or(Ok(()), Child::kill)
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            let mut child = lock(&self.child);
            let waited = child.as_mut().map(Child::try_wait);
            self.status = waited.transpose()?.flatten();
        }
        Ok(self.status)
    }

    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        self.wait = None;
        if let Some(status) = self.try_wait()? {
            return Poll::Ready(Ok(status));
        }
        self.wait = wait_for_machine(cx.waker(), has_ended(self.child.clone()));
        Poll::Pending
    }
}

/// Says whether it has ended, and leaves it to others to ask how: to the program, too, in ways of its own.
fn has_ended(child: Arc<Mutex<Option<Child>>>) -> impl FnMut() -> bool {
    move || lock(&child).as_ref().is_none_or(process::has_ended)
}

impl Drop for Running {
    fn drop(&mut self) {
        self.wait = None;
        if matches!(self.try_wait(), Ok(None)) {
            if self.kill_on_drop {
                // It may have ended meanwhile.
                let _ = self.start_kill();
            }
            lock(&ORPHANS).extend(lock(&self.child).take());
            see_to_machine(see_to_orphans);
        }
        see_to_orphans();
    }
}

/// An end of a pipe whose other end a process has.
#[derive(Debug)]
pub(super) struct Pipe {
    // Before the file: what waits for it keeps it open.
    wait: Option<MachineWait>,
    file: Arc<File>,
}

impl Pipe {
    pub(super) fn new(end: OwnedFd) -> io::Result<Pipe> {
        descriptors::set_nonblocking(end.as_fd(), true)?;
        Ok(Pipe {
            wait: None,
            file: Arc::new(File::from(end)),
        })
    }

    pub(super) fn of_std(what: &str, end: impl Into<OwnedFd>) -> io::Result<Pipe> {
        if !machine_is_open() {
            return Err(outside_of_the_world(what));
        }
        Pipe::new(end.into())
    }

    /// Whoever has it outside of tokio blocks.
    pub(super) fn into_blocking(self) -> io::Result<OwnedFd> {
        descriptors::set_nonblocking(self.file.as_fd(), false)?;
        let Pipe { wait, file } = self;
        drop(wait);
        let alone = Arc::try_unwrap(file).map(OwnedFd::from);
        alone.or_else(|file| file.as_fd().try_clone_to_owned())
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn poll<R>(
        &mut self,
        cx: &mut Context<'_>,
        interest: Interest,
        mut act: impl FnMut(&File) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.wait = None;
        loop {
            match act(&self.file) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                done => return Poll::Ready(done),
            }
        }
        let file = self.file.clone();
        self.wait = wait_for_machine(cx.waker(), move || {
            !descriptors::readiness(file.as_fd(), interest).is_empty()
        });
        Poll::Pending
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let into = buf.initialize_unfilled();
        let count = self.poll(cx, Interest::READABLE, |mut file| file.read(into));
        count.map_ok(|count| buf.advance(count))
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, Interest::WRITABLE, |mut file| file.write(buf))
    }
}
