//! Which of `cargo test`'s arguments matter before `cargo test` runs.
//!
//! Everything is passed on to `cargo test` as it stands, but for what is ours (`--cct`, `--atomics`) and `--target-dir`, below
//! which our own target folder lies. What decides about the graph of packages is given to `cargo metadata` and
//! `cargo update` as well.

use anyhow::{Context as _, Result};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Arguments, read.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Arguments {
    /// `--cct`: where the packages of cct are.
    pub(crate) cct: Option<PathBuf>,
    /// `--target-dir`: instead of the project's target folder.
    pub(crate) target_dir: Option<PathBuf>,
    /// What `cargo test` gets.
    pub(crate) passed_on: Vec<OsString>,
    /// `--manifest-path`, `--config`, `-Z`, `--color`: what any cargo command takes.
    pub(crate) everywhere: Vec<OsString>,
    /// `--features` and the like, for `cargo metadata`.
    pub(crate) features: Vec<OsString>,
    /// `--target`: the systems to build for.
    pub(crate) targets: Vec<OsString>,
    /// `--offline`, which `--frozen` implies.
    pub(crate) offline: bool,
    /// `--locked`, which `--frozen` implies.
    pub(crate) locked: bool,
    /// `--atomics`: atomic operations are interleaved.
    pub(crate) atomics: bool,
}

/// What an option with a value is for.
#[derive(Clone, Copy)]
enum Use {
    Cct,
    TargetDir,
    Everywhere,
    Features,
    Target,
}

const WITH_VALUE: [(&str, Use); 9] = [
    ("--cct", Use::Cct),
    ("--target-dir", Use::TargetDir),
    ("--manifest-path", Use::Everywhere),
    ("--config", Use::Everywhere),
    ("--color", Use::Everywhere),
    ("-Z", Use::Everywhere),
    ("--features", Use::Features),
    ("-F", Use::Features),
    ("--target", Use::Target),
];

impl Arguments {
    /// Reads what stands before `--`; what follows is for the tests.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut read = Self::default();
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                read.passed_on.push(argument);
                read.passed_on.extend(rest);
                break;
            }
            match option_with_value(&argument) {
                Some((name, what, value)) => {
                    let value = value.or_else(|| rest.next());
                    let value = value.with_context(|| format!("`{name}` needs a value"))?;
                    read.take(name, what, value);
                }
                None => read.take_flag(argument),
            }
        }
        Ok(read)
    }

    /// For commands that run no tests.
    pub(crate) fn without_atomics(self) -> Result<Self> {
        anyhow::ensure!(!self.atomics, "`--atomics` is for `test` and `replay`");
        Ok(self)
    }

    /// Whether tests are run, and not only built, listed or explained.
    pub(crate) fn runs_tests(&self) -> bool {
        let other = ["--no-run", "--list", "--help", "-h", "--version", "-V"];
        !self
            .passed_on
            .iter()
            .any(|argument| other.iter().any(|other| argument == other))
    }

    fn take(&mut self, name: &str, what: Use, value: OsString) {
        let pair = [name.into(), value.clone()];
        match what {
            Use::Cct => self.cct = Some(value.into()),
            Use::TargetDir => self.target_dir = Some(value.into()),
            Use::Everywhere => self.everywhere.extend(pair.clone()),
            Use::Features => self.features.extend(pair.clone()),
            Use::Target => self.targets.push(value),
        }
        if !matches!(what, Use::Cct | Use::TargetDir) {
            self.passed_on.extend(pair);
        }
    }

    fn take_flag(&mut self, flag: OsString) {
        match flag.to_str() {
            Some("--atomics") => {
                self.atomics = true;
                return;
            }
            Some("--offline") => self.offline = true,
            Some("--locked") => self.locked = true,
            Some("--frozen") => (self.offline, self.locked) = (true, true),
            Some("--all-features" | "--no-default-features") => self.features.push(flag.clone()),
            _ => {}
        }
        self.passed_on.push(flag);
    }
}

/// `--name value`, `--name=value`, `-Nvalue`, if the option is one that matters.
fn option_with_value(argument: &OsStr) -> Option<(&'static str, Use, Option<OsString>)> {
    let argument = argument.to_str()?;
    WITH_VALUE.into_iter().find_map(|(name, what)| {
        let rest = argument.strip_prefix(name)?;
        let value = match rest.strip_prefix('=') {
            _ if rest.is_empty() => None,
            Some(value) => Some(value.into()),
            None if !name.starts_with("--") => Some(rest.into()),
            None => return None,
        };
        Some((name, what, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Arguments {
        Arguments::read(arguments.iter().map(OsString::from)).expect("arguments that make sense")
    }

    #[test]
    fn what_is_for_the_tests_is_left_alone() {
        let read = read(&["--release", "name", "--", "--offline", "--cct", "x"]);
        assert!(!read.offline);
        assert_eq!(read.cct, None);
        assert_eq!(
            read.passed_on,
            ["--release", "name", "--", "--offline", "--cct", "x"]
        );
    }

    #[test]
    fn tests_are_run_unless_something_else_is_asked_for() {
        assert!(read(&["--release", "name", "--", "--nocapture"]).runs_tests());
        for other in [&["--no-run"][..], &["name", "--", "--list"], &["-h"]] {
            assert!(!read(other).runs_tests(), "{other:?}");
        }
    }

    #[test]
    fn options_are_read_in_each_of_their_forms() {
        let read = read(&[
            "--manifest-path=a/Cargo.toml",
            "-Fone",
            "--features",
            "two,three",
            "-Zunstable-options",
            "--target",
            "x86_64-unknown-linux-gnu",
            "--frozen",
        ]);
        assert_eq!(
            read.everywhere,
            ["--manifest-path", "a/Cargo.toml", "-Z", "unstable-options"]
        );
        assert_eq!(read.features, ["-F", "one", "--features", "two,three"]);
        assert_eq!(read.targets, ["x86_64-unknown-linux-gnu"]);
        assert!(read.offline && read.locked);
        assert_eq!(read.passed_on.len(), 11);
    }

    #[test]
    fn what_is_ours_is_not_passed_on() {
        let read = read(&["--cct", "/cct", "--atomics", "-q", "--target-dir=/build"]);
        assert_eq!(read.cct, Some("/cct".into()));
        assert_eq!(read.target_dir, Some("/build".into()));
        assert_eq!(read.passed_on, ["-q"]);
        let error = read.without_atomics().expect_err("it runs no tests");
        assert!(error.to_string().contains("`test` and `replay`"), "{error}");
    }

    /// `--targets` is not `--target`, and cargo is to complain about it.
    #[test]
    fn unknown_options_are_cargos_business() {
        assert_eq!(
            read(&["--targets", "--featuresque=1"]).passed_on,
            ["--targets", "--featuresque=1"]
        );
    }

    #[test]
    fn a_value_that_is_missing_is_an_error() {
        let error = Arguments::read(["--cct".into()]).expect_err("no value");
        assert_eq!(error.to_string(), "`--cct` needs a value");
    }
}
