//! Copies of packages from cargo's cache.
//!
//! That of the real tokio has a name of its own, as a package cannot depend on the very package that it is a patch
//! of. Its library is still called `tokio`, so that its own paths hold.

use super::files::{read_manifest, write_if_changed};
use crate::atomics::variable;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use toml_edit::{DocumentMut, Item, Table, value};

/// The name of tokio's copy, which its types show in messages of the compiler only.
pub(super) const REAL_TOKIO: &str = "cct-real-tokio";

/// What a package may have beside its library, which needs dependencies of its own.
const LEFT_OUT: [&str; 5] = ["dev-dependencies", "test", "bench", "example", "bin"];
/// Besides their folders, what cargo itself adds to sources.
const NOT_COPIED: [&str; 9] = [
    "tests",
    "benches",
    "examples",
    "target",
    "Cargo.lock",
    "Cargo.toml.orig",
    ".cargo-ok",
    ".cargo-checksum.json",
    ".cargo_vcs_info.json",
];

/// Copies the real tokio, once: sources from cargo's cache never change.
pub(super) fn real_tokio(from: &Path, to: &Path) -> Result<()> {
    package(from, to, |manifest| {
        manifest["package"]["name"] = value(REAL_TOKIO);
        manifest["lib"].or_insert(Item::Table(Table::new()));
        manifest["lib"]["name"] = value("tokio");
    })
}

/// Copies a package's library, with a change to its manifest.
pub(super) fn package(from: &Path, to: &Path, change: impl FnOnce(&mut DocumentMut)) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)
            .with_context(|| format!("cannot remove the old copy `{}`", to.display()))?;
    }
    copy_folder(from, to)
        .with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display()))?;
    let mut manifest = read_manifest(&from.join("Cargo.toml"))?;
    change(&mut manifest);
    leave_the_library(&mut manifest);
    write_if_changed(&to.join("Cargo.toml"), &manifest.to_string())?;
    silence(&to.join(library(&manifest)))
}

fn library(manifest: &DocumentMut) -> &str {
    let said = || manifest.get("lib")?.get("path")?.as_str();
    said().unwrap_or("src/lib.rs")
}

/// Cargo shows warnings of packages in folders, and flags may make errors of them, or of what is no warning by itself
/// (`-D unsafe_code`); packages of crates.io are spared all that. On the first line, so that the others stay where they are.
fn silence(root: &Path) -> Result<()> {
    let lints = LINTS.get_or_init(lints).join(", ");
    let text = fs::read_to_string(root);
    text.and_then(|text| fs::write(root, format!("#![allow({lints})] {text}")))
        .with_context(|| format!("cannot change `{}`", root.display()))
}

/// What can be allowed, as the compiler lists it.
static LINTS: OnceLock<Vec<String>> = OnceLock::new();

fn lints() -> Vec<String> {
    let compiler = variable("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(compiler).args(["-W", "help"]).output();
    let told = told.map(|output| output.stdout).unwrap_or_default();
    let mut all = vec!["warnings".to_owned()];
    all.extend(listed(&String::from_utf8_lossy(&told)));
    all
}

/// The lints of such a list that are not errors anyway.
fn listed(told: &str) -> impl Iterator<Item = String> {
    told.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, level) = (words.next()?, words.next()?);
        let is_lint = name.starts_with(|first: char| first.is_ascii_lowercase());
        let is_open = matches!(level, "allow" | "warn");
        (is_lint && is_open && line.starts_with(' ')).then(|| name.replace('-', "_"))
    })
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if NOT_COPIED.iter().any(|left| name == *left) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to.join(name))?;
        } else {
            // Bytes only: files in cargo's cache may be read-only.
            fs::write(to.join(name), fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// Neither tests nor what only they need.
fn leave_the_library(manifest: &mut DocumentMut) {
    for section in LEFT_OUT {
        manifest.remove(section);
    }
    if let Some(targets) = manifest.get_mut("target").and_then(Item::as_table_like_mut) {
        for (_, target) in targets.iter_mut() {
            if let Some(target) = target.as_table_like_mut() {
                target.remove("dev-dependencies");
            }
        }
    }
    super::facade::stand_alone(manifest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_compiler_lists_is_allowed() {
        let told = "\nLint checks provided by rustc:\n\n      name  default  meaning\n      ----  -------  -------\n  \
            unsafe-code  allow  usage of `unsafe`\n  dead-code  warn  what is not used\n  \
            arithmetic-overflow  deny  errors\n\nLint groups:\n  unused  dead-code, unused-imports\n";
        let named: Vec<String> = listed(told).collect();
        assert_eq!(named, ["unsafe_code", "dead_code"]);
    }

    #[test]
    fn of_a_copy_only_the_library_is_left() {
        let mut manifest: DocumentMut = r#"
            [package]
            name = "tokio"
            version = "1.54.1"
            [dependencies.bytes]
            version = "1"
            optional = true
            [dev-dependencies.mockall]
            version = "0.13"
            [[test]]
            name = "fs"
            path = "tests/fs.rs"
            [target."cfg(windows)".dev-dependencies.windows-sys]
            version = "0.61"
            [lints.rust]
            unexpected_cfgs = "warn"
        "#
        .parse()
        .expect("a manifest");
        leave_the_library(&mut manifest);
        assert_eq!(library(&manifest), "src/lib.rs");
        let text = manifest.to_string();
        assert_eq!(
            manifest["dependencies"]["bytes"]["version"].as_str(),
            Some("1")
        );
        assert!(!text.contains("mockall") && !text.contains("[[test]]"));
        assert!(!text.contains("0.61") && !text.contains("unexpected_cfgs"));
    }
}
