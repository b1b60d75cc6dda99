//! The packages whose code runs in the project's tests because of the project, and not because of cct.

use crate::graph::is_ours;
use cargo_metadata::{DependencyKind, Metadata, Node, NodeDep, Package, PackageId, TargetKind};
use std::collections::BTreeSet;

/// In the order of their names. Left out: what only cct brings, what runs at build time.
pub(super) fn of_the_project(metadata: &Metadata) -> Vec<&Package> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<&PackageId> = metadata.workspace_members.iter().collect();
    while let Some(id) = left.pop() {
        let counts = package(metadata, id).is_some_and(|package| !is_left_out(package));
        if counts && reached.insert(id) {
            let dependencies = node(metadata, id).map(|node| &*node.deps).unwrap_or(&[]);
            left.extend(dependencies.iter().filter(runs).map(|dep| &dep.pkg));
        }
    }
    let packages = metadata.packages.iter();
    let mut packages: Vec<_> = packages.filter(|p| reached.contains(&p.id)).collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    packages
}

/// Every tokio that is not ours, with the names of those who depend on it.
pub(super) fn other_tokios(metadata: &Metadata) -> Vec<(&Package, Vec<&str>)> {
    let packages = metadata.packages.iter();
    let others = packages.filter(|package| package.name == "tokio" && !is_ours(package));
    others
        .map(|tokio| (tokio, dependants(metadata, &tokio.id)))
        .collect()
}

fn dependants<'a>(metadata: &'a Metadata, on: &PackageId) -> Vec<&'a str> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let dependants = nodes.filter(|node| node.deps.iter().any(|dep| dep.pkg == *on));
    dependants
        .filter_map(|node| Some(package(metadata, &node.id)?.name.as_str()))
        .collect()
}

fn is_left_out(package: &Package) -> bool {
    let targets = &package.targets;
    is_ours(package) || targets.iter().any(|t| t.is_kind(TargetKind::ProcMacro))
}

fn runs(dependency: &&NodeDep) -> bool {
    let mut kinds = dependency.dep_kinds.iter();
    kinds.any(|kind| kind.kind != DependencyKind::Build)
}

fn package<'a>(metadata: &'a Metadata, id: &PackageId) -> Option<&'a Package> {
    metadata.packages.iter().find(|package| package.id == *id)
}

fn node<'a>(metadata: &'a Metadata, id: &PackageId) -> Option<&'a Node> {
    let nodes = &metadata.resolve.as_ref()?.nodes;
    nodes.iter().find(|node| node.id == *id)
}
