//! What learners know tasks by, from one iteration to the next.

use crate::checker;
use cct_executor::node::node;
use cct_executor::strategy::{Flow, Interests, StepEvent, Strategy};
use cct_executor::time::sleep;
use cct_executor::words::seed::Generator;
use cct_executor::words::{EnabledSet, Iteration, Pick, SchedulingPoint};
use cct_executor::{nondet, spawn};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::mailbox::Mailbox;
use rand::Rng;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Picks at random, and writes down the identities of the tasks of node 1, a list for each iteration.
struct Identities {
    noise: Generator,
    seen: Arc<Mutex<Vec<Vec<u64>>>>,
}

impl Strategy for Identities {
    fn describe(&self) -> String {
        "identities".to_owned()
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.noise = iteration.seed.stream("identities");
        self.seen.lock().unwrap().push(Vec::new());
        Flow::Continue
    }

    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        enabled.pick(self.noise.next_u32() as usize % enabled.len())
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        if let StepEvent::Spawned { id, node, .. } = event {
            if node.0 == 1 {
                let mut seen = self.seen.lock().unwrap();
                seen.last_mut().unwrap().push(id.0);
            }
        }
    }
}

/// However a plan and the messages before interleave, a node that crashed for the second time spawns
/// what it spawns after its second crash in any iteration.
#[test]
fn tasks_of_restarted_nodes_are_known_across_iterations() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let theirs = seen.clone();
    let strategy = move || Identities {
        noise: cct_executor::Seed(0).stream("identities"),
        seen: theirs.clone(),
    };
    let scenario = || async {
        let db = node("db").start(|| async {
            let mut mailbox = Mailbox::<u32>::bind("m").unwrap();
            for _ in 0..2 {
                spawn(sleep(Duration::from_millis(3)));
            }
            loop {
                mailbox.recv().await;
            }
        });
        let plan = FaultPlan::new().nodes([&db]).fault(Fault::Crash);
        let plan = plan
            .fault(Fault::Restart)
            .pace(16, Duration::from_millis(5));
        let faults = plan.start().unwrap();
        let mailbox = Mailbox::<u32>::bind("m").unwrap();
        for n in 0..nondet::choose(20) {
            mailbox.send("db", n).unwrap();
            spawn(sleep(Duration::from_millis(1)));
            sleep(Duration::from_millis(5)).await;
        }
        faults.stop();
        // A restart by the test is like one by the plan.
        for _ in 0..nondet::choose(3) {
            spawn(sleep(Duration::from_millis(1)));
        }
        db.restart();
        sleep(Duration::from_millis(50)).await;
    };
    let report = checker("identities")
        .determinism_check(false)
        .iterations(60)
        .strategy(strategy)
        .run(scenario);
    report.assert_passed();
    let seen = seen.lock().unwrap();
    let longest = seen.iter().max_by_key(|ids| ids.len()).unwrap();
    // Three tasks each time it starts.
    assert!(longest.len() >= 9, "{longest:?}");
    let mut distinct = longest.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), longest.len(), "{longest:?}");
    let lengths: BTreeSet<usize> = seen.iter().map(Vec::len).collect();
    assert!(lengths.len() > 2, "{lengths:?}");
    for ids in seen.iter() {
        let unknown = ids.iter().filter(|id| !longest.contains(id)).count();
        assert_eq!(unknown, 0, "{ids:?} {longest:?}");
    }
}
