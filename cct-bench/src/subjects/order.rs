//! Order violations of the PCT paper's table (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A
//! randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010).
//!
//! The programs are SPLASH-2 kernels, Pbzip2 and Dryad; ours have the bug's shape, the number of
//! threads and about the number of steps that count (`k_eff`), and nothing else. In all of them the
//! work is tuned so that a uniform random walk is about as rare as the paper's stress runs are.
//!
//! - `fft`, `lu`, `barnes` (depth 1): a macro that should wait for the other thread is empty, and
//!   the main task reads a result that is not there yet. In `barnes` the two meet at a barrier
//!   before that, where they spin and yield.
//! - `pbzip2` (depth 2): the main task frees the queue's mutex once all blocks are out, while a
//!   consumer still has to look whether there are more, and exits.
//! - `dryad` (depth 2): the main task closes a channel and frees it without waiting for workers
//!   that have already seen that it is open.
//!
//! Fixed forms: the main task waits for the others first.

use super::threads::{Condition, Crew, Lock};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::task::yield_now;
use cct_executor::{Clock, Granularity};
use cct_sync::Notify;
use std::sync::Arc;

async fn work(points: &Lock, steps: u32) {
    for _ in 0..steps {
        points.switch().await;
    }
}

/// A barrier of two that spins.
#[derive(Default)]
struct SpinBarrier(Shared<u32>);

impl SpinBarrier {
    async fn meet(&self) {
        self.0.with(|arrived| *arrived += 1);
        while self.0.with(|arrived| *arrived) < 2 {
            yield_now().await;
        }
    }
}

/// Steps of the two tasks, before the barrier if there is one, and after.
#[derive(Clone, Copy)]
struct Kernel {
    before: Option<u32>,
    worker: u32,
    main: u32,
}

fn kernel(load: Kernel, is_fixed: bool) -> Scenario {
    Box::pin(async move {
        let crew = Crew::new();
        let points = Arc::new(Lock::new());
        let barrier = Arc::new(SpinBarrier::default());
        let result = Arc::new(Shared::new(None));
        let worker = {
            let (points, barrier) = (points.clone(), barrier.clone());
            let result = result.clone();
            async move {
                if let Some(steps) = load.before {
                    work(&points, steps).await;
                    barrier.meet().await;
                }
                work(&points, load.worker).await;
                result.with(|result| *result = Some(1));
            }
        };
        crew.start(worker).await;
        if let Some(steps) = load.before {
            work(&points, steps).await;
            barrier.meet().await;
        }
        work(&points, load.main).await;
        if is_fixed {
            crew.join().await;
        }
        let result = result.with(|result| *result);
        assert!(result.is_some(), "the result is read before it is there");
    })
}

const FFT_LOAD: Kernel = Kernel {
    before: None,
    worker: 60,
    main: 79,
};
const LU_LOAD: Kernel = Kernel {
    before: None,
    worker: 475,
    main: 521,
};
const BARNES_LOAD: Kernel = Kernel {
    before: Some(79),
    worker: 64,
    main: 95,
};

/// What producer and consumers share: the blocks that are left, under a mutex.
struct Blocks {
    mutex: Lock,
    changed: Condition,
    freed: Shared<bool>,
    queued: Shared<u32>,
    produced: Shared<u32>,
    written: Shared<u32>,
    all_written: Notify,
    points: Lock,
}

const BLOCKS: u32 = 8;
const COMPRESSION_STEPS: u32 = 45;
const CHECKSUM_STEPS: u32 = 90;

impl Blocks {
    async fn lock(&self) {
        self.mutex.acquire().await;
        self.check();
    }

    async fn unlock(&self) {
        self.check();
        self.mutex.release().await;
    }

    fn check(&self) {
        assert!(
            !self.freed.with(|freed| *freed),
            "the mutex is used after it was freed"
        );
    }

    async fn produce(&self) {
        for _ in 0..BLOCKS {
            work(&self.points, 8).await;
            self.lock().await;
            self.queued.with(|queued| *queued += 1);
            self.produced.with(|produced| *produced += 1);
            self.changed.notify_all();
            self.unlock().await;
        }
    }

    async fn consume(&self) {
        loop {
            self.lock().await;
            while self.queued.with(|queued| *queued) == 0 {
                if self.produced.with(|produced| *produced) == BLOCKS {
                    return self.unlock().await;
                }
                self.changed.wait(&self.mutex).await;
                self.check();
            }
            self.queued.with(|queued| *queued -= 1);
            self.unlock().await;
            work(&self.points, COMPRESSION_STEPS).await;
            let written = self.written.with(|written| {
                *written += 1;
                *written
            });
            if written == BLOCKS {
                self.all_written.notify_one();
            }
            work(&self.points, CHECKSUM_STEPS).await;
        }
    }
}

fn compress(is_fixed: bool) -> Scenario {
    Box::pin(async move {
        let blocks = Arc::new(Blocks {
            mutex: Lock::new(),
            changed: Condition::new(),
            freed: Shared::new(false),
            queued: Shared::new(0),
            produced: Shared::new(0),
            written: Shared::new(0),
            all_written: Notify::new(),
            points: Lock::new(),
        });
        let crew = Crew::new();
        for _ in 0..2 {
            let blocks = blocks.clone();
            crew.start(async move { blocks.consume().await }).await;
        }
        let producer = blocks.clone();
        crew.start(async move { producer.produce().await }).await;
        blocks.all_written.notified().await;
        if is_fixed {
            crew.join().await;
        }
        blocks.freed.with(|freed| *freed = true);
        blocks.points.switch().await; // and exits, which ends the consumers
    })
}

/// A channel that workers read and the main task closes.
#[derive(Default)]
struct Channel {
    closed: Shared<bool>,
    freed: Shared<bool>,
}

const WORKERS: u32 = 4;
const ITEMS: u32 = 20;
const ITEM_STEPS: u32 = 7;
const MAIN_STEPS: u32 = 1_170;

fn read_channel(is_fixed: bool) -> Scenario {
    Box::pin(async move {
        let channel = Arc::new(Channel::default());
        let points = Arc::new(Lock::new());
        let base = Arc::new(Lock::new());
        let crew = Crew::new();
        for _ in 0..WORKERS {
            let (channel, points, base) = (channel.clone(), points.clone(), base.clone());
            let worker = async move {
                for _ in 0..ITEMS {
                    points.switch().await;
                    if channel.closed.with(|closed| *closed) {
                        return;
                    }
                    work(&points, ITEM_STEPS).await;
                    base.acquire().await;
                    assert!(
                        !channel.freed.with(|freed| *freed),
                        "the channel is used after it was freed"
                    );
                    base.release().await;
                }
            };
            crew.start(worker).await;
        }
        work(&points, MAIN_STEPS).await;
        base.acquire().await;
        channel.closed.with(|closed| *closed = true);
        base.release().await;
        if is_fixed {
            crew.join().await;
        }
        channel.freed.with(|freed| *freed = true);
        crew.join().await;
    })
}

pub(crate) const FFT: Subject = Subject {
    name: "fft",
    about: "a missing join: main reads a result that may not be there",
    standing: Standing::Model,
    workers: 2,
    max_steps: 20_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| kernel(FFT_LOAD, false),
    fixed: Some(|_| kernel(FFT_LOAD, true)),
    targets: &[],
    published: &Published::pct3([1.0, 2.0, 791.0, 139.0, 6.0, 27.0, 50.0, 50.0]),
};

pub(crate) const LU: Subject = Subject {
    name: "lu",
    about: "a missing join, in a longer program",
    scenario: |_| kernel(LU_LOAD, false),
    fixed: Some(|_| kernel(LU_LOAD, true)),
    published: &Published::pct3([1.0, 2.0, 1517.0, 996.0, 7.0, 39.0, 50.0, 50.0]),
    ..FFT
};

pub(crate) const BARNES: Subject = Subject {
    name: "barnes",
    about: "a missing join after a barrier at which both spin and yield",
    scenario: |_| kernel(BARNES_LOAD, false),
    fixed: Some(|_| kernel(BARNES_LOAD, true)),
    published: &Published::pct3([1.0, 2.0, 7917.0, 318.0, 0.74, 1.01, 49.16, 50.0]),
    ..FFT
};

pub(crate) const PBZIP2: Subject = Subject {
    name: "pbzip2",
    about: "main frees a mutex that a consumer still has to lock, and exits",
    workers: 4,
    scenario: |_| compress(false),
    fixed: Some(|_| compress(true)),
    published: &Published::pct3_held_back([2.0, 4.0, 1981.0, 1207.0, 0.0, 0.0, 70.1, 0.01]),
    ..FFT
};

pub(crate) const DRYAD: Subject = Subject {
    name: "dryad",
    about: "main frees a channel under workers that have seen it open",
    workers: 5,
    scenario: |_| read_channel(false),
    fixed: Some(|_| read_channel(true)),
    published: &Published::pct3([2.0, 5.0, 9631.0, 1990.0, 0.0, 0.0, 16.4, 0.002]),
    ..FFT
};
