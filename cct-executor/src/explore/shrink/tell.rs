//! Departures in words.

use super::guide::{Departure, What};
use crate::execution::record::place;
use crate::explore::result;
use crate::words::explanation::{Explanation, Step};

/// What a departure is, as the story of its schedule has it.
pub(super) fn departure(one: &Departure, story: &Explanation) -> result::Departure {
    let step = story.steps.iter().find(|step| step.step == one.step);
    // Some choices are the world's own business, and no steps.
    let taken = step.filter(|step| is_of(step, one.taken));
    result::Departure {
        step: one.step,
        taken: taken.map_or_else(|| what(one.taken, story), told),
        plain: match one.plain {
            What::Value { value, .. } => value.to_string(),
            action => what(action, story),
        },
        is_value: matches!(one.taken, What::Value { .. }),
    }
}

/// Whether the step is that of the choice, and not of the task that it was for.
fn is_of(step: &Step, taken: What) -> bool {
    match taken {
        What::Action { .. } => true,
        What::Value { .. } => step.what.starts_with("choose"),
    }
}

fn told(step: &Step) -> String {
    let task = step.task.as_ref().map(|task| format!("task {task}, "));
    let site = step.site.as_ref().map(|site| format!(" ({site})"));
    let [task, site] = [task, site].map(Option::unwrap_or_default);
    format!("{task}{}{site}", step.what)
}

fn what(choice: What, story: &Explanation) -> String {
    match choice {
        What::Action {
            task: Some(task),
            op,
            site,
        } => format!("task {}, {op} ({})", name(task, story), place(site)),
        What::Action { op, site, .. } => format!("{op} ({})", place(site)),
        What::Value { label, value } => {
            format!("choose {} = {value}", label.trim_start_matches('~'))
        }
    }
}

/// Number and name of a task.
fn name(task: u32, story: &Explanation) -> String {
    let number = task.to_string();
    let is_it = |name: &&String| name.split(' ').next() == Some(number.as_str());
    let mut names = story.steps.iter().filter_map(|step| step.task.as_ref());
    names.find(is_it).cloned().unwrap_or(number)
}
