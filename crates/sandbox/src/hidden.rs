//! Which paths no auditor may read: credentials. One list, for the seal and for the served tools.

use std::path::{Path, PathBuf};

/// Hidden in the home folder.
pub const HIDDEN_IN_HOME: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".kube",
    ".gnupg",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".docker/config.json",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".local/share/keyrings",
    ".password-store",
];

/// Hidden in pi's agent folder: its logins, and providers with their keys.
pub const HIDDEN_IN_AGENT_DIR: &[&str] = &["auth.json", "models.json"];

/// All paths to hide: the lists above and the user's own. A leading `~/` of those is the home; other
/// relative ones are relative to the workspace.
#[must_use]
pub fn hidden_paths(
    home: Option<&Path>,
    agent_dir: Option<&Path>,
    workspace: &Path,
    more: &[PathBuf],
) -> Vec<PathBuf> {
    let in_home = home.into_iter().flat_map(|home| {
        let agent = Path::new(".pi/agent");
        let names = HIDDEN_IN_HOME.iter().map(move |name| home.join(name));
        let logins = HIDDEN_IN_AGENT_DIR.iter();
        names.chain(logins.map(move |name| home.join(agent).join(name)))
    });
    let in_agent_dir = agent_dir
        .into_iter()
        .flat_map(|dir| HIDDEN_IN_AGENT_DIR.iter().map(move |name| dir.join(name)));
    let own = more
        .iter()
        .map(|path| match (path.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => workspace.join(path),
        });
    let mut paths: Vec<PathBuf> = in_home.chain(in_agent_dir).chain(own).collect();
    paths.sort();
    paths.dedup();
    paths
}
