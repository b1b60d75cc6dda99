//! A thread without a world that runs a job of its own as the thread of a world would: with that world, and no other has it
//! meanwhile.
//!
//! 1. The host is a worker of the world's thread, which is asleep but between two stretches of the job. Where the job's
//!    poll is suspended, the host's is.
//! 2. What a thread has that runs the world, its luggage, is with the host, with the guest, or on its way.
//!
//! A worker may also have such a thread made for a job, as closures that may block have threads of their own on tokio. And
//! while a job is suspended other polls may be run on the guest's thread, above it on its stack: those of tasks whose
//! runtime or set the job drives.
//!
//! 3. Of those one at a time, and the job goes on only when it is over.
//!
//! Or a thread may be made for polls alone.
//!
//! Does not: know what the luggage is, but for the home.

use super::afar::Job;
use super::handover::{Giver, Taker, handover};
use super::room;
use super::shared::Home;
use super::stack::{self, Freeze, Stack};
use cct_interpose::Family;
use std::cell::{Cell, RefCell};
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

    /// From here on what the job that runs now drives may be polled on its guest's thread. Returns the job's number.
    fn has_thread(thread: Rc<dyn Thread>) -> u32;

    /// The job is over.
    fn has_none(job: u32);

    /// The job was told to come to its end, and others have to before.
    fn give_way(job: u32);
}

/// The thread of a guest whose job is suspended.
pub(crate) trait Thread {
    /// Runs this there, unless something else is in the middle there, and returns whether it did. It must not unwind.
    fn run(&self, poll: &mut dyn FnMut()) -> bool;
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

/// Something for the guest's thread, which is over before whoever has made it goes on.
struct Poll(*mut dyn FnMut());

// SAFETY: whoever has made it waits for the guest meanwhile, so it is as if one thread ran all of it.
unsafe impl Send for Poll {}

/// What the guest gets it for.
enum Visit<L> {
    GoOn(Carried<L>),
    Run(Carried<L>, Poll),
}

/// Why the guest gives it back.
enum Stop {
    Frozen,
    Over,
}

/// What the world's thread is to run. If it is dropped before that, the guest learns of it.
struct Host<L> {
    to_guest: Giver<Visit<L>>,
    from_guest: Taker<(Carried<L>, Stop)>,
    /// A poll of another task is in the middle on the guest's thread.
    is_busy: Cell<bool>,
}

/// How a guest and its host reach each other, as the guest has it.
type Ways<L> = (Taker<Visit<L>>, Giver<(Carried<L>, Stop)>);

impl<L: Luggage> Host<L> {
    fn new() -> (Host<L>, Ways<L>) {
        let (to_guest, from_host) = handover();
        let (to_host, from_guest) = handover();
        let host = Host {
            to_guest,
            from_guest,
            is_busy: Cell::new(false),
        };
        (host, (from_host, to_host))
    }

    fn serve(self) {
        let host = Rc::new(self);
        let job = L::has_thread(host.clone());
        while let Stop::Frozen = host.visit(Visit::GoOn) {
            stack::freeze();
            while host.is_busy.get() {
                L::give_way(job);
            }
        }
        L::has_none(job);
    }

    /// The guest has what this thread has, until it gives that back.
    fn visit(&self, what_for: impl FnOnce(Carried<L>) -> Visit<L>) -> Stop {
        let mut carried = Carried {
            luggage: L::nothing(),
            home: None,
        };
        carried.exchange();
        let given = self.to_guest.give(what_for(carried));
        let (Ok(()), Some((mut back, stop))) = (given, self.from_guest.take()) else {
            panic!("cct bug: a thread that ran a job of its own in a world has ended with it")
        };
        back.exchange();
        stop
    }
}

impl<L: Luggage> Thread for Host<L> {
    fn run(&self, poll: &mut dyn FnMut()) -> bool {
        if self.is_busy.replace(true) {
            return false;
        }
        // SAFETY: only the lifetime changes, and it is not used any more when this returns.
        let poll = Poll(unsafe { std::mem::transmute::<&mut dyn FnMut(), *mut dyn FnMut()>(poll) });
        let mut stop = self.visit(|carried| Visit::Run(carried, poll));
        while let Stop::Frozen = stop {
            stack::freeze();
            stop = self.visit(Visit::GoOn);
        }
        self.is_busy.set(false);
        true
    }
}

/// The guest's side of it.
struct Guest<L> {
    from_host: Taker<Visit<L>>,
    to_host: Giver<(Carried<L>, Stop)>,
    /// While the guest has the world, what it had itself.
    own: RefCell<Option<(Carried<L>, Stack)>>,
}

impl<L: Luggage> Guest<L> {
    /// Runs a job as soon as it has the world, if it gets one. `over` is told what comes of it before the host goes on.
    fn run<R>(
        from_host: Taker<Visit<L>>,
        to_host: Giver<(Carried<L>, Stop)>,
        job: impl FnOnce() -> R,
        over: impl FnOnce(thread::Result<R>),
    ) {
        let Some(Visit::GoOn(carried)) = from_host.take() else {
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
        let mut left = self.leave(Stop::Frozen);
        while let Some(stack) = left {
            match self.from_host.take() {
                Some(Visit::GoOn(carried)) => return self.arrive(carried, stack),
                Some(Visit::Run(carried, poll)) => {
                    self.arrive(carried, stack);
                    // SAFETY: by the type.
                    unsafe { (*poll.0)() };
                    left = self.leave(Stop::Over);
                }
                None => panic!("cct bug: a poll was suspended on another thread, and forgotten"),
            }
        }
    }
}

/// A thread for polls of the world's tasks, as long as this is kept.
///
/// # Errors
/// When the system has no thread to give.
pub(crate) fn thread_for_polls<L: Luggage>(name: &str) -> io::Result<Rc<dyn Thread>> {
    let (host, (from_host, to_host)) = Host::<L>::new();
    let family = Family::of_this_thread();
    let body = move || {
        if let Some(family) = family {
            family.adopt();
        }
        let guest = Rc::new(Guest {
            from_host,
            to_host,
            own: RefCell::new(None),
        });
        while let Some(Visit::Run(carried, poll)) = guest.from_host.take() {
            guest.arrive(carried, Stack::of_guest(guest.clone()));
            // SAFETY: by the type.
            unsafe { (*poll.0)() };
            guest.leave(Stop::Over);
        }
    };
    let builder = thread::Builder::new().name(name.to_owned());
    let builder = builder.stack_size(room::bytes());
    drop(cct_interpose::uncounted(|| builder.spawn(body))?);
    Ok(Rc::new(host))
}

/// Runs `job` on this thread, which has no world of its own, as a worker of another's would: `start` is to see to it that
/// a worker there runs what it is given, and may drop that. `None` if it did.
pub(crate) fn run_as_guest<L: Luggage, R>(
    job: impl FnOnce() -> R,
    start: impl FnOnce(Job),
) -> Option<thread::Result<R>> {
    let (host, (from_host, to_host)) = Host::new();
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
    name: String,
    job: impl FnOnce() -> R + Send + 'static,
) -> io::Result<thread::Result<R>> {
    let (host, (from_host, to_host)) = Host::<L>::new();
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
    let builder = thread::Builder::new().name(name);
    let builder = builder.stack_size(room::bytes());
    drop(cct_interpose::uncounted(|| builder.spawn(body))?);
    host.serve();
    let result = told.try_recv();
    Ok(result.expect("cct bug: a closure has ended without an outcome"))
}
