//! What instrumented code calls in the place of its atomic instructions.
//!
//! 1. Whatever order was asked for, the operation is sequentially consistent.
//! 2. What is about to happen is told before it happens, and then what was and is there (`tell` and `done`, which are not
//!    the same in all programs).

use super::{Atomic, done, tell};
use core::ffi::c_int;
use core::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence,
};

/// The order of an operation on which nothing else depends.
const RELAXED: c_int = 0;
/// That of giving something up.
const RELEASE: c_int = 3;

/// Whether one more or one less is counted as references are. Looked at alone it decides nothing, and it is what
/// most atomic operations are.
fn counts(bits: u32, by: bool, order: c_int, usual: c_int) -> Atomic {
    match bits == usize::BITS && by && order == usual {
        true => Atomic::Count,
        false => Atomic::Change,
    }
}

macro_rules! functions {
    ($atomic:ty, $int:ty, $load:ident, $store:ident, $exchange:ident, $compare_exchange:ident, $add:ident, $sub:ident,
     $($change:ident: $method:ident),*) => {
        /// # Safety
        /// As an atomic load's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load(at: *mut $int, _: c_int) -> $int {
            tell(at.addr(), Atomic::Load);
            // SAFETY: the caller's promise.
            let there = unsafe { <$atomic>::from_ptr(at) }.load(Ordering::SeqCst);
            done(at.addr(), there.into(), there.into());
            there
        }

        /// # Safety
        /// As an atomic store's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(at: *mut $int, value: $int, _: c_int) {
            tell(at.addr(), Atomic::Change);
            // SAFETY: the caller's promise.
            unsafe { <$atomic>::from_ptr(at) }.store(value, Ordering::SeqCst);
            // Nobody has read what was there.
            done(at.addr(), (!value).into(), value.into());
        }

        /// # Safety
        /// As an atomic exchange's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $exchange(at: *mut $int, value: $int, _: c_int) -> $int {
            tell(at.addr(), Atomic::Change);
            // SAFETY: the caller's promise.
            let before = unsafe { <$atomic>::from_ptr(at) }.swap(value, Ordering::SeqCst);
            done(at.addr(), before.into(), value.into());
            before
        }

        /// Returns what was there.
        ///
        /// # Safety
        /// As an atomic exchange's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $compare_exchange(
            at: *mut $int,
            expected: $int,
            value: $int,
            _: c_int,
            _: c_int,
        ) -> $int {
            tell(at.addr(), Atomic::Change);
            // SAFETY: the caller's promise.
            let atomic = unsafe { <$atomic>::from_ptr(at) };
            let (before, now) = match atomic.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(before) => (before, value),
                Err(there) => (there, there),
            };
            done(at.addr(), before.into(), now.into());
            before
        }

        /// # Safety
        /// As an atomic addition's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $add(at: *mut $int, value: $int, order: c_int) -> $int {
            tell(at.addr(), counts(<$int>::BITS, value == 1, order, RELAXED));
            // SAFETY: the caller's promise.
            let before = unsafe { <$atomic>::from_ptr(at) }.fetch_add(value, Ordering::SeqCst);
            done(at.addr(), before.into(), before.wrapping_add(value).into());
            before
        }

        /// # Safety
        /// As an atomic subtraction's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $sub(at: *mut $int, value: $int, order: c_int) -> $int {
            tell(at.addr(), counts(<$int>::BITS, value == 1, order, RELEASE));
            // SAFETY: the caller's promise.
            let before = unsafe { <$atomic>::from_ptr(at) }.fetch_sub(value, Ordering::SeqCst);
            done(at.addr(), before.into(), before.wrapping_sub(value).into());
            before
        }

        $(
            /// # Safety
            /// As the atomic operation's.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $change(at: *mut $int, value: $int, _: c_int) -> $int {
                tell(at.addr(), Atomic::Change);
                // SAFETY: the caller's promise.
                let atomic = unsafe { <$atomic>::from_ptr(at) };
                let before = atomic.$method(value, Ordering::SeqCst);
                // A lock that spins takes a bit which is taken already.
                done(at.addr(), before.into(), atomic.load(Ordering::SeqCst).into());
                before
            }
        )*
    };
}

functions! {
    AtomicU8, u8, __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_exchange,
    __tsan_atomic8_compare_exchange_val, __tsan_atomic8_fetch_add, __tsan_atomic8_fetch_sub,
    __tsan_atomic8_fetch_and: fetch_and, __tsan_atomic8_fetch_or: fetch_or, __tsan_atomic8_fetch_xor: fetch_xor,
    __tsan_atomic8_fetch_nand: fetch_nand
}
functions! {
    AtomicU16, u16, __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_exchange,
    __tsan_atomic16_compare_exchange_val, __tsan_atomic16_fetch_add, __tsan_atomic16_fetch_sub,
    __tsan_atomic16_fetch_and: fetch_and, __tsan_atomic16_fetch_or: fetch_or, __tsan_atomic16_fetch_xor: fetch_xor,
    __tsan_atomic16_fetch_nand: fetch_nand
}
functions! {
    AtomicU32, u32, __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_exchange,
    __tsan_atomic32_compare_exchange_val, __tsan_atomic32_fetch_add, __tsan_atomic32_fetch_sub,
    __tsan_atomic32_fetch_and: fetch_and, __tsan_atomic32_fetch_or: fetch_or, __tsan_atomic32_fetch_xor: fetch_xor,
    __tsan_atomic32_fetch_nand: fetch_nand
}
functions! {
    AtomicU64, u64, __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_exchange,
    __tsan_atomic64_compare_exchange_val, __tsan_atomic64_fetch_add, __tsan_atomic64_fetch_sub,
    __tsan_atomic64_fetch_and: fetch_and, __tsan_atomic64_fetch_or: fetch_or, __tsan_atomic64_fetch_xor: fetch_xor,
    __tsan_atomic64_fetch_nand: fetch_nand
}

/// Nobody goes first at a fence: the next operation says where others may.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(_: c_int) {
    fence(Ordering::SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: c_int) {
    compiler_fence(Ordering::SeqCst);
}

/// Makes the linker take in what is defined here.
#[allow(dead_code, reason = "a program without cct takes what it calls")]
pub(super) fn keep() {
    let fence: extern "C" fn(c_int) = __tsan_atomic_thread_fence;
    core::hint::black_box(fence);
}
