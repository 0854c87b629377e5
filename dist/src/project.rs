//! What cargo knows about this project: its version, and what its binary is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, Package, PackageId};

use crate::platform::Platform;

/// The project, as it is for one platform.
pub(crate) struct Project {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// The folder that cargo builds into.
    pub(crate) target: PathBuf,
    /// The one version of everything.
    pub(crate) version: String,
    /// What is in the binary: every package that it needs to run, and those that write code for it
    /// (procedural macros). Sorted by name.
    pub(crate) parts: Vec<Part>,
}

/// A Rust package that is in the binary.
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its licence as it states it.
    pub(crate) licence: String,
    /// Who wrote it, if it says so.
    pub(crate) authors: Vec<String>,
    /// Where its source is kept, if it says so.
    pub(crate) repository: Option<String>,
    /// The folder of its source.
    pub(crate) folder: PathBuf,
    /// Other people's.
    pub(crate) foreign: bool,
    /// What it needs, by [`Part::key`].
    pub(crate) needs: Vec<String>,
}

impl Part {
    /// Its name among all parts, in the form of a package URL.
    pub(crate) fn key(&self) -> String {
        key(&self.name, &self.version)
    }
}

impl Project {
    /// Asks cargo.
    pub(crate) fn read(root: &Path, platform: &Platform) -> Result<Self> {
        let metadata = MetadataCommand::new()
            .cargo_path(cargo())
            .current_dir(root)
            .other_options(["--locked", "--filter-platform", platform.triple].map(str::to_owned))
            .exec()
            .context("cargo metadata")?;
        let main = main_package(&metadata)?;
        Ok(Self {
            root: root.to_owned(),
            target: metadata.target_directory.clone().into(),
            version: main.version.to_string(),
            parts: parts(&metadata, &main.id)?,
        })
    }

    /// The parts that others wrote.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.foreign)
    }

    /// The folders that hold the sources of other people's packages.
    pub(crate) fn source_folders(&self) -> BTreeSet<PathBuf> {
        self.foreign()
            .filter_map(|part| part.folder.parent())
            .map(Path::to_owned)
            .collect()
    }
}

/// The cargo that runs us.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn main_package(metadata: &Metadata) -> Result<&Package> {
    metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == crate::BINARY_PACKAGE)
        .with_context(|| format!("the workspace has no {}", crate::BINARY_PACKAGE))
}

/// Follows what is needed at run time from `main` on.
fn parts(metadata: &Metadata, main: &PackageId) -> Result<Vec<Part>> {
    let resolve = metadata
        .resolve
        .as_ref()
        .context("cargo resolved nothing")?;
    let nodes: BTreeMap<&PackageId, &Node> =
        resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut found = BTreeMap::new();
    let mut open = vec![main];
    while let Some(id) = open.pop() {
        if found.contains_key(id) {
            continue;
        }
        let node = nodes.get(id).with_context(|| format!("no node {id}"))?;
        let needs: Vec<_> = needed(node).collect();
        open.extend(&needs);
        found.insert(id, part(&metadata[id], metadata, &needs));
    }
    let mut parts: Vec<_> = found.into_values().collect();
    parts.sort_by_key(|part| (part.name.clone(), part.version.clone()));
    let unnamed = parts.iter().find(|part| part.licence.is_empty());
    ensure!(
        unnamed.is_none(),
        "{} states no licence",
        unnamed.map_or_else(String::new, Part::key)
    );
    Ok(parts)
}

fn needed(node: &Node) -> impl Iterator<Item = &PackageId> {
    let at_run_time = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
    node.deps
        .iter()
        .filter(move |dependency| dependency.dep_kinds.iter().any(at_run_time))
        .map(|dependency| &dependency.pkg)
}

fn part(package: &Package, metadata: &Metadata, needs: &[&PackageId]) -> Part {
    let folder = package.manifest_path.parent();
    let mut needs: Vec<_> = needs
        .iter()
        .map(|id| key(&metadata[id].name, &metadata[id].version.to_string()))
        .collect();
    needs.sort();
    Part {
        name: package.name.to_string(),
        version: package.version.to_string(),
        licence: package.license.clone().unwrap_or_default(),
        authors: package.authors.clone(),
        repository: package.repository.clone(),
        folder: folder.unwrap_or(&package.manifest_path).into(),
        foreign: package.source.is_some(),
        needs,
    }
}

fn key(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}
