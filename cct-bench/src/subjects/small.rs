//! Small programs that testers of threads are compared on, as one would write them with tasks: from
//! SCTBench (P. Thomson, A. F. Donaldson and A. Betts, "Concurrency testing using controlled
//! schedulers", TOPC 2016) and ConVul (kernel races known by their CVE number).
//!
//! Bugs: `bluetooth`, an I/O begins on a driver that has just stopped. `reorder`, one of two words
//! is seen written and the other not, by one of many tasks. `stringbuffer`, a length is asked for
//! before the text is cut, the text after. `token-ring`, the first of three copies adds one.
//! `twostage`, the second stage is read before it is written. `wronglock`, some take another lock.
//! `keyring` (CVE-2013-1792), two tasks find none and make one each. `netlink-dump` (CVE-2016-9806),
//! a dump gives up its lock before it frees what the next one has begun to use. `seq-port`
//! (CVE-2017-15265), a port can be found and deleted before its maker is done with it.
//!
//! Every shared word is in a mutex of its own, which is locked for one access at a time: the points
//! are those of the words. In `reorder` and `twostage` there is one after each spawn as well, as
//! where threads are started: early writers run while late ones are not there yet, and the first of
//! many has nearly no chance to meet the reader in a random walk. `reorder-100-at-once` spawns without.
//!
//! Fixed forms: one lock around what belongs together, or the right order.

use super::{Published, Scenario, Standing, Subject};
use cct_executor::task::{JoinHandle, yield_now};
use cct_executor::{Clock, Granularity, spawn};
use cct_sync::{Mutex, MutexGuard, Notify};
use std::sync::Arc;

type Word = Mutex<i64>;

fn words<const N: usize>(values: [i64; N]) -> Arc<[Word; N]> {
    Arc::new(values.map(Mutex::new))
}

async fn join(tasks: impl IntoIterator<Item = JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("a task failed");
    }
}

/// Starts so many tasks, with a point after each.
async fn start(
    count: usize,
    one_by_one: bool,
    task: impl Fn() -> JoinHandle<()>,
) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    for _ in 0..count {
        tasks.push(task());
        if one_by_one {
            yield_now().await;
        }
    }
    tasks
}

/// A lock that only the fixed form takes.
async fn when(fixed: bool, lock: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
    if fixed { Some(lock.lock().await) } else { None }
}

#[derive(Default)]
struct Driver {
    pending: Mutex<i64>,
    stopping: Mutex<bool>,
    stopped: Mutex<bool>,
    idle: Notify,
}

impl Driver {
    async fn begin(&self, fixed: bool) -> bool {
        if fixed {
            *self.pending.lock().await += 1;
            if *self.stopping.lock().await {
                self.end().await;
                return false;
            }
            return true;
        }
        if *self.stopping.lock().await {
            return false;
        }
        *self.pending.lock().await += 1;
        true
    }

    async fn end(&self) {
        let mut pending = self.pending.lock().await;
        *pending -= 1;
        if *pending == 0 {
            self.idle.notify_one();
        }
    }

    async fn stop(&self) {
        *self.stopping.lock().await = true;
        self.end().await;
        self.idle.notified().await;
        *self.stopped.lock().await = true;
    }
}

fn bluetooth(fixed: bool) -> Scenario {
    Box::pin(async move {
        let driver = Arc::new(Driver {
            pending: Mutex::new(1), // the driver itself
            ..Driver::default()
        });
        let stopper = driver.clone();
        let stopper = spawn(async move { stopper.stop().await });
        if driver.begin(fixed).await {
            assert!(!*driver.stopped.lock().await, "I/O on a stopped driver");
            driver.end().await;
        }
        join([stopper]).await;
    })
}

fn reorder(writers: usize, one_by_one: bool, fixed: bool) -> Scenario {
    Box::pin(async move {
        let shared = Arc::new((words([0, 0]), Mutex::new(())));
        let write = || {
            let shared = shared.clone();
            spawn(async move {
                let _both = when(fixed, &shared.1).await;
                *shared.0[0].lock().await = 1;
                *shared.0[1].lock().await = -1;
            })
        };
        let tasks = start(writers, one_by_one, write).await;
        let reader = spawn(async move {
            let _both = when(fixed, &shared.1).await;
            let a = *shared.0[0].lock().await;
            let b = *shared.0[1].lock().await;
            assert!(a == -b, "{a} and {b}");
        });
        join(tasks).await;
        join([reader]).await;
    })
}

fn string_buffer(fixed: bool) -> Scenario {
    Box::pin(async move {
        let text = Arc::new(Mutex::new(String::from("abc")));
        let other = text.clone();
        let writer = spawn(async move {
            other.lock().await.clear();
            other.lock().await.push_str("abc");
        });
        let copy = if fixed {
            text.lock().await.clone()
        } else {
            let length = text.lock().await.len();
            let text = text.lock().await;
            let part = text.get(..length);
            part.expect("the text is shorter by now").to_owned()
        };
        assert!(copy.is_empty() || copy == "abc");
        join([writer]).await;
    })
}

fn token_ring(fixed: bool) -> Scenario {
    Box::pin(async move {
        let shared = Arc::new((words([1, 1, 1]), Mutex::new(())));
        let pass = |at: usize| {
            let shared = shared.clone();
            spawn(async move {
                let _all = shared.1.lock().await;
                let token = *shared.0[(at + 2) % 3].lock().await;
                let change = i64::from(at == 0 && !fixed);
                *shared.0[at].lock().await = (token + change) % 4;
            })
        };
        let tasks: Vec<_> = (0..3).map(pass).collect();
        let reader = spawn(async move {
            let _all = shared.1.lock().await;
            let first = *shared.0[0].lock().await;
            for at in 1..3 {
                let other = *shared.0[at].lock().await;
                assert_eq!(first, other, "copy {at} differs");
            }
        });
        join(tasks).await;
        join([reader]).await;
    })
}

fn two_stage(writers: usize, fixed: bool) -> Scenario {
    Box::pin(async move {
        let shared = Arc::new((words([0, 0]), Mutex::new(())));
        let write = || {
            let shared = shared.clone();
            spawn(async move {
                let _both = when(fixed, &shared.1).await;
                *shared.0[0].lock().await = 1;
                let mut second = shared.0[1].lock().await;
                *second = *shared.0[0].lock().await + 1;
            })
        };
        let tasks = start(writers, true, write).await;
        let reader = spawn(async move {
            let _both = when(fixed, &shared.1).await;
            let first = *shared.0[0].lock().await;
            if first != 0 {
                let second = *shared.0[1].lock().await;
                assert_eq!(second, first + 1, "the second stage is not there");
            }
        });
        join(tasks).await;
        join([reader]).await;
    })
}

fn wrong_lock(others: usize, fixed: bool) -> Scenario {
    Box::pin(async move {
        let locks = [Mutex::new(()), Mutex::new(())];
        let shared = Arc::new((Word::new(0), locks));
        let update = |right: bool| {
            let shared = shared.clone();
            spawn(async move {
                let _lock = shared.1[usize::from(right)].lock().await;
                let before = *shared.0.lock().await;
                *shared.0.lock().await = before + 1;
                let after = *shared.0.lock().await;
                assert!(!right || after == before + 1, "from {before} to {after}");
            })
        };
        let first = update(true);
        let tasks: Vec<_> = (0..others).map(|_| update(fixed)).collect();
        join(tasks).await;
        join([first]).await;
    })
}

fn keyring(fixed: bool) -> Scenario {
    Box::pin(async move {
        let shared = Arc::new((words([0, 0]), Mutex::new(())));
        let install = |_| {
            let shared = shared.clone();
            spawn(async move {
                let _both = when(fixed, &shared.1).await;
                if *shared.0[0].lock().await == 0 {
                    *shared.0[1].lock().await += 1;
                    *shared.0[0].lock().await = 1;
                }
            })
        };
        let tasks: Vec<_> = (0..2).map(install).collect();
        join(tasks).await;
        assert_eq!(*shared.0[1].lock().await, 1, "a keyring was lost");
    })
}

fn netlink_dump(fixed: bool) -> Scenario {
    Box::pin(async move {
        // Whether a dump is running, and how many were begun.
        let shared = Arc::new((words([0, 0]), Mutex::new(())));
        let dump = |_| {
            let shared = shared.clone();
            spawn(async move {
                let (words, callback) = &*shared;
                {
                    let _callback = callback.lock().await;
                    if *words[0].lock().await == 1 {
                        return;
                    }
                    *words[0].lock().await = 1;
                    *words[1].lock().await += 1;
                }
                let guard = callback.lock().await;
                let own = *words[1].lock().await;
                *words[0].lock().await = 0;
                let guard = fixed.then_some(guard);
                let latest = *words[1].lock().await;
                assert_eq!(own, latest, "frees what dump {latest} uses");
                drop(guard);
            })
        };
        join((0..2).map(dump).collect::<Vec<_>>()).await;
    })
}

fn seq_port(fixed: bool) -> Scenario {
    Box::pin(async move {
        // Whether the port is in the list, and whether it was freed.
        let words = words([0, 0]);
        let other = words.clone();
        let maker = spawn(async move {
            if fixed {
                assert_eq!(*other[1].lock().await, 0);
            }
            *other[0].lock().await = 1;
            if !fixed {
                assert_eq!(*other[1].lock().await, 0, "the port was freed");
            }
        });
        let deleter = spawn(async move {
            for _ in 0..3 {
                let listed = std::mem::take(&mut *words[0].lock().await);
                *words[1].lock().await += listed;
            }
        });
        join([maker, deleter]).await;
    })
}

const BASE: Subject = Subject {
    name: "",
    about: "",
    standing: Standing::Variant,
    workers: 3,
    max_steps: 10_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| bluetooth(false),
    fixed: None,
    targets: &[],
    published: &[],
};

/// A program, its repair, and published figures. Those of PERIOD (C. Wen and others, "Controlled
/// concurrency testing via periodical scheduling", ICSE 2022) are the schedules it took; those of
/// strategies are means over the 20 trials of SURW's artifact.
macro_rules! subjects {
    ($($id:ident, $name:literal, $workers:literal, $about:literal,
       $form:ident($($size:literal),*), $published:expr;)*) => {$(
        pub(crate) const $id: Subject = Subject {
            name: $name,
            about: $about,
            workers: $workers,
            scenario: |_| $form($($size,)* false),
            fixed: Some(|_| $form($($size,)* true)),
            published: &$published,
            ..BASE
        };
    )*};
}

const fn period(schedules: f64) -> [Published; 1] {
    [Published::one("small", "PERIOD", schedules)]
}

subjects! {
    BLUETOOTH, "bluetooth", 2, "an I/O begins on a driver that has stopped",
        bluetooth(), period(9.0);
    REORDER_5, "reorder-5", 6, "one of 4 writers is seen half done",
        reorder(4, true), period(12.0);
    REORDER_10, "reorder-10", 11, "one of 9 writers is seen half done",
        reorder(9, true), [
            Published::one("small", "PERIOD", 27.0),
            Published::one("small", "SURW", 17.0),
            Published::one("small", "PCT", 3225.0),
        ];
    REORDER_100, "reorder-100", 101, "the first of 99 writers is seen half done",
        reorder(99, true), [Published::one("small", "SURW", 194.0)];
    REORDER_100_AT_ONCE, "reorder-100-at-once", 101, "the same, and all begin together",
        reorder(99, false), [Published::one("small", "SURW", 194.0)];
    STRING_BUFFER, "stringbuffer", 2, "a text is cut after its length was asked for",
        string_buffer(), [
            Published::one("small", "PERIOD", 12.0),
            Published::one("small", "SURW", 8.0),
            Published::one("small", "PCT", 281.0),
            Published::one("small", "POS", 24.0),
            Published::one("small", "Rand", 2244.0),
        ];
    TOKEN_RING, "token-ring", 5, "one of three copies adds one",
        token_ring(), period(4.0);
    TWO_STAGE, "twostage", 3, "the second stage is read before it is written",
        two_stage(1), period(3.0);
    TWO_STAGE_100, "twostage-100", 101, "the same, with 99 that write",
        two_stage(99), [
            Published::one("small", "PERIOD", 690.0),
            Published::one("small", "SURW", 454.0),
            Published::one("small", "POS", 6675.0),
        ];
    WRONG_LOCK, "wronglock", 9, "7 of 8 tasks take the wrong lock",
        wrong_lock(7), period(10.0);
    KEYRING, "cve-2013-1792", 3, "two tasks find no keyring, and make one each",
        keyring(), period(13.0);
    NETLINK_DUMP, "cve-2016-9806", 3, "a dump frees what the next one has begun to use",
        netlink_dump(), period(6.0);
    SEQ_PORT, "cve-2017-15265", 3, "a port is deleted before its maker is done with it",
        seq_port(), period(11.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::hunting::{expect_silence, hunt};

    const SUBJECTS: [&Subject; 13] = [
        &BLUETOOTH,
        &REORDER_5,
        &REORDER_10,
        &REORDER_100,
        &REORDER_100_AT_ONCE,
        &STRING_BUFFER,
        &TOKEN_RING,
        &TWO_STAGE,
        &TWO_STAGE_100,
        &WRONG_LOCK,
        &KEYRING,
        &NETLINK_DUMP,
        &SEQ_PORT,
    ];

    #[test]
    fn bugs_show_and_repairs_are_silent() {
        for subject in SUBJECTS {
            let report = hunt(subject, "surw", 1, 5_000);
            assert!(report.failure().is_some(), "{}", report.text());
            expect_silence(subject, 50);
        }
    }
}
