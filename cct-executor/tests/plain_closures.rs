//! Tests without an attribute: closures of `spawn_blocking` that wait as threads do, by channels of the standard library,
//! which tell who waits by threads.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "threads are what it is about")]

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::{Builder, Runtime};
use cct_executor::task::spawn_blocking;
use cct_executor::time::{Duration, sleep};
use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

passes!(["once" "explore"] hear_the_test {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (send, receive) = channel();
        let closure = spawn_blocking(move || receive.into_iter().sum::<u32>());
        for number in 0..3 {
            sleep(Duration::from_millis(5)).await;
            send.send(number).unwrap();
        }
        drop(send);
        assert_eq!(closure.await.unwrap(), 3);
    });
});

passes!(["once" "explore"] hear_each_other {
    let (send, receive) = sync_channel(0);
    let (tell, told) = channel();
    let runtime = Runtime::new().unwrap();
    let one = runtime.spawn_blocking(move || {
        for number in receive {
            tell.send(number).unwrap();
        }
    });
    let other = runtime.spawn_blocking(move || {
        for number in 0..300 {
            send.send(number).unwrap();
            assert_eq!(told.recv(), Ok(number));
        }
    });
    runtime.block_on(async {
        other.await.unwrap();
        one.await.unwrap();
    });
});

// The code of the test itself waits for one.
passes!(["once" "explore"] are_heard_by_the_test {
    let (send, receive) = channel();
    let runtime = Runtime::new().unwrap();
    runtime.spawn_blocking(move || {
        for number in 0..3 {
            send.send(number).unwrap();
        }
    });
    assert_eq!(receive.into_iter().sum::<u32>(), 3);
});

passes!(["once"] have_locals_of_their_own {
    let test = thread::current().id();
    let runtime = Runtime::new().unwrap();
    let closure = || {
        CALLS.set(CALLS.get() + 1);
        (CALLS.get(), thread::current().id())
    };
    let (calls, id) = runtime.block_on(runtime.spawn_blocking(closure)).unwrap();
    assert_eq!((calls, CALLS.get()), (1, 0));
    assert_ne!(id, test);
});

fn repeat(asked: Receiver<u32>, answer: Sender<u32>) -> JoinHandle<()> {
    thread::spawn(move || {
        for number in asked {
            answer.send(number).unwrap();
        }
    })
}

passes!(["once" "explore"] hear_a_thread {
    let (ask, asked) = channel();
    let (answer, answered) = channel();
    let server = repeat(asked, answer);
    let runtime = Runtime::new().unwrap();
    let closure = runtime.spawn_blocking(move || {
        for number in 0..300 {
            ask.send(number).unwrap();
            assert_eq!(answered.recv(), Ok(number));
        }
    });
    runtime.block_on(closure).unwrap();
    server.join().unwrap();
});
