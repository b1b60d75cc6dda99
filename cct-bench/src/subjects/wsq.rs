//! A work-stealing queue: the THE protocol of Cilk on a ring that grows, with the bug that CHESS
//! was shown on (sctbench, `benchmarks/chess/WorkStealQueue`; the case study of the PCT paper).
//!
//! The owner pushes and pops at the tail, thieves steal at the head under a lock. Bug, seeded: a
//! push takes the ring to have one place more than it has. It overwrites the place that a thief
//! has claimed, by moving the head, and has not read yet: one item is taken twice, one never.
//!
//! As in the source: a ring of 2, 4 items, 2 attempts a thief; each access to head and tail is a
//! point. `wsq-4` has 4 thieves, and so on: the PCT paper reports that its odds grow with them.
//!
//! Fixed form: the push leaves one place free.

use super::threads::{Crew, Word};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity};
use cct_sync::Mutex;
use std::sync::Arc;

const ITEMS: usize = 4;
const ATTEMPTS: u32 = 2;
const RING: usize = 2;

struct Deque {
    head: Word,
    tail: Word,
    /// Its length is a power of two.
    ring: Shared<Vec<usize>>,
    lock: Mutex<()>,
    is_fixed: bool,
}

impl Deque {
    fn new(is_fixed: bool) -> Deque {
        Deque {
            head: Word::new(0),
            tail: Word::new(0),
            ring: Shared::new(vec![0; RING]),
            lock: Mutex::new(()),
            is_fixed,
        }
    }

    fn mask(&self) -> i64 {
        self.ring.with(|ring| ring.len() as i64) - 1
    }

    fn at(&self, position: i64) -> usize {
        let mask = self.mask();
        self.ring.with(|ring| ring[(position & mask) as usize])
    }

    fn put(&self, position: i64, item: usize) {
        let mask = self.mask();
        self.ring
            .with(|ring| ring[(position & mask) as usize] = item);
    }

    async fn steal(&self) -> Option<usize> {
        let _guard = self.lock.lock().await;
        let head = self.head.get().await;
        self.head.set(head + 1).await;
        if head < self.tail.get().await {
            return Some(self.at(head));
        }
        self.head.set(head).await;
        None
    }

    async fn pop(&self) -> Option<usize> {
        let tail = self.tail.get().await - 1;
        self.tail.set(tail).await;
        if self.head.get().await <= tail {
            return Some(self.at(tail));
        }
        self.tail.set(tail + 1).await;
        self.pop_locked().await
    }

    async fn pop_locked(&self) -> Option<usize> {
        let _guard = self.lock.lock().await;
        let tail = self.tail.get().await - 1;
        self.tail.set(tail).await;
        if self.head.get().await <= tail {
            return Some(self.at(tail));
        }
        self.tail.set(tail + 1).await;
        if self.head.get().await > tail {
            self.head.set(0).await;
            self.tail.set(0).await;
        }
        None
    }

    async fn push(&self, item: usize) {
        let room = self.mask() + i64::from(!self.is_fixed);
        let tail = self.tail.get().await;
        if tail < self.head.get().await + room {
            self.put(tail, item);
            self.tail.set(tail + 1).await;
        } else {
            self.push_locked(item).await;
        }
    }

    async fn push_locked(&self, item: usize) {
        let _guard = self.lock.lock().await;
        let head = self.head.get().await;
        let count = self.tail.get().await - head;
        let (head, mask) = (head & self.mask(), self.mask());
        self.head.set(head).await;
        self.tail.set(head + count).await;
        if count >= mask {
            self.ring.with(|ring| {
                let old = std::mem::take(ring);
                ring.extend((0..count).map(|i| old[((head + i) & mask) as usize]));
                ring.resize(old.len() * 2, 0);
            });
            self.head.set(0).await;
            self.tail.set(count).await;
        }
        let tail = self.tail.get().await;
        self.put(tail, item);
        self.tail.set(tail + 1).await;
    }
}

type Taken = Arc<Shared<[u32; ITEMS]>>;

fn take(taken: &Taken, item: Option<usize>) {
    if let Some(item) = item {
        taken.with(|taken| taken[item] += 1);
    }
}

fn steal_work(thieves: u32, is_fixed: bool) -> Scenario {
    Box::pin(async move {
        let deque = Arc::new(Deque::new(is_fixed));
        let taken = Taken::default();
        let crew = Crew::new();
        for _ in 0..thieves {
            let (deque, taken) = (deque.clone(), taken.clone());
            let thief = async move {
                for _ in 0..ATTEMPTS {
                    take(&taken, deque.steal().await);
                }
            };
            crew.start(thief).await;
        }
        for pair in 0..ITEMS / 2 {
            deque.push(2 * pair).await;
            deque.push(2 * pair + 1).await;
            take(&taken, deque.pop().await);
        }
        for _ in 0..ITEMS / 2 {
            take(&taken, deque.pop().await);
        }
        crew.join().await;
        let taken = taken.with(|taken| *taken);
        assert!(
            taken == [1; ITEMS],
            "each item should be taken once: {taken:?}"
        );
    })
}

pub(crate) const WSQ: Subject = Subject {
    name: "wsq",
    about: "a push overwrites what a thief has claimed but not read; one thief",
    standing: Standing::Reproduction,
    workers: 2,
    max_steps: 10_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| steal_work(1, false),
    fixed: Some(|_| steal_work(1, true)),
    targets: &[],
    published: &Published::pct3([2.0, 2.0, 1488.0, 75.0, 0.0, 0.1, 0.2, 0.03]),
};

macro_rules! with_thieves {
    ($($constant:ident $name:literal $thieves:literal;)*) => {$(
        pub(crate) const $constant: Subject = Subject {
            name: $name,
            about: concat!(
                "a push overwrites what a thief has claimed but not read; ",
                $thieves,
                " thieves"
            ),
            workers: 1 + $thieves,
            scenario: |_| steal_work($thieves, false),
            fixed: Some(|_| steal_work($thieves, true)),
            published: &[
                Published::one("pct3", "d", 2.0),
                Published::one("pct3", "n", 1.0 + $thieves as f64),
            ],
            ..WSQ
        };
    )*};
}

with_thieves! {
    WSQ_2 "wsq-2" 2;
    WSQ_4 "wsq-4" 4;
    WSQ_8 "wsq-8" 8;
    WSQ_16 "wsq-16" 16;
    WSQ_32 "wsq-32" 32;
    WSQ_64 "wsq-64" 64;
}
