//! A world of its own for a runtime that is built where there is none: in a `#[test]` that has no attribute of
//! ours.
//!
//! The code that builds the runtime is not the world's to run again. So it is explored, where that is asked for, in
//! processes that run the whole test (`explored`), and is run once here, in plain order. It takes the place of the
//! scenario's own task, as a closure that may block, from the moment at which it builds its first runtime until the
//! last one is dropped. What else the world has to run goes on while that code waits. Clocks that the code has looked at
//! go on from there in the world, and after it from where it leaves them.
//!
//! A thread of the test's own that ends before its last runtime does, as others have that, stays until it is dropped
//! (`stay`). A world that cannot be ended where its last runtime is dropped (on another thread, inside one of its own
//! tasks, never) ends with its test, unless that leaves tasks in it: for those the thread of the harness stays.

#[cfg(unix)]
mod explored;
mod instead;
mod stay;
mod watch;

use super::apart::is_once;
#[cfg(unix)]
use super::apart::{PlainWorld, note_other};
use super::campaign::Scenario;
use super::checker::running_test;
use super::driver::Driver;
use super::env::{PlainTests, Settings};
use super::started;
use crate::execution::Detail;
use crate::execution::lone::{self, LoneWorld};
use crate::execution::machine;
use crate::execution::room;
use crate::execution::run::Finished;
use crate::execution::strangers;
use crate::execution::waker::TaskWaker;
use crate::strategy::Strategy as _;
use crate::strategy::round_robin::RoundRobin;
use crate::task::blocking_body;
use crate::task::body::main_body;
use crate::words::fingerprint::{hash_of, mix2};
use crate::words::{Granularity, Iteration, Limits, ReplayToken, Seed, WorldConfig};
use cct_interpose::Clocks;
#[cfg(unix)]
use explored::ToTell;
#[cfg(unix)]
pub(crate) use explored::{fail_at_end, fail_if_found};
pub(crate) use instead::{Instead, instead_of};
use stay::Gone;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use watch::Watch;
#[cfg(unix)]
pub(super) use watch::{SPINS, STANDS_STILL};

/// A test that takes more is taken to spin, maybe for a thread that waits until the world is over.
const STEPS_MAX: u64 = 10_000_000;

/// Keeps a lone world open: each of its runtimes has one.
#[derive(Debug)]
pub(crate) struct Lone {
    /// The world's number.
    serial: u64,
    gone: Arc<Gone>,
}

/// The world around the code of a thread.
struct Around {
    lone: Weak<Lone>,
    gone: Arc<Gone>,
    world: LoneWorld,
    kind: Kind,
    /// Until the world is over, or its code.
    watch: Option<Watch>,
    _open: Option<Open>,
}

/// A world that threads may ask for something, and in which they are welcome: as long as its thread is there.
struct Open(u64);

impl Open {
    /// `None` if it is not open to them.
    fn new(world: u64) -> Option<Open> {
        strangers::is_open(world).then(|| {
            cct_interpose::welcome_threads(true);
            Open(world)
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        cct_interpose::welcome_threads(false);
        // If it has not ended.
        strangers::close(self.0);
    }
}

/// The numbers of the worlds of this kind that are over: handles to them may be left.
static OVER: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// The world around the code of this thread, while there is one.
    static AROUND: RefCell<Option<Around>> = const { RefCell::new(None) };
}

fn over() -> MutexGuard<'static, BTreeSet<u64>> {
    OVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this is the number of a world around a test's code, and it is over.
pub(crate) fn is_over(serial: u64) -> bool {
    over().contains(&serial)
}

/// Elsewhere nothing is explored so.
#[cfg(not(unix))]
pub(crate) fn fail_if_found() {}

#[cfg(not(unix))]
pub(crate) fn fail_at_end() {}

/// What keeps the world open in which this code runs, if it is a lone one.
pub(crate) fn current() -> Option<Arc<Lone>> {
    AROUND.with_borrow(|around| around.as_ref().and_then(|around| around.lone.upgrade()))
}

/// Whether the world around the code of this thread was ordered by who has started the process.
#[cfg(unix)]
fn is_ordered() -> bool {
    AROUND.with_borrow(|around| around.as_ref().is_some_and(|around| around.kind.is_ordered))
}

/// Opens a world around the code that runs on this thread, if tests without an attribute are to be run.
///
/// # Errors
/// When a `CCT_*` variable cannot be understood, or the system has no memory for a stack.
///
/// # Panics
/// If the test cannot be run.
#[track_caller]
pub(crate) fn open(site: &'static Location<'static>) -> io::Result<Option<Arc<Lone>>> {
    let settings = Settings::from_env().map_err(not_understood)?;
    let wanted = settings.plain_tests != PlainTests::Refuse || is_replayed(&settings);
    if !(cfg!(unix) && wanted && may_have_worlds()) {
        return Ok(None);
    }
    // Exploring takes time, of which the test's code sees nothing.
    let clocks = cct_interpose::clocks_seen();
    let is_started = cct_interpose::was_started() || !is_of_the_harness();
    #[cfg(unix)]
    let to_tell = match is_started {
        true => None,
        false => explored::next(&settings, site)?,
    };
    let is_one = settings.apart.as_ref();
    // What the test was told is not for a program that it starts.
    let is_one = is_one.is_some_and(|answer| !is_once(answer)) && !started::by_a_test();
    let is_repeated = is_one || is_replayed(&settings) && !started::by_a_test();
    let kind = Kind {
        is_one,
        is_started,
        #[cfg(unix)]
        is_ordered: matches!(to_tell, Some(ToTell::All(_))),
    };
    around_us(kind, || {
        #[cfg(unix)]
        let answer = match to_tell {
            Some(ToTell::All(teller)) => return teller.begin(clocks),
            Some(ToTell::Decisions(answer)) => Some(answer),
            None => None,
        };
        // What was ordered is to be repeated, and so are the worlds around it.
        let open = !is_repeated || settings.plain_tests == PlainTests::Once;
        if open {
            if started::by_a_test() {
                machine::is_a_program();
            }
            // Threads that take part go by the machine's time: what has passed since nobody looked has passed for none.
            cct_interpose::go_on_from(clocks);
        }
        #[cfg(unix)]
        if let Some(answer) = answer {
            let told = move |finished: Finished| note_other(&answer, finished.end.decisions);
            return world_around(site, open, clocks, noise(), told);
        }
        world_around(site, open, clocks, noise(), drop)
    })
    .map(Some)
}

/// Opens a world around the code that runs on this thread, in which threads may take part. Their clocks are the
/// thread's own, and the world's begin there. What is drawn at random is other numbers each time, as files may be named by it.
///
/// # Errors
/// When the system has no memory for a stack.
pub(crate) fn open_to_threads(site: &'static Location<'static>) -> io::Result<Arc<Lone>> {
    if started::by_a_test() {
        machine::is_a_program();
    }
    around_us(Kind::default(), || {
        let clocks = cct_interpose::clocks_outside();
        let moment = clocks.wall.as_nanos() as u64;
        world_around(site, true, clocks, Seed(mix2(noise().0, moment)), drop)
    })
}

/// What a world around a thread's code is for.
#[derive(Clone, Copy, Default)]
struct Kind {
    /// One iteration of a test, and not all of it.
    is_one: bool,
    /// A thread that the test has started.
    is_started: bool,
    /// Whoever has started this process wants to know what comes of it.
    #[cfg(unix)]
    is_ordered: bool,
}

/// The world that `begin` makes stands around the code that runs on this thread. Was the thread started by the test, so
/// may whoever has started it act.
fn around_us(kind: Kind, begin: impl FnOnce() -> io::Result<LoneWorld>) -> io::Result<Arc<Lone>> {
    room::wants_as_this_thread();
    stay::see_to_it();
    // Its thread is none of the world's.
    let watch = Watch::begin(kind.is_one, kind.is_started);
    let world = begin()?;
    let lone = Arc::new(Lone {
        serial: world.serial(),
        gone: Arc::default(),
    });
    instead::note_family(lone.serial);
    AROUND.set(Some(Around {
        lone: Arc::downgrade(&lone),
        gone: lone.gone.clone(),
        world,
        kind,
        watch: Some(watch),
        _open: Open::new(lone.serial),
    }));
    if kind.is_started {
        cct_interpose::count_starter(true);
    }
    Ok(lone)
}

/// Whether there is a token of this test, which nobody would give who wants it refused.
fn is_replayed(settings: &Settings) -> bool {
    let both = settings.replay.as_ref().zip(running_test());
    both.is_some_and(|(token, test)| is_of(token, &test))
}

#[cfg(unix)]
fn is_of(token: &ReplayToken, test: &str) -> bool {
    PlainWorld::of_token(token, test).is_some()
}

#[cfg(not(unix))]
fn is_of(token: &ReplayToken, test: &str) -> bool {
    token.for_test(test).is_ok()
}

fn not_understood(error: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}

/// Threads that were started in a world, or by one of its threads, have worlds of their own only where nobody is to
/// repeat what they do.
fn may_have_worlds() -> bool {
    let is_outside = match cct_interpose::CONTROLLED {
        true => !cct_interpose::was_controlled(),
        // Nobody knows.
        false => is_of_the_harness(),
    };
    is_outside || cct_interpose::is_welcome()
}

/// Whether a test without an attribute runs here, and such tests are run.
pub(crate) fn is_part_of_a_test() -> bool {
    let runs = |settings: Settings| settings.plain_tests != PlainTests::Refuse;
    cfg!(unix) && running_test().is_some() && Settings::from_env().is_ok_and(runs)
}

/// Harnesses name the threads of tests after them. Threads that tests start rarely have a name.
#[expect(
    clippy::disallowed_methods,
    reason = "outside of worlds, where nothing is decided"
)]
fn is_of_the_harness() -> bool {
    std::thread::current().name().is_some()
}

fn world_around(
    site: &'static Location<'static>,
    open: bool,
    clocks: Clocks,
    noise: Seed,
    told: impl Fn(Finished) + 'static,
) -> io::Result<LoneWorld> {
    let config = WorldConfig {
        // Round robin interrupts no poll. But one may wait for what another task has, or does.
        granularity: Granularity::Op,
        limits: Limits {
            steps: STEPS_MAX,
            tasks: u32::MAX,
            time: Duration::MAX,
            ..Limits::default()
        },
        noise,
        late_timers: true,
        numbered_errors: true,
        ..WorldConfig::default()
    };
    let mut strategy = RoundRobin::default();
    strategy.begin(&Iteration {
        index: 0,
        seed: Seed(0),
        max_steps: u64::MAX,
    });
    let driver = Driver::new(Box::new(strategy));
    LoneWorld::begin(
        config,
        Box::new(driver),
        scenario(site),
        Detail::Nothing,
        open,
        clocks,
        told,
    )
}

/// What is drawn at random in one world of a process is drawn in no other of its tests, nor in another world of the same
/// test; and on the test's own thread it is the same in every process.
fn noise() -> Seed {
    static WORLDS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());
    let test = hash_of(&running_test().unwrap_or_default());
    let mut worlds = WORLDS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = worlds.entry(test).or_default();
    *before += 1;
    Seed(mix2(test, *before))
}

/// The scenario whose own task this code stands in for.
fn scenario(site: &'static Location<'static>) -> Scenario {
    Arc::new(move |task: TaskWaker| {
        let code = blocking_body(|| {
            lone::stand_in();
            Ok(())
        });
        (main_body(code, task), site)
    })
}

impl Drop for Lone {
    fn drop(&mut self) {
        if !end(self.serial) {
            self.gone.tell();
        }
    }
}

/// Ends the world of this number. Returns whether this code could.
fn end(serial: u64) -> bool {
    if !lone::is_around_us(serial) {
        return false;
    }
    // A thread-local may have held the runtime: the thread ends, and leaves its world as it is.
    if AROUND.try_with(|_| ()).is_ok() {
        leave();
    }
    over().insert(serial);
    true
}

/// Ends the world around this code. Should its runtimes not be gone, as they lie in statics, other tests have others in their place.
fn leave() {
    lone::see_off();
    if let Some(around) = AROUND.take() {
        around.world.end();
        if around.kind.is_started {
            cct_interpose::count_starter(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_worlds_draw_the_same() {
        let of_test = |name: &str| {
            let thread = std::thread::Builder::new().name(name.to_owned());
            let draws = thread.spawn(|| [noise(), noise()]).expect("a thread");
            draws.join().expect("no panic")
        };
        let drawn = [of_test("a::test"), of_test("another::test")].concat();
        let distinct: BTreeSet<u64> = drawn.iter().map(|seed| seed.0).collect();
        assert_eq!(distinct.len(), drawn.len());
    }
}
