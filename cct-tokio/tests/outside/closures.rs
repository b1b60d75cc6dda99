//! Closures that wait as threads do: by channels of the standard library, which tell who waits by threads.

use super::rt;
use rt::runtime::Handle;
use rt::sync::{mpsc, oneshot};
use rt::task::spawn_blocking;
use rt::time::sleep;
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

const TIME: Duration = Duration::from_millis(5);
const ROUNDS: u32 = 1_000;

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// The test sends when the closure waits, and not more before that has heard it.
pub(crate) async fn hear_the_test() {
    let (begins, begun) = rt::sync::oneshot::channel();
    let (send, receive) = channel();
    let (tell, mut told) = rt::sync::mpsc::channel(1);
    let closure = spawn_blocking(move || {
        begins.send(()).unwrap();
        for number in receive {
            tell.blocking_send(number).unwrap();
        }
    });
    begun.await.unwrap();
    for number in 0..3 {
        sleep(TIME).await;
        send.send(number).unwrap();
        assert_eq!(told.recv().await, Some(number));
    }
    drop(send);
    closure.await.unwrap();
}

/// One has to wait for the other each time, and may just be about to.
pub(crate) async fn hear_each_other() {
    let (send, receive) = sync_channel(0);
    let (tell, told) = channel();
    let one = spawn_blocking(move || {
        for number in receive {
            tell.send(number).unwrap();
        }
    });
    let other = spawn_blocking(move || {
        for number in 0..ROUNDS {
            send.send(number).unwrap();
            assert_eq!(told.recv(), Ok(number));
        }
    });
    other.await.unwrap();
    one.await.unwrap();
}

pub(crate) async fn panic_for_whoever_joins() {
    let (send, receive) = channel::<u32>();
    let closure = spawn_blocking(move || panic!("{}", receive.recv().unwrap()));
    sleep(TIME).await;
    send.send(7).unwrap();
    let panic = closure.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "7");
}

pub(crate) async fn have_locals_of_their_own() {
    let (send, receive) = channel();
    let closure = spawn_blocking(move || {
        CALLS.set(CALLS.get() + 1);
        receive.recv().unwrap();
        CALLS.get()
    });
    sleep(TIME).await;
    assert_eq!(CALLS.replace(10), 0);
    send.send(()).unwrap();
    assert_eq!(closure.await.unwrap(), 1);
    assert_eq!(CALLS.replace(0), 10);
}

/// What the runtime has is there, and time is the runtime's.
pub(crate) async fn use_the_runtime() {
    let (send, receive) = channel();
    let (send_more, mut receive_more) = rt::sync::mpsc::channel(1);
    let closure = spawn_blocking(move || {
        receive.recv().unwrap();
        let late = receive.recv_timeout(TIME);
        assert_eq!(late, Err(RecvTimeoutError::Timeout));
        for number in 0..3 {
            send_more.blocking_send(number).unwrap();
        }
        Handle::current().block_on(async {
            sleep(TIME).await;
            rt::spawn(async move { receive.recv().is_err() })
                .await
                .unwrap()
        })
    });
    sleep(TIME).await;
    send.send(()).unwrap();
    for number in 0..3 {
        assert_eq!(receive_more.recv().await, Some(number));
    }
    drop(send);
    assert!(closure.await.unwrap());
}

/// Wakes a thread that is parked.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls the future itself, and parks its thread in between.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Arc::new(Parked(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// As clients that block do which have a runtime on a thread of their own.
pub(crate) async fn hear_a_thread() {
    let (ask, mut asked) = mpsc::unbounded_channel::<(u32, oneshot::Sender<u32>)>();
    let server = thread::spawn(move || {
        let mut builder = rt::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(async {
            while let Some((number, answer)) = asked.recv().await {
                if number % 100 == 0 {
                    sleep(TIME).await;
                }
                answer.send(number + 1).unwrap();
            }
        });
    });
    let closures = [(); 2].map(|()| {
        let ask = ask.clone();
        spawn_blocking(move || {
            for number in 0..300 {
                let (answer, answered) = oneshot::channel();
                ask.send((number, answer)).unwrap();
                assert_eq!(block_on(answered).unwrap(), number + 1);
            }
        })
    });
    drop(ask);
    for closure in closures {
        closure.await.unwrap();
    }
    server.join().unwrap();
}

/// Their threads have the names that the runtime's builder is told.
pub(crate) async fn are_named() {
    fn name() -> Option<String> {
        thread::current().name().map(str::to_owned)
    }
    let mut builders = [(); 3].map(|()| rt::runtime::Builder::new_current_thread());
    builders[1].thread_name("named");
    builders[2].thread_name_fn(|| "named by a function".to_owned());
    let expected = ["tokio-rt-worker", "named", "named by a function"];
    for (mut builder, expected) in builders.into_iter().zip(expected) {
        let named = thread::spawn(move || {
            let runtime = builder.build().unwrap();
            runtime.block_on(async { spawn_blocking(name).await.unwrap() })
        });
        assert_eq!(named.join().unwrap().as_deref(), Some(expected));
    }
}
