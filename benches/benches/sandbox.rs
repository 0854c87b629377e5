//! What the sandbox costs: a fingerprint of 50,000 files, and a sealed command beside the same one
//! unsealed.
//!
//! The sealed ones run the binary `target/release/goal-auditor` (or what `GOAL_AUDITOR_BIN` names):
//! `cargo build --release -p goal-auditor && cargo bench -p goal-benches --bench sandbox`.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use goal_sandbox::fingerprint::{Content, Summary, take, take_after};
use tempfile::TempDir;

const FILES: usize = 50_000;
const FILES_IN_A_FOLDER: usize = 50;
/// Small, as sources are.
const FILE: &[u8] = &[b'x'; 2_000];

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..FILES {
        let place = folder
            .path()
            .join(format!("src/{}", number / FILES_IN_A_FOLDER));
        if number % FILES_IN_A_FOLDER == 0 {
            fs::create_dir_all(&place).unwrap();
        }
        fs::write(place.join(format!("file{number}.rs")), FILE).unwrap();
    }
    let git = Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder.path())
        .status();
    assert!(git.unwrap().success());
    folder
}

fn fingerprints(criterion: &mut Criterion) {
    let tree = tree();
    let mut group = criterion.benchmark_group("fingerprint of 50,000 files, warm");
    group.sample_size(10);
    group.bench_function("metadata", |bench| {
        bench.iter(|| take(tree.path(), Content::None).unwrap());
    });
    group.bench_function("before an audit", |bench| {
        bench.iter(|| take(tree.path(), Content::Recent).unwrap());
    });
    let before = take(tree.path(), Content::Recent).unwrap();
    group.bench_function("after an audit", |bench| {
        bench.iter(|| take_after(&before).unwrap());
    });
    group.bench_function("for a record", |bench| {
        bench.iter(|| Summary::of(&take(tree.path(), Content::All).unwrap()));
    });
    group.finish();
}

fn program() -> PathBuf {
    std::env::var_os("GOAL_AUDITOR_BIN").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/goal-auditor"),
        PathBuf::from,
    )
}

fn commands(criterion: &mut Criterion) {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let workspace = folder.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    let mut seal = Command::new(&program)
        .args(["audit-seal", "--workspace"])
        .arg(&workspace)
        .arg("--socket")
        .arg(&socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(seal.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");

    let run = |command: &mut Command| {
        let command = command
            .current_dir(&workspace)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    };
    let mut group = criterion.benchmark_group("a command");
    group.bench_function("unsealed", |bench| {
        bench.iter(|| run(Command::new("/bin/sh").args(["-c", ":"])));
    });
    group.bench_function("in a seal that is held", |bench| {
        bench.iter(|| {
            let mut command = Command::new(&program);
            command.args(["audit-exec", "--join"]).arg(&socket);
            run(command.args(["--", "/bin/sh", "-c", ":"]));
        });
    });
    group.bench_function("in a seal of its own", |bench| {
        bench.iter(|| {
            let mut command = Command::new(&program);
            command.args(["audit-exec", "--workspace", "."]);
            run(command.args(["--", "/bin/sh", "-c", ":"]));
        });
    });
    group.finish();
    drop(seal.stdin.take());
    assert!(seal.wait().unwrap().success());
}

criterion_group!(benches, fingerprints, commands);
criterion_main!(benches);
