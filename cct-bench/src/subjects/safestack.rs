//! SafeStack: Dmitry Vyukov's lock-free stack that is not safe, a challenge he posted for
//! verification tools in 2010; sctbench has it, and psharp-ql a port.
//!
//! A pop marks its item with a next of -1 before it swings the head, and puts the next back when
//! that fails. Bug: the item may have been taken and given back meanwhile, so that a next out of
//! date comes back, and two tasks own one item. It takes three tasks and at least five switches.
//!
//! - `safestack`: 3 tasks, 3 items, a point before each access to a shared word, as in sctbench.
//! - `safestack-artifact`: psharp-ql's port, with its points: 5 tasks and 5 items; each access that
//!   the original makes atomic is under a lock; a pop does not check that it got a next, and so the
//!   head may become -1, an index out of range for every later pop. We take it that P# loses that
//!   exception and only the task ends: random then finds the bug in one iteration of 20,000, as
//!   published, and in nearly every one otherwise. A task takes the number that the loop that starts
//!   them all has reached when the task first runs, so that numbers coincide and hide bugs.
//!
//! Fixed form: pop and push as a whole under one lock.
//!
//! For custom abstractions both observe the pairs of value and next, not who has which.

use super::threads::{Crew, Lock, Word};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity, observe};
use cct_sync::{Mutex, MutexGuard};
use std::sync::Arc;

/// Pairs of value and next.
struct Items(Shared<Vec<(i64, i64)>>);

impl Items {
    /// Each item's next is the one after it.
    fn chain(count: i64) -> Items {
        let next = |i| if i + 1 < count { i + 1 } else { -1 };
        let items = Items(Shared::new((0..count).map(|i| (0, next(i))).collect()));
        for item in 0..count {
            items.change(item, |_| ());
        }
        items
    }

    fn change<R>(&self, item: i64, f: impl FnOnce(&mut (i64, i64)) -> R) -> R {
        let (result, pair) = self.0.with(|items| {
            assert!(
                (0..items.len() as i64).contains(&item),
                "there is no item {item}"
            );
            let pair = &mut items[item as usize];
            (f(pair), *pair)
        });
        observe::each("item", item as u64, pair);
        result
    }

    fn set_value(&self, item: i64, value: i64) {
        self.change(item, |pair| pair.0 = value);
    }

    fn value(&self, item: i64) -> i64 {
        self.change(item, |pair| pair.0)
    }

    fn exchange_next(&self, item: i64, next: i64) -> i64 {
        self.change(item, |pair| std::mem::replace(&mut pair.1, next))
    }
}

/// The stack as it was posted.
struct Posted {
    items: Items,
    head: Word,
    count: Word,
    /// Only used for its points: accesses to `next`, and switches.
    next: Lock,
    /// Around whole operations, in the fixed form.
    whole: Option<Mutex<()>>,
}

impl Posted {
    fn new(count: i64, is_fixed: bool) -> Posted {
        Posted {
            items: Items::chain(count),
            head: Word::new(0),
            count: Word::new(count),
            next: Lock::new(),
            whole: is_fixed.then(|| Mutex::new(())),
        }
    }

    async fn pop(&self) -> i64 {
        let _guard = enter(&self.whole).await;
        self.pop_as_posted().await
    }

    async fn pop_as_posted(&self) -> i64 {
        while self.count.get().await > 1 {
            let head = self.head.get().await;
            self.next.switch().await;
            let next = self.items.exchange_next(head, -1);
            if next < 0 {
                self.next.switch().await; // yields to whoever has the item
            } else if self.head.compare_exchange(head, next).await.is_ok() {
                self.count.add(-1).await;
                return head;
            } else {
                self.next.switch().await;
                self.items.exchange_next(head, next);
            }
        }
        -1
    }

    async fn push(&self, item: i64) {
        let _guard = enter(&self.whole).await;
        let mut head = self.head.get().await;
        loop {
            self.next.switch().await;
            self.items.exchange_next(item, head);
            match self.head.compare_exchange(head, item).await {
                Ok(()) => break,
                Err(found) => head = found,
            }
        }
        self.count.add(1).await;
    }
}

async fn enter(whole: &Option<Mutex<()>>) -> Option<MutexGuard<'_, ()>> {
    match whole {
        Some(mutex) => Some(mutex.lock().await),
        None => None,
    }
}

fn posted(is_fixed: bool) -> Scenario {
    Box::pin(async move {
        let stack = Arc::new(Posted::new(3, is_fixed));
        let crew = Crew::new();
        for id in 0..3 {
            let stack = stack.clone();
            let work = async move {
                for _ in 0..2 {
                    let mut item = stack.pop().await;
                    while item < 0 {
                        stack.next.switch().await;
                        item = stack.pop().await;
                    }
                    stack.items.set_value(item, id);
                    stack.next.switch().await;
                    let value = stack.items.value(item);
                    assert!(value == id, "item {item} has two owners, {id} and {value}");
                    stack.push(item).await;
                }
            };
            crew.start(work).await;
        }
        crew.join().await;
    })
}

/// The stack as it was ported.
struct Ported {
    items: Items,
    head: Shared<i64>,
    count: Shared<i64>,
    items_lock: Lock,
    head_lock: Lock,
    count_lock: Lock,
    /// Around whole operations, in the fixed form.
    whole: Option<Mutex<()>>,
}

impl Ported {
    fn new(count: i64, is_fixed: bool) -> Ported {
        Ported {
            items: Items::chain(count),
            head: Shared::new(0),
            count: Shared::new(count),
            items_lock: Lock::new(),
            head_lock: Lock::new(),
            count_lock: Lock::new(),
            whole: is_fixed.then(|| Mutex::new(())),
        }
    }

    async fn switch(&self) {
        self.head_lock.switch().await;
    }

    /// A switch, then `f` under the lock.
    async fn locked<R>(&self, lock: &Lock, f: impl FnOnce() -> R) -> R {
        self.switch().await;
        lock.acquire().await;
        let result = f();
        lock.release().await;
        result
    }

    /// Swings the head from `head` to `new`, or says where it is.
    async fn swing(&self, head: i64, new: i64) -> Result<(), i64> {
        let swing = || {
            self.head.with(|current| {
                if *current == head {
                    *current = new;
                    Ok(())
                } else {
                    Err(*current)
                }
            })
        };
        self.locked(&self.head_lock, swing).await
    }

    async fn pop(&self) -> Result<i64, Died> {
        let _guard = enter(&self.whole).await;
        self.pop_as_ported().await
    }

    async fn pop_as_ported(&self) -> Result<i64, Died> {
        while self.count.with(|count| *count) > 1 {
            self.switch().await;
            let head = self.head.with(|head| *head);
            if head < 0 {
                return Err(Died);
            }
            let take = || self.items.exchange_next(head, -1);
            let next = self.locked(&self.items_lock, take).await;
            self.switch().await;
            if self.swing(head, next).await.is_ok() {
                let less = || self.count.with(|count| *count -= 1);
                self.locked(&self.count_lock, less).await;
                return Ok(head);
            }
            let put_back = || self.items.exchange_next(head, next);
            self.locked(&self.items_lock, put_back).await;
        }
        Ok(-1)
    }

    async fn pop_and_push_twice(&self, id: i64) -> Result<(), Died> {
        for _ in 0..2 {
            let mut item = self.pop().await?;
            while item < 0 {
                self.switch().await;
                item = self.pop().await?;
            }
            self.items.set_value(item, id);
            self.switch().await;
            let value = self.items.value(item);
            assert!(value == id, "item {item} has two owners, {id} and {value}");
            self.push(item).await;
        }
        Ok(())
    }

    async fn push(&self, item: i64) {
        let _guard = enter(&self.whole).await;
        self.switch().await;
        let mut head = self.head.with(|head| *head);
        loop {
            self.switch().await;
            self.items.exchange_next(item, head);
            match self.swing(head, item).await {
                Ok(()) => break,
                Err(found) => head = found,
            }
        }
        let more = || self.count.with(|count| *count += 1);
        self.locked(&self.count_lock, more).await;
    }
}

/// A task ended by an exception that nobody looks at.
struct Died;

fn ported(is_fixed: bool) -> Scenario {
    Box::pin(async move {
        let stack = Arc::new(Ported::new(5, is_fixed));
        let reached = Arc::new(Shared::new(0));
        let crew = Crew::new();
        for i in 0..5 {
            reached.with(|reached| *reached = i);
            let (stack, reached) = (stack.clone(), reached.clone());
            let work = async move {
                let id = reached.with(|reached| *reached);
                let _ = stack.pop_and_push_twice(id).await;
            };
            crew.start(work).await;
        }
        reached.with(|reached| *reached = 5);
        crew.join().await;
    })
}

pub(crate) const SAFESTACK: Subject = Subject {
    name: "safestack",
    about: "a lock-free stack gives one item to two tasks; three tasks and five switches",
    standing: Standing::Variant,
    workers: 4,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| posted(false),
    fixed: Some(|_| posted(true)),
    targets: &[],
    published: &[],
};

pub(crate) const SAFESTACK_ARTIFACT: Subject = Subject {
    name: "safestack-artifact",
    about: "the same stack as psharp-ql ported it: five tasks, locks for atomics, a check missing",
    standing: Standing::Reproduction,
    workers: 6,
    scenario: |_| ported(false),
    fixed: Some(|_| ported(true)),
    published: &Published::ql2_and(
        [32.0, 1.0, 43.0, 23.0, 0.0, 0.0, 21.0, 46.0],
        [
            Published::one("ql4", "QLd", 1.0),
            Published::one("ql4", "QLc", 31.0),
        ],
    ),
    ..SAFESTACK
};
