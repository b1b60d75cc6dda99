//! A model of PoolManager: a controller starts pools of machines, moves load between them, and fails
//! over when it is told to.
//!
//! Workers: the controller, 12 pools (`pool-manager-v2`: 25), a client that asks for a migration,
//! and an injector whose one message makes the controller fail over; the injection is marked with
//! a penalty, as the failures that the paper tells QL about (its OPT-2). The controller starts one
//! pool after the other, each with orders that the pool confirms, and migrates load in the same way.
//! Bug: a fail-over while a migration is in flight. The message can be sent from the start, and a
//! fail-over at any other time is quiet, so that a walk which does not hold it back wastes it.
//!
//! That pools start one by one, in exchanges with the controller, is what the published columns of
//! the uninformed strategies ask for: delay bounding never finds the bug, because all block often,
//! and each time the injector may be next. Where pools start side by side, and on their own, it
//! always does. How long a migration takes compared with the start of one pool, 32 times, comes from
//! the columns of PCT: the bug needs all its changes in the migration, which is some 70 % of a run in
//! v1 and 50 % in v2.
//!
//! Fixed form: the controller leaves the message in its inbox during a migration.

use super::super::machine::{Address, Machine, Me, Message, run};
use super::super::{Published, Standing, Subject};
use super::once;
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{Clock, Granularity, observe};

/// Orders until a pool is ready.
const START_ORDERS: u32 = 3;
/// Orders until its load is moved.
const MOVE_ORDERS: u32 = 96;
const PENALTY: u32 = 1_000;

#[derive(Clone)]
enum ToController {
    Confirmed,
    Migrate,
    Fail,
}

const MIGRATE: u32 = 1;
const FAIL: u32 = 2;

impl Message for ToController {
    fn kind(&self) -> u32 {
        match self {
            ToController::Confirmed => 0,
            ToController::Migrate => MIGRATE,
            ToController::Fail => FAIL,
        }
    }
}

#[derive(Clone)]
struct Order;

impl Message for Order {
    fn kind(&self) -> u32 {
        0
    }
}

struct Pool {
    controller: Address<ToController>,
    orders_left: u32,
}

impl Machine for Pool {
    type Message = Order;
    const NAME: &'static str = "pool";

    fn start(&mut self, me: &mut Me<Order>) {
        me.enter(0);
    }

    fn handle(&mut self, me: &mut Me<Order>, Order: Order) {
        self.orders_left = self.orders_left.saturating_sub(1);
        if self.orders_left == 0 {
            me.enter(1);
        }
        me.send(&self.controller, ToController::Confirmed);
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&self.orders_left))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Starting,
    Idle,
    Migrating,
}

struct Controller {
    is_fixed: bool,
    phase: Phase,
    failed_over: bool,
    /// Pools not yet started.
    starting: u32,
    /// Orders not yet given to the present pool.
    orders_left: u32,
    pool: Option<Address<Order>>,
}

impl Controller {
    fn enter(&mut self, me: &mut Me<ToController>, phase: Phase) {
        self.phase = phase;
        me.enter(2 + 2 * phase as usize + usize::from(self.failed_over));
    }

    fn begin_orders(&mut self, me: &Me<ToController>, orders: u32) {
        self.orders_left = orders;
        self.order(me);
    }

    fn order(&mut self, me: &Me<ToController>) {
        self.orders_left -= 1;
        if let Some(pool) = &self.pool {
            me.send(pool, Order);
        }
    }

    /// Starts the next pool, if one is left.
    fn start_pool(&mut self, me: &mut Me<ToController>) {
        if self.starting == 0 {
            self.enter(me, Phase::Idle);
            return;
        }
        self.starting -= 1;
        self.pool = Some(me.create(Pool {
            controller: me.address(),
            orders_left: START_ORDERS,
        }));
        self.begin_orders(me, START_ORDERS);
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
        let controller = me.address();
        me.create(once(move |me| me.send(&controller, ToController::Migrate)));
        self.start_pool(me);
    }

    fn handle(&mut self, me: &mut Me<ToController>, message: ToController) {
        match message {
            ToController::Confirmed if self.orders_left > 0 => self.order(me),
            ToController::Confirmed => self.start_pool(me),
            ToController::Migrate => {
                self.enter(me, Phase::Migrating);
                self.begin_orders(me, MOVE_ORDERS);
            }
            ToController::Fail => {
                let is_moving = self.phase == Phase::Migrating;
                assert!(!is_moving, "a fail-over loses the load that is being moved");
                self.failed_over = true;
                self.enter(me, self.phase);
            }
        }
    }

    fn deferred(&self) -> u64 {
        let migrate = u64::from(self.phase == Phase::Starting) << MIGRATE;
        let fail = u64::from(self.is_fixed && self.phase == Phase::Migrating) << FAIL;
        migrate | fail
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(
            self.phase,
            self.failed_over,
            self.starting,
            self.orders_left,
        )))
    }
}

fn controller(pools: u32, is_fixed: bool) -> Controller {
    Controller {
        is_fixed,
        phase: Phase::Starting,
        failed_over: false,
        starting: pools,
        orders_left: 0,
        pool: None,
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
