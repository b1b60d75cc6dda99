//! Departures in words.

use super::guide::{Departure, What};
use crate::execution::record::place;
use crate::explore::result;
use crate::words::explanation::{Explanation, Step};
use std::collections::BTreeMap;

/// The story of a schedule, as far as it says what departures are. There may be as many of these as of steps.
struct Teller<'a> {
    /// In order.
    steps: &'a [Step],
    /// Number and name of each task, by number.
    names: BTreeMap<&'a str, &'a str>,
}

/// What the departures are, as the story of their schedule has it.
pub(super) fn departures(all: &[Departure], story: &Explanation) -> Vec<result::Departure> {
    let tasks = story.steps.iter().filter_map(|step| step.task.as_deref());
    let teller = Teller {
        steps: &story.steps,
        names: tasks
            .map(|task| (task.split(' ').next().unwrap_or(task), task))
            .collect(),
    };
    all.iter().map(|one| teller.departure(one)).collect()
}

impl Teller<'_> {
    fn departure(&self, one: &Departure) -> result::Departure {
        let at = self.steps.partition_point(|step| step.step < one.step);
        let step = self.steps.get(at).filter(|step| step.step == one.step);
        // Some choices are the world's own business, and no steps.
        let taken = step.filter(|step| is_of(step, one.taken));
        result::Departure {
            step: one.step,
            taken: taken.map_or_else(|| self.what(one.taken), told),
            plain: match one.plain {
                What::Value { value, .. } => value.to_string(),
                action => self.what(action),
            },
            is_value: matches!(one.taken, What::Value { .. }),
        }
    }

    fn what(&self, choice: What) -> String {
        match choice {
            What::Action {
                task: Some(task),
                op,
                site,
            } => format!("task {}, {op} ({})", self.name(task), place(site)),
            What::Action { op, site, .. } => format!("{op} ({})", place(site)),
            What::Value { label, value } => {
                format!("choose {} = {value}", label.trim_start_matches('~'))
            }
        }
    }

    /// Number and name of a task.
    fn name(&self, task: u32) -> String {
        let number = task.to_string();
        let name = self.names.get(number.as_str()).copied();
        name.unwrap_or(&number).to_owned()
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
