//! What a thread that runs a world has in the place of the operating system: random bytes, which derive
//! from a seed; clocks, which show virtual time; blocking and sleeping, which suspend a poll; signals to itself; and
//! sockets that are none of the machine's, by their files and their descriptors.
//!
//! The keys of a `HashMap`, the generators of `rand`, UUIDs and the like begin with random bytes from
//! the system. In a test that is to repeat itself they must be the same the next time. And a lock of the
//! standard library blocks the thread on which it is not free; where one thread runs all tasks, whoever
//! holds it never goes on. `std::time` shows the real clock, by which nothing happens in virtual time.
//!
//! So the functions of the C library that give random bytes (`getrandom`, `getentropy`) and the time
//! (`clock_gettime`), those that sleep (`nanosleep`, `clock_nanosleep`), `syscall`, by which threads block,
//! `sched_yield`, by which they let others go first, `pthread_create` and `pthread_join`, `fork` and `posix_spawnp`, `kill` and `raise`, by which a
//! process sends itself signals, `exit` and `abort`, `statx`, `unlink`, `chmod` and `rename`, and those that send, receive, connect, accept
//! and shut down by a socket's descriptor or ask for its addresses are defined here: the linker takes a program's own
//! definition before a library's, which is called symbol interposition. A thread that did not call [`begin`] gets what the
//! system gives, but where it is to connect may be another's to say ([`on_connect`]), and where `CCT_OUTSIDE` is a number its random
//! bytes derive from that.
//!
//! 1. The bytes follow from the seed, from how many were asked for, and from how often so many were
//!    asked for before. A draw changes nothing about those of other lengths.
//! 2. A thread that ever drew is marked ([`drawn`]): the standard library and others keep what they
//!    drew in thread-locals, so whatever runs there next begins with leftovers.
//!
//! A program can hold one definition of a symbol. That is why this is a package of its own, which keeps
//! its version while others change theirs, and why it does not link together with other packages that
//! define these symbols.
//!
//! Does not: know worlds. Linux with the GNU C library on x86-64 and AArch64 has these
//! symbols ([`CONTROLLED`]); elsewhere nothing is interposed, and nothing here has an effect.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

mod stream;
mod system;

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
mod symbols;

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
#[path = "absent.rs"]
mod symbols;

pub use symbols::{Family, Whereabouts, Word};
pub use system::{
    Atomic, Blocks, Clocks, Moved, OnFile, OnSocket, Peer, Place, Sending, SocketFile, Stay,
    System, ThreadsStarted, Toward, Waited,
};

/// Whether random bytes, clocks and blocking are under control on this target.
pub const CONTROLLED: bool = symbols::DEFINED;

/// Whether instrumented code says what atomic operations it does ([`System::atomic`]): in a build with
/// `--cfg cct_atomics`.
pub const ATOMICS: bool = CONTROLLED && cfg!(cct_atomics);

/// From here on this thread's random bytes derive from the seed, and the rest is as this says, beginning with clocks
/// that show this.
pub fn begin(seed: u64, system: System, clocks: Clocks) {
    // From here on it could not be found out any more.
    instant_zero();
    symbols::find_parker();
    symbols::learn_thread_locals();
    symbols::forget_loops();
    symbols::begin_file_times(clocks);
    stream::begin(seed);
    system::set_zero(clocks);
    system::set(Some(system));
}

/// From here on this thread gets what the system gives, and blocks.
pub fn end() {
    stream::end();
    system::set(None);
    system::set_zero(Clocks::ZERO);
}

/// What the clocks of this thread showed at [`begin`].
pub fn clocks_at_zero() -> Clocks {
    system::zero()
}

/// What the clocks show to this thread, on which there is no world: those that it has looked at since it was started,
/// or since [`go_on_from`]. The others, and all where nothing is interposed, stand where they did then, or at
/// [`Clocks::ZERO`]. The thread's next world goes on from now, as to how old its files are.
pub fn clocks_seen() -> Clocks {
    symbols::clocks_seen()
}

/// What the clocks of this thread show now, or would if there were no world on it. [`Clocks::ZERO`] where nothing is
/// interposed.
pub fn clocks_outside() -> Clocks {
    symbols::clocks_outside()
}

/// From here on the clocks of this thread go on from there, by the system's, and so do those of threads that it starts.
/// Where nothing is interposed this has no effect.
pub fn go_on_from(clocks: Clocks) {
    symbols::go_on_from(clocks);
}

/// The threads that this one has started, and those that these have started: how many there ever were, and how many
/// have not ended. Not those that the first thread of the process starts, as a harness does for tests.
pub fn threads_started() -> ThreadsStarted {
    symbols::threads_started()
}

/// Says whether threads that this one starts from now on, and those that they start, are [welcome](is_welcome): as long
/// as more have said so, of those with which it is [counted](threads_started), than have taken it back. Where nothing is
/// interposed this has no effect.
pub fn welcome_threads(welcome: bool) {
    symbols::welcome_threads(welcome);
}

/// Whether this thread was started where threads were welcome.
pub fn is_welcome() -> bool {
    symbols::is_welcome()
}

/// A number that this thread has in common with those that are [counted](threads_started) together with it, and with no
/// other; 0 where none are: on the process's first thread, unless it ran a world, and where nothing is interposed.
pub fn family() -> u64 {
    symbols::family()
}

/// Whether this thread was started by one whose threads are [counted](threads_started). Never where nothing is
/// interposed.
pub fn was_started() -> bool {
    symbols::was_started()
}

/// The processor's time that the other threads of this process have taken. Zero where nothing is interposed.
pub fn time_of_others() -> Duration {
    symbols::time_of_others()
}

/// Whether this process has children, and none of them has ended without being waited for. Never where nothing is
/// interposed.
pub fn children_run() -> bool {
    symbols::children_run()
}

/// Threads that `f` starts are not [counted](threads_started).
pub fn uncounted<R>(f: impl FnOnce() -> R) -> R {
    symbols::uncounted(f)
}

/// Whether this thread was started by one under control, or by one that such a one has started. Never where nothing is
/// interposed.
pub fn was_controlled() -> bool {
    symbols::was_controlled()
}

/// Counts the thread that has started this one among those that [this one has started](threads_started), or no more:
/// it too may do what somebody waits for. Where nothing is interposed this has no effect.
pub fn count_starter(here: bool) {
    symbols::count_starter(here);
}

/// What [`Instant::now`] gives at [`Clocks::ZERO`]: always the same in a process.
pub fn instant_zero() -> Instant {
    static ZERO: OnceLock<Instant> = OnceLock::new();
    *ZERO.get_or_init(|| {
        let outside = (system::get(), system::zero());
        system::set(Some(System::AS_EVER));
        system::set_zero(Clocks::ZERO);
        symbols::keep();
        #[expect(clippy::disallowed_methods, reason = "it is about the clock of std")]
        let zero = Instant::now();
        system::set(outside.0);
        system::set_zero(outside.1);
        zero
    })
}

/// From here on threads that are [counted](threads_started), and those of the harness, do this when their bodies have
/// ended.
/// Whoever says so first is heard. Where nothing is interposed this has no effect.
pub fn on_thread_end(stay: Stay) {
    symbols::on_thread_end(stay);
}

/// What ends the process by what a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fatal {
    /// The thread has run out of stack.
    Stack,
    /// This signal: of an access to memory that is invalid, of `abort`, or of an instruction that cannot be done.
    Signal(i32),
}

/// From here on `told` is called wherever a thread does what ends the process, which it does should it
/// return. It runs as a signal handler does, maybe in the middle of an allocation. Whoever asks first is told. Whether such
/// things are seen here.
pub fn on_fatal(told: fn(Fatal)) -> bool {
    symbols::on_fatal(told)
}

/// From here on `told` is called wherever a thread calls the C library's `exit`, as [`std::process::exit`] does, with the
/// code that it passes. The process ends should it return. Whoever asks first is told.
pub fn on_exit(told: fn(i32)) {
    symbols::on_exit(told);
}

/// From here on `guide` is asked wherever a thread is about to connect a stream by a socket of the machine's, by this
/// descriptor. Who says so first is heard. Where nothing is interposed this has no effect.
pub fn on_connect(guide: fn(i32, Peer<'_>) -> Toward) {
    symbols::on_connect(guide);
}

/// Whether the program has accepted connections, or waits for one, by the machine's socket with this cookie
/// (`SO_COOKIE`): of the sockets of which it does so, the last 64 are known. Where nothing is interposed none is.
pub fn accepts_itself(cookie: u64) -> bool {
    symbols::accepts_itself(cookie)
}

/// From here on it is as if the program had never accepted any by this one.
pub fn accepts_no_longer(cookie: u64) {
    symbols::accepts_no_longer(cookie);
}

/// Copies what this thread has in the program's thread-locals, byte by byte, but for what the system counts in
/// them. Returns where they begin. Nothing is copied where they are not to be found.
pub fn copy_thread_locals(into: &mut Vec<u8>) -> usize {
    symbols::copy_thread_locals(into)
}

/// Whether anyone ever drew random bytes on this thread, by a seed or not. Never true where they are
/// not under control.
pub fn drawn() -> bool {
    stream::drawn()
}
