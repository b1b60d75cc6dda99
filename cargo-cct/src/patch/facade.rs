//! The manifest of the package named `tokio`, made of that of `cct-tokio`, so that the two cannot drift apart.

use super::copies;
use super::files::read_manifest;
use crate::home::Home;
use anyhow::{Context as _, Result, bail};
use semver::VersionReq;
use std::collections::BTreeSet;
use std::path::Path;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

/// Above whatever anybody asks for, and yet tokio 1.
pub(crate) const VERSION: &str = "1.999.0";

/// How `cct-tokio` calls the real one.
const REAL: &str = "real_tokio";

/// The text of the manifest.
pub(super) fn manifest(home: &Home, features: &BTreeSet<String>) -> Result<String> {
    let facade = home.facade();
    let ours = read_manifest(&facade.join("Cargo.toml"))?;
    let root = read_manifest(&home.root().join("Cargo.toml"))?;
    let source = Source {
        ours: &ours,
        facade: &facade,
        workspace: root.get("workspace").and_then(Item::as_table_like),
        root: home.root(),
    };
    source
        .translate(features)
        .with_context(|| format!("cannot use `{}`", facade.join("Cargo.toml").display()))
}

/// Which versions of the real tokio `cct-tokio` can use.
pub(super) fn needs(home: &Home) -> Result<VersionReq> {
    let manifest = read_manifest(&home.facade().join("Cargo.toml"))?;
    needs_of(&manifest).with_context(|| format!("cannot find `{REAL}` in `cct-tokio`"))
}

fn needs_of(manifest: &DocumentMut) -> Option<VersionReq> {
    let real = as_table(manifest.get("dependencies")?.get(REAL)?)?;
    real.get("version")?.as_str()?.parse().ok()
}

/// Makes the package nobody's member, and has it keep its warnings to itself: both are cargo's ways with packages
/// that lie in the folder of a workspace.
pub(super) fn stand_alone(manifest: &mut DocumentMut) {
    manifest.insert("workspace", Item::Table(Table::new()));
    let mut lints = Table::new();
    lints.insert("rust", Item::Table(Table::new()));
    lints["rust"]["warnings"] = value("allow");
    manifest.insert("lints", Item::Table(lints));
}

/// What is translated.
struct Source<'a> {
    ours: &'a DocumentMut,
    facade: &'a Path,
    workspace: Option<&'a dyn TableLike>,
    root: &'a Path,
}

impl Source<'_> {
    fn translate(&self, features: &BTreeSet<String>) -> Result<String> {
        let mut manifest = DocumentMut::new();
        for section in ["package", "lib"] {
            manifest.insert(section, Item::Table(Table::new()));
        }
        manifest["package"]["name"] = value("tokio");
        manifest["package"]["version"] = value(VERSION);
        manifest["package"]["edition"] = value(self.edition()?);
        manifest["package"]["publish"] = value(false);
        manifest["lib"]["path"] = value(absolute(self.facade, "src/lib.rs"));
        manifest["lib"]["doctest"] = value(false);
        manifest["lib"]["test"] = value(false);
        manifest["features"] = self.features(features);
        manifest["dependencies"] = self.dependencies(self.ours.get("dependencies"))?;
        let targets = self.ours.get("target").and_then(Item::as_table_like);
        for (condition, target) in targets.iter().flat_map(|targets| targets.iter()) {
            let dependencies = self.dependencies(target.get("dependencies"))?;
            manifest["target"][condition]["dependencies"] = dependencies;
        }
        stand_alone(&mut manifest);
        Ok(manifest.to_string())
    }

    fn edition(&self) -> Result<String> {
        let edition = &self.ours["package"]["edition"];
        let inherited = || {
            let package = self.workspace?.get("package")?;
            package.get("edition")?.as_str()
        };
        let edition = edition.as_str().or_else(inherited);
        edition
            .map(str::to_owned)
            .context("it does not say its edition")
    }

    /// All names; what `cct-tokio` has of its own means what it means there.
    fn features(&self, names: &BTreeSet<String>) -> Item {
        let mut features = Table::new();
        for name in names {
            features[name] = value(Array::new());
        }
        let own = self.ours.get("features").and_then(Item::as_table_like);
        for (name, item) in own.iter().flat_map(|own| own.iter()) {
            features[name] = item.clone();
        }
        Item::Table(features)
    }

    fn dependencies(&self, from: Option<&Item>) -> Result<Item> {
        let mut table = Table::new();
        let from = from.and_then(Item::as_table_like);
        for (name, item) in from.iter().flat_map(|from| from.iter()) {
            let dependency = self
                .dependency(name, item)
                .with_context(|| format!("dependency `{name}`"))?;
            table[name] = value(dependency);
        }
        Ok(Item::Table(table))
    }

    fn dependency(&self, name: &str, item: &Item) -> Result<InlineTable> {
        let mut own = as_table(item).context("is neither a version nor a table")?;
        if name == REAL {
            own.remove("version");
            own.insert("package", copies::REAL_TOKIO.into());
            own.insert("path", "../real-tokio".into());
            return Ok(own);
        }
        if own.remove("workspace").is_none() {
            make_absolute(&mut own, self.facade);
            return Ok(own);
        }
        let inherited = self.workspace.and_then(|workspace| {
            let dependencies = workspace.get("dependencies")?;
            as_table(dependencies.get(name)?)
        });
        let Some(mut inherited) = inherited else {
            bail!("is not in `[workspace.dependencies]` of the checkout");
        };
        make_absolute(&mut inherited, self.root);
        add(&mut inherited, own);
        Ok(inherited)
    }
}

/// What a member says beside `workspace = true`: features come on top, the rest is its own.
fn add(inherited: &mut InlineTable, own: InlineTable) {
    for (key, mut said) in own {
        if let ("features", Some(features)) = (key.as_str(), inherited.get("features")) {
            let mut all = features.as_array().cloned().unwrap_or_default();
            all.extend(said.as_array().into_iter().flatten().cloned());
            said = Value::Array(all);
        }
        inherited.insert(key, said);
    }
}

/// `"1"`, `{ version = "1" }` and a table are the same.
fn as_table(item: &Item) -> Option<InlineTable> {
    if let Some(version) = item.as_str() {
        return Some([("version", version)].into_iter().collect());
    }
    let table = item.as_table_like()?;
    let values = table.iter().filter_map(|(key, item)| {
        let value = item.as_value()?.clone();
        Some((key.to_owned(), value))
    });
    Some(values.collect())
}

fn make_absolute(dependency: &mut InlineTable, base: &Path) {
    let path = dependency.get("path").and_then(Value::as_str);
    if let Some(path) = path.map(|path| absolute(base, path)) {
        dependency.insert("path", path.into());
    }
}

fn absolute(base: &Path, path: &str) -> String {
    base.join(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = r#"
        [workspace.package]
        edition = "2024"
        [workspace.dependencies]
        cct-net = { path = "cct-net", version = "0.1.0" }
        libc = "0.2"
        rand = { version = "0.10", default-features = false, features = ["std"] }
    "#;
    const OURS: &str = r#"
        [package]
        name = "cct-tokio"
        edition.workspace = true
        [features]
        extra = ["bytes/serde"]
        [dependencies]
        bytes = "1"
        cct-net.workspace = true
        near = { path = "../near" }
        rand = { workspace = true, features = ["alloc"] }
        real_tokio = { package = "tokio", version = "1", default-features = false, features = ["io-util"] }
        [target.'cfg(unix)'.dependencies]
        libc.workspace = true
        [dev-dependencies]
        rstest = "0.26"
        [lints]
        workspace = true
    "#;

    fn translated(ours: &str) -> Result<DocumentMut> {
        let (ours, root): (DocumentMut, DocumentMut) = (ours.parse()?, ROOT.parse()?);
        let source = Source {
            ours: &ours,
            facade: Path::new("/cct/cct-tokio"),
            workspace: root.get("workspace").and_then(Item::as_table_like),
            root: Path::new("/cct"),
        };
        let features = ["net", "sync"].map(str::to_owned).into();
        Ok(source.translate(&features)?.parse()?)
    }

    #[test]
    fn a_manifest_is_translated() {
        let made = translated(OURS).expect("a manifest");
        let expected: DocumentMut = r#"[package]
name = "tokio"
version = "1.999.0"
edition = "2024"
publish = false

[lib]
path = "/cct/cct-tokio/src/lib.rs"
doctest = false
test = false

[features]
net = []
sync = []
extra = ["bytes/serde"]

[dependencies]
bytes = { version = "1" }
cct-net = { path = "/cct/cct-net", version = "0.1.0" }
near = { path = "/cct/cct-tokio/../near" }
rand = { version = "0.10", default-features = false, features = ["std", "alloc"] }
real_tokio = { package = "cct-real-tokio", default-features = false, features = ["io-util"], path = "../real-tokio" }

[target.'cfg(unix)'.dependencies]
libc = { version = "0.2" }

[workspace]

[lints.rust]
warnings = "allow"
"#
        .parse()
        .expect("the expected one");
        assert_eq!(plain(&made), plain(&expected), "{made}");
    }

    /// Without what toml lets one write in several ways.
    fn plain(manifest: &DocumentMut) -> String {
        fn add(path: &str, item: &Item, lines: &mut Vec<String>) {
            match item.as_table_like() {
                Some(table) => table
                    .iter()
                    .for_each(|(key, item)| add(&format!("{path}.{key}"), item, lines)),
                None => lines.push(format!(
                    "{path}={}",
                    item.to_string().replace(char::is_whitespace, "")
                )),
            }
        }
        let mut lines = Vec::new();
        add("", manifest.as_item(), &mut lines);
        lines.sort();
        lines.join("\n")
    }

    #[test]
    fn the_oldest_tokio_of_use_is_known() {
        let needs = needs_of(&OURS.parse().expect("a manifest"));
        assert_eq!(needs, "1".parse().ok());
    }

    #[test]
    fn what_is_not_inherited_is_said() {
        let error = translated(&OURS.replace("bytes = \"1\"", "bites.workspace = true"))
            .expect_err("no such dependency");
        let text = format!("{error:#}");
        assert!(text.contains("dependency `bites`: is not in"), "{text}");
    }
}
