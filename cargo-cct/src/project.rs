//! The user's project, as cargo tells it.

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Where it lies.
#[derive(Debug)]
pub(crate) struct Project {
    /// The folder of the workspace's manifest.
    pub(crate) root: PathBuf,
    /// Where it is built when cct is not asked.
    pub(crate) target: PathBuf,
}

impl Project {
    /// Without looking at dependencies, so that no lock file is read or written.
    pub(crate) fn find(cargo: &Cargo, arguments: &Arguments) -> Result<Self> {
        let mut command = metadata_command(cargo, arguments);
        command.arg("--no-deps");
        if let Some(folder) = &arguments.target_dir {
            command.env("CARGO_TARGET_DIR", folder);
        }
        let metadata = parse(&cargo.ask(command)?)?;
        Ok(Self {
            root: metadata.workspace_root.into(),
            target: metadata.target_directory.into(),
        })
    }

    /// The project's lock file, which need not exist.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join("Cargo.lock")
    }
}

/// The graph of packages for the systems that are built for, under the given options.
pub(crate) fn graph(
    cargo: &Cargo,
    arguments: &Arguments,
    options: &[OsString],
) -> Result<Metadata> {
    let mut command = metadata_command(cargo, arguments);
    for target in systems(cargo, arguments)? {
        command.arg("--filter-platform").arg(target);
    }
    command.args(&arguments.features).args(options);
    if arguments.offline {
        command.arg("--offline");
    }
    parse(&cargo.ask(command)?)
}

/// The systems that are built for.
pub(crate) fn systems(cargo: &Cargo, arguments: &Arguments) -> Result<Vec<String>> {
    match &*arguments.targets {
        [] => Ok(vec![cargo.host()?]),
        some => Ok(some.iter().map(|t| t.to_string_lossy().into()).collect()),
    }
}

fn metadata_command(cargo: &Cargo, arguments: &Arguments) -> Command {
    let mut command = cargo.command(["metadata", "--format-version", "1"]);
    command.args(&arguments.everywhere);
    command
}

fn parse(text: &str) -> Result<Metadata> {
    MetadataCommand::parse(text).context("`cargo metadata` prints what this program cannot read")
}
