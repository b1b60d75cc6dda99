//! Editors call cargo whenever `Cargo.lock` changes, and cargo, which knows nothing of our patch then, writes its own
//! version of ours. Nobody means that one to stay.

use super::Loan;
use super::files::{read, replace};
use super::rules::names_ours;
use crate::cargo::Cargo;
use anyhow::Result;

/// Whether the file that is there is what cargo makes of what we had left there.
pub(super) fn is_its_doing(loan: &Loan<'_>) -> Result<bool> {
    let ours = loan.written.iter().flatten().next();
    let (Some(ours), Some(present)) = (ours, read(&loan.path)?) else {
        return Ok(false);
    };
    if !names_ours(ours) || names_ours(&present) {
        return Ok(false);
    }
    // With a network cargo may take other versions than without.
    let mut ways = [true, false].into_iter();
    let is_made = ways.any(|offline| make(loan, ours, offline).as_ref() == Some(&present));
    // Until more is known, what is there stays.
    replace(&loan.path, &Some(present))?;
    Ok(is_made)
}

/// What cargo makes of a lock file without our patch; nothing if it fails.
fn make(loan: &Loan<'_>, ours: &[u8], offline: bool) -> Option<Vec<u8>> {
    replace(&loan.path, &Some(ours.to_owned())).ok()?;
    let cargo = Cargo::find();
    let mut command = cargo.command(["update", "--workspace", "--manifest-path"]);
    command.arg(loan.path.with_file_name("Cargo.toml"));
    if offline {
        command.arg("--offline");
    }
    let asked = cargo.ask(command);
    let made = read(&loan.path).ok()?;
    asked.ok().and(made)
}
