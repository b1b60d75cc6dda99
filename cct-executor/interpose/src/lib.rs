//! Random bytes of the operating system, by a seed: for a thread that runs a world, while it does.
//!
//! The keys of a `HashMap`, the generators of `rand`, UUIDs and the like begin with random bytes from
//! the system. In a test that is to repeat itself they must be the same the next time. So the functions
//! of the C library that give such bytes (`getrandom`, `getentropy`, and `syscall` with the number of
//! the former) are defined here: the linker takes a program's own definition before a library's, which
//! is called symbol interposition. A thread that did not call [`begin`] gets what the system gives.
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
mod symbols {
    pub(crate) const DEFINED: bool = false;

    pub(crate) fn keep() {}
}

/// Whether random bytes are under control on this target.
pub const CONTROLLED: bool = symbols::DEFINED;

/// From here on this thread's random bytes derive from the seed.
pub fn begin(seed: u64) {
    symbols::keep();
    stream::begin(seed);
}

/// From here on this thread's random bytes are the system's again.
pub fn end() {
    stream::end();
}

/// Whether anyone ever drew random bytes on this thread, by a seed or not. Never true where they are
/// not under control.
pub fn drawn() -> bool {
    stream::drawn()
}
