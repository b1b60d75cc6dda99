//! `--cfg tokio_unstable`: what it asks tokio for, cct has none of. Packages of the graph that go by it would not compile, so
//! they are compiled without, as in projects that do not set it.
//!
//! It may come from a variable or from a file of cargo's, with other options, so this program stands between cargo and the
//! compiler, as for [`atomics`](crate::atomics), and leaves it out.

use crate::atomics::variable;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const CFG: &str = "tokio_unstable";

/// Whether the project seems to set it, whose folder this is: it looks for the word where such options are.
pub(crate) fn is_set(folder: &Path) -> bool {
    let variables = [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
    ];
    let mut given = variables.into_iter().filter_map(variable);
    given.any(|flags| flags.to_string_lossy().contains(CFG)) || {
        let mut files = files(folder);
        files.any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(CFG)))
    }
}

/// Where cargo looks for its options.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let home = variable("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&variable("HOME")?).join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo"));
    let folders: Vec<PathBuf> = folders.chain(home).collect();
    let names = ["config.toml", "config"];
    folders
        .into_iter()
        .flat_map(move |folder| names.map(|name| folder.join(name)))
}

/// The arguments of the compiler, without it.
pub(crate) fn without(arguments: &[OsString]) -> Vec<OsString> {
    let mut left: Vec<OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let follows = left.last().is_some_and(|last| last == "--cfg");
        if argument == CFG && follows {
            left.pop();
        } else if argument.to_str() != Some("--cfg=tokio_unstable") {
            left.push(argument.clone());
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_is_left_out() {
        let left = |given: &str| {
            let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            let left = without(&given);
            let left: Vec<_> = left.iter().filter_map(|one| one.to_str()).collect();
            left.join(" ")
        };
        let rest = "--crate-name a --cfg feature=\"b\" -O";
        assert_eq!(left(rest), rest);
        assert_eq!(left(&format!("--cfg tokio_unstable {rest}")), rest);
        assert_eq!(left(&format!("{rest} --cfg=tokio_unstable")), rest);
        let named = "--crate-name tokio_unstable --cfg loom";
        assert_eq!(left(&format!("{named} --cfg tokio_unstable")), named);
    }

    #[test]
    fn it_is_found_where_cargo_looks() {
        let folder = std::env::temp_dir().join(format!("cct-unstable-{}", std::process::id()));
        let inner = folder.join("member/.cargo");
        std::fs::create_dir_all(&inner).unwrap();
        assert!(!is_set(&folder.join("member")));
        let text = "[build]\nrustflags = [\"--cfg\", \"tokio_unstable\"]\n";
        std::fs::create_dir_all(folder.join(".cargo")).unwrap();
        std::fs::write(folder.join(".cargo/config.toml"), text).unwrap();
        assert!(is_set(&folder.join("member")));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
