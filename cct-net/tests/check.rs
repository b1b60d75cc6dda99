//! The linearizability checker against brute force, and liveness monitors in a world.

use cct_executor::{Checker, Seed, nondet, spawn, time};
use cct_net::check::models::{KeyValue, KeyValueOp, Queue, QueueOp, Register, RegisterOp};
use cct_net::check::monitor::Monitor;
use cct_net::check::{Call, History, Model};
use cct_net::node;
use rand::RngExt;
use std::time::Duration;

/// An operation of a random history: when it was invoked and when it returned what.
type Timed<M> = (
    <M as Model>::Op,
    usize,
    Option<(usize, <M as Model>::Output)>,
);

/// A history, and what is in it.
type Recorded<M> = (
    History<<M as Model>::Op, <M as Model>::Output>,
    Vec<Timed<M>>,
);

/// Whether some order of all operations that returned, and of some that did not, is allowed.
fn brute_force<M: Model>(model: &M, ops: &[Timed<M>]) -> bool {
    fn extend<M: Model>(
        model: &M,
        ops: &[Timed<M>],
        placed: &mut Vec<usize>,
        state: &M::State,
    ) -> bool {
        let missing = |i: &usize| !placed.contains(i);
        let left: Vec<usize> = (0..ops.len()).filter(missing).collect();
        if left.iter().all(|&i| ops[i].2.is_none()) {
            return true;
        }
        left.iter().any(|&i| {
            // Nothing that is left may have returned before this was invoked.
            let late = left
                .iter()
                .any(|&j| ops[j].2.as_ref().is_some_and(|(end, _)| *end < ops[i].1));
            if late {
                return false;
            }
            let output = ops[i].2.as_ref().map(|(_, output)| output);
            let Some(after) = model.apply(state, &ops[i].0, output) else {
                return false;
            };
            placed.push(i);
            let found = extend(model, ops, placed, &after);
            placed.pop();
            found
        })
    }
    extend(model, ops, &mut Vec::new(), &model.initial())
}

/// Records random, overlapping operations with random outputs.
fn random_history<M: Model>(
    rng: &mut impl rand::Rng,
    draw: impl Fn(&mut dyn rand::Rng) -> (M::Op, M::Output),
) -> Recorded<M> {
    let history = History::new();
    let mut ops: Vec<Timed<M>> = Vec::new();
    let mut open: Vec<(usize, Call<_, _>, _)> = Vec::new();
    for event in 0..12 {
        if ops.len() < 7 && (open.is_empty() || rng.random_bool(0.5)) {
            let (op, output) = draw(rng);
            let call = history.invoke("client", op.clone());
            open.push((ops.len(), call, output));
            ops.push((op, event, None));
        } else if !open.is_empty() {
            let (i, call, output) = open.swap_remove(rng.random_range(0..open.len()));
            if rng.random_bool(0.3) {
                continue; // it never returns
            }
            ops[i].2 = Some((event, output.clone()));
            call.returned(output);
        }
    }
    (history, ops)
}

fn compare<M: Model>(model: &M, draw: impl Fn(&mut dyn rand::Rng) -> (M::Op, M::Output)) {
    let mut rng = Seed(5).stream("histories");
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4000 {
        let (history, ops) = random_history::<M>(&mut rng, &draw);
        let mut parts: Vec<u64> = ops.iter().map(|op| model.part(&op.0)).collect();
        parts.sort_unstable();
        parts.dedup();
        let expected = parts.iter().all(|&part| {
            let own: Vec<_> = ops
                .iter()
                .filter(|op| model.part(&op.0) == part)
                .cloned()
                .collect();
            brute_force(model, &own)
        });
        let verdict = history.check(model);
        assert_eq!(verdict.is_ok(), expected, "{ops:?}");
        assert!(!verdict.is_err_and(|error| error.is_undecided()), "{ops:?}");
        *if expected { &mut good } else { &mut bad } += 1;
    }
    assert!(
        good > 400 && bad > 400,
        "{good} good and {bad} bad histories"
    );
}

#[test]
fn the_checker_agrees_with_brute_force() {
    compare(&Register::new(0), |rng| {
        let (a, b) = (rng.random_range(0..3), rng.random_range(0..3));
        match rng.random_range(0..3) {
            0 => (RegisterOp::Read, Some(a)),
            1 => (RegisterOp::Write(a), None),
            _ => (
                RegisterOp::CompareAndSwap(a, b),
                Some(rng.random_range(0..3)),
            ),
        }
    });
    compare(&Queue::new(), |rng| match rng.random_range(0..2) {
        0 => (QueueOp::Enqueue(rng.random_range(0..2)), None),
        _ => (
            QueueOp::Dequeue,
            [None, Some(0), Some(1)][rng.random_range(0..3)],
        ),
    });
    compare(&KeyValue::of::<u8, u8>(), |rng| {
        let key = rng.random_range(0..2);
        match rng.random_range(0..4) {
            0 => (KeyValueOp::Put(key, rng.random_range(0..2)), None),
            1 => (KeyValueOp::Delete(key), None),
            _ => (
                KeyValueOp::Get(key),
                [None, Some(0), Some(1)][rng.random_range(0..3)],
            ),
        }
    });
}

#[test]
fn a_counterexample_names_what_fits_nowhere() {
    let history = History::new();
    history.invoke("a", RegisterOp::Write(1)).returned(None);
    history.invoke("b", RegisterOp::Write(2)).returned(None);
    history.invoke("c", RegisterOp::Read).returned(Some(1));
    let text = history.check(&Register::new(0)).unwrap_err().to_string();
    assert!(
        text.contains("[   3 to    4] b: Write(2) -> None   then 2"),
        "{text}"
    );
    assert!(
        text.ends_with("[   5 to    6] c: Read -> Some(1)"),
        "{text}"
    );
}

/// What never returned may have happened late, or never; what was refused has not.
#[test]
fn open_and_refused_operations() {
    let history = History::new();
    let open = history.invoke("a", RegisterOp::Write(1));
    history.invoke("b", RegisterOp::Read).returned(Some(0));
    history.invoke("b", RegisterOp::Read).returned(Some(1));
    history.check(&Register::new(0)).unwrap();
    open.failed();
    assert!(history.check(&Register::new(0)).is_err());
}

/// Many operations that overlap a little: what a real test records.
#[test]
fn long_histories_are_quick() {
    let history = History::new();
    let mut open = None;
    for i in 0..2000_u64 {
        let call = history.invoke("a", KeyValueOp::Put(i % 5, i));
        if let Some((call, _)) = open.replace((call, i)) {
            let call: Call<_, _> = call;
            call.returned(None);
        }
    }
    assert_eq!(history.len(), 2000);
    history.check(&KeyValue::of::<u64, u64>()).unwrap();
}

/// Time-outs are what tests with faults have most of. Each may have happened or not: two dozens of them
/// have millions of subsets, and more orders than can be tried.
#[test]
fn many_operations_that_never_returned_are_decided() {
    let model = Register::new(0);
    for same in [false, true] {
        let history = History::new();
        for i in 1..=24_u64 {
            drop(history.invoke("a", RegisterOp::Write(if same { 7 } else { i })));
            let swap = RegisterOp::CompareAndSwap(i, 30 + i);
            drop(history.invoke("b", swap));
        }
        // Each of these needs two of the others.
        for i in [7, 37] {
            history.invoke("c", RegisterOp::Read).returned(Some(i));
        }
        history.check(&model).unwrap();
        history.invoke("c", RegisterOp::Read).returned(Some(99));
        let error = history.check(&model).unwrap_err();
        assert!(!error.is_undecided(), "{error}");
        let text = error.to_string();
        assert!(text.ends_with("c: Read -> Some(99)"), "{text}");
    }
}

/// A number that is added to.
struct Counter;

impl Model for Counter {
    type State = u64;
    type Op = u64;
    type Output = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, state: &u64, op: &u64, output: Option<&u64>) -> Option<u64> {
        let after = state + op;
        output
            .is_none_or(|output| *output == after)
            .then_some(after)
    }
}

/// It does not matter which of those that do the same has happened.
#[test]
fn equal_operations_that_never_returned_are_decided() {
    let history = History::new();
    for _ in 0..70 {
        drop(history.invoke("a", 1));
    }
    for read in [20, 60] {
        history.invoke("b", 0).returned(read);
    }
    history.check(&Counter).unwrap();
    history.invoke("b", 0).returned(71);
    let error = history.check(&Counter).unwrap_err();
    assert!(!error.is_undecided(), "{error}");
}

/// Where each order leads to another state there are too many, and the error says so, within one poll.
#[test]
fn what_cannot_be_decided_is_told_as_that() {
    let report = Checker::new()
        .name("undecided")
        .use_environment(false)
        .iterations(1)
        .run(|| async {
            let history = History::new();
            for i in 0..20_u64 {
                drop(history.invoke("a", QueueOp::Enqueue(i)));
            }
            let dequeue = history.invoke("b", QueueOp::Dequeue);
            dequeue.returned(Some(99));
            let error = history.check(&Queue::new()).unwrap_err();
            assert!(error.is_undecided(), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("21 operations of one part, of which 20 never returned"),
                "{text}"
            );
        });
    report.assert_passed();
}

#[test]
fn what_is_owed_must_be_paid_in_peace() {
    let run = |answers: bool| {
        Checker::new()
            .name("liveness")
            .use_environment(false)
            .iterations(20)
            .run(move || async move {
                let monitor = Monitor::new("answers", Duration::from_secs(10));
                let owed = monitor.owe("request 7");
                spawn(async move {
                    time::sleep(Duration::from_secs(1 + u64::from(nondet::choose(8)))).await;
                    if !answers {
                        std::future::pending::<()>().await;
                    }
                    owed.paid();
                });
                assert!(monitor.is_hot());
                monitor.in_peace().await;
                monitor.assert_cold();
            })
    };
    run(true).assert_passed();
    let report = run(false);
    let kind = &report.failure().expect("it stays hot").kind;
    assert!(
        kind.to_string()
            .starts_with("broken invariant at cct-net/tests/check.rs"),
        "{kind}"
    );
    let text = kind.to_string();
    assert!(
        text.contains("`answers`: still owed: request 7 (for 20s)"),
        "{text}"
    );
}

/// `round-robin` takes the first value for ever, which no world does: the second comes in the fair stretch.
#[test]
fn whoever_retries_is_not_kept_from_it_by_the_strategy() {
    let run = |strategy: &str, pays: bool| {
        Checker::new()
            .name("retries")
            .use_environment(false)
            .strategy_text(strategy)
            .iterations(200)
            .run(move || async move {
                let monitor = Monitor::new("answers", Duration::from_secs(10));
                let owed = monitor.owe("request 7");
                spawn(async move {
                    while !(pays & nondet::boolean()) {
                        time::sleep(Duration::from_secs(1)).await;
                    }
                    owed.paid();
                });
                monitor.in_peace().await;
                assert!(
                    !nondet::boolean(),
                    "after the stretch values are decided again"
                );
            })
    };
    let text = |report: cct_executor::Report| report.failure().expect("fails").kind.to_string();
    for strategy in ["round-robin", "random", "ql"] {
        let late = text(run(strategy, false));
        assert!(late.contains("request 7 (for 20s)"), "{strategy}: {late}");
    }
    run("round-robin", true).assert_passed();
    for strategy in ["random", "ql"] {
        let again = text(run(strategy, true));
        assert!(again.contains("decided again"), "{strategy}: {again}");
    }
}

/// Patience that timers let pass while somebody is at work is not peace.
#[test]
fn timers_that_beat_whoever_is_at_work_are_not_peace() {
    let report = Checker::new()
        .name("at work")
        .use_environment(false)
        .strategy_text("pct")
        .clock(cct_executor::Clock::Adversarial)
        .iterations(200)
        .run(|| async {
            let monitor = Monitor::new("answers", Duration::from_millis(1));
            let owed = monitor.owe("request 7");
            spawn(async move {
                for _ in 0..20 {
                    cct_executor::task::yield_now().await;
                }
                owed.paid();
            });
            monitor.in_peace().await;
        });
    report.assert_passed();
}

/// The oldest debts come first, and not all of a thousand are told.
#[test]
fn of_many_debts_the_oldest_are_told() {
    let report = Checker::new()
        .name("debts")
        .use_environment(false)
        .iterations(1)
        .run(|| async {
            let monitor = Monitor::new("answers", Duration::from_secs(10));
            let mut owed = Vec::new();
            for number in 0..30 {
                owed.push(monitor.owe(format!("answer {number}")));
                time::sleep(Duration::from_secs(1)).await;
            }
            owed.swap_remove(1).paid();
            monitor.in_peace().await;
        });
    let text = report.failure().expect("much is owed").kind.to_string();
    let told = "answer 0 (for 40s), answer 2 (for 38s), answer 3 (for 37s), answer 4 (for 36s), \
        answer 5 (for 35s), ... and 24 more";
    assert!(text.ends_with(told), "{text}");
}

/// Nobody has done what was owed where its debtor is cut off; whoever takes its place may do it.
#[test]
fn crashes_and_aborts_pay_nothing() {
    let report = Checker::new()
        .name("cut off")
        .use_environment(false)
        .iterations(50)
        .run(|| async {
            let monitor = Monitor::new("answers", Duration::from_secs(10));
            let theirs = monitor.clone();
            let db = node("db").start(move || {
                let owed = theirs.owe("request 1");
                async move {
                    std::future::pending::<()>().await;
                    drop(owed);
                }
            });
            let owed = monitor.owe("request 2");
            let task = spawn(async move {
                time::sleep(Duration::from_secs(1)).await;
                drop(owed);
            });
            time::sleep(Duration::from_millis(1)).await;
            db.crash();
            task.abort();
            task.await.unwrap_err();
            monitor.settle("request 1");
            assert!(monitor.is_hot(), "the abort has paid");
            let again = monitor.owe("request 1");
            drop(again);
            monitor.settle("request 2");
            monitor.in_peace().await;
            let theirs = monitor.clone();
            let late = node("late").start(move || {
                let owed = theirs.owe("request 3");
                async move {
                    std::future::pending::<()>().await;
                    drop(owed);
                }
            });
            time::sleep(Duration::from_millis(1)).await;
            late.crash();
            assert!(monitor.is_hot(), "the crash has paid");
            monitor.settle("request 3");
            // A time-out is the program's own end of it.
            let owed = monitor.owe("request 4");
            let waits = async move {
                std::future::pending::<()>().await;
                drop(owed);
            };
            time::timeout(Duration::from_secs(1), waits)
                .await
                .unwrap_err();
            monitor.assert_cold();
        });
    report.assert_passed();
}

/// A scenario that returns cuts off whoever has not paid yet: that alone shows nothing.
#[test]
fn the_end_of_a_scenario_cuts_off_debtors_without_a_failure() {
    let report = Checker::new()
        .name("in the middle")
        .use_environment(false)
        .iterations(20)
        .run(|| async {
            let monitor = Monitor::new("answers", Duration::from_secs(10));
            spawn(async move {
                loop {
                    let owed = monitor.owe("the next request");
                    time::sleep(Duration::from_secs(1)).await;
                    owed.paid();
                }
            });
            time::sleep(Duration::from_millis(2500)).await;
        });
    report.assert_passed();
}
