//! `install`: the extension and its binary, swapped into pi's extensions as one folder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::agent_dir::{self, AgentDir};
use crate::project;

/// Runs the task.
pub(crate) fn run(agent_dir: Option<PathBuf>, binary: Option<PathBuf>) -> Result<()> {
    let agent = AgentDir::find(agent_dir)?;
    let binary = match binary {
        Some(binary) => binary,
        None => project::build_release()?,
    };
    let replaced = install(&agent, &project::extension_folder(), &binary)?;
    report(&agent, replaced);
    Ok(())
}

/// Installs what is in `sources` and `binary`; says whether it replaced an older one.
fn install(agent: &AgentDir, sources: &Path, binary: &Path) -> Result<bool> {
    if !sources.join("index.ts").is_file() {
        bail!("{} has no index.ts", sources.display());
    }
    let scratch = agent.scratch()?;
    let replaced = fill(&scratch.join("new"), sources, binary).and_then(|()| swap(agent, &scratch));
    // What is left in it is garbage, whether the swap worked or not.
    let _ = fs::remove_dir_all(&scratch);
    replaced
}

/// Puts the new folder together, aside.
fn fill(fresh: &Path, sources: &Path, binary: &Path) -> Result<()> {
    copy_sources(sources, fresh)?;
    let name = binary.file_name().context("the binary has no name")?;
    fs::copy(binary, fresh.join(name))
        .with_context(|| format!("cannot copy {}", binary.display()))?;
    Ok(())
}

/// Swaps the new folder in by renames: no pi ever sees half of it, and the running sidecar of a
/// running pi keeps the inode of the old binary.
fn swap(agent: &AgentDir, scratch: &Path) -> Result<bool> {
    let place = agent.extension();
    let replaced = agent_dir::move_away(&place, scratch)?;
    if let Err(error) = fs::rename(scratch.join("new"), &place) {
        if replaced {
            fs::rename(scratch.join("old"), &place).context("cannot put the old one back")?;
        }
        return Err(error).with_context(|| format!("cannot create {}", place.display()));
    }
    Ok(replaced)
}

fn report(agent: &AgentDir, replaced: bool) {
    let verb = if replaced { "replaced" } else { "installed" };
    println!("{verb}: {}", agent.extension().display());
    println!("settings, if you want any: {}", agent.settings().display());
    println!("a running pi takes it up with /reload, every other one at its start");
    println!("to undo: cargo xtask uninstall");
}

/// Copies what pi loads; tests, compiler settings and hidden files stay behind.
fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if stays_behind(&name) {
            continue;
        }
        if path.is_dir() {
            copy_sources(&path, &to.join(&name))?;
        } else {
            fs::copy(&path, to.join(&name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

fn stays_behind(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.')
        || name.ends_with(".test.ts")
        || matches!(&*name, "node_modules" | "tsconfig.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is gone at the end of the test.
    struct Temp(PathBuf);

    impl Temp {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
            fs::create_dir_all(folder.join("sources/lib")).unwrap();
            Self(folder)
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.0.join(path), text).unwrap();
        }

        fn install(&self) -> bool {
            let agent = self.agent();
            install(
                &agent,
                &self.0.join("sources"),
                &self.0.join("goal-auditor"),
            )
            .unwrap()
        }

        fn agent(&self) -> AgentDir {
            AgentDir::find(Some(self.0.join("agent"))).unwrap()
        }

        fn installed(&self, path: &str) -> Option<String> {
            fs::read_to_string(self.agent().extension().join(path)).ok()
        }

        /// What is in the agent folder besides the extensions.
        fn leftovers(&self) -> usize {
            fs::read_dir(self.0.join("agent")).unwrap().count() - 1
        }
    }

    impl Drop for Temp {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_second_install_replaces_the_whole_folder_and_leaves_nothing_behind() {
        let temp = Temp::new("replace");
        temp.write("goal-auditor", "binary 1");
        temp.write("sources/index.ts", "shim 1");
        temp.write("sources/lib/a.ts", "a");
        temp.write("sources/lib/a.test.ts", "not for users");
        assert!(!temp.install());
        assert_eq!(temp.installed("lib/a.ts").as_deref(), Some("a"));
        assert_eq!(temp.installed("lib/a.test.ts"), None);

        temp.write("goal-auditor", "binary 2");
        fs::remove_file(temp.0.join("sources/lib/a.ts")).unwrap();
        assert!(temp.install());
        assert_eq!(temp.installed("goal-auditor").as_deref(), Some("binary 2"));
        assert_eq!(temp.installed("lib/a.ts"), None);
        assert_eq!(temp.leftovers(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_sources_is_replaced_and_the_sources_stay() {
        let temp = Temp::new("link");
        temp.write("goal-auditor", "binary");
        temp.write("sources/index.ts", "shim");
        fs::create_dir_all(temp.0.join("agent/extensions")).unwrap();
        std::os::unix::fs::symlink(temp.0.join("sources"), temp.agent().extension()).unwrap();
        assert!(temp.install());
        assert!(
            temp.agent()
                .extension()
                .symlink_metadata()
                .unwrap()
                .is_dir()
        );
        assert!(temp.0.join("sources/index.ts").exists());
    }

    #[test]
    fn sources_without_an_entry_change_nothing() {
        let temp = Temp::new("empty");
        temp.write("goal-auditor", "binary");
        let refused = install(
            &temp.agent(),
            &temp.0.join("sources"),
            &temp.0.join("goal-auditor"),
        );
        assert!(refused.unwrap_err().to_string().contains("no index.ts"));
        assert!(!temp.0.join("agent").exists());
    }
}
