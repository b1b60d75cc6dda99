//! Optimisation of cct's own crates, which run a test thousands of times, in builds without any.
//!
//! Whatever the user has decided for one of these packages, or for all, stays.

use crate::project::Project;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::DocumentMut;

/// Where the time of a step goes.
const PACKAGES: [&str; 5] = [
    "cct-executor",
    "cct-interpose",
    "cct-sync",
    "cct-net",
    "corosensei",
];

/// `--config` options for cargo.
pub(crate) fn options(project: &Project) -> Vec<String> {
    let said: Vec<DocumentMut> = places(project)
        .into_iter()
        .filter_map(|path| fs::read_to_string(path).ok()?.parse().ok())
        .collect();
    let left = PACKAGES
        .iter()
        .filter(|name| !said.iter().any(|said| decides(said, name)));
    left.map(|name| format!("profile.dev.package.{name}.opt-level=2"))
        .collect()
}

/// Files with profiles: the workspace's manifest, and cargo's configuration from here upwards.
fn places(project: &Project) -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_else(|_| project.root.clone());
    let mut places = vec![project.root.join("Cargo.toml")];
    places.extend(here.ancestors().flat_map(configuration));
    places
}

fn configuration(folder: &Path) -> [PathBuf; 2] {
    let folder = folder.join(".cargo");
    [folder.join("config.toml"), folder.join("config")]
}

/// Whether a file says how far a package is optimised in tests.
fn decides(said: &DocumentMut, package: &str) -> bool {
    let profiles = ["dev", "test"];
    profiles.iter().any(|profile| {
        [package, "*"].iter().any(|name| {
            let level = || {
                let profile = said.get("profile")?.get(profile)?;
                profile.get("package")?.get(name)?.get("opt-level")
            };
            level().is_some()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(said: &str, package: &str) -> bool {
        decides(&said.parse().expect("toml"), package)
    }

    #[test]
    fn what_the_user_has_decided_stays() {
        let one = "[profile.dev.package.cct-net]\nopt-level = 0";
        assert!(decided(one, "cct-net"));
        assert!(!decided(one, "cct-sync"));
        assert!(decided(
            "[profile.test.package.'*']\nopt-level = 3",
            "cct-sync"
        ));
        assert!(!decided(
            "[profile.dev.package.cct-net]\ndebug = true",
            "cct-net"
        ));
        assert!(!decided("[profile.dev]\nopt-level = 1", "cct-net"));
    }
}
