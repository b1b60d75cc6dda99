//! Running cargo.

use crate::interrupt::{self, Forwarding};
use anyhow::{Context as _, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

/// The cargo that called this program, or the one on the path.
pub(crate) struct Cargo {
    program: OsString,
}

impl Cargo {
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo says in a variable which cargo calls; it has nothing to do with a world"
    )]
    pub(crate) fn find() -> Self {
        let caller = std::env::var_os("CARGO").filter(|caller| !caller.is_empty());
        Self {
            program: caller.unwrap_or_else(|| "cargo".into()),
        }
    }

    /// `cargo` with the arguments, where the user stands.
    pub(crate) fn command<I>(&self, arguments: I) -> Command
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command
    }

    /// Runs it with the user's terminal, until it ends.
    pub(crate) fn run(&self, mut command: Command) -> Result<ExitStatus> {
        let mut child = command.spawn().with_context(|| self.missing())?;
        let forwarding = Forwarding::to(&child);
        let status = child.wait().context("cannot wait for cargo")?;
        drop(forwarding);
        Ok(status)
    }

    /// Runs it for what it prints. Where it fails, the error is what it says.
    pub(crate) fn ask(&self, mut command: Command) -> Result<String> {
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().with_context(|| self.missing())?;
        let forwarding = Forwarding::to(&child);
        let output = child.wait_with_output().context("cannot wait for cargo")?;
        drop(forwarding);
        if interrupt::happened() {
            bail!("interrupted");
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            bail!("{}", complaint(&said));
        }
        String::from_utf8(output.stdout).context("cargo prints what is no UTF-8")
    }

    /// The system that cargo builds for unless told otherwise.
    pub(crate) fn host(&self) -> Result<String> {
        self.says("host: ")
    }

    /// A project's own toolchain may be older than cct can be built with.
    pub(crate) fn must_be_new_enough(&self) -> Result<()> {
        let release = self.says("release: ")?;
        let (Some(there), Some(needed)) = (minor(&release), minor(env!("CARGO_PKG_RUST_VERSION")))
        else {
            return Ok(());
        };
        if there < needed {
            bail!(
                "cct is built with the project's own Rust, which is {release}, and needs 1.{needed} at least: take \
                 another one, as with `cargo +stable cct test`"
            );
        }
        Ok(())
    }

    /// A line of `cargo -vV`.
    fn says(&self, begin: &str) -> Result<String> {
        let version = self.ask(self.command(["-vV"]))?;
        let line = version.lines().find_map(|line| line.strip_prefix(begin));
        line.map(str::to_owned)
            .with_context(|| format!("`cargo -vV` does not say `{begin}`"))
    }

    fn missing(&self) -> String {
        let program = PathBuf::from(&self.program);
        format!(
            "cannot run `{}`: install cargo (https://rustup.rs), or put it on the PATH",
            program.display()
        )
    }
}

/// 85 of 1.85.0, or of 1.85.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("1.")?.split('.').next()?.parse().ok()
}

/// What cargo complains about, without the progress that it has told before.
fn complaint(said: &str) -> &str {
    let begin = match said.find("\nerror: ") {
        _ if said.starts_with("error: ") => 0,
        Some(before) => before + 1,
        None => return said.trim(),
    };
    said[begin..].trim_start_matches("error: ").trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(minor("1.100.0-nightly") > minor("1.85"));
        assert_eq!(minor("2.0"), None);
    }

    #[test]
    fn progress_is_no_complaint() {
        let said = "    Updating crates.io index\nerror: no matching package\nerror: really\n";
        assert_eq!(complaint(said), "no matching package\nerror: really");
        assert_eq!(complaint("error: no\nerror: never\n"), "no\nerror: never");
        assert_eq!(complaint(" killed\n"), "killed");
    }
}
