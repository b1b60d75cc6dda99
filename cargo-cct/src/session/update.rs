//! Having cargo take our tokio into the lock file, with what it depends on.

use super::Session;
use crate::patch::{Locked, VERSION};
use crate::say;
use anyhow::Result;
use std::ffi::OsString;

impl Session {
    /// Cct has dependencies of its own, and the project's lock file may hold one of them at a version that is too
    /// old. Cargo names it, and then it may move as well.
    pub(super) fn update(&self, options: &[OsString], real: &Locked) -> Result<()> {
        let tokio = format!("tokio@{}", real.version);
        let mut moved: Vec<String> = Vec::new();
        loop {
            // The version is said, or cargo would go back to the real one where ours finds something in its way.
            let error = match self.update_one(&tokio, &["--precise", VERSION], options) {
                Ok(()) => break,
                Err(error) => error,
            };
            match held_back(&format!("{error:#}")) {
                Some(package) if !moved.contains(&package) => {
                    self.update_one(&package, &[], options)?;
                    moved.push(package);
                }
                _ => return Err(self.with_advice(error)),
            }
        }
        if !moved.is_empty() {
            say::note(format_args!(
                "cct needs newer versions than the project has locked, and these tests run with them: instead of {}",
                moved.join(", ")
            ));
        }
        Ok(())
    }

    fn with_advice(&self, error: anyhow::Error) -> anyhow::Error {
        let advice = if self.arguments.offline {
            "cct has dependencies of its own: run it once without `--offline`, if they are missing"
        } else if format!("{error:#}").contains("directory source") {
            "cct has dependencies of its own, which a folder of vendored sources does not have"
        } else {
            return error;
        };
        anyhow::anyhow!("{error:#}\n{advice}")
    }

    pub(super) fn update_one(
        &self,
        package: &str,
        how: &[&str],
        options: &[OsString],
    ) -> Result<()> {
        let mut command = self.cargo.command(["update", "-p", package]);
        command.args(how).args(options);
        command.args(&self.arguments.everywhere);
        if self.arguments.offline {
            command.arg("--offline");
        }
        self.cargo.ask(command).map(drop)
    }
}

/// The package that cargo says it cannot move, as `name@version`.
fn held_back(error: &str) -> Option<String> {
    let (_, rest) = error.split_once("previously selected package `")?;
    let (package, _) = rest.split_once('`')?;
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    // Tokio moves in any case.
    (name != "tokio").then(|| format!("{name}@{version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As cargo 1.95 says it.
    const CONFLICT: &str = "failed to select a version for `num-traits`.
    ... required by package `rand_distr v0.6.0`
    ... which satisfies path dependency `cct-net` of package `tokio v1.999.0 (/target/cct/patch/tokio)`
versions that meet the requirements `^0.2.9` are: 0.2.19, 0.2.18

all possible versions conflict with previously selected packages.

  previously selected package `num-traits v0.2.6`
    ... which satisfies dependency `num-traits = \"^0.2\"` (locked to 0.2.6) of package `hdrhistogram v7.5.4`

failed to select a version for `num-traits` which could resolve this conflict";

    #[test]
    fn what_the_lock_file_holds_back_is_named_by_cargo() {
        assert_eq!(held_back(CONFLICT).as_deref(), Some("num-traits@0.2.6"));
        assert_eq!(held_back("no matching package named `tokio` found"), None);
        assert_eq!(
            held_back("previously selected package `tokio v1.999.0 (/x)`"),
            None
        );
    }
}
