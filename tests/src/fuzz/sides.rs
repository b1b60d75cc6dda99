//! Plays scripts on both sides, and says where the diaries part.

use super::Script;
use crate::tools::payload_text;
use crate::{Log, note};
use cct_executor::{Checker, Granularity};
use std::cell::Cell;
use std::fmt::Write;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

/// In which worlds a script must do what it does on tokio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worlds {
    /// In all: at every granularity, whatever is chosen.
    Any,
    /// Where tasks run in the order in which they were woken, one poll at a time.
    Fifo,
    /// In all, and tokio has real sockets.
    Net,
}

/// A strategy, and the granularity at which it chooses.
type Setting = (&'static str, Granularity);

impl Worlds {
    fn settings(self) -> &'static [Setting] {
        match self {
            Worlds::Any => &[
                ("random", Granularity::Await),
                ("random", Granularity::Op),
                ("random", Granularity::Sync),
            ],
            Worlds::Fifo => &[ROUND_ROBIN],
            Worlds::Net => &[
                ROUND_ROBIN,
                ("random", Granularity::Op),
                ("random", Granularity::Sync),
            ],
        }
    }

    /// Scripts that share a checker, as each is one iteration.
    fn batch(self) -> u64 {
        match self {
            Worlds::Fifo => 1,
            Worlds::Any | Worlds::Net => 100,
        }
    }
}

const ROUND_ROBIN: Setting = ("round-robin", Granularity::Await);

/// Lines shown of each diary after the first that differs.
const SHOWN: usize = 8;
/// Longer than any script sleeps.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Longer than any script takes.
const STUCK: Duration = Duration::from_secs(100);
/// Longer than acknowledgements wait for something to go with.
const A_WHILE: Duration = Duration::from_millis(60);

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static PATIENCE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Scripts panic on purpose. In a world nothing is printed of that either.
fn quietly(log: &Log, run: impl FnOnce()) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    QUIET.set(true);
    let ended = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    // One that no script asked for.
    if let Err(payload) = ended {
        note!(log, "FAILED: {}", payload_text(payload.as_ref()));
    }
}

fn on_tokio<F: Future<Output = ()>>(
    script: &Script,
    worlds: Worlds,
    play: impl Fn(Script, Log) -> F,
) -> Vec<String> {
    let net = worlds == Worlds::Net;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(!net)
        .build()
        .expect("a current_thread runtime");
    let log = Log::new();
    let future = play(script.clone(), log.clone());
    let unconstrained = !script.budget;
    let future = async {
        if unconstrained {
            tokio::task::unconstrained(future).await;
        } else {
            future.await;
        }
    };
    quietly(&log, || {
        runtime.block_on(async {
            if !net {
                return future.await;
            }
            // A script that waits for ever is wrong, and has to be told.
            if tokio::time::timeout(STUCK, future).await.is_err() {
                note!(log, "STUCK");
            }
        });
    });
    log.lines()
}

/// Lets tokio hear of what its sockets are ready for by now. The loopback interface delivers before the
/// call that sends has returned, as a rule. A kernel that has much to do may deliver later, so a script
/// that differs is played again with time for it.
pub async fn settle_on_tokio() {
    let patience = PATIENCE.get();
    if !patience.is_zero() {
        tokio::time::sleep(patience).await;
    }
    for _ in 0..2 {
        tokio::task::yield_now().await;
    }
}

/// Iteration `k` plays script `k`; what comes after a failure is empty.
fn on_cct<F: Future<Output = ()> + 'static>(
    scripts: &[Script],
    (strategy, granularity): Setting,
    play: impl Fn(Script, Log) -> F + Send + Sync + Copy + 'static,
) -> Vec<Vec<String>> {
    let logs: Arc<[Log]> = scripts.iter().map(|_| Log::new()).collect();
    let written = logs.clone();
    let scripts: Arc<[Script]> = scripts.into();
    let iterations = scripts.len() as u64;
    let next = AtomicUsize::new(0);
    let report = Checker::new()
        .name("fuzz")
        .strategy_text(strategy)
        .granularity(granularity)
        .start_paused(true)
        .workers(1)
        .iterations(iterations)
        .determinism_check(false)
        .await_check(false)
        .shrink(false)
        .time_budget(None)
        .max_time(CENTURY)
        .fail_on_limit(true)
        .use_environment(false)
        .run(move || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let log = logs.get(index).cloned().unwrap_or_default();
            let script = scripts.get(index).cloned();
            async move {
                // A failure is told by playing it once more.
                let Some(script) = script else { return };
                let unconstrained = !script.budget;
                let future = play(script, log);
                if unconstrained {
                    cct_executor::task::coop::unconstrained(future).await;
                } else {
                    future.await;
                }
            }
        });
    let mut seen: Vec<Vec<String>> = written.iter().map(Log::lines).collect();
    if let Some(failure) = report.failure() {
        let index = failure.iteration() as usize;
        seen[index].push(format!("FAILED: {:?}", failure.kind));
    }
    seen
}

/// As [`on_cct`], in as many runs as it takes: round-robin has no second iteration.
fn on_cct_each<F: Future<Output = ()> + 'static>(
    scripts: &[Script],
    setting: Setting,
    play: impl Fn(Script, Log) -> F + Send + Sync + Copy + 'static,
) -> Vec<Vec<String>> {
    let at_once = if setting == ROUND_ROBIN {
        1
    } else {
        scripts.len()
    };
    let runs = scripts.chunks(at_once);
    runs.flat_map(|scripts| on_cct(scripts, setting, play))
        .collect()
}

/// The setting in which ours wrote something else, and both diaries.
type Difference = (Setting, Vec<String>, Vec<String>);

fn difference<F: Future<Output = ()>, G: Future<Output = ()> + 'static>(
    script: &Script,
    worlds: Worlds,
    theirs: impl Fn(Script, Log) -> F,
    ours: impl Fn(Script, Log) -> G + Send + Sync + Copy + 'static,
) -> Option<Difference> {
    let theirs = on_tokio(script, worlds, theirs);
    worlds.settings().iter().find_map(|&setting| {
        let ours = on_cct(std::slice::from_ref(script), setting, ours).remove(0);
        (ours != theirs).then(|| (setting, theirs.clone(), ours))
    })
}

/// Plays the scripts of the seeds on both sides; says which is the first that differs, made as short
/// as it goes, and what both sides wrote.
pub fn compare<F: Future<Output = ()>, G: Future<Output = ()> + 'static>(
    worlds: Worlds,
    seeds: Range<u64>,
    theirs: impl Fn(Script, Log) -> F + Copy,
    ours: impl Fn(Script, Log) -> G + Send + Sync + Copy + 'static,
) -> Result<(), String> {
    let mut from = seeds.start;
    while from < seeds.end {
        let to = seeds.end.min(from + worlds.batch());
        let scripts: Vec<Script> = (from..to).map(Script::random).collect();
        let expected: Vec<_> = scripts
            .iter()
            .map(|script| on_tokio(script, worlds, theirs))
            .collect();
        for &setting in worlds.settings() {
            let seen = on_cct_each(&scripts, setting, ours);
            for (index, script) in scripts.iter().enumerate() {
                if expected[index] == seen[index] {
                    continue;
                }
                let differs = |script: &Script, patience| {
                    PATIENCE.set(patience);
                    let difference = difference(script, worlds, theirs, ours);
                    PATIENCE.set(Duration::ZERO);
                    difference
                };
                if let Some(text) = told(from + index as u64, worlds, script, differs) {
                    return Err(text);
                }
            }
        }
        from = to;
    }
    Ok(())
}

/// Says how a script differs; nothing where it does so only as long as the kernel is given no time.
fn told(
    seed: u64,
    worlds: Worlds,
    script: &Script,
    differs: impl Fn(&Script, Duration) -> Option<Difference>,
) -> Option<String> {
    let patience = match worlds {
        Worlds::Net => A_WHILE,
        Worlds::Any | Worlds::Fifo => Duration::ZERO,
    };
    // Before it is made shorter, which takes minutes with sockets.
    if worlds == Worlds::Net && differs(script, patience).is_none() {
        return None;
    }
    let shrunk = script.clone();
    let shrunk = shrunk.shrink(|less| differs(less, Duration::ZERO).is_some());
    // What is left of a script that was disturbed may be what was disturbed.
    let script = [&shrunk, script]
        .into_iter()
        .find_map(|script| Some((script, differs(script, patience)?)));
    let Some((script, ((strategy, granularity), theirs, ours))) = script else {
        let text = format!("seed {seed}: differs after others and not alone");
        return (worlds != Worlds::Net).then_some(text);
    };
    let same = theirs.iter().zip(&ours).take_while(|(a, b)| a == b).count();
    let mut text = format!("seed {seed}, {strategy}, {granularity:?}\n{script:?}\n");
    for line in &theirs[..same] {
        let _ = writeln!(text, "{line}");
    }
    for (side, lines) in [("tokio", &theirs), ("ours", &ours)] {
        let _ = writeln!(text, "-- {side} goes on:");
        for line in lines[same..].iter().take(SHOWN) {
            let _ = writeln!(text, "{line}");
        }
    }
    Some(text)
}
