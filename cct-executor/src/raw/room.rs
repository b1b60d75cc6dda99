//! How much stack polls have: as much as on a worker thread of tokio, or more where the program asks for more.
//!
//! It only grows, for stacks that are made from then on: what fits on a stack decides nothing but whether the process ends.

use std::sync::atomic::{AtomicUsize, Ordering};

/// That of a thread that Rust spawns. Reserved, not committed.
const LEAST: usize = 2 << 20;
/// More is not to be had.
const MOST: usize = 1 << 30;
const PAGE: usize = 4096;

static BYTES: AtomicUsize = AtomicUsize::new(LEAST);

/// How many bytes stacks have that are made from now on.
#[inline]
pub(crate) fn bytes() -> usize {
    BYTES.load(Ordering::Relaxed)
}

/// From here on stacks have so many bytes at least, up to a GiB.
pub(crate) fn wants(bytes: usize) {
    let bytes = bytes.min(MOST).next_multiple_of(PAGE);
    BYTES.fetch_max(bytes, Ordering::Relaxed);
}

/// From here on stacks have as much as this thread does, on Linux: what its starter gave it, or `RUST_MIN_STACK` says. But not
/// what the process's first thread has, which is the shell's to say.
pub(crate) fn wants_as_this_thread() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(bytes) = of_this_thread() {
        wants(bytes);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn of_this_thread() -> Option<usize> {
    use std::mem::MaybeUninit;
    // SAFETY: the calls take nothing, or what the first of them has written, and is destroyed in the end.
    unsafe {
        if libc::gettid() == libc::getpid() {
            return None;
        }
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        let attributes = attributes.as_mut_ptr();
        if libc::pthread_getattr_np(libc::pthread_self(), attributes) != 0 {
            return None;
        }
        let mut bytes = 0;
        let outcome = libc::pthread_attr_getstacksize(attributes, &raw mut bytes);
        libc::pthread_attr_destroy(attributes);
        (outcome == 0).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_as_large_as_the_largest_that_was_asked_for() {
        // Other tests may ask for more meanwhile, up to what a thread of theirs has.
        wants(4 * LEAST);
        wants(LEAST);
        assert_eq!(bytes(), 4 * LEAST);
        wants(4 * LEAST + 1);
        assert_eq!(bytes(), 4 * LEAST + PAGE);
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            let thread = std::thread::Builder::new().stack_size(32 << 20);
            let thread = thread.spawn(wants_as_this_thread).unwrap();
            thread.join().unwrap();
            assert!((32 << 20..33 << 20).contains(&bytes()));
        }
    }
}
