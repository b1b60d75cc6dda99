//! A thread without a world that runs a job of its own as the thread of a world would: with that world, and no other has it
//! meanwhile.
//!
//! 1. The host is a worker of the world's thread, which is asleep but between two stretches of the job. Where the job's
//!    poll is suspended, the host's is.
//! 2. What a thread has that runs the world, its luggage, is with the host, with the guest, or on its way.
//!
//! A worker may also have such a thread made for a job, as closures that may block have threads of their own on tokio.
//!
//! Does not: know what the luggage is, but for the home.

use super::afar::Job;
use super::handover::{Giver, Taker, handover};
use super::shared::Home;
use super::stack::{self, Freeze, Stack};
use cct_interpose::Family;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::thread;

/// What a thread has that runs a world.
pub(crate) trait Luggage: 'static {
    /// That of no world.
    fn nothing() -> Self;

    /// The thread has this from here on, and this what the thread had.
    fn exchange(&mut self);
}

struct Carried<L> {
    luggage: L,
    home: Option<&'static Home>,
}

impl<L: Luggage> Carried<L> {
    fn exchange(&mut self) {
        self.luggage.exchange();
        Home::exchange(&mut self.home);
    }
}

// SAFETY: host and guest alone bring one to each other, by handovers, which order what they do; and until the job is over
// nobody else reaches what is in it. So it is as if one thread did, but for thread-locals, which are exchanged.
unsafe impl<L> Send for Carried<L> {}

/// Why the guest gives it back.
enum Stop {
    Frozen,
    Over,
}

/// What the world's thread is to run. If it is dropped before that, the guest learns of it.
struct Host<L> {
    to_guest: Giver<Carried<L>>,
    from_guest: Taker<(Carried<L>, Stop)>,
}

impl<L: Luggage> Host<L> {
    fn serve(self) {
        let mut carried = Carried {
            luggage: L::nothing(),
            home: None,
        };
        loop {
            carried.exchange();
            let given = self.to_guest.give(carried);
            let (Ok(()), Some((back, stop))) = (given, self.from_guest.take()) else {
                panic!("cct bug: a thread that ran a job of its own in a world has ended with it")
            };
            carried = back;
            carried.exchange();
            match stop {
                Stop::Over => return,
                Stop::Frozen => stack::freeze(),
            }
        }
    }
}

/// The guest's side of it.
struct Guest<L> {
    from_host: Taker<Carried<L>>,
    to_host: Giver<(Carried<L>, Stop)>,
    /// While the guest has the world, what it had itself.
    own: RefCell<Option<(Carried<L>, Stack)>>,
}

impl<L: Luggage> Guest<L> {
    /// Runs a job as soon as it has the world, if it gets one. `over` is told what comes of it before the host goes on.
    fn run<R>(
        from_host: Taker<Carried<L>>,
        to_host: Giver<(Carried<L>, Stop)>,
        job: impl FnOnce() -> R,
        over: impl FnOnce(thread::Result<R>),
    ) {
        let Some(carried) = from_host.take() else {
            return;
        };
        let guest = Rc::new(Guest {
            from_host,
            to_host,
            own: RefCell::new(None),
        });
        guest.arrive(carried, Stack::of_guest(guest.clone()));
        over(catch_unwind(AssertUnwindSafe(job)));
        guest.leave(Stop::Over);
    }

    fn arrive(&self, mut carried: Carried<L>, stack: Stack) {
        carried.exchange();
        self.own.replace(Some((carried, stack.exchange())));
    }

    /// Returns the stack on which it goes on later.
    fn leave(&self, stop: Stop) -> Option<Stack> {
        let (mut carried, stack) = self.own.take()?;
        let stack = stack.exchange();
        carried.exchange();
        let _ = self.to_host.give((carried, stop));
        Some(stack)
    }
}

impl<L: Luggage> Freeze for Guest<L> {
    fn freeze(&self) {
        let Some(stack) = self.leave(Stop::Frozen) else {
            return;
        };
        match self.from_host.take() {
            Some(carried) => self.arrive(carried, stack),
            None => panic!("cct bug: a poll was suspended on another thread, and forgotten"),
        }
    }
}

/// Runs `job` on this thread, which has no world of its own, as a worker of another's would: `start` is to see to it that
/// a worker there runs what it is given, and may drop that. `None` if it did.
pub(crate) fn run_as_guest<L: Luggage, R>(
    job: impl FnOnce() -> R,
    start: impl FnOnce(Job),
) -> Option<thread::Result<R>> {
    let (to_guest, from_host) = handover();
    let (to_host, from_guest) = handover();
    let host = Host {
        to_guest,
        from_guest,
    };
    start(Box::new(move || host.serve()));
    let mut came_of_it = None;
    Guest::<L>::run(from_host, to_host, job, |result| {
        came_of_it = Some(result);
    });
    came_of_it
}

/// Runs `job` on a thread of its own, as the worker would that calls this, and waits there.
///
/// # Errors
/// When the system has no thread to give.
pub(crate) fn run_on_a_thread<L: Luggage, R: Send + 'static>(
    name: &str,
    job: impl FnOnce() -> R + Send + 'static,
) -> io::Result<thread::Result<R>> {
    let (to_guest, from_host) = handover();
    let (to_host, from_guest) = handover();
    let host = Host::<L> {
        to_guest,
        from_guest,
    };
    let (tell, told) = channel();
    // Who takes part in the world, and is waited for, is counted there.
    let family = Family::of_this_thread();
    let body = move || {
        if let Some(family) = family {
            family.adopt();
        }
        let over = |result| drop(tell.send(result));
        Guest::<L>::run(from_host, to_host, job, over);
    };
    // It ends when it has given back what it had; nobody waits for that.
    let builder = thread::Builder::new().name(name.to_owned());
    drop(cct_interpose::uncounted(|| builder.spawn(body))?);
    host.serve();
    let result = told.try_recv();
    Ok(result.expect("cct bug: a closure has ended without an outcome"))
}
