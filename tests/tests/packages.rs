//! The packages that users install: what `cargo xtask dist` makes, put into throw-away homes in each of the ways
//! that docs/install.md describes, and a goal run with it to its audited end.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use goal_tests::{AUDITOR, EXECUTOR, Loading, PiOptions, Registry, Reply, Script, World, install};
use serde_json::{Value, json};

const MAIN: &str = "pi-goal-auditor";
/// The version of everything, from the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const NEXT_VERSION: &str = "99.0.0";

/// What running pi leaves in its agent folder, whatever is installed: sessions, reports of goals (the user's), and
/// what it knows about models and accounts.
const OF_RUNNING: [&str; 4] = ["sessions", "goal-reports", "models-store.json", "auth.json"];

/// The packages of this build, made once.
fn packages() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temp dir");
        install::make_packages(folder.path());
        folder
    });
    made.path()
}

/// The name of this platform, as in the names of packages.
fn platform() -> String {
    let folders = names_in(packages()).into_iter();
    let mut names =
        folders.filter_map(|name| Some(name.strip_prefix("pi-goal-auditor-")?.to_owned()));
    let is_name = |name: &String| !name.contains(VERSION);
    names.find(is_name).expect("a package for this platform")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn archive(name: &str) -> PathBuf {
    packages().join(format!("{name}-{VERSION}.tgz"))
}

fn manifest(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("package.json")).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

/// A world without our extension.
fn clean_home() -> World {
    World::new(PiOptions::new(Script::new()).loading(Loading::None))
}

/// The same, where pi's npm asks `registry` and nobody else.
fn home_at(registry: &Registry) -> World {
    let options = PiOptions::new(Script::new()).loading(Loading::None);
    let world = World::new(options.env("PI_OFFLINE", ""));
    registry.serve(&world);
    world
}

/// Runs one of pi's own commands to its good end.
fn pi(world: &World, arguments: &[&str]) {
    let finished = world.headless(arguments);
    assert_eq!(finished.code, Some(0), "pi {arguments:?}: {finished:?}");
}

/// One goal, worked on and audited by scripted models.
fn a_goal_is_approved(world: &World) {
    let claim = json!({ "status": "complete", "completionSummary": "greeting.txt is there" });
    world.server.set(
        EXECUTOR,
        [
            Reply::call("bash", json!({ "command": "printf hello > greeting.txt" })),
            Reply::call("update_goal", claim),
            Reply::text("Done."),
        ],
    );
    world.server.set(
        AUDITOR,
        [
            Reply::call("bash", json!({ "command": "cat greeting.txt" })),
            Reply::text("It says hello.\n\n<approved/>"),
        ],
    );
    let finished = world.headless(&["-p", "/goal Create greeting.txt that says hello"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(world.session().ended(), Some("approved"));
    world.assert_no_process_left();
}

/// Every file of the agent folder but those that pi leaves by running.
fn kept(world: &World) -> BTreeSet<String> {
    let agent = world.agent_dir();
    let mut found = BTreeSet::new();
    let mut open = vec![agent.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(&agent)
                .expect("below")
                .display()
                .to_string();
            if OF_RUNNING.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(name);
            }
        }
    }
    found
}

/// Nothing in pi's settings names us any more.
fn is_forgotten(world: &World) -> bool {
    let settings = fs::read_to_string(world.agent_dir().join("settings.json")).expect("settings");
    !settings.contains("goal-auditor")
}

/// Packages of ours for other platforms, with nothing that runs.
fn publish_strangers(registry: &Registry, world: &World) {
    let temp = tempfile::tempdir().expect("a temp dir");
    for (name, os, cpu, libc) in [
        ("linux-x64-gnu", "linux", "x64", json!(["glibc"])),
        ("linux-x64-musl", "linux", "x64", json!(["musl"])),
        ("linux-arm64-gnu", "linux", "arm64", json!(["glibc"])),
        ("darwin-x64", "darwin", "x64", Value::Null),
    ] {
        if name == platform() {
            continue;
        }
        let folder = temp.path().join(name);
        let mut manifest = json!({
            "name": format!("{MAIN}-{name}"), "version": VERSION, "os": [os], "cpu": [cpu],
        });
        if !libc.is_null() {
            manifest["libc"] = libc;
        }
        write_manifest(&folder, &manifest);
        registry.publish(world, &folder);
    }
}

fn write_manifest(folder: &Path, manifest: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("package.json"), manifest.to_string()).unwrap();
}

/// Publishes the same packages once more, as [`NEXT_VERSION`].
fn publish_next(registry: &Registry, world: &World) {
    let temp = tempfile::tempdir().expect("a temp dir");
    let own = format!("{MAIN}-{}", platform());
    for name in [&own, MAIN] {
        let (from, to) = (packages().join(name), temp.path().join(name));
        let mut manifest = manifest(&from);
        manifest["version"] = json!(NEXT_VERSION);
        if manifest.get("optionalDependencies").is_some() {
            manifest["optionalDependencies"] = json!({ own.clone(): NEXT_VERSION });
        }
        fs::create_dir_all(&to).unwrap();
        for file in names_in(&from) {
            fs::copy(from.join(&file), to.join(&file)).unwrap();
        }
        write_manifest(&to, &manifest);
        registry.publish(world, &to);
    }
}

#[test]
fn from_npm_the_program_of_this_platform_comes_along_is_updated_and_goes() {
    let registry = Registry::start();
    let world = home_at(&registry);
    let own = format!("{MAIN}-{}", platform());
    registry.publish(&world, &archive(&own));
    publish_strangers(&registry, &world);
    registry.publish(&world, &archive(MAIN));
    let before = kept(&world);

    pi(&world, &["install", "npm:pi-goal-auditor"]);
    let modules = world.agent_dir().join("npm/node_modules");
    let installed = |version: &str| {
        // Neither other platforms' packages nor what pi itself provides.
        let mut names = names_in(&modules);
        names.retain(|name| !name.starts_with('.'));
        assert_eq!(names, BTreeSet::from([MAIN.to_owned(), own.clone()]));
        for name in [MAIN, &own] {
            assert_eq!(manifest(&modules.join(name))["version"], version, "{name}");
        }
    };
    installed(VERSION);
    a_goal_is_approved(&world);
    // The program is where the documentation says that a person finds it.
    let doctor = Command::new(modules.join(".bin/goal-auditor"))
        .arg("--version")
        .output();
    let said = String::from_utf8(doctor.expect("it starts").stdout).unwrap();
    assert_eq!(said.trim(), format!("goal-auditor {VERSION}"));

    publish_next(&registry, &world);
    pi(&world, &["update", "--extensions"]);
    installed(NEXT_VERSION);
    a_goal_is_approved(&world);

    pi(&world, &["remove", "npm:pi-goal-auditor"]);
    assert!(is_forgotten(&world));
    // pi keeps the folder that its npm works in; nothing in it is of us.
    let left: Vec<_> = kept(&world).difference(&before).cloned().collect();
    let of_pi = [
        "npm/.gitignore",
        "npm/node_modules/.package-lock.json",
        "npm/package-lock.json",
        "npm/package.json",
    ];
    assert_eq!(left, of_pi);
    for file in of_pi {
        let text = fs::read_to_string(world.agent_dir().join(file)).unwrap();
        assert!(!text.contains("goal-auditor"), "{file}: {text}");
    }
    let asked = registry.log();
    assert!(!asked.contains("earendil"), "pi provides itself: {asked}");
}

#[test]
fn without_the_package_of_this_platform_the_user_is_told_its_name() {
    let registry = Registry::start();
    let world = home_at(&registry);
    registry.publish(&world, &archive(MAIN));
    pi(&world, &["install", "npm:pi-goal-auditor"]);
    let finished = world.headless(&["-p", "/goal Create greeting.txt that says hello"]);
    assert_eq!(finished.code, Some(2), "{finished:?}");
    let needed = format!("{MAIN}-{}, is not installed", platform());
    assert!(finished.stderr.contains(&needed), "{finished:?}");
}

#[test]
fn a_folder_that_pi_is_told_of_runs_goals_from_where_it_is() {
    let world = clean_home();
    let before = kept(&world);
    let folder = packages().join(format!("goal-auditor-{}", platform()));
    let (files, folder) = (names_in(&folder), folder.display().to_string());
    pi(&world, &["install", &folder]);
    a_goal_is_approved(&world);
    pi(&world, &["remove", &folder]);
    assert!(is_forgotten(&world));
    assert_eq!(kept(&world), before);
    assert_eq!(names_in(Path::new(&folder)), files);
}

#[test]
fn the_archive_unpacked_among_pis_extensions_runs_goals_and_is_gone_when_deleted() {
    let world = clean_home();
    let before = kept(&world);
    let extensions = world.agent_dir().join("extensions");
    fs::create_dir(&extensions).unwrap();
    let packed = archive(&format!("goal-auditor-{}", platform()));
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(packed).arg("-C").arg(&extensions);
    assert!(tar.status().expect("tar starts").success());
    a_goal_is_approved(&world);
    fs::remove_dir_all(extensions.join("goal-auditor")).unwrap();
    assert_eq!(kept(&world), before);
    assert!(is_forgotten(&world));
}

#[test]
fn the_packages_are_the_same_whenever_they_are_made() {
    let again = tempfile::tempdir().unwrap();
    install::make_packages(again.path());
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(again.path()), sums(packages()));
    assert_eq!(sums(packages()).lines().count(), 4);
}

#[test]
fn every_part_has_the_version_of_the_workspace_and_none_a_script() {
    let manifests = [MAIN.to_owned(), format!("{MAIN}-{}", platform())]
        .map(|name| manifest(&packages().join(name)));
    for manifest in &manifests {
        assert_eq!(manifest["version"], VERSION);
        assert_eq!(manifest.get("scripts"), None);
        assert_eq!(manifest.get("private"), None);
    }
    let wanted = manifests[0]["optionalDependencies"].as_object().unwrap();
    assert!(
        wanted.values().all(|version| version == VERSION),
        "{wanted:?}"
    );
    assert!(wanted.contains_key(manifests[1]["name"].as_str().unwrap()));

    let root = install::root();
    let extension = root.join("crates/host-pi/extension");
    assert_eq!(manifest(&extension)["version"], VERSION);
    let shim = fs::read_to_string(extension.join("core.ts")).unwrap();
    assert!(shim.contains(&format!("SHIM_VERSION = \"{VERSION}\"")));
    let changes = fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    assert!(changes.contains(&format!("\n## {VERSION} ")));
}
