//! What the operating system would do, in the place of which a thread that runs a world has its own:
//! random bytes, which derive from a seed, and blocking, which suspends a poll.
//!
//! The keys of a `HashMap`, the generators of `rand`, UUIDs and the like begin with random bytes from
//! the system. In a test that is to repeat itself they must be the same the next time. And a lock of the
//! standard library blocks the thread on which it is not free; where one thread runs all tasks, whoever
//! holds it never goes on.
//!
//! So the functions of the C library that give random bytes (`getrandom`, `getentropy`), and `syscall`,
//! by which they are asked for too and by which threads block, are defined here: the linker takes a
//! program's own definition before a library's, which is called symbol interposition. A thread that did
//! not call [`begin`] gets what the system gives.
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
//! Does not: know worlds, control clocks. Linux with the GNU C library on x86-64 and AArch64 has these
//! symbols ([`CONTROLLED`]); elsewhere nothing is interposed, and nothing here has an effect.

mod blocking;
mod stream;

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

pub use blocking::Blocking;
pub use symbols::Word;

/// Whether random bytes and blocking are under control on this target.
pub const CONTROLLED: bool = symbols::DEFINED;

/// From here on this thread's random bytes derive from the seed, and it does this in the place of
/// blocking.
pub fn begin(seed: u64, blocking: Blocking) {
    symbols::keep();
    stream::begin(seed);
    blocking::set(Some(blocking));
}

/// From here on this thread gets what the system gives, and blocks.
pub fn end() {
    stream::end();
    blocking::set(None);
}

/// Whether anyone ever drew random bytes on this thread, by a seed or not. Never true where they are
/// not under control.
pub fn drawn() -> bool {
    stream::drawn()
}
