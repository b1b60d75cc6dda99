//! What `cct-bench` can be asked, besides the cost of a step.

pub(crate) mod bugs;
pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod cover;
pub(crate) mod shorten;
mod tables;

use crate::subjects::{ALL, Subject};
use serde::Serialize;
use std::path::Path;

/// The subjects whose names contain one of the given texts; all that `fits` if none is given.
///
/// # Errors
/// If a text is part of no name.
fn chosen(
    only: &[String],
    fits: impl Fn(&Subject) -> bool,
) -> Result<Vec<&'static Subject>, String> {
    if only.is_empty() {
        return Ok(ALL
            .iter()
            .copied()
            .filter(|subject| fits(subject))
            .collect());
    }
    if let Some(text) = only
        .iter()
        .find(|text| !ALL.iter().any(|s| s.name.contains(*text)))
    {
        let names: Vec<&str> = ALL.iter().map(|subject| subject.name).collect();
        return Err(format!(
            "no subject is called `{text}`: there are {}",
            names.join(", ")
        ));
    }
    let wanted = |subject: &&Subject| {
        let exact = only.iter().any(|text| text == subject.name);
        let part = |text: &String| {
            !ALL.iter().any(|s| s.name == text) && subject.name.contains(text.as_str())
        };
        exact || only.iter().any(part)
    };
    Ok(ALL.iter().copied().filter(wanted).collect())
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

/// Prints every subject.
pub(crate) fn list_subjects() {
    for subject in ALL {
        println!(
            "{:<28} {:<13} {:>3} tasks  {}",
            subject.name,
            format!("{:?}", subject.standing).to_lowercase(),
            subject.workers,
            subject.about
        );
    }
}
