//! Tokio in the graph of packages: which one it is, and who keeps ours out.

use crate::patch::{self, Locked, VERSION};
use anyhow::{Result, bail};
use cargo_metadata::{Dependency, DependencyKind, Metadata, Node, Package, PackageId};
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The tokio 1 of the project, which is to be replaced.
pub(crate) fn real_tokio(metadata: &Metadata) -> Result<Locked> {
    let all = tokios(metadata);
    let Some(tokio) = all.iter().find(|tokio| tokio.version.major == 1) else {
        match all.first() {
            Some(old) => bail!(
                "nothing to do: this project uses tokio {}, and cct stands in for tokio 1 only: update tokio first",
                old.version
            ),
            None => bail!(
                "nothing to do: no package of this project depends on tokio (with these features, on this system)"
            ),
        }
    };
    locked(tokio).ok_or_else(|| not_from_the_registry(tokio))
}

/// What the project has locked of the packages for which there are mends. What only tokio asks for, nobody does
/// once ours is in its place, and cargo warns of a patch that nobody uses.
pub(crate) fn with_mends(metadata: &Metadata) -> Vec<Locked> {
    let used = used_without_tokio(metadata);
    let packages = metadata.packages.iter();
    let some = packages.filter(|package| {
        used.contains(&package.id) && patch::with_mends().any(|name| name == package.name)
    });
    let mut some: Vec<Locked> = some.filter_map(locked).collect();
    // In an order that is always the same, as the folder says it: of two versions the newer one comes first.
    some.sort_by(|a, b| (&a.name, &b.version).cmp(&(&b.name, &a.version)));
    some
}

/// What the project's own packages depend on, and so on, tokio left out.
fn used_without_tokio(metadata: &Metadata) -> BTreeSet<&PackageId> {
    let tokios: Vec<&PackageId> = tokios(metadata).iter().map(|tokio| &tokio.id).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<&PackageId, &Node> = nodes.map(|node| (&node.id, node)).collect();
    let mut used: BTreeSet<&PackageId> = metadata.workspace_members.iter().collect();
    let mut left: Vec<&PackageId> = used.iter().copied().collect();
    while let Some(id) = left.pop() {
        let node = nodes.get(id).filter(|_| !tokios.contains(&id));
        for dependency in node.iter().flat_map(|node| &node.dependencies) {
            if used.insert(dependency) {
                left.push(dependency);
            }
        }
    }
    used
}

/// A package of crates.io.
fn locked(package: &Package) -> Option<Locked> {
    let source = package.source.as_ref()?;
    let folder = package.manifest_path.parent()?;
    source.is_crates_io().then(|| Locked {
        name: package.name.clone(),
        version: package.version.clone(),
        folder: folder.into(),
    })
}

fn not_from_the_registry(tokio: &Package) -> anyhow::Error {
    let folder = tokio.manifest_path.parent().unwrap_or("".into());
    match &tokio.source {
        None => anyhow::anyhow!(
            "this project has a tokio of its own, in `{folder}`, which cct would have to replace"
        ),
        Some(source) => anyhow::anyhow!(
            "tokio {} comes from `{source}`, and cct stands in for that of crates.io only: \
             use a release from there, or remove the `[patch]`",
            tokio.version
        ),
    }
}

/// Whether ours is the only tokio 1. Cargo takes the real one silently where ours does not fit.
pub(crate) fn only_ours(metadata: &Metadata) -> bool {
    let mut ones = tokios(metadata)
        .into_iter()
        .filter(|tokio| tokio.version.major == 1);
    ones.all(is_ours)
}

/// The package that stands in for tokio.
pub(crate) fn is_ours(package: &Package) -> bool {
    package.name == "tokio" && package.source.is_none() && package.version.to_string() == VERSION
}

fn tokios(metadata: &Metadata) -> Vec<&Package> {
    let packages = metadata.packages.iter();
    packages.filter(|package| package.name == "tokio").collect()
}

/// Who asks for what ours is not, a line each; empty if nobody does.
pub(crate) fn obstacles(metadata: &Metadata, patched: &Path) -> String {
    let ours: Version = VERSION.parse().expect("a version");
    let features = features_of(patched);
    let mut lines = String::new();
    for package in &metadata.packages {
        for dependency in tokio_dependencies(package, metadata) {
            let Package { name, version, .. } = package;
            if !dependency.req.matches(&ours) {
                let _ = write!(
                    lines,
                    "\n  {name} {version} asks for tokio `{}`, which {VERSION} is not: ask for `1` instead, or \
                     update {name}",
                    dependency.req
                );
            }
            for feature in &dependency.features {
                if !features.contains(feature) {
                    let _ = write!(
                        lines,
                        "\n  {name} {version} asks for tokio's feature `{feature}`, which cct does not know"
                    );
                }
            }
        }
    }
    lines
}

/// Dependencies on tokio 1 that count: those for tests of packages that are the user's own.
fn tokio_dependencies<'a>(
    package: &'a Package,
    metadata: &'a Metadata,
) -> impl Iterator<Item = &'a Dependency> {
    let own = metadata.workspace_members.contains(&package.id);
    let dependencies = package.dependencies.iter();
    dependencies.filter(move |dependency| {
        let counts = own || dependency.kind != DependencyKind::Development;
        let one = dependency.req.comparators.iter().all(|c| c.major == 1);
        dependency.name == "tokio" && counts && one
    })
}

fn features_of(patched: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(patched.join("Cargo.toml")).unwrap_or_default();
    let manifest: toml_edit::DocumentMut = text.parse().unwrap_or_default();
    let features = manifest
        .get("features")
        .and_then(toml_edit::Item::as_table_like);
    features.map_or_else(Vec::new, |features| {
        features.iter().map(|(name, _)| name.to_owned()).collect()
    })
}
