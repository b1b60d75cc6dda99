//! Departures in words.

use super::guide::Departure;
use super::what::Words;
use crate::execution::record::AGAIN;
use crate::explore::result;
use crate::words::OpKind;
use crate::words::explanation::{Explanation, Step};
use std::collections::BTreeMap;

/// The story of a schedule, as far as it says what departures are. There may be as many of these as of steps.
struct Teller<'a> {
    /// In order.
    steps: &'a [Step],
    /// Each task's name and steps, by its number.
    tasks: BTreeMap<&'a str, Told<'a>>,
}

/// A task in the story.
struct Told<'a> {
    /// Number and name.
    name: &'a str,
    /// Where its steps are, in order.
    steps: Vec<usize>,
}

impl Told<'_> {
    /// How many of its steps come before this place: there may be a million, and as many departures that ask.
    fn before(&self, at: usize) -> usize {
        self.steps.partition_point(|&step| step < at)
    }
}

/// What the departures are, as the story of their schedule has it.
pub(super) fn departures(all: &[Departure], story: &Explanation) -> Vec<result::Departure> {
    let mut tasks: BTreeMap<&str, Told<'_>> = BTreeMap::new();
    for (at, step) in story.steps.iter().enumerate() {
        if let Some(name) = step.task.as_deref() {
            let number = name.split(' ').next().unwrap_or(name);
            let steps = Vec::new();
            let task = tasks.entry(number).or_insert(Told { name, steps });
            task.steps.push(at);
        }
    }
    let steps = &story.steps;
    let teller = Teller { steps, tasks };
    all.iter().map(|one| teller.departure(one)).collect()
}

impl Teller<'_> {
    fn departure(&self, one: &Departure) -> result::Departure {
        let at = self.steps.partition_point(|step| step.step < one.step);
        let step = self.steps.get(at).filter(|step| step.step == one.step);
        // Some choices are the world's own business, and no steps.
        let (wanted, plain) = (one.taken.words(), one.plain.words());
        let taken = step.filter(|step| is_of(step, &wanted));
        result::Departure {
            step: one.step,
            taken: taken.map_or_else(|| self.what(&wanted, at), told),
            plain: match plain.is_value {
                true => plain.at.clone(),
                false => self.what(&plain, at),
            },
            is_value: wanted.is_value,
        }
    }

    /// The choice, in words that fit where the steps have come to.
    fn what(&self, choice: &Words, at: usize) -> String {
        let (what, place) = (&choice.what, &choice.at);
        if choice.is_value {
            return format!("choose {what} = {place}");
        }
        let Some(task) = choice.task else {
            return format!("{what} ({place})");
        };
        let number = task.to_string();
        let told = self.tasks.get(number.as_str());
        let name = told.map_or(&*number, |told| told.name);
        if told.is_some_and(|told| self.polls_again(told, choice.starts, at)) {
            return format!("task {name}, poll again ({place})");
        }
        // What knows no place but that of its resource, or of the operation before, is told better by the step that
        // it becomes, if it comes to that.
        let next = told.and_then(|told| told.steps.get(told.before(at)));
        let next = next.map(|&next| &self.steps[next]);
        let step = next.filter(|step| step.what.starts_with(what));
        match step.map(|step| &step.site) {
            Some(Some(site)) => format!("task {name}, {what} ({site})"),
            _ if *what == OpKind::Atomic.name() => format!("task {name}, {what}"),
            _ => format!("task {name}, {what} ({place})"),
        }
    }

    /// Whether the task waited for something of another crate: the operation is one that it has performed.
    fn polls_again(&self, task: &Told<'_>, starts: bool, at: usize) -> bool {
        let done = task.before(at);
        match task.steps.get(done) {
            Some(&next) => self.steps[next].what.starts_with(AGAIN),
            None => done > 0 && starts,
        }
    }
}

/// Whether the step is that of the choice, and not of the task that it was for.
fn is_of(step: &Step, taken: &Words) -> bool {
    !taken.is_value || step.what.starts_with("choose")
}

fn told(step: &Step) -> String {
    let task = step.task.as_ref().map(|task| format!("task {task}, "));
    let site = step.site.as_ref().map(|site| format!(" ({site})"));
    let [task, site] = [task, site].map(Option::unwrap_or_default);
    // What came of the choice is for the steps to say.
    let what = step.what.strip_suffix(Step::WAITS).unwrap_or(&step.what);
    format!("{task}{what}{site}")
}
