//! The user's project, as cargo tells it.

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml_edit::DocumentMut;

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

    /// Where profiles and patches are: the workspace's manifest, and cargo's configuration from here upwards.
    pub(crate) fn settings(&self) -> Vec<DocumentMut> {
        let here = std::env::current_dir().unwrap_or_else(|_| self.root.clone());
        let mut places = vec![self.root.join("Cargo.toml")];
        places.extend(here.ancestors().flat_map(configuration));
        places
            .into_iter()
            .filter_map(|path| fs::read_to_string(path).ok()?.parse().ok())
            .collect()
    }

    /// Whether somebody has another tokio in the place of that of crates.io.
    pub(crate) fn patches_tokio(&self) -> bool {
        self.settings().iter().any(|settings| {
            let patch = || settings.get("patch")?.get("crates-io")?.get("tokio");
            patch().is_some()
        })
    }

    /// The project's lock file, which need not exist.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join("Cargo.lock")
    }
}

fn configuration(folder: &Path) -> [PathBuf; 2] {
    let folder = folder.join(".cargo");
    [folder.join("config.toml"), folder.join("config")]
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
