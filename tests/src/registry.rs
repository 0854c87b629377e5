//! A registry of npm packages on the loopback address, with nothing in it and no way out.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::{World, install, patience, poll};

/// A running registry; gone with all its packages when it is dropped.
pub struct Registry {
    process: Child,
    folder: TempDir,
    address: String,
}

impl Registry {
    /// Starts an empty one and waits until it answers.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temp dir");
        let address = free_address();
        let config = folder.path().join("config.yaml");
        fs::write(&config, CONFIG).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new(install::pi_node())
            .arg(install::registry_cli())
            .args(["--listen", &address, "--config"])
            .arg(&config)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .expect("the pinned Node starts");
        let registry = Self {
            process,
            folder,
            address,
        };
        let answers = || std::net::TcpStream::connect(&registry.address).ok();
        let started = poll(patience(), answers).is_some();
        assert!(started, "the registry does not start: {}", registry.log());
        registry
    }

    /// Makes it the registry of a world's npm, as a user does.
    pub fn serve(&self, world: &World) {
        let settings = format!(
            "registry=http://{0}/\n//{0}/:_authToken=anybody\n",
            self.address
        );
        fs::write(world.home().join(".npmrc"), settings).unwrap();
    }

    /// Publishes an archive or a folder, with the npm of `world`.
    pub fn publish(&self, world: &World, package: &Path) {
        let mut npm = Command::new("npm");
        npm.args(["publish", "--loglevel=error"]).arg(package);
        world.surround(&mut npm);
        let output = npm.output().expect("npm starts");
        assert!(
            output.status.success(),
            "{output:?}\nthe registry says: {}",
            self.log()
        );
    }

    /// What it told so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Anybody may do anything, and what is not here is nowhere.
const CONFIG: &str = r"
storage: ./packages
uplinks: {}
packages:
  '**':
    access: $all
    publish: $all
max_body_size: 100mb
log: { type: stdout, format: pretty, level: http }
";

/// A port that is free now.
fn free_address() -> String {
    let listener =
        TcpListener::bind("127.0.0.1:0").expect("a port of the loopback address is free");
    let address = listener.local_addr().expect("it is bound");
    address.to_string()
}
