//! What the engine tells a strategy that asks to be told.

use crate::checker;
use cct_executor::strategy::{Flow, Interests, StepEvent, Strategy};
use cct_executor::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};
use cct_executor::{nondet, observe, spawn, task::yield_now, time, waypoint};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Takes the first choice, and writes down what it is told.
struct Listener(Arc<Mutex<Vec<String>>>);

impl Strategy for Listener {
    fn describe(&self) -> String {
        "listener".to_owned()
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            readiness: true,
            observations: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, _: &Iteration) -> Flow {
        Flow::Continue
    }

    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        enabled.pick(0)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        let line = match event {
            StepEvent::Spawned { task, .. } => format!("spawned {}", task.index()),
            StepEvent::Enabled(task) => format!("enabled {}", task.index()),
            StepEvent::Blocked(task) => format!("blocked {}", task.index()),
            StepEvent::Exited(task) => format!("exited {}", task.index()),
            StepEvent::Sent { to } => format!("sent to {}", to.index()),
            StepEvent::UserOp(name) => format!("mark {name}"),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

fn told<F: Future<Output = ()> + 'static>(
    scenario: impl Fn() -> F + Send + Sync + 'static,
) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let theirs = lines.clone();
    checker("events")
        .iterations(1)
        .strategy(move || Listener(theirs.clone()))
        .run(scenario)
        .assert_passed();
    std::mem::take(&mut *lines.lock().unwrap())
}

#[test]
fn a_task_that_yields_is_enabled_again_and_a_joiner_is_sent_to() {
    let lines = told(|| async {
        let other = spawn(async {
            nondet::mark("seal");
            yield_now().await;
        });
        other.await.unwrap();
    });
    // At main's join the child comes first; once it has yielded, main does, and waits.
    let expected = [
        "spawned 0",
        "spawned 1",
        "mark seal",
        "enabled 1",
        "blocked 0",
        "enabled 0",
        "sent to 0",
        "exited 1",
        "exited 0",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_timer_wakes_without_a_sender() {
    let lines = told(|| async { time::sleep(Duration::from_millis(1)).await });
    assert_eq!(lines, ["spawned 0", "blocked 0", "enabled 0", "exited 0"]);
}

/// Takes the first choice, and writes down how many waypoints there are.
struct Surveyor(Arc<Mutex<Vec<u32>>>);

impl Strategy for Surveyor {
    fn describe(&self) -> String {
        "surveyor".to_owned()
    }

    fn begin(&mut self, _: &Iteration) -> Flow {
        Flow::Continue
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        self.0.lock().unwrap().push(point.waypoints);
        enabled.pick(0)
    }

    fn end(&mut self, end: &IterationEnd) {
        self.0.lock().unwrap().push(end.waypoints);
    }
}

/// What a predicate declares does not count.
#[test]
fn waypoints_are_counted_as_they_are() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let theirs = seen.clone();
    checker("waypoints")
        .iterations(1)
        .strategy(move || Surveyor(theirs.clone()))
        .run(|| async {
            waypoint!("one", |_| {
                waypoint!("inside", |_| true);
                false
            });
            for i in 0..3 {
                observe("i", i);
                nondet::boolean();
            }
        })
        .assert_passed();
    assert_eq!(*seen.lock().unwrap(), [1, 1, 1, 1]);
}
