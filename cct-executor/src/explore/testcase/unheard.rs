//! Panics of tasks that nobody asks for: on tokio a test passes with them.
//!
//! A task that panics in some schedules only is what is looked for, and a failure. One that does in plain order, too,
//! does so whenever the test is run on tokio, where it passes; so there it is none. Nor is it where that takes nothing but
//! another value, such as the branch with which a `select!` begins: tokio draws them.

use crate::explore::any_scenario::AnyScenario;
use crate::explore::checker::Checker;
use crate::explore::result::Report;
use crate::words::FailureKind;

/// So many places are looked for; a test has hardly ever more than one.
const PLACES_MAX: usize = 8;
/// Runs in plain order in which values are drawn: what one in 64 has is missed by one search in twenty.
const DRAWN: u64 = 200;

/// The place of the panic that failed a run because nobody has asked for it.
fn place(report: &Report) -> Option<&str> {
    let failure = report.failure.as_ref()?;
    failure.explanation.unheard.as_ref()?;
    match &failure.kind {
        FailureKind::Panic { location, .. } => location.as_deref(),
        _ => None,
    }
}

/// What takes no heed of the panic that failed this run, if plain order has it as well and passes otherwise; and what
/// to say of it.
pub(super) fn heedless(
    checker: &Checker,
    scenario: &AnyScenario,
    report: &Report,
) -> Option<(Checker, String)> {
    let failed = place(report)?;
    let mut in_order = checker.in_plain_order();
    let mut places: Vec<String> = checker.world.expected_panics.to_vec();
    loop {
        in_order.world.expected_panics = places.clone().into();
        let run = in_order.clone().explore(scenario.clone());
        if run.passed() {
            break;
        }
        places.push(
            place(&run)
                .filter(|_| places.len() < PLACES_MAX)?
                .to_owned(),
        );
    }
    let mut drawn = in_order
        .strategy_text("round-robin:data=random")
        .iterations(DRAWN);
    while !places.iter().any(|place| place == failed) && places.len() < PLACES_MAX {
        drawn.world.expected_panics = places.clone().into();
        let run = drawn.clone().explore(scenario.clone());
        places.push(place(&run)?.to_owned());
    }
    if !places.iter().any(|place| place == failed) {
        return None;
    }
    let note = format!(
        "a task panics at {}, and nobody asks its JoinHandle for it: that is no failure here, as it happens in plain order, \
         too, where the test passes on tokio",
        places.join(", and one at ")
    );
    let mut heedless = checker.clone();
    heedless.world.expected_panics = places.into();
    Some((heedless, note))
}
