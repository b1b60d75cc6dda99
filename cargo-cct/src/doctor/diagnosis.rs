//! What is said in the end.

use super::rules::{self, Rule};
use super::{packages, scan};
use crate::arguments::Arguments;
use crate::say;
use crate::session::{Patched, Session};
use anyhow::Result;
use cargo_metadata::Package;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Looks at the project with ours in the place of tokio.
pub(crate) fn doctor(arguments: Vec<OsString>) -> Result<ExitCode> {
    let session = Session::open(Arguments::read(arguments)?.without_atomics()?)?;
    let patched = session.patch()?;
    let systems = session.systems()?;
    let packages = packages::of_the_project(&patched.metadata);
    let (who, reached) = who_reaches_tokio(&patched);
    let text = format!(
        "{who}\n\n{}",
        findings(&packages, &rules::for_systems(&systems))
    );
    patched.end()?;
    say::result(text.trim_end());
    Ok(ExitCode::from(u8::from(reached)))
}

/// A line for each other tokio, and whether there is one.
fn who_reaches_tokio(patched: &Patched<'_>) -> (String, bool) {
    let others = packages::other_tokios(&patched.metadata);
    let mut text = format!(
        "tokio {} is replaced: nobody who asks for tokio 1 reaches it",
        patched.real.version
    );
    for (tokio, dependants) in &others {
        let _ = write!(
            text,
            "\ntokio {} is not, and runs for real: {} depend on it; update them",
            tokio.version,
            dependants.join(", ")
        );
    }
    (text, !others.is_empty())
}

fn findings(packages: &[&Package], rules: &[Rule]) -> String {
    let sources: Vec<_> = packages
        .iter()
        .map(|package| (*package, scan::sources(package)))
        .collect();
    let mut text = format!(
        "{} packages of this project were searched for words (not in comments, nor in folders of tests; whatever \
         stands there for another system is found, too):\n",
        packages.len()
    );
    let mut quiet = Vec::new();
    for rule in rules {
        let lines: Vec<String> = sources
            .iter()
            .filter_map(|(package, files)| line(package, files, rule))
            .collect();
        if lines.is_empty() {
            quiet.push(rule.title);
            continue;
        }
        let _ = writeln!(text, "\n{}: {}", rule.title, rule.advice);
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    if !quiet.is_empty() {
        let _ = writeln!(text, "\nnot found: {}", quiet.join("; "));
    }
    text
}

/// The first place in a package, and how many there are.
fn line(package: &Package, files: &[scan::SourceFile], rule: &Rule) -> Option<String> {
    let by_name = rule.packages.contains(&package.name.as_str());
    let places = scan::places(files, rule);
    let (name, version) = (&package.name, &package.version);
    match &*places {
        [] if by_name => Some(format!("{name} {version}")),
        [] => None,
        [one] => Some(format!("{name} {version}: {one}")),
        [first, rest @ ..] => Some(format!(
            "{name} {version}: {first}, and {} more",
            rest.len()
        )),
    }
}
