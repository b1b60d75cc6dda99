//! How much stack polls and closures have: as much as the threads that tokio would have them on.
#![cfg(target_os = "linux")]

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::Builder;
use cct_executor::task::{LocalSet, spawn_blocking, spawn_local, yield_now};
use cct_executor::{Checker, spawn};
use std::hint::black_box;
use std::ptr;

const MIB: usize = 1 << 20;

/// Takes so much stack, and a little more.
fn take(bytes: usize) {
    let top = 0_u8;
    let top = ptr::from_ref(black_box(&top)).addr();
    assert!(deep(top, bytes) > 0);
}

#[inline(never)]
fn deep(top: usize, bytes: usize) -> u64 {
    let frame = black_box([1_u8; 1024]);
    match top - frame.as_ptr().addr() > bytes {
        true => 1,
        false => deep(top, bytes) + u64::from(frame[1]),
    }
}

/// Runs it on a thread with so much stack.
fn on_thread_with(bytes: usize, run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(bytes);
    thread.spawn(run).unwrap().join().unwrap();
}

passes!(["once" "explore"] as_much_as_the_builder_says {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.enable_all().thread_stack_size(16 * MIB).build().unwrap();
    runtime.block_on(async {
        let task = spawn(async {
            yield_now().await;
            take(12 * MIB);
        });
        let closure = spawn_blocking(|| take(12 * MIB));
        task.await.unwrap();
        closure.await.unwrap();
    });
});

passes!(["once" "explore"] as_much_as_the_thread_has_that_drives_them {
    on_thread_with(32 * MIB, || {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            spawn(async { take(24 * MIB) }).await.unwrap();
            take(24 * MIB);
        });
        LocalSet::new().block_on(&runtime, async {
            spawn_local(async { take(24 * MIB) }).await.unwrap();
        });
    });
});

passes!(["once" "explore"] as_much_as_a_worker_thread_has {
    let runtime = Builder::new_multi_thread().build().unwrap();
    runtime.block_on(async {
        spawn(async { take(MIB + MIB / 2) }).await.unwrap();
        spawn_blocking(|| take(MIB + MIB / 2)).await.unwrap();
    });
});

passes!(["once"] as_much_as_whoever_explores_has {
    on_thread_with(32 * MIB, || {
        let checker = Checker::new().iterations(20);
        let report = checker.run(|| async {
            let other = spawn(async { take(24 * MIB) });
            take(24 * MIB);
            other.await.unwrap();
        });
        report.assert_passed();
    });
});

/// A test with the attribute runs on a thread of the harness's.
#[cct_executor::test(iterations = 20, crate = "cct_executor")]
async fn minimum() {
    if is_again() {
        let other = spawn(async { take(12 * MIB) });
        take(12 * MIB);
        other.await.unwrap();
    }
}

#[test]
fn as_much_as_the_standard_library_is_told() {
    if is_again() {
        return;
    }
    let off = ("CCT_REGRESSIONS", "off");
    let enough = ("RUST_MIN_STACK", "16777216");
    let output = again("minimum", "explore", &[off, enough]);
    assert!(output.status.success(), "{}", said(&output));
    let output = again("minimum", "explore", &[off]);
    let text = said(&output);
    let told = "a poll ran out of stack, of which it has 2 MiB (`RUST_MIN_STACK`";
    assert!(!output.status.success() && text.contains(told), "{text}");
}

#[test]
fn who_runs_out_of_it_is_told() {
    if is_again() {
        let runtime = Builder::new_multi_thread().build().unwrap();
        runtime.block_on(async { spawn(async { take(3 * MIB) }).await.unwrap() });
        return;
    }
    let output = again("who_runs_out_of_it_is_told", "once", &[]);
    let text = said(&output);
    let told = "cct: a poll ran out of stack (`RUST_MIN_STACK`";
    assert!(!output.status.success() && text.contains(told), "{text}");
}
