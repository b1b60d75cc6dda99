//! Running a world does not allocate once it is warm: an iteration with ten times the steps
//! allocates no more, whatever the strategy, and a decision takes four bytes. (Strategies that learn
//! states, and those that keep schedules to come, are excepted: their tables grow.)

use cct_executor::strategy::{Flow, Interests, Lanes, Random, StepEvent, Strategy, StrategySpec};
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_executor::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};
use cct_executor::{Checker, Granularity, spawn};
use cct_sync::{Mutex, Notify, Semaphore, mpsc};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: usize) {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
    let _ = BYTES.try_with(|sum| sum.set(sum.get() + bytes as u64));
}

#[expect(unsafe_code, reason = "a global allocator is unsafe to write")]
// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A strategy, and counts what the iterations of one thread allocate and decide.
struct Measured {
    inner: Box<dyn Strategy>,
    before: (u64, u64),
    last: Arc<Last>,
}

/// Allocations, bytes and decisions of the last iteration.
#[derive(Default)]
struct Last {
    allocations: AtomicU64,
    bytes: AtomicU64,
    decisions: AtomicU64,
    steps: AtomicU64,
}

impl Strategy for Measured {
    fn describe(&self) -> String {
        "measured".to_owned()
    }
    fn lanes(&self) -> Lanes {
        self.inner.lanes()
    }
    fn primed(&self) -> bool {
        self.inner.primed()
    }
    fn interests(&self) -> Interests {
        self.inner.interests()
    }
    fn begin(&mut self, iteration: &Iteration) -> Flow {
        let flow = self.inner.begin(iteration);
        self.before = (ALLOCATIONS.get(), BYTES.get());
        flow
    }
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        self.inner.pick(point, enabled)
    }
    fn observe(&mut self, event: &StepEvent<'_>) {
        self.inner.observe(event);
    }
    fn end(&mut self, end: &IterationEnd) {
        self.last
            .allocations
            .store(ALLOCATIONS.get() - self.before.0, SeqCst);
        self.last.bytes.store(BYTES.get() - self.before.1, SeqCst);
        self.last.decisions.store(end.decisions, SeqCst);
        self.last.steps.store(end.steps, SeqCst);
        self.inner.end(end);
    }
}

/// What the last of a few iterations took: the others warm up.
fn measure<F: Future<Output = ()> + 'static>(
    strategy: &'static str,
    granularity: Granularity,
    rounds: u32,
    scenario: fn(u32) -> F,
) -> Arc<Last> {
    let last = Arc::<Last>::default();
    let theirs = last.clone();
    let report = Checker::new()
        .name("allocations")
        .use_environment(false)
        .time_budget(None)
        .determinism_check(false)
        .workers(1)
        .iterations(20)
        .granularity(granularity)
        .max_steps(10_000_000)
        .fail_on_limit(true)
        .strategy(move || Measured {
            inner: StrategySpec::parse(strategy).unwrap().build(),
            before: (0, 0),
            last: theirs.clone(),
        })
        .run(move || scenario(rounds));
    report.assert_passed();
    last
}

#[track_caller]
fn allocates_nothing_per_step<F: Future<Output = ()> + 'static>(scenario: fn(u32) -> F) {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        allocates_nothing_with("random", granularity, 0, scenario);
    }
}

#[track_caller]
fn allocates_nothing_with<F: Future<Output = ()> + 'static>(
    strategy: &'static str,
    granularity: Granularity,
    spare: u64,
    scenario: fn(u32) -> F,
) {
    let short = measure(strategy, granularity, 200, scenario);
    let long = measure(strategy, granularity, 2_000, scenario);
    let (few, many) = (short.steps.load(SeqCst), long.steps.load(SeqCst));
    assert!(
        many > 5 * few,
        "{strategy}, {granularity:?}: {few} and {many} steps"
    );
    let (few, many) = (
        short.allocations.load(SeqCst),
        long.allocations.load(SeqCst),
    );
    assert!(few > 0, "nothing is counted");
    assert!(
        many <= few + spare,
        "{strategy}, {granularity:?}: {few} and {many} allocations for 200 and 2,000 rounds"
    );
}

#[test]
fn yields() {
    allocates_nothing_per_step(|rounds| async move {
        let other = spawn(async move {
            for _ in 0..rounds {
                yield_now().await;
            }
        });
        for _ in 0..rounds {
            yield_now().await;
        }
        other.await.unwrap();
    });
}

#[test]
fn a_contended_mutex() {
    allocates_nothing_per_step(contended_mutex);
}

async fn contended_mutex(rounds: u32) {
    let mutex = Arc::new(Mutex::new(0));
    let tasks = [0; 3].map(|_| {
        let mutex = mutex.clone();
        spawn(async move {
            for _ in 0..rounds {
                let mut value = mutex.lock().await;
                yield_now().await;
                *value += 1;
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*mutex.lock().await, 3 * rounds);
}

#[test]
fn strategies() {
    let strategies = [
        "round-robin",
        "pct:d=3",
        "pct-psharp:d=3",
        "pos",
        "urw",
        "surw",
        "pctcp",
        "ss:explorer=rtc",
    ];
    // The last iteration may be the longest so far, and vectors may double.
    let spare = 4;
    for strategy in strategies {
        allocates_nothing_with(strategy, Granularity::Op, spare, contended_mutex);
    }
}

#[test]
fn ping_pong_over_channels_of_one() {
    allocates_nothing_per_step(|rounds| async move {
        let (ping, mut pings) = mpsc::channel(1);
        let (pong, mut pongs) = mpsc::channel(1);
        let other = spawn(async move {
            while let Some(value) = pings.recv().await {
                pong.send(value + 1).await.unwrap();
            }
        });
        for round in 0..rounds {
            ping.send(round).await.unwrap();
            assert_eq!(pongs.recv().await, Some(round + 1));
        }
        drop(ping);
        other.await.unwrap();
    });
}

#[test]
fn an_unbounded_channel_within_what_it_has_held() {
    allocates_nothing_per_step(|rounds| async move {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for value in 0..64 {
            sender.send(value).unwrap();
        }
        for _ in 0..64 {
            assert!(receiver.recv().await.is_some());
        }
        let (ack, mut acks) = mpsc::channel(1);
        let other = spawn(async move {
            while let Some(value) = receiver.recv().await {
                ack.send(value).await.unwrap();
            }
        });
        for round in 0..rounds {
            sender.send(round).unwrap();
            assert_eq!(acks.recv().await, Some(round));
        }
        drop(sender);
        other.await.unwrap();
    });
}

#[test]
fn sleeps() {
    allocates_nothing_per_step(|rounds| async move {
        let tasks = [1, 2, 3].map(|ms| {
            spawn(async move {
                for _ in 0..rounds {
                    sleep(Duration::from_millis(ms)).await;
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn semaphore_and_notify() {
    allocates_nothing_per_step(|rounds| async move {
        let semaphore = Arc::new(Semaphore::new(1));
        let notify = Arc::new(Notify::new());
        let (theirs, told) = (semaphore.clone(), notify.clone());
        let other = spawn(async move {
            for _ in 0..rounds {
                let _permit = theirs.acquire().await.unwrap();
                told.notify_one();
                yield_now().await;
            }
        });
        for _ in 0..rounds {
            let _permit = semaphore.acquire().await.unwrap();
            yield_now().await;
        }
        notify.notified().await;
        other.await.unwrap();
    });
}

#[test]
fn a_decision_takes_four_bytes() {
    // In chunks of 4,096; so many decisions that nothing else that grows comes near.
    async fn scenario(rounds: u32) {
        let other = spawn(async move {
            for _ in 0..rounds {
                yield_now().await;
            }
        });
        for _ in 0..rounds {
            yield_now().await;
        }
        other.await.unwrap();
    }
    let bytes = |rounds: u32| {
        let last = Arc::<Last>::default();
        let theirs = last.clone();
        // The first iteration of a thread: all that the trace needs is allocated in it.
        Checker::new()
            .name("bytes")
            .use_environment(false)
            .time_budget(None)
            .determinism_check(false)
            .workers(1)
            .iterations(1)
            .max_steps(10_000_000)
            .fail_on_limit(true)
            .strategy(move || Measured {
                inner: Box::new(Random::new()),
                before: (0, 0),
                last: theirs.clone(),
            })
            .run(move || scenario(rounds))
            .assert_passed();
        (last.bytes.load(SeqCst), last.decisions.load(SeqCst))
    };
    let (small, few) = bytes(1_000);
    let (large, many) = bytes(200_000);
    assert!(many - few > 300_000, "{few} {many}");
    let slack = 16 * 1024 + 4 * 1024;
    assert!(
        large - small <= 4 * (many - few) + slack,
        "{} bytes for {} decisions",
        large - small,
        many - few
    );
}
