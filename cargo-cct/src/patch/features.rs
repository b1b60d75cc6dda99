//! The names of tokio's features.
//!
//! If a crate asks for a feature that the package named `tokio` does not have, cargo takes the real tokio for all,
//! with a warning at most. So it has every name: those of the tokio that the project has locked, and those that
//! any version is known to have.

use super::files::read_manifest;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;
use toml_edit::{DocumentMut, Item};

/// Of tokio 1.0 to 1.54, those of optional dependencies included.
const KNOWN: &[&str] = &[
    "bytes",
    "default",
    "fs",
    "full",
    "io-std",
    "io-uring",
    "io-util",
    "libc",
    "macros",
    "memchr",
    "mio",
    "net",
    "num_cpus",
    "once_cell",
    "parking_lot",
    "process",
    "rt",
    "rt-multi-thread",
    "schedule-latency",
    "signal",
    "signal-hook-registry",
    "socket2",
    "stats",
    "sync",
    "taskdump",
    "test-util",
    "time",
    "tokio-macros",
    "tracing",
    "winapi",
    "windows-sys",
];

/// All names, with those of the tokio in the folder.
pub(super) fn of(tokio: &Path) -> Result<BTreeSet<String>> {
    let manifest = read_manifest(&tokio.join("Cargo.toml"))?;
    let mut names = declared(&manifest);
    names.extend(KNOWN.iter().map(ToString::to_string));
    Ok(names)
}

/// Features, and optional dependencies, whether or not a `dep:` takes the latter's feature away: one name too many
/// does no harm.
fn declared(manifest: &DocumentMut) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if let Some(features) = manifest.get("features").and_then(Item::as_table_like) {
        names.extend(features.iter().map(|(name, _)| name.to_owned()));
    }
    names.extend(optional(manifest.get("dependencies")));
    let targets = manifest.get("target").and_then(Item::as_table_like);
    for (_, target) in targets.iter().flat_map(|targets| targets.iter()) {
        names.extend(optional(target.get("dependencies")));
    }
    names
}

fn optional(dependencies: Option<&Item>) -> Vec<String> {
    let Some(dependencies) = dependencies.and_then(Item::as_table_like) else {
        return Vec::new();
    };
    let optional = dependencies
        .iter()
        .filter(|(_, dependency)| dependency.get("optional").and_then(Item::as_bool) == Some(true));
    optional.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_dependencies_are_features_too() {
        let manifest = r#"
            [features]
            net = ["mio/net"]
            [dependencies]
            bytes = { version = "1", optional = true }
            pin-project-lite = "0.2"
            [target."cfg(unix)".dependencies.signal-hook-registry]
            version = "1"
            optional = true
        "#;
        let names = declared(&manifest.parse().expect("a manifest"));
        assert_eq!(
            names.into_iter().collect::<Vec<_>>(),
            ["bytes", "net", "signal-hook-registry"]
        );
    }
}
