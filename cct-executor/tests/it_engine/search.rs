//! What a run offers to strategies that look, learn and remember: waypoints, parts of the state,
//! priming, failures passed by, files of learnt tables.

use crate::checker;
use cct_executor::strategy::{Flow, Interests, Lanes, StepEvent, Strategy};
use cct_executor::task::yield_now;
use cct_executor::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};
use cct_executor::{Checker, Isolation, nondet, observe, sometimes, spawn, watermark, waypoint};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Notes = Arc<Mutex<Vec<String>>>;

/// Takes the first choice, writes down what it sees, and knows how many iterations it had.
struct Scribe {
    notes: Notes,
    lanes: Lanes,
    primed: bool,
    iterations: u64,
}

impl Scribe {
    fn new(notes: &Notes) -> Scribe {
        Scribe {
            notes: notes.clone(),
            lanes: Lanes::Fixed(1),
            primed: false,
            iterations: 0,
        }
    }

    fn note(&self, line: String) {
        self.notes.lock().unwrap().push(line);
    }
}

impl Strategy for Scribe {
    fn describe(&self) -> String {
        "scribe".to_owned()
    }

    fn lanes(&self) -> Lanes {
        self.lanes
    }

    fn primed(&self) -> bool {
        self.primed
    }

    fn interests(&self) -> Interests {
        Interests {
            observations: true,
            parts: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.iterations += 1;
        self.note(format!("begin {} as {}", iteration.index, self.iterations));
        Flow::Continue
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let observed = point.parts.observed != 0;
        self.note(format!("pick at {} observed {observed}", point.waypoint));
        enabled.pick(0)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        match event {
            StepEvent::Penalty { name, amount } => self.note(format!("penalty {name} {amount}")),
            StepEvent::Reached { name } => self.note(format!("reached {name}")),
            StepEvent::Watermark { name, value } => self.note(format!("{name} {value}")),
            _ => {}
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        self.note(format!("end at {}", end.waypoint));
    }

    fn remarks(&self) -> Vec<String> {
        vec![format!("{} iterations seen", self.iterations)]
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(self.iterations.to_le_bytes().to_vec())
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), String> {
        let bytes = saved.try_into().map_err(|_| "not eight bytes".to_owned())?;
        self.iterations = u64::from_le_bytes(bytes);
        Ok(())
    }
}

#[test]
fn waypoints_marks_and_penalties_reach_the_strategy() {
    let notes = Notes::default();
    let theirs = notes.clone();
    let report = checker("search")
        .strategy(move || Scribe::new(&theirs))
        .iterations(1)
        .run(|| async {
            waypoint!("one", |w| w.is("role", "leader"));
            waypoint!("two", |w| w.count("role", "leader") == 2);
            waypoint!("never", |w| w.number("term") > Some(9));
            nondet::boolean();
            observe::each("role", 1, "leader");
            observe::number_each("term", 1, 3);
            nondet::boolean();
            observe::penalty("crash", 1000);
            observe::each("role", 2, "leader");
            sometimes!(true, "led");
            sometimes!(false, "not told");
            watermark!("term", 3);
            watermark!("term", 2);
            nondet::boolean();
            observe::each("role", 1, "follower");
        });
    report.assert_passed();
    assert_eq!(
        *notes.lock().unwrap(),
        [
            "begin 0 as 1",
            "pick at 0 observed false",
            "pick at 1 observed true",
            "penalty crash 1000",
            "reached led",
            "term 3",
            "term 2",
            "pick at 2 observed true",
            "end at 1",
        ]
    );
    let never: Vec<_> = report.never_reached().collect();
    assert_eq!(never, ["never", "not told"]);
    let marks: Vec<_> = report
        .coverage
        .watermarks
        .iter()
        .map(|m| (m.0, m.3))
        .collect();
    assert_eq!(marks, [("term", 3), ("term", 2)]);
    assert!(report.text().contains("strategy: 1 iterations seen"));
}

/// Three lanes: those without iteration 0 run it first, uncounted.
#[test]
fn every_lane_is_primed_by_iteration_0() {
    for workers in 1..=3 {
        for isolation in [Isolation::None, Isolation::Thread] {
            let notes = Notes::default();
            let theirs = notes.clone();
            let report = checker("primed")
                .workers(workers)
                .isolation(isolation)
                .strategy(move || Scribe {
                    lanes: Lanes::Fixed(3),
                    primed: true,
                    ..Scribe::new(&theirs)
                })
                .iterations(6)
                .run(|| async { sometimes!(true, "seen") });
            assert_eq!((report.iterations, report.coverage.steps), (6, 6));
            assert_eq!(report.coverage.sometimes[0].3.reached, 6);
            let mut begun = notes.lock().unwrap().clone();
            begun.retain(|line| line.starts_with("begin"));
            begun.sort_unstable();
            let expected = [
                "begin 0 as 1",
                "begin 0 as 1",
                "begin 0 as 1",
                "begin 1 as 2",
                "begin 2 as 2",
                "begin 3 as 2",
                "begin 4 as 3",
                "begin 5 as 3",
            ];
            assert_eq!(begun, expected);
        }
    }
}

/// What a lane is shown takes as long as an iteration.
#[test]
fn a_lane_that_has_no_time_is_not_primed() {
    for isolation in [Isolation::None, Isolation::Thread] {
        let notes = Notes::default();
        let theirs = notes.clone();
        let report = checker("late")
            .workers(1)
            .isolation(isolation)
            .time_budget(Some(Duration::from_nanos(1)))
            .strategy(move || Scribe {
                lanes: Lanes::Fixed(3),
                primed: true,
                ..Scribe::new(&theirs)
            })
            .run(|| async {});
        assert_eq!((report.iterations, report.coverage.steps), (1, 1));
        let mut begun = notes.lock().unwrap().clone();
        begun.retain(|line| line.starts_with("begin"));
        assert_eq!(begun, ["begin 0 as 1"]);
    }
}

#[test]
fn failures_are_passed_by_and_counted() {
    for workers in [1, 2] {
        let report = checker("going on")
            .workers(workers)
            .strategy_text("exhaustive")
            .keep_going(true)
            .run(|| async {
                assert!(nondet::choose(8) % 3 != 1);
            });
        assert_eq!((report.iterations, report.coverage.failing), (8, 3));
        assert_eq!(report.failure().unwrap().iteration(), 1);
        assert!(report.text().contains("panic"));
    }
}

#[test]
fn states_by_iteration_do_not_depend_on_workers() {
    let curve = |workers| {
        let report = checker("curve")
            .workers(workers)
            .iterations(300)
            .run(|| async {
                for step in 0..4_u8 {
                    observe::observe("at", (step, nondet::choose(3)));
                    let other = spawn(yield_now());
                    other.await.unwrap();
                }
            });
        report.assert_passed();
        (report.coverage.states, report.coverage.states_by_iteration)
    };
    let (states, alone) = curve(1);
    let at: Vec<_> = alone.iter().map(|(iteration, _)| *iteration).collect();
    assert_eq!(at, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    assert!(alone.is_sorted_by_key(|(_, states)| *states));
    assert_eq!(alone.last().map(|(_, states)| *states), states);
    assert_eq!(alone, curve(2).1);
}

struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> TempFile {
        let name = format!("cct-{}-{name}", std::process::id());
        TempFile(std::env::temp_dir().join(name))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn learning(name: &str, file: &TempFile) -> cct_executor::Report {
    let notes = Notes::default();
    checker(name)
        .strategy(move || Scribe::new(&notes))
        .iterations(5)
        .learnt(&file.0)
        .run(|| async {})
}

#[test]
fn a_later_run_goes_on_learning() {
    let file = TempFile::new("goes-on");
    assert_eq!(learning("learner", &file).remarks, ["5 iterations seen"]);
    assert_eq!(learning("learner", &file).remarks, ["10 iterations seen"]);
}

#[test]
fn a_table_of_no_use_is_an_error_and_stays() {
    let file = TempFile::new("no-use");
    learning("learner", &file).assert_passed();
    let before = std::fs::read(&file.0).unwrap();
    let other = learning("other", &file);
    let error = other.error().unwrap();
    assert!(
        error.contains("with test `learner`, not `other`"),
        "{error}"
    );
    assert_eq!(std::fs::read(&file.0).unwrap(), before);

    std::fs::write(&file.0, "hello").unwrap();
    let error = learning("learner", &file).error.unwrap();
    assert!(error.contains("not a file of learnt tables"), "{error}");
    assert_eq!(std::fs::read(&file.0).unwrap(), b"hello");

    let report = checker("random")
        .learnt(&file.0)
        .iterations(1)
        .run(|| async {});
    assert!(report.error().unwrap().contains("`random` learns nothing"));

    let nowhere = TempFile("/no/such/place".into());
    let warnings = learning("learner", &nowhere).warnings;
    assert!(
        warnings[0].starts_with("what was learnt could not be written to /no/such/place: "),
        "{warnings:?}"
    );
}

/// Takes the first choice, and counts what it was asked and what happened unasked.
#[derive(Clone, Default)]
struct Counter(Arc<Mutex<[u64; 3]>>);

impl Strategy for Counter {
    fn describe(&self) -> String {
        "counter".to_owned()
    }

    fn interests(&self) -> Interests {
        Interests {
            forced: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, _: &Iteration) -> Flow {
        Flow::Continue
    }

    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        self.0.lock().unwrap()[0] += u64::from(enabled.actions().is_some());
        enabled.pick(0)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.0.lock().unwrap()[1] += u64::from(matches!(event, StepEvent::Forced { .. }));
    }

    fn end(&mut self, end: &IterationEnd) {
        self.0.lock().unwrap()[2] += end.steps;
    }
}

/// Each step was either asked for or told as forced.
#[test]
fn steps_with_one_choice_are_told() {
    let counter = Counter::default();
    let theirs = counter.clone();
    let report = checker("search")
        .strategy(move || theirs.clone())
        .iterations(1)
        .run(|| async {
            yield_now().await;
            let task = spawn(async {
                yield_now().await;
                yield_now().await;
            });
            yield_now().await;
            task.await.unwrap();
            yield_now().await;
        });
    assert!(report.passed(), "{}", report.text());
    let [asked, forced, steps] = *counter.0.lock().unwrap();
    assert!(asked > 0 && forced > 0, "{asked} and {forced}");
    assert_eq!(asked + forced, steps);
}

#[test]
fn a_run_without_time_looks_at_one_schedule() {
    use cct_executor::StoppedBy;
    for workers in [1, 4] {
        let report = checker("no time at all")
            .time_budget(Some(Duration::ZERO))
            .workers(workers)
            .iterations(100)
            .run(|| async {});
        assert_eq!(
            (report.iterations, report.stopped_by),
            (1, StoppedBy::TimeBudget)
        );
        let blames_the_build = report.text().contains("opt-level");
        assert_eq!(blames_the_build, cfg!(cct_unoptimised));
        let report = checker("no time at all, and a failure")
            .time_budget(Some(Duration::ZERO))
            .workers(workers)
            .run(|| async { panic!("at once") });
        assert_eq!(report.failure().unwrap().kind.class(), "panic");
    }
}

#[test]
fn what_has_taken_all_the_time_is_not_run_again() {
    for (budget, runs) in [(Duration::ZERO, 0), (Duration::from_secs(3600), 1)] {
        let report = checker("an iteration that is checked")
            .time_budget(Some(budget))
            .determinism_check(true)
            .iterations(1)
            .run(|| async {});
        assert_eq!(report.coverage.checked_twice, runs);
    }
}

#[test]
fn a_budget_beyond_the_clock_is_no_bound() {
    let report = checker("all the time in the world")
        .time_budget(Some(Duration::MAX))
        .iterations(3)
        .run(|| async {});
    assert_eq!((report.iterations, &report.error), (3, &None));
}

#[test]
fn long_iterations_keep_to_the_time_budget() {
    // Each takes some hundredths of a second, and the clock is looked at after every one.
    let report = checker("long iterations")
        .time_budget(Some(Duration::from_millis(1)))
        .workers(1)
        .determinism_check(false)
        .run(|| async {
            for _ in 0..20_000 {
                yield_now().await;
            }
        });
    assert!(report.iterations <= 2, "{}", report.iterations);
}

/// A bound of 0 would explore nothing, and so pass whatever the scenario does.
#[test]
fn bounds_that_leave_nothing_to_explore_are_named() {
    let complaint = |checker: Checker| {
        let report = checker.run(|| async { panic!("it runs") });
        report.error().expect("it cannot run").to_owned()
    };
    let cases = [
        (checker("none").iterations(0), "iterations is 0"),
        (checker("none").max_tasks(0), "max_tasks is 0"),
        (checker("none").max_steps(0), "max_steps is 0"),
        (
            checker("none").poll_limit(Duration::ZERO),
            "poll_limit is 0",
        ),
        (
            checker("none").workers(0),
            "workers is 0: expected a number from 1 to 1024",
        ),
        (
            checker("many").workers(1025),
            "workers is 1025: expected a number from 1 to 1024",
        ),
    ];
    for (checker, expected) in cases {
        let error = complaint(checker);
        assert!(error.contains(expected), "{error}");
    }
}
