//! Plays scripts on both sides, and says where the diaries part.

use super::Script;
use crate::Log;
use cct_executor::{Checker, Granularity};
use std::cell::Cell;
use std::fmt::Write;
use std::ops::Range;
use std::panic;
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
}

impl Worlds {
    fn granularities(self) -> &'static [Granularity] {
        match self {
            Worlds::Any => &[Granularity::Await, Granularity::Op, Granularity::Sync],
            Worlds::Fifo => &[Granularity::Await],
        }
    }

    fn strategy(self) -> &'static str {
        match self {
            Worlds::Any => "random",
            Worlds::Fifo => "round-robin",
        }
    }

    /// Scripts that share a checker, as each is one iteration; round-robin has no second one.
    fn batch(self) -> u64 {
        match self {
            Worlds::Any => 100,
            Worlds::Fifo => 1,
        }
    }
}

/// Lines shown of each diary after the first that differs.
const SHOWN: usize = 8;
/// Longer than any script sleeps.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Scripts panic on purpose. In a world nothing is printed of that either.
fn quietly(run: impl FnOnce()) {
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
    run();
    QUIET.set(false);
}

fn on_tokio<F: Future<Output = ()>>(
    script: &Script,
    play: impl Fn(Script, Log) -> F,
) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a current_thread runtime");
    let log = Log::new();
    let future = play(script.clone(), log.clone());
    quietly(|| {
        if script.budget {
            runtime.block_on(future);
        } else {
            runtime.block_on(tokio::task::unconstrained(future));
        }
    });
    log.lines()
}

/// Iteration `k` plays script `k`; what comes after a failure is empty.
fn on_cct<F: Future<Output = ()> + 'static>(
    scripts: &[Script],
    (strategy, granularity): (&str, Granularity),
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

/// The granularity at which ours wrote something else, and both diaries.
type Difference = (Granularity, Vec<String>, Vec<String>);

fn difference<F: Future<Output = ()>, G: Future<Output = ()> + 'static>(
    script: &Script,
    worlds: Worlds,
    theirs: impl Fn(Script, Log) -> F,
    ours: impl Fn(Script, Log) -> G + Send + Sync + Copy + 'static,
) -> Option<Difference> {
    let theirs = on_tokio(script, theirs);
    worlds.granularities().iter().find_map(|&granularity| {
        let setting = (worlds.strategy(), granularity);
        let ours = on_cct(std::slice::from_ref(script), setting, ours).remove(0);
        (ours != theirs).then(|| (granularity, theirs.clone(), ours))
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
            .map(|script| on_tokio(script, theirs))
            .collect();
        for &granularity in worlds.granularities() {
            let seen = on_cct(&scripts, (worlds.strategy(), granularity), ours);
            if let Some(index) = (0..scripts.len()).find(|&index| expected[index] != seen[index]) {
                let differs = |script: &Script| difference(script, worlds, theirs, ours);
                return Err(told(from + index as u64, &scripts[index], differs));
            }
        }
        from = to;
    }
    Ok(())
}

fn told(seed: u64, script: &Script, differs: impl Fn(&Script) -> Option<Difference>) -> String {
    let script = script.clone().shrink(|less| differs(less).is_some());
    let Some((granularity, theirs, ours)) = differs(&script) else {
        return format!("seed {seed}: differs after others and not alone");
    };
    let same = theirs.iter().zip(&ours).take_while(|(a, b)| a == b).count();
    let mut text = format!("seed {seed}, {granularity:?}\n{script:?}\n");
    for line in &theirs[..same] {
        let _ = writeln!(text, "{line}");
    }
    for (side, lines) in [("tokio", &theirs), ("ours", &ours)] {
        let _ = writeln!(text, "-- {side} goes on:");
        for line in lines[same..].iter().take(SHOWN) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}
