//! `cargo cct patch`: the folder, for people who commit a `[patch]`.

use crate::arguments::Arguments;
use crate::graph;
use crate::patch::{Locked, PatchFolder, Replaced, VERSION};
use crate::say;
use crate::session::Session;
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Writes the folder, and says what to do with it.
pub(crate) fn patch(out: &Path, arguments: Vec<OsString>) -> Result<ExitCode> {
    let out =
        std::path::absolute(out).with_context(|| format!("invalid `--out {}`", out.display()))?;
    let session = Session::open(Arguments::read(arguments)?.without_atomics()?)?;
    let (real, others) = what_is_copied(&session, &out)?;
    let folder = session.write(&out, &real, others)?;
    let root = &session.project.root;
    let mut lines = String::new();
    for replaced in folder.packages() {
        let Replaced { key, package, .. } = replaced;
        let path = replaced.folder();
        let path = path.strip_prefix(root).unwrap_or(path);
        let path = toml_edit::Value::from(path.to_string_lossy().into_owned());
        let _ = match replaced.is_renamed() {
            true => writeln!(
                lines,
                "{key} = {{ package = \"{package}\", path = {path} }}"
            ),
            false => writeln!(lines, "{key} = {{ path = {path} }}"),
        };
    }
    say::result(format_args!(
        "Written to `{}`. In `{}`:\n\n\
         [patch.crates-io]\n\
         {lines}\n\
         and then, once:\n\n\
         cargo update -p tokio@{} --precise {VERSION}\n\n\
         The folder names the checkout of cct by its path on this machine. Write it again when cct, tokio or one of\n\
         the others is another version.",
        out.display(),
        root.join("Cargo.toml").display(),
        real.version,
    ));
    Ok(ExitCode::SUCCESS)
}

/// What the project has locked; or, once it has the patch, what the folder was made of.
fn what_is_copied(session: &Session, out: &Path) -> Result<(Locked, Vec<Locked>)> {
    if session.project.patches_tokio() {
        return PatchFolder::made_of(out).with_context(|| {
            format!(
                "this project has a `[patch]` for tokio already, and `{}` cannot be written again: remove the patch, \
                 and begin anew",
                out.display()
            )
        });
    }
    let mut loan = session.borrow()?;
    let (plain, real) = session.real_tokio(&mut loan)?;
    loan.end()?;
    Ok((real, graph::with_mends(&plain)))
}
