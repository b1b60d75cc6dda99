//! Inside a world: between a look and what is done upon it, and between two changes, all by calls that return at once,
//! others may come.

use super::explore::explore;
use cct_executor::{Granularity, spawn};
use cct_sync::{Mutex, OnceCell, Semaphore, broadcast, mpsc, oneshot, watch};
use futures::future::{BoxFuture, FutureExt as _};
use std::sync::Arc;

/// A program, made anew for each iteration.
type Program = fn() -> BoxFuture<'static, ()>;

/// Two tasks do the same.
async fn twice(what: impl Fn() + Send + Sync + 'static) {
    let what = Arc::new(what);
    let both = [what.clone(), what].map(|what| spawn(async move { what() }));
    for one in both {
        one.await.unwrap();
    }
}

/// What one task does, and what another may do meanwhile.
async fn beside(what: impl FnOnce() + Send + 'static, meanwhile: impl FnOnce()) {
    let task = spawn(async move { what() });
    meanwhile();
    task.await.unwrap();
}

/// Each asks first and then counts on the answer.
const CHECKED_FIRST: [Program; 9] = [
    || {
        async {
            let count = Arc::new(watch::channel(0).0);
            let counted = count.clone();
            let add = move || {
                let before = *count.borrow();
                count.send_replace(before + 1);
            };
            twice(add).await;
            assert_eq!(*counted.borrow(), 2);
        }
        .boxed()
    },
    || {
        let permits = Semaphore::new(1);
        twice(move || {
            if permits.available_permits() > 0 {
                permits.try_acquire().unwrap().forget();
            }
        })
        .boxed()
    },
    || {
        let (sender, receiver) = mpsc::channel(1);
        async move {
            let send = move || {
                if sender.capacity() > 0 {
                    sender.try_send(()).unwrap();
                }
            };
            twice(send).await;
            drop(receiver);
        }
        .boxed()
    },
    || {
        let cell = OnceCell::new();
        twice(move || {
            if !cell.initialized() {
                cell.set(()).unwrap();
            }
        })
        .boxed()
    },
    || {
        let mutex = Mutex::new(0);
        twice(move || *mutex.try_lock().unwrap() += 1).boxed()
    },
    || {
        let (sender, receiver) = broadcast::channel(4);
        let send = move || {
            if sender.receiver_count() > 0 {
                sender.send(()).unwrap();
            }
        };
        beside(send, || drop(receiver)).boxed()
    },
    || {
        let (sender, receiver) = mpsc::unbounded_channel();
        let send = move || {
            if !sender.is_closed() {
                sender.send(()).unwrap();
            }
        };
        beside(send, || drop(receiver)).boxed()
    },
    || {
        let (sender, receiver) = oneshot::channel();
        let send = move || {
            if !sender.is_closed() {
                sender.send(()).unwrap();
            }
        };
        beside(send, || drop(receiver)).boxed()
    },
    // Looked at while a lock is held, and done when it is given back.
    || {
        async {
            let seen = Arc::new(Mutex::new(0));
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let number = move |seen: Arc<Mutex<u32>>, sender: mpsc::UnboundedSender<u32>| async move {
                let number = {
                    let mut seen = seen.lock().await;
                    *seen += 1;
                    *seen
                };
                sender.send(number).unwrap();
            };
            let both = [1, 2].map(|_| spawn(number(seen.clone(), sender.clone())));
            for one in both {
                one.await.unwrap();
            }
            assert_eq!(receiver.try_recv(), Ok(1));
        }
        .boxed()
    },
];

/// Each changes two things that belong together, and shows one without the other.
const IN_TWO: [Program; 2] = [
    || {
        let (low, lows) = watch::channel(0);
        let (high, highs) = watch::channel(1);
        let change = move || {
            low.send_replace(10);
            high.send_replace(11);
        };
        beside(change, move || assert!(*lows.borrow() < *highs.borrow())).boxed()
    },
    || {
        let (names, mut named) = mpsc::unbounded_channel();
        let (sizes, mut sized) = mpsc::unbounded_channel();
        let send = move || {
            let _ = names.send("a");
            let _ = sizes.send(1);
        };
        beside(send, move || {
            assert_eq!(named.try_recv().is_ok(), sized.try_recv().is_ok())
        })
        .boxed()
    },
];

/// Each does in one call what the programs above do in two.
const AT_ONCE: [Program; 6] = [
    || {
        let (both, seen) = watch::channel((0, 1));
        let change = move || assert_eq!(both.send_replace((10, 11)), (0, 1));
        let look = move || {
            let (low, high) = *seen.borrow();
            assert!(low < high);
        };
        beside(change, look).boxed()
    },
    || {
        async {
            let count = Arc::new(watch::channel(0).0);
            let counted = count.clone();
            twice(move || count.send_modify(|count| *count += 1)).await;
            assert_eq!(*counted.borrow(), 2);
        }
        .boxed()
    },
    || {
        let permits = Semaphore::new(2);
        twice(move || permits.try_acquire().unwrap().forget()).boxed()
    },
    || {
        let (sender, receiver) = mpsc::channel(2);
        async move {
            twice(move || sender.try_send(()).unwrap()).await;
            drop(receiver);
        }
        .boxed()
    },
    || {
        let cell = OnceCell::new();
        twice(move || drop(cell.set(()))).boxed()
    },
    || {
        let (sender, receiver) = oneshot::channel();
        let send = move || {
            let _ = sender.send(());
        };
        beside(send, || drop(receiver)).boxed()
    },
];

#[test]
#[cfg(target_os = "linux")]
fn between_two_calls_others_may_come() {
    for (index, program) in CHECKED_FIRST.into_iter().chain(IN_TWO).enumerate() {
        let report = explore(Granularity::Spawn, program);
        let failure = report.failure().unwrap_or_else(|| panic!("{index}"));
        assert_eq!(failure.kind.class(), "panic", "{index}");
        let default = cct_executor::Checker::new().run(program);
        assert!(default.failure().is_some(), "{index}");
    }
}

/// At `op` such calls are no points: what fails at `spawn` fails because of them.
#[test]
fn at_op_two_calls_are_one() {
    for (index, program) in CHECKED_FIRST.into_iter().chain(IN_TWO).enumerate() {
        assert!(explore(Granularity::Op, program).passed(), "{index}");
    }
}

#[test]
fn what_is_done_in_one_call_holds() {
    for program in AT_ONCE {
        explore(Granularity::Spawn, program).assert_passed();
        explore(Granularity::Sync, program).assert_passed();
    }
}
