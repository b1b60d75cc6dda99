//! Tokens that are replayed, lines that are traced, properties that were never seen.

use crate::{checker, failed};
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_executor::words::{FailureKind, ReplayToken};
use cct_executor::{Checker, Clock, Granularity, InOrder, Seed, nondet, spawn};
use cct_sync::Notify;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

/// Loses an update under some schedules; takes noise, data and time into account.
async fn lossy() {
    let counter = Arc::new(AtomicU32::new(0));
    let add = |counter: Arc<AtomicU32>| async move {
        let seen = counter.load(SeqCst);
        nondet::point();
        if nondet::choose(3) == 1 {
            sleep(Duration::from_millis(u64::from(nondet::choose(4)))).await;
        }
        counter.store(seen + 1, SeqCst);
    };
    let other = spawn(add(counter.clone()));
    add(counter.clone()).await;
    other.await.unwrap();
    let noise: u32 = rand::RngExt::random(&mut nondet::rng());
    assert_eq!(counter.load(SeqCst), 2, "noise {noise}");
}

#[test]
fn a_token_replays_the_failure_whatever_the_settings_of_the_run() {
    for granularity in [Granularity::Op, Granularity::Sync] {
        for clock in [
            Clock::Strict,
            Clock::Adversarial,
            Clock::Racing(Duration::from_millis(2)),
        ] {
            for spurious in [false, true] {
                let report = checker("lossy")
                    .granularity(granularity)
                    .clock(clock)
                    .spurious_polls(spurious)
                    .coop_budget(!spurious)
                    .run(lossy);
                let failure = failed(&report);
                assert!(failure.reproduced, "{}", report.text());
                let token: ReplayToken = failure.token.to_string().parse().unwrap();
                // Strategy, seed and every setting of the world differ: the token knows them.
                let again = checker("lossy")
                    .strategy_text("pct:d=2")
                    .seed(Seed(99))
                    .granularity(Granularity::Await)
                    .replay(token)
                    .run(lossy);
                assert_eq!(
                    failed(&again).kind,
                    failure.kind,
                    "{granularity:?} {clock:?}"
                );
                assert_eq!(failed(&again).step, failure.step);
                assert_eq!(
                    failed(&again).explanation.hashes,
                    failure.explanation.hashes
                );
                assert_eq!(failed(&again).token.to_string(), failure.token.to_string());
            }
        }
    }
}

fn lossy_token() -> ReplayToken {
    failed(&checker("lossy").run(lossy)).token.clone()
}

#[test]
fn a_token_of_a_changed_program_says_where_it_diverges() {
    let report = checker("lossy").replay(lossy_token()).run(|| async {
        for _ in 0..3 {
            drop(spawn(async { yield_now().await }));
        }
        lossy().await;
    });
    let error = report.error().expect("an error");
    assert!(report.failure().is_none() && !report.passed());
    assert!(error.starts_with("replay diverged at step "), "{error}");
    assert!(
        error.contains("enabled actions") && error.contains("has changed"),
        "{error}"
    );
}

#[test]
fn a_token_of_a_program_that_was_repaired_passes_with_a_note() {
    let report = checker("lossy").replay(lossy_token()).run(|| async {
        let counter = Arc::new(AtomicU32::new(0));
        let add = |counter: Arc<AtomicU32>| async move {
            nondet::point();
            if nondet::choose(3) == 1 {
                sleep(Duration::from_millis(u64::from(nondet::choose(4)))).await;
            }
            counter.fetch_add(1, SeqCst);
        };
        let other = spawn(add(counter.clone()));
        add(counter.clone()).await;
        other.await.unwrap();
        assert_eq!(counter.load(SeqCst), 2);
    });
    assert!(report.passed(), "{}", report.text());
    assert!(
        report
            .text()
            .contains("the token was replayed and nothing failed")
    );
    assert!(report.coverage.steps > 0 && report.coverage.schedules == 1);
}

#[test]
fn a_token_of_a_program_that_asks_less_says_so() {
    let token = lossy_token();
    let all = token.trace.decisions().len();
    let report = checker("lossy").replay(token).run(|| async {});
    let error = report.error().expect("an error");
    let expected = format!("the replay ended after 0 of {all} decisions: the program has changed");
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.contains("Remedy: "), "{error}");
}

#[test]
fn a_token_of_another_test_is_an_error() {
    let report = checker("another").replay(lossy_token()).run(lossy);
    let error = report.error().expect("an error");
    assert!(error.contains("test"), "{error}");
    assert!(report.failure().is_none() && report.iterations() == 0);
}

#[test]
fn what_was_never_seen_is_in_the_text() {
    let scenario = || async {
        cct_executor::sometimes!(nondet::choose(2) == 1, "one");
        cct_executor::sometimes!(nondet::choose(2) == 2, "two");
        cct_executor::sometimes!("here");
    };
    let report = checker("sometimes").iterations(50).run(scenario);
    assert_eq!(report.never_reached().collect::<Vec<_>>(), ["two"]);
    assert!(
        report.text().contains("; never reached: two"),
        "{}",
        report.text()
    );
    for (name, _, _, seen) in &report.coverage.sometimes {
        let expected = if *name == "one" {
            1..50
        } else if *name == "two" {
            0..1
        } else {
            50..51
        };
        assert_eq!(seen.evaluated, 50, "{name}");
        assert!(expected.contains(&seen.reached), "{name} {seen:?}");
    }
}

/// A subscriber of a test's own, which does this at each event.
struct AtEvents<F>(F);

impl<F: Fn(&tracing::Event<'_>) + 'static> tracing::Subscriber for AtEvents<F> {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        (self.0)(event);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// While a subscriber is told of an event, nobody can take its place on that thread.
#[test]
fn a_poll_may_be_left_for_good_while_it_traces() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let report = checker("left").iterations(1).run(|| async {
        let lock = Arc::new(std::sync::Mutex::new(()));
        let theirs = lock.clone();
        let locking = AtEvents(move |_: &tracing::Event<'_>| drop(theirs.lock()));
        std::mem::forget(lock.lock());
        tracing::subscriber::with_default(locking, || tracing::info!("never heard"));
    });
    let kind = &failed(&report).kind;
    assert!(matches!(kind, FailureKind::Deadlock { .. }), "{kind:?}");
}

#[test]
fn traced_lines_are_muted_while_exploring_and_told_about_a_failure() {
    let seen = Arc::new(AtomicUsize::new(0));
    let iterations = Arc::new(AtomicUsize::new(0));
    let theirs = iterations.clone();
    let run = move || {
        Checker::new()
            .name("traced")
            .use_environment(false)
            .workers(2)
            .run(move || {
                let number = theirs.fetch_add(1, SeqCst);
                async move {
                    let _ = number;
                    sleep(Duration::from_millis(20)).await;
                    let span = tracing::info_span!("transfer", from = 3);
                    let child = cct_executor::task::Builder::new()
                        .name("child")
                        .spawn(async {
                            tracing::warn!(amount = 5, "goes out");
                        });
                    {
                        let _inside = span.enter();
                        nondet::point();
                        tracing::info!("comes in");
                    }
                    child.unwrap().await.unwrap();
                    assert!(nondet::choose(40) != 7, "seven");
                }
            })
    };
    let heard = seen.clone();
    let counting = AtEvents(move |event: &tracing::Event<'_>| {
        // The engine's own events keep to one target and the lowest level.
        let metadata = event.metadata();
        let own = metadata.target() == "cct" && *metadata.level() == tracing::Level::TRACE;
        heard.fetch_add(usize::from(!own), SeqCst);
    });
    let report = tracing::subscriber::with_default(counting, run);
    assert_eq!(seen.load(SeqCst), 0, "a line came through");
    assert!(iterations.load(SeqCst) > 1);
    let failure = failed(&report);
    assert!(matches!(failure.kind, FailureKind::Panic { .. }));
    assert_eq!(failure.explanation.log.len(), 2, "{}", report.text());
    let text = report.text();
    let line = |what: &str| {
        text.lines()
            .find(|line| line.contains(what))
            .expect(what)
            .to_owned()
    };
    let goes = line("goes out");
    assert!(
        goes.contains(" 20ms n0 task 1 `child` WARN it_engine::"),
        "{goes}"
    );
    assert!(
        goes.contains("amount=5") && !goes.contains("transfer"),
        "{goes}"
    );
    assert!(goes.trim_start().starts_with("step "), "{goes}");
    let comes = line("comes in");
    assert!(
        comes.contains("task 0 `main` INFO") && comes.contains("transfer{from=3}:"),
        "{comes}"
    );
}

#[test]
fn the_finest_lines_are_left_out_where_there_are_many() {
    let traced = |finest: usize| {
        let report = Checker::new()
            .name("chatty")
            .use_environment(false)
            .run(move || async move {
                tracing::debug!("coarse");
                for line in 0..finest {
                    tracing::trace!(line, "fine");
                }
                assert!(nondet::choose(3) != 1, "one");
            });
        report.text()
    };
    let few = traced(49);
    assert!(few.contains("last 50 of 50 lines traced:"), "{few}");
    assert!(few.contains("coarse") && few.contains("line=0"), "{few}");
    let many = traced(50);
    let head = "last 1 of 51 lines traced, without those of level TRACE:";
    assert!(many.contains(head), "{many}");
    assert!(
        many.contains("DEBUG it_engine::it_engine::reports coarse"),
        "{many}"
    );
    assert!(!many.contains("line=0"), "{many}");
}

#[test]
fn a_token_of_another_checker_says_where_it_goes() {
    let fails = || async { panic!("at once") };
    let report = checker("one of two").run(fails);
    let token = failed(&report).token.clone();
    let report = checker("the other").replay(token).run(fails);
    let error = report.error.expect("it is not for this one");
    assert!(
        error.starts_with("token belongs to another test: "),
        "{error}"
    );
    assert!(
        error.ends_with("give the token to its own with `Checker::replay`"),
        "{error}"
    );
}

#[test]
fn a_report_tells_of_panics_that_came_before_the_failure() {
    let report = checker("poisoned").run(|| async {
        let ledger = Arc::new(std::sync::Mutex::new(0));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let ledger = ledger.clone();
                spawn(async move {
                    sleep(Duration::from_secs(number)).await;
                    let _held = ledger.lock().expect("a lock that nobody poisoned");
                    assert!(number > 0, "the first cause");
                })
            })
            .collect();
        sleep(Duration::from_secs(3)).await;
        for task in tasks.into_iter().rev() {
            task.await.expect("a task that does not panic");
        }
    });
    let kind = failed(&report).kind.to_string();
    assert!(kind.contains("a task that does not panic"), "{kind}");
    let text = report.text();
    assert!(
        text.contains("  before that, task 1 panicked in step "),
        "{text}"
    );
    assert!(text.contains("the first cause"), "{text}");
    // That of task 3 is what the failure says, and that of task 2 reads the same.
    assert_eq!(text.matches("before that").count(), 1, "{text}");
    // The handles that the panic of the test took with it were not forgotten.
    assert!(!text.contains("nobody asked its JoinHandle"), "{text}");
}

#[test]
fn a_report_does_not_tell_of_a_panic_twice() {
    let report = checker("once").run(|| async {
        let _task = spawn(async { panic!("unheard") });
        sleep(Duration::from_secs(3)).await;
    });
    let text = report.text();
    assert_eq!(text.matches("unheard").count(), 1, "{text}");
}

#[test]
fn a_panic_whose_handle_went_down_in_another_that_was_heard_still_fails() {
    let report = checker("carried away").run(|| async {
        let owner = spawn(async {
            let _task = spawn(async { panic!("unheard") });
            sleep(Duration::from_secs(1)).await;
            panic!("heard");
        });
        assert!(owner.await.is_err());
    });
    let kind = failed(&report).kind.to_string();
    assert!(kind.ends_with(": unheard"), "{kind}");
}

#[test]
fn a_report_says_that_a_panic_was_asked_for_by_nobody() {
    let text = |report: &cct_executor::Report| {
        assert_eq!(failed(report).kind.class(), "panic");
        report.text().contains("nobody asked its JoinHandle")
    };
    let kept = checker("kept").run(|| async {
        let _task = spawn(async { panic!("unheard") });
        sleep(Duration::from_secs(3)).await;
    });
    assert!(text(&kept), "{}", kept.text());
    assert!(kept.text().contains("the panic of task 1,"));
    // tokio's test passes, so nothing has to differ.
    let silent = "no particular order, so the task should panic on tokio as well";
    assert!(kept.text().contains(silent), "{}", kept.text());
    assert!(
        !kept.text().contains("Should tokio pass"),
        "{}",
        kept.text()
    );
    let dropped = checker("dropped").run(|| async {
        drop(spawn(async { panic!("unheard") }));
        sleep(Duration::from_secs(3)).await;
    });
    assert!(text(&dropped), "{}", dropped.text());
    let waits = checker("waits").run(|| async {
        let _task = spawn(async { panic!("unheard") });
        std::future::pending::<()>().await;
    });
    assert!(text(&waits), "{}", waits.text());
    let own = checker("own").run(|| async {
        spawn(async { panic!("heard") }).await.unwrap();
    });
    assert!(!text(&own), "{}", own.text());
}

#[test]
fn a_report_says_what_differs_from_tokio_where_order_does_not_matter() {
    let hint = |report: &cct_executor::Report| {
        assert_eq!(failed(report).kind.class(), "panic");
        report.text().contains("takes no particular order")
    };
    let report = checker("at once").run(|| async { panic!("with no choice before it") });
    assert!(hint(&report), "{}", report.text());
    let report = checker("in order too").run(|| async {
        let tasks = [1, 2].map(|secs| spawn(sleep(Duration::from_secs(secs))));
        for task in tasks {
            task.await.unwrap();
        }
        panic!("in every order");
    });
    assert!(hint(&report), "{}", report.text());
    let report = checker("not in all orders").run(|| async {
        let task = spawn(async {});
        cct_executor::task::yield_now().await;
        assert!(!task.is_finished(), "as on one thread");
    });
    assert!(failed(&report).iteration() > 0, "{}", report.text());
    assert!(!hint(&report), "{}", report.text());
    let plain =
        "fails in the order of tokio's `current_thread` too. Should tokio pass, this may differ";
    assert!(report.text().contains(plain), "{}", report.text());
    let report = checker("chosen").run(|| async {
        sleep(Duration::from_secs(1)).await;
        assert!(!nondet::boolean(), "a decision");
    });
    assert!(!hint(&report), "{}", report.text());
}

/// A thread that sleeps lets others go on, as on many threads: on one it does not.
#[test]
#[cfg(target_os = "linux")]
fn what_takes_a_switch_within_a_poll_is_not_said_to_fail_on_tokio() {
    let report = checker("sleeps in a poll")
        .lasting_yields(true)
        .run(|| async {
            let task = spawn(sleep(Duration::from_millis(10)));
            yield_now().await;
            std::thread::sleep(Duration::from_millis(100));
            assert!(!task.is_finished(), "nobody has polled it");
        });
    let text = report.text();
    assert_eq!(failed(&report).token.trace.decisions(), [], "{text}");
    assert!(text.contains("not seen at granularity `await`"), "{text}");
    assert!(!text.contains("tokio should fail"), "{text}");
}

#[test]
fn a_deadlock_in_every_order_may_be_none_where_a_thread_of_an_earlier_test_wakes_its_tasks() {
    let hint = |report: &cct_executor::Report| {
        assert_eq!(failed(report).kind.class(), "deadlock");
        report
            .text()
            .contains("tokio should hang as well. Should tokio pass, this may differ")
    };
    // As where a static has the thread that notifies: this world knows nothing of it.
    let report = checker("at once").run(|| async { Notify::new().notified().await });
    assert!(hint(&report), "{}", report.text());
    let report = checker("in order too").run(|| async {
        let tasks = [1, 2].map(|secs| spawn(sleep(Duration::from_secs(secs))));
        for task in tasks {
            task.await.unwrap();
        }
        Notify::new().notified().await;
    });
    assert!(hint(&report), "{}", report.text());
    let report = checker("not in all orders").run(|| async {
        let told = Arc::new(Notify::new());
        let teller = told.clone();
        let waits = spawn(async move { told.notified().await });
        let tells = spawn(async move { teller.notify_waiters() });
        tells.await.unwrap();
        waits.await.unwrap();
    });
    assert!(!hint(&report), "{}", report.text());
    assert!(
        !report.text().contains("Should tokio pass"),
        "{}",
        report.text()
    );
}

#[test]
fn a_report_says_that_a_failure_hangs_on_random_values_alone() {
    let report = checker("noise").run(|| async {
        let noise: u32 = rand::RngExt::random(&mut nondet::rng());
        assert_ne!(noise % 50, 3);
    });
    assert!(failed(&report).iteration() > 0, "{}", report.text());
    let text = report.text();
    assert!(text.contains("it hangs on random values"), "{text}");
    assert!(!text.contains("takes no particular order"), "{text}");
}

/// Who looks at many things in one poll finds the last ones empty, as on tokio.
#[test]
fn an_operation_without_budget_says_so() {
    let report = checker("no budget").run(|| async {
        let (sender, mut receiver) = cct_sync::mpsc::unbounded_channel();
        for n in 0..200 {
            sender.send(n).unwrap();
        }
        std::future::poll_fn(|cx| {
            for n in 0..200 {
                assert_eq!(receiver.poll_recv(cx), Poll::Ready(Some(n)));
            }
            Poll::Ready(())
        })
        .await;
    });
    let text = report.text();
    assert!(text.contains("recv mpsc 1, no budget left"), "{text}");
    assert!(text.contains("128 of them"), "{text}");
}

/// A value that was drawn is no order of tasks.
#[test]
fn no_order_is_blamed_where_only_a_value_matters() {
    let report = checker("a coin").run(|| async {
        assert!(!cct_executor::nondet::boolean(), "tails");
    });
    let text = report.text();
    assert_eq!(
        failed(&report).in_order,
        Some(InOrder::FailsByValues),
        "{text}"
    );
    for of_order in ["round-robin", "current_thread"] {
        assert!(!text.contains(of_order), "{text}");
    }
    assert!(text.contains(", 1 decision\n"), "{text}");
}

/// In plain order it fails and passes, as the hash of its random state is one that it asks for in one of forty.
#[test]
fn a_failure_of_random_values_is_none_of_an_order() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let report = checker("values").run(|| async {
        let task = spawn(yield_now());
        yield_now().await;
        let random = RandomState::new().hash_one("random");
        task.await.unwrap();
        assert_ne!(random % 40, 7);
    });
    let text = report.text();
    assert!(failed(&report).iteration() > 0, "{text}");
    assert!(
        text.contains("  no choice led to it: it hangs on random values"),
        "{text}"
    );
    for of_order in ["one thread is enough", "round-robin", "granularity `await`"] {
        assert!(!text.contains(of_order), "{text}");
    }
}

/// Which task draws which number hangs on the order in which they begin, and any order will do.
#[test]
fn where_random_values_are_enough_no_order_is_blamed() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let draws = || spawn(async { RandomState::new().hash_one("random") % 4 });
    let found = (0..20).any(|seed| {
        let report = checker("drawn").seed(Seed(seed)).run(move || async move {
            let (first, second) = (draws(), draws());
            assert_ne!((first.await.unwrap(), second.await.unwrap()), (1, 3));
        });
        let (failure, text) = (failed(&report), report.text());
        assert_eq!(failure.in_order, Some(InOrder::FailsByValues), "{text}");
        assert!(!text.contains("round-robin"), "{text}");
        let departs = failure
            .departures
            .as_ref()
            .is_some_and(|all| !all.is_empty());
        let told = "fails with others (of `rand`, or\n  where a `select!` begins): it may take no other order of tasks\n";
        assert_eq!(text.contains(told), departs, "{text}");
        departs
    });
    assert!(found, "a failure that takes an order for its values");
}
