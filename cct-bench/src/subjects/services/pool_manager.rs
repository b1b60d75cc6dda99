//! A model of PoolManager: a controller starts pools of machines, moves load between them, and fails
//! over when it is told to.
//!
//! Workers: the controller, 12 pools (`pool-manager-v2`: 25), a client that asks for a migration,
//! and an injector whose one message makes the controller fail over; the injection is marked with
//! a penalty, as the failures that the paper tells QL about (its OPT-2). Bug: a fail-over while a
//! migration is in flight, which can only be once all pools are ready. The message can be sent from
//! the start, and a fail-over at any other time is quiet, so that a walk which does not hold it
//! back wastes it.
//!
//! Fixed form: the controller leaves the message in its inbox during a migration.

use super::super::machine::{Address, Machine, Me, Message, run};
use super::super::{Published, Standing, Subject};
use super::once;
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{Clock, Granularity, observe};

/// Steps of its own that a pool takes until it is ready, or has moved its load.
const POOL_STEPS: u32 = 10;
const PENALTY: u32 = 1_000;

#[derive(Clone)]
enum ToController {
    Ready,
    Migrate,
    Moved,
    Fail,
}

const MIGRATE: u32 = 1;
const FAIL: u32 = 3;

impl Message for ToController {
    fn kind(&self) -> u32 {
        match self {
            ToController::Ready => 0,
            ToController::Migrate => MIGRATE,
            ToController::Moved => 2,
            ToController::Fail => FAIL,
        }
    }
}

#[derive(Clone)]
enum ToPool {
    Step,
    Move,
}

impl Message for ToPool {
    fn kind(&self) -> u32 {
        match self {
            ToPool::Step => 0,
            ToPool::Move => 1,
        }
    }
}

struct Pool {
    controller: Address<ToController>,
    steps_left: u32,
    is_ready: bool,
}

impl Machine for Pool {
    type Message = ToPool;
    const NAME: &'static str = "pool";

    fn start(&mut self, me: &mut Me<ToPool>) {
        me.enter(0);
        me.send(&me.address(), ToPool::Step);
    }

    fn handle(&mut self, me: &mut Me<ToPool>, message: ToPool) {
        match message {
            ToPool::Move => self.steps_left = POOL_STEPS,
            ToPool::Step => self.steps_left -= 1,
        }
        if self.steps_left > 0 {
            me.send(&me.address(), ToPool::Step);
        } else if self.is_ready {
            me.send(&self.controller, ToController::Moved);
        } else {
            self.is_ready = true;
            me.enter(1);
            me.send(&self.controller, ToController::Ready);
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.is_ready, self.steps_left)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Starting,
    Idle,
    Migrating,
    FailedOver,
}

struct Controller {
    is_fixed: bool,
    phase: Phase,
    starting: u32,
    pools: Vec<Address<ToPool>>,
}

impl Controller {
    fn enter(&mut self, me: &mut Me<ToController>, phase: Phase) {
        self.phase = phase;
        me.enter(2 + phase as usize);
    }
}

impl Machine for Controller {
    type Message = ToController;
    const NAME: &'static str = "controller";

    fn start(&mut self, me: &mut Me<ToController>) {
        self.enter(me, Phase::Starting);
        let controller = me.address();
        me.create(once(move |me| {
            me.send(&controller, ToController::Fail);
            observe::penalty("fail-over", PENALTY);
        }));
        for _ in 0..self.starting {
            let pool = me.create(Pool {
                controller: me.address(),
                steps_left: POOL_STEPS,
                is_ready: false,
            });
            self.pools.push(pool);
        }
        let controller = me.address();
        me.create(once(move |me| me.send(&controller, ToController::Migrate)));
    }

    fn handle(&mut self, me: &mut Me<ToController>, message: ToController) {
        match message {
            ToController::Ready => {
                self.starting -= 1;
                if self.starting == 0 && self.phase == Phase::Starting {
                    self.enter(me, Phase::Idle);
                }
            }
            ToController::Migrate => {
                self.enter(me, Phase::Migrating);
                me.send(&self.pools[0], ToPool::Move);
            }
            ToController::Moved => self.enter(me, Phase::Idle),
            ToController::Fail => {
                let is_moving = self.phase == Phase::Migrating;
                assert!(!is_moving, "a fail-over loses the load that is being moved");
                self.enter(me, Phase::FailedOver);
            }
        }
    }

    fn deferred(&self) -> u64 {
        let migrate = u64::from(self.phase == Phase::Starting) << MIGRATE;
        let fail = u64::from(self.is_fixed && self.phase == Phase::Migrating) << FAIL;
        migrate | fail
    }

    fn ignored(&self) -> u64 {
        u64::from(self.phase == Phase::FailedOver) << MIGRATE
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.phase, self.starting)))
    }
}

fn controller(pools: u32, is_fixed: bool) -> Controller {
    Controller {
        is_fixed,
        phase: Phase::Starting,
        starting: pools,
        pools: Vec::new(),
    }
}

pub(crate) const V1: Subject = Subject {
    name: "pool-manager-v1",
    about: "a fail-over in the middle of a migration, once all of 12 pools are ready",
    standing: Standing::Model,
    workers: 15,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| Box::pin(run(controller(12, false))),
    fixed: Some(|_| Box::pin(run(controller(12, true)))),
    targets: &[],
    published: &Published::ql2([0.0, 100.0, 0.0, 0.0, 100.0, 100.0, 37.0, 0.0]),
};

pub(crate) const V2: Subject = Subject {
    name: "pool-manager-v2",
    about: "a fail-over in the middle of a migration, once all of 25 pools are ready",
    workers: 28,
    scenario: |_| Box::pin(run(controller(25, false))),
    fixed: Some(|_| Box::pin(run(controller(25, true)))),
    published: &Published::ql2([100.0, 97.0, 0.0, 0.0, 100.0, 36.0, 0.0, 0.0]),
    ..V1
};
