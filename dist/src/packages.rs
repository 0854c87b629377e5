//! The folders that are packed: two npm packages, and one folder that needs no npm.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::platform::{self, Platform};
use crate::project::Project;
use crate::{archive, bom, licences};

/// The folder of the extension's source.
const EXTENSION: &str = "crates/host-pi/extension";
/// The name of the bill of materials in a package.
const BILL: &str = "sbom.cdx.json";

/// What the packages are made of, and where they go.
pub(crate) struct Plan<'a> {
    /// The project.
    pub(crate) project: &'a Project,
    /// The platform of the binary.
    pub(crate) platform: &'a Platform,
    /// The binary.
    pub(crate) binary: &'a Path,
    /// Where folders and archives go.
    pub(crate) out: &'a Path,
    /// The address of the repository, for the registry.
    pub(crate) repository: Option<&'a str>,
}

impl Plan<'_> {
    /// Makes everything; says which archives.
    pub(crate) fn make(&self) -> Result<Vec<PathBuf>> {
        let bill = bom::bill(self.project, self.platform, self.binary)?;
        let third_party = licences::third_party(self.project, self.platform)?;
        let with_binary = |folder: &Path| {
            self.copy(self.binary, &folder.join(self.platform.binary()))?;
            put(&folder.join(BILL), &bill)?;
            put(&folder.join(licences::FILE), third_party.as_bytes())
        };

        let main = self.fresh(crate::MAIN_PACKAGE)?;
        self.shim(&main)?;
        self.manifest(&main, self.main_manifest()?)?;

        let own = self.fresh(&self.platform.package())?;
        with_binary(&own)?;
        self.licence(&own)?;
        put(&own.join("README.md"), self.platform_readme().as_bytes())?;
        self.manifest(&own, self.platform_manifest())?;

        let alone = self.fresh(&self.alone())?;
        self.shim(&alone)?;
        with_binary(&alone)?;
        self.manifest(&alone, self.shim_manifest()?)?;

        let bill_beside = self.named(&self.platform.package(), "cdx.json");
        put(&bill_beside, &bill)?;
        Ok(vec![
            self.pack(&main, "package")?,
            self.pack(&own, "package")?,
            self.pack(&alone, crate::BINARY_PACKAGE)?,
            bill_beside,
        ])
    }

    /// The folder with everything in it.
    fn alone(&self) -> String {
        format!("{}-{}", crate::BINARY_PACKAGE, self.platform.name)
    }

    fn fresh(&self, name: &str) -> Result<PathBuf> {
        let folder = self.out.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// What pi loads, and what a person reads about it.
    fn shim(&self, folder: &Path) -> Result<()> {
        let sources = self.project.root.join(EXTENSION);
        let entries = fs::read_dir(&sources).with_context(|| sources.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".ts") && !name.ends_with(".test.ts") {
                self.copy(&path, &folder.join(&*name))?;
            }
        }
        let root = &self.project.root;
        self.copy(&root.join("dist/npm/README.md"), &folder.join("README.md"))?;
        self.copy(&root.join("CHANGELOG.md"), &folder.join("CHANGELOG.md"))?;
        self.licence(folder)
    }

    fn licence(&self, folder: &Path) -> Result<()> {
        let licence = self.project.root.join("LICENSE");
        self.copy(&licence, &folder.join("LICENSE"))
    }

    fn platform_readme(&self) -> String {
        format!(
            "# {}\n\nThe program of {} for {}. That package brings it along; there is nothing to install here.\n",
            self.platform.package(),
            crate::MAIN_PACKAGE,
            self.platform.name
        )
    }

    /// The manifest of the extension as it is in the source, fit to be published.
    fn shim_manifest(&self) -> Result<Map<String, Value>> {
        let file = self.project.root.join(EXTENSION).join("package.json");
        let text = fs::read(&file).with_context(|| file.display().to_string())?;
        let mut manifest: Map<String, Value> =
            serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
        let version = &self.project.version;
        ensure!(
            manifest.get("version") == Some(&json!(version)),
            "{} has another version than the workspace, {version}",
            file.display()
        );
        manifest.remove("private");
        Ok(manifest)
    }

    fn main_manifest(&self) -> Result<Map<String, Value>> {
        let mut manifest = self.shim_manifest()?;
        let platforms: Map<String, Value> = platform::ALL
            .iter()
            .map(|platform| (platform.package(), json!(self.project.version)))
            .collect();
        manifest.insert("optionalDependencies".to_owned(), platforms.into());
        Ok(manifest)
    }

    fn platform_manifest(&self) -> Map<String, Value> {
        let platform = self.platform;
        let mut manifest = Map::new();
        let mut set = |key: &str, value: Value| manifest.insert(key.to_owned(), value);
        set("name", json!(platform.package()));
        set("version", json!(self.project.version));
        let what = format!(
            "The program of {} for {}",
            crate::MAIN_PACKAGE,
            platform.name
        );
        set("description", json!(what));
        set("license", json!("MIT"));
        set("os", json!([platform.os]));
        set("cpu", json!([platform.cpu]));
        if let Some(libc) = platform.libc {
            set("libc", json!([libc]));
        }
        set("bin", json!({ "goal-auditor": platform.binary() }));
        // Yarn would keep it in an archive, from which nothing can be started.
        set("preferUnplugged", json!(true));
        manifest
    }

    fn manifest(&self, folder: &Path, mut manifest: Map<String, Value>) -> Result<()> {
        if let Some(repository) = self.repository {
            let place = json!({ "type": "git", "url": format!("git+{repository}.git") });
            manifest.insert("repository".to_owned(), place);
        }
        let text = serde_json::to_string_pretty(&manifest)? + "\n";
        put(&folder.join("package.json"), text.as_bytes())
    }

    fn pack(&self, folder: &Path, prefix: &str) -> Result<PathBuf> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let packed = self.named(&name, "tgz");
        archive::pack(folder, prefix, &packed)?;
        Ok(packed)
    }

    /// A file of this version beside the folders.
    fn named(&self, name: &str, ending: &str) -> PathBuf {
        let version = &self.project.version;
        self.out.join(format!("{name}-{version}.{ending}"))
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
        Ok(())
    }
}

fn put(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}
