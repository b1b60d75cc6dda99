//! The one line of a run that passed.

use crate::explore::{Report, StoppedBy};

/// Time limits that are named.
const LIMITS_SHOWN: usize = 3;

/// What there is to say of a run that time cut short, if that took the time.
const UNOPTIMISED: &str = "; cct was built without optimisation: `opt-level = 1` under \
                           `[profile.test]` in Cargo.toml explores several times as much";

pub(super) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// Digits in groups of three.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether more iterations would have found more states: what the last half of them added.
fn growth(states: &[(u64, u64)]) -> Option<String> {
    let [.., (half, before), (all, now)] = states else {
        return None;
    };
    let more = now.saturating_sub(*before);
    (*all >= 100).then(|| match more * 1000 / now.max(&1) {
        0 => format!("no new states since iteration {}", grouped(*half)),
        share => format!(
            "{}.{} % of the states are new since iteration {}",
            share / 10,
            share % 10,
            grouped(*half)
        ),
    })
}

/// The time limits that never struck because virtual time moves only where all tasks wait, and what lets them.
fn never_struck(report: &Report) -> Option<String> {
    if !report.clock.waits_for_work() || report.stopped_by == StoppedBy::Replay {
        return None;
    }
    let never: Vec<_> = report.never_struck().collect();
    let most = never.iter().map(|limit| limit.2).max()?;
    let mut places: Vec<String> = never
        .iter()
        .take(LIMITS_SHOWN)
        .map(|(file, line, _)| format!("{file}:{line}"))
        .collect();
    if never.len() > LIMITS_SHOWN {
        places.push(format!("{} more", never.len() - LIMITS_SHOWN));
    }
    let slack = most.as_nanos().div_ceil(1_000_000).max(1);
    Some(format!(
        "time limits that never struck: {}; CCT_CLOCK='racing({slack}ms)' lets them",
        places.join(", ")
    ))
}

/// What was explored, and what not, in one line.
///
/// Iterations run; why it stopped; steps; distinct schedules; distinct states (estimated); cut
/// iterations; strategy; schedules a second.
pub fn summary_line(report: &Report) -> String {
    let coverage = &report.coverage;
    let stopped = match report.stopped_by {
        StoppedBy::Iterations => String::new(),
        StoppedBy::TimeBudget => {
            format!(" of {} (time budget used up)", grouped(report.planned))
        }
        StoppedBy::Exhausted => match coverage.all_schedules {
            Some(all) => format!(" (every schedule explored: {})", grouped(all)),
            None => " (nothing left to explore)".to_owned(),
        },
        StoppedBy::Replay => " (replay)".to_owned(),
        StoppedBy::Failure => " until the failure".to_owned(),
        StoppedBy::Error => " (could not begin)".to_owned(),
    };
    let mut parts = vec![
        format!(
            "{}{stopped}",
            plural(report.iterations, "iteration", "iterations")
        ),
        plural(coverage.steps, "step", "steps"),
        plural(
            coverage.schedules,
            "distinct schedule",
            "distinct schedules",
        ),
    ];
    if let Some(states) = coverage.states {
        parts.push(format!(
            "about {}",
            plural(states, "distinct state", "distinct states")
        ));
    }
    let cut: Vec<String> = coverage
        .cut
        .iter()
        .map(|(limit, count)| format!("{} at the {limit}", grouped(*count)))
        .collect();
    parts.push(if cut.is_empty() {
        "none cut".to_owned()
    } else {
        format!("cut: {}", cut.join(", "))
    });
    parts.push(format!("strategy {}", report.strategy));
    parts.push(format!("seed {}", report.seed));
    let seconds = report.elapsed.as_secs_f64().max(1e-9);
    parts.push(format!(
        "{} schedules/s",
        grouped((report.iterations as f64 / seconds) as u64)
    ));
    let verdict = if report.failure.is_some() {
        "FAILED"
    } else {
        "passed"
    };
    let mut line = format!("cct: {} {verdict}: {}", report.name, parts.join(", "));
    if report.stopped_by == StoppedBy::TimeBudget && cfg!(cct_unoptimised) {
        line.push_str(UNOPTIMISED);
    }
    if coverage.failing > 0 && report.stopped_by != StoppedBy::Failure {
        let failing = plural(coverage.failing, "iteration", "iterations");
        line.push_str(&format!("; {failing} failed"));
    }
    if report.iterations > 0 && report.cut() == report.iterations {
        line.push_str("; no iteration came to its end");
    }
    if let Some(growth) = growth(&coverage.states_by_iteration) {
        line.push_str(&format!("; {growth}"));
    }
    for (name, _, _, highest) in &coverage.watermarks {
        line.push_str(&format!("; {name} up to {}", grouped(*highest)));
    }
    let never: Vec<&str> = report.never_reached().collect();
    if !never.is_empty() {
        line.push_str(&format!("; never reached: {}", never.join(", ")));
    }
    if let Some(limits) = never_struck(report) {
        line.push_str(&format!("; {limits}"));
    }
    if coverage.joined_panics > 0 {
        let panics = plural(coverage.joined_panics, "task panic was", "task panics were");
        line.push_str(&format!("; {panics} returned to whoever joined the task"));
    }
    line
}
