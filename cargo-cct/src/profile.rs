//! Optimisation of cct's own crates, which run a test thousands of times, in builds without any.
//!
//! Whatever the user has decided for one of these packages, or for all, stays.

use crate::project::Project;
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
    let said = project.settings();
    let left = PACKAGES
        .iter()
        .filter(|name| !said.iter().any(|said| decides(said, name)));
    left.map(|name| format!("profile.dev.package.{name}.opt-level=2"))
        .collect()
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
