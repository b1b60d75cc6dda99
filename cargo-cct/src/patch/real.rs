//! The copy of the real tokio, under another name.
//!
//! A package cannot depend on the very package that it is a patch of, so the copy has a name of its own. Its
//! library is still called `tokio`, so that its own paths hold.

use super::{read_manifest, write_if_changed};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, value};

/// The copy's name, which its types show in messages of the compiler only.
pub(super) const NAME: &str = "cct-real-tokio";

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

/// Copies the package, once: sources from cargo's cache never change.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)
            .with_context(|| format!("cannot remove the old copy `{}`", to.display()))?;
    }
    copy_folder(from, to).with_context(|| {
        format!(
            "cannot copy tokio from `{}` to `{}`",
            from.display(),
            to.display()
        )
    })?;
    let mut manifest = read_manifest(&from.join("Cargo.toml"))?;
    rename(&mut manifest);
    write_if_changed(&to.join("Cargo.toml"), &manifest.to_string())
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

/// A name of its own, and the library alone.
fn rename(manifest: &mut DocumentMut) {
    manifest["package"]["name"] = value(NAME);
    manifest["lib"].or_insert(Item::Table(Table::new()));
    manifest["lib"]["name"] = value("tokio");
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
    fn a_copy_has_another_name_and_a_library_only() {
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
        rename(&mut manifest);
        let text = manifest.to_string();
        assert!(text.contains("name = \"cct-real-tokio\""), "{text}");
        assert_eq!(manifest["lib"]["name"].as_str(), Some("tokio"));
        assert_eq!(
            manifest["dependencies"]["bytes"]["version"].as_str(),
            Some("1")
        );
        assert!(!text.contains("mockall") && !text.contains("[[test]]"));
        assert!(!text.contains("0.61") && !text.contains("unexpected_cfgs"));
    }
}
