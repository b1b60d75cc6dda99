//! An order of one's own: an explorer that keeps failures back until they hurt.
//!
//! Servers form a chain; each knows who comes after it. When one fails, the one before it is told,
//! and joins itself to the one after. The bug: if two neighbours fail and the second does before
//! the repair of the first, the one to be told of the second failure is itself gone.
//!
//! Failures while the chain is being set up are dull: it is built from whoever is left. Orders that
//! treat all tasks alike let failures happen then, and it takes many delays to put them off.
//! [`FaultsLater`] is the explorer of section 6.3 of "Systematic testing of asynchronous reactive
//! systems" (A. Desai, S. Qadeer, S. Seshia, ESEC/FSE 2015): while servers set themselves up they
//! come first, and from then on those who bring failures do. The program says who is who by marks,
//! which mean nothing to other strategies.

use cct_executor::strategy::{ActionOrder, DelayingExplorer};
use cct_executor::words::ActionKey;
use cct_executor::{Seed, nondet, spawn, task::yield_now, time::sleep};
use cct_sync::{Mutex, Notify};
use std::sync::Arc;
use std::time::Duration;

/// Servers first; those marked `fault` first once there was a mark `ready`.
#[derive(Default)]
pub struct FaultsLater {
    order: ActionOrder,
    faults: Vec<ActionKey>,
    ready: bool,
}

impl DelayingExplorer for FaultsLater {
    fn name(&self) -> &'static str {
        "faults-later"
    }

    fn begin(&mut self, _: Seed) {
        *self = Self::default();
    }

    fn on_enabled(&mut self, task: ActionKey) {
        let is_ahead = |task: &ActionKey| self.faults.contains(task) == self.ready;
        if is_ahead(&task) {
            let ahead = self.order.iter().take_while(is_ahead).count();
            self.order.insert_at(ahead, task);
        } else {
            self.order.push_back(task);
        }
    }

    fn on_blocked(&mut self, task: ActionKey) {
        self.order.remove(task);
    }

    fn user_op(&mut self, name: &str, by: Option<ActionKey>) {
        match (name, by) {
            ("fault", Some(task)) => self.faults.push(task),
            ("ready", _) => self.ready = true,
            _ => return,
        }
        for task in self.faults.clone() {
            if self.order.contains(task) {
                self.order.remove(task);
                self.on_enabled(task);
            }
        }
    }

    fn first(&self) -> Option<ActionKey> {
        self.order.first()
    }

    fn delay(&mut self) {
        self.order.rotate();
    }
}

/// Who comes after whom, who is alive, and who is to be told of what.
struct Chain {
    next: Mutex<[usize; 4]>,
    alive: Mutex<[bool; 4]>,
    failed: [Notify; 4],
}

/// A server greets its neighbours, and then stands by to repair the chain after it.
async fn server(chain: Arc<Chain>, id: usize) {
    for _ in 0..2 {
        yield_now().await;
    }
    loop {
        chain.failed[id].notified().await;
        if !chain.alive.lock().await[id] {
            return;
        }
        let mut next = chain.next.lock().await;
        next[id] = next[next[id]];
    }
}

/// Two neighbours fail, one after the other.
async fn fail(chain: Arc<Chain>) {
    nondet::mark("fault");
    for id in [1, 2] {
        yield_now().await;
        chain.alive.lock().await[id] = false;
        let next = *chain.next.lock().await;
        if let Some(before) = next.iter().position(|&next| next == id) {
            chain.failed[before].notify_one();
        }
    }
}

/// The program with the bug.
pub async fn neighbours_fail() {
    let chain = Arc::new(Chain {
        next: Mutex::new([0; 4]),
        alive: Mutex::new([true; 4]),
        failed: [const { Notify::const_new() }; 4],
    });
    let failures = spawn(fail(chain.clone()));
    for id in 0..4 {
        spawn(server(chain.clone(), id));
    }
    for _ in 0..2 {
        yield_now().await;
    }
    let alive = *chain.alive.lock().await;
    let mut last = 3;
    for id in (0..3).rev().filter(|&id| alive[id]) {
        chain.next.lock().await[id] = last;
        last = id;
    }
    nondet::mark("ready");
    failures.await.unwrap();
    sleep(Duration::from_millis(1)).await; // nothing else is left to do
    let alive = *chain.alive.lock().await;
    assert!(
        alive[chain.next.lock().await[0]],
        "the head is joined to a server that failed"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::strategy::Ses;
    use cct_executor::{Checker, Report};

    fn checker() -> Checker {
        Checker::new()
            .name("broken_chain")
            .iterations(100_000)
            .time_budget(None)
            .use_environment(false)
    }

    fn schedules_until_it_fails(report: &Report) -> u64 {
        let failure = report.failure().expect("not found");
        assert_eq!(failure.kind.class(), "panic");
        report.iterations()
    }

    /// Its own order shows the bug without a delay. Others need to delay, and there are many places.
    #[test]
    fn its_own_order_finds_it_at_once() {
        let own = checker().strategy(|| Ses::new(FaultsLater::default()));
        let own = schedules_until_it_fails(&own.run(neighbours_fail));
        assert_eq!(own, 1);
        for explorer in ["rtc", "rr", "prr"] {
            let other = checker().strategy_text(&format!("ses:explorer={explorer}"));
            let other = schedules_until_it_fails(&other.run(neighbours_fail));
            assert!(other > 10, "{explorer}: {other}");
        }
    }
}
