//! `compare A.json B.json`: which cells of a table changed.

use super::bugs::{Cell, Figures};
use crate::measure::statistics::mann_whitney;
use clap::Args;
use std::path::{Path, PathBuf};

/// Options of `compare`.
#[derive(Args)]
pub(crate) struct Options {
    /// What `bugs --json` wrote before
    before: PathBuf,
    /// What it wrote after
    after: PathBuf,
}

/// Prints the cells that differ.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let (before, after) = (read(&options.before)?, read(&options.after)?);
    if before.table != after.table {
        return Err(format!(
            "{} has table `{}` and {} has table `{}`: compare results of one table",
            options.before.display(),
            before.table,
            options.after.display(),
            after.table
        ));
    }
    if (before.trials, before.iterations) != (after.trials, after.iterations) {
        println!(
            "note: {} trials of {} schedules before, {} of {} after",
            before.trials, before.iterations, after.trials, after.iterations
        );
    }
    let mut same = 0;
    for cell in &after.cells {
        let is_it = |old: &&Cell| old.subject == cell.subject && old.column == cell.column;
        match before.cells.iter().find(is_it) {
            Some(old) if old.sample == cell.sample => same += 1,
            Some(old) => {
                let p = mann_whitney(&sample(old), &sample(cell));
                println!(
                    "{:<28} {:<10} {:>10} -> {:>10}  p = {p:.3}{}",
                    cell.subject,
                    cell.column,
                    show(old.value),
                    show(cell.value),
                    if p < 0.01 { "  <<" } else { "" }
                );
            }
            None => println!(
                "{:<28} {:<10} new: {}",
                cell.subject,
                cell.column,
                show(cell.value)
            ),
        }
    }
    let kept = |old: &Cell| {
        after
            .cells
            .iter()
            .any(|cell| old.subject == cell.subject && old.column == cell.column)
    };
    for old in before.cells.iter().filter(|old| !kept(old)) {
        println!("{:<28} {:<10} gone", old.subject, old.column);
    }
    println!("{same} cells are the same to the last trial");
    Ok(())
}

/// Trials that found nothing rank last.
fn sample(cell: &Cell) -> Vec<f64> {
    cell.sample
        .iter()
        .map(|x| x.unwrap_or(f64::INFINITY))
        .collect()
}

fn show(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}

fn read(path: &Path) -> Result<Figures, String> {
    let complain = |error: String| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| complain(error.to_string()))?;
    serde_json::from_str(&text)
        .map_err(|error| complain(format!("not what `bugs --json` writes: {error}")))
}
