//! A model of CacheProvider: a service keeps an index and rows in a storage whose calls may fail.
//!
//! 27 workers: the service, the storage and 25 clients that read. The service starts with 11 calls
//! and writes one entry with 5 more; each call is a coin, and a failure ends the service cleanly.
//! Bug: when exactly the last call fails, the index has been written and the row has not, and the
//! service goes on; the next read follows the dangling index. That takes 16 coins, 2^-16 in one
//! random walk or 14 % in 10,000, which is the published figure; learning has to find the coins.
//!
//! Fixed form: the index is taken back when the row could not be written.

use super::super::machine::{Address, Machine, Me, Message, run};
use super::super::{Published, Standing, Subject};
use super::once;
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{Clock, Granularity, nondet};

const CLIENTS: u32 = 25;
const START_CALLS: u32 = 11;
const WRITE_CALLS: u32 = 5;

#[derive(Clone)]
enum ToService {
    Done,
    Failed,
    Read,
}

impl Message for ToService {
    fn kind(&self) -> u32 {
        match self {
            ToService::Done => 0,
            ToService::Failed => 1,
            ToService::Read => READ,
        }
    }
}

const READ: u32 = 2;

#[derive(Clone)]
enum ToStorage {
    Call(Address<ToService>),
    Close,
}

impl Message for ToStorage {
    fn kind(&self) -> u32 {
        match self {
            ToStorage::Call(_) => 0,
            ToStorage::Close => 1,
        }
    }
}

struct Storage;

impl Machine for Storage {
    type Message = ToStorage;
    const NAME: &'static str = "storage";

    fn start(&mut self, _: &mut Me<ToStorage>) {}

    fn handle(&mut self, me: &mut Me<ToStorage>, message: ToStorage) {
        match message {
            ToStorage::Call(service) if nondet::boolean() => me.send(&service, ToService::Done),
            ToStorage::Call(service) => me.send(&service, ToService::Failed),
            ToStorage::Close => me.halt(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Starting,
    Writing,
    Serving,
}

struct Service {
    is_fixed: bool,
    phase: Phase,
    calls_left: u32,
    dangling: bool,
    storage: Option<Address<ToStorage>>,
}

impl Service {
    fn enter(&mut self, me: &mut Me<ToService>, phase: Phase, calls: u32) {
        self.phase = phase;
        self.calls_left = calls;
        if calls > 0 {
            self.call(me);
        } else {
            me.enter((START_CALLS + WRITE_CALLS) as usize);
        }
    }

    /// Makes the next call, and waits for the answer in a state of its own, as is usual in P#.
    fn call(&self, me: &mut Me<ToService>) {
        let left = self.calls_left + u32::from(self.phase == Phase::Starting) * WRITE_CALLS;
        me.enter((START_CALLS + WRITE_CALLS - left) as usize);
        self.tell_storage(me, ToStorage::Call(me.address()));
    }

    fn tell_storage(&self, me: &Me<ToService>, message: ToStorage) {
        if let Some(storage) = &self.storage {
            me.send(storage, message);
        }
    }

    fn done(&mut self, me: &mut Me<ToService>) {
        self.calls_left -= 1;
        match (self.calls_left, self.phase) {
            (0, Phase::Starting) => self.enter(me, Phase::Writing, WRITE_CALLS),
            (0, _) => self.enter(me, Phase::Serving, 0),
            _ => self.call(me),
        }
    }

    fn failed(&mut self, me: &mut Me<ToService>) {
        if self.phase == Phase::Writing && self.calls_left == 1 {
            self.dangling = !self.is_fixed;
            self.enter(me, Phase::Serving, 0);
        } else {
            self.tell_storage(me, ToStorage::Close);
            me.halt();
        }
    }
}

impl Machine for Service {
    type Message = ToService;
    const NAME: &'static str = "service";

    fn start(&mut self, me: &mut Me<ToService>) {
        self.storage = Some(me.create(Storage));
        for _ in 0..CLIENTS {
            let service = me.address();
            me.create(once(move |me| me.send(&service, ToService::Read)));
        }
        self.enter(me, Phase::Starting, START_CALLS);
    }

    fn handle(&mut self, me: &mut Me<ToService>, message: ToService) {
        match message {
            ToService::Done => self.done(me),
            ToService::Failed => self.failed(me),
            ToService::Read => assert!(!self.dangling, "the index points to a row that is missing"),
        }
    }

    fn deferred(&self) -> u64 {
        u64::from(self.phase != Phase::Serving) << READ
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.phase, self.calls_left, self.dangling)))
    }
}

fn service(is_fixed: bool) -> Service {
    Service {
        is_fixed,
        phase: Phase::Starting,
        calls_left: 0,
        dangling: false,
        storage: None,
    }
}

pub(crate) const CACHE_PROVIDER: Subject = Subject {
    name: "cache-provider",
    about: "a storage call that fails at the wrong moment leaves an index without its row",
    standing: Standing::Model,
    workers: 27,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| Box::pin(run(service(false))),
    fixed: Some(|_| Box::pin(run(service(true)))),
    targets: &[],
    published: &Published::ql2_and(
        [74.0, 79.0, 14.0, 24.0, 37.0, 29.0, 25.0, 23.0],
        [
            Published::one("ndn", "NDN", 22.0),
            Published::one("ndn", "QLd", 79.0),
        ],
    ),
};
