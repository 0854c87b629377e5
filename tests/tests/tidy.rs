//! What holds for the repository as a whole: who depends on whom, what no file mentions, and how long a
//! function may be.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of a function, from its name to its closing brace. Nobody is exempt.
const FUNCTION_LINES_MAX: usize = 70;

/// Hosts that an address in a file of ours may name. Reserved names (`example` and the like) are free.
const HOSTS: [&str; 5] = [
    "github.com",
    "nodejs.org",
    "www.npmjs.com",
    "www.w3.org",
    "127.0.0.1",
];

/// The only files with code that the compiler cannot check: system calls that no safe wrapper covers.
const UNCHECKED: [&str; 2] = [
    "crates/sandbox/src/seal/sys.rs",
    "crates/sandbox/src/seal/runner.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a program says, run at the root.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Every committed text file with its text.
fn committed() -> Vec<(String, String)> {
    output("git", &["ls-files", "-z", "--cached"])
        .split_terminator('\0')
        .filter_map(|path| Some((path.to_owned(), fs::read_to_string(root().join(path)).ok()?)))
        .collect()
}

/// The committed Rust files.
fn rust() -> Vec<(String, String)> {
    committed()
        .into_iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .collect()
}

/// Packages of the workspace: their folder, and the packages of the workspace they depend on.
fn packages() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = output(
        &cargo,
        &[
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ],
    );
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let root = metadata["workspace_root"].as_str().expect("a folder");
    let packages = metadata["packages"].as_array().expect("packages");
    let name =
        |package: &serde_json::Value| package["name"].as_str().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = packages.iter().map(name).collect();
    packages
        .iter()
        .map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest
                .parent()
                .and_then(|folder| folder.strip_prefix(root).ok());
            let folder = folder
                .unwrap_or_else(|| Path::new(""))
                .display()
                .to_string()
                .replace('\\', "/");
            let needed = package["dependencies"]
                .as_array()
                .into_iter()
                .flatten()
                .map(name);
            let needed = needed.filter(|needed| names.contains(needed)).collect();
            (name(package), (folder, needed))
        })
        .collect()
}

/// The rows of the table in `docs/architecture.md` whose head is `folder | package | may depend on`.
fn documented() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let text =
        fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("| folder | package | may depend on"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [folder, package, needed] = cells.as_slice() else {
            panic!("a row of three cells: {row}");
        };
        let plain = |cell: &str| cell.trim_matches('`').to_owned();
        let needed = needed
            .split(',')
            .map(str::trim)
            .filter(|cell| *cell != "–")
            .map(plain)
            .collect();
        (plain(package), (plain(folder), needed))
    })
    .collect()
}

#[test]
fn the_dependencies_are_those_that_the_architecture_allows() {
    assert_eq!(
        packages(),
        documented(),
        "left: Cargo.toml, right: docs/architecture.md"
    );
}

#[test]
fn every_package_keeps_the_lints_of_the_workspace() {
    for (package, (folder, _)) in packages() {
        let manifest =
            fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
        // One package may relax the ban on unchecked code, and writes out all lints for it.
        let own = package == "goal-sandbox" && manifest.contains("unsafe_code = \"deny\"");
        let kept = manifest.contains("[lints]\nworkspace = true");
        assert!(kept || own, "{package}");
    }
}

#[test]
fn nothing_is_unchecked_but_the_system_calls_of_the_seal() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    assert!(workspace.contains("unsafe_code = \"forbid\""));
    // Spelled in two halves, so that this file does not find itself.
    let word = concat!("un", "safe");
    let forms = ["{", "fn", "impl", "extern", "trait"].map(|what| format!("{word} {what}"));
    for (path, text) in rust() {
        let found = forms.iter().find(|form| text.contains(form.as_str()));
        assert!(
            found.is_none() || UNCHECKED.contains(&path.as_str()),
            "{path}"
        );
    }
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let traces = [
        concat!("/work/", "main"),
        concat!("/work/", "shared"),
        concat!("shared/", "spec"),
        concat!("shared/", "cases"),
        concat!("/tmp/", "wt-"),
        concat!("/root", "/"),
        concat!("shared ", "folder"),
    ];
    for (path, text) in committed() {
        for trace in traces {
            assert!(!text.contains(trace), "{path} mentions {trace}");
        }
    }
}

#[test]
fn lock_files_name_no_registry_of_ones_own() {
    for (path, text) in committed() {
        if path.ends_with("package-lock.json") {
            assert!(!text.contains("\"resolved\""), "{path}");
        }
        if path.ends_with("Cargo.lock") {
            let sources = text
                .lines()
                .filter_map(|line| line.strip_prefix("source = "));
            for source in sources {
                assert_eq!(
                    source, "\"registry+https://github.com/rust-lang/crates.io-index\"",
                    "{path}"
                );
            }
        }
    }
}

#[test]
fn addresses_lead_to_known_places_only() {
    for (path, text) in committed() {
        // Funding links of other people's packages.
        if path.ends_with("package-lock.json") {
            continue;
        }
        for host in hosts(&text) {
            let known = HOSTS.contains(&host) || is_reserved(host);
            assert!(known, "{path} leads to {host}");
        }
    }
}

/// Hosts of the `http` addresses in a text; one with a user, a placeholder or no dot is a sample.
fn hosts(text: &str) -> impl Iterator<Item = &str> {
    let addresses = text.match_indices("://").filter_map(|(at, mark)| {
        let scheme = text[..at]
            .rsplit(|c: char| !c.is_ascii_alphabetic())
            .next()?;
        matches!(scheme, "http" | "https").then(|| &text[at + mark.len()..])
    });
    addresses.filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-_".contains(c)));
        let (host, after) = rest.split_at(end.unwrap_or(rest.len()));
        let host = host.trim_end_matches('.');
        let sample = after.starts_with(['@', '{'])
            || !host.contains('.')
            || after.contains('@') && after.starts_with(':');
        (!sample).then_some(host)
    })
}

fn is_reserved(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    matches!(last, "example" | "invalid" | "test" | "localhost")
        || ["example.org", "example.com"]
            .iter()
            .any(|domain| host.ends_with(domain))
}

#[test]
fn every_crate_says_at_its_head_what_it_is() {
    for (path, text) in rust() {
        let head = ["/src/lib.rs", "/src/main.rs", "/tests/main.rs"]
            .iter()
            .any(|end| path.ends_with(end));
        let test = path.contains("/tests/")
            && path.matches('/').count()
                == path
                    .find("/tests/")
                    .map_or(0, |at| path[..at].matches('/').count() + 2);
        if head || test {
            assert!(text.starts_with("//! "), "{path}");
        }
    }
}

#[test]
fn no_function_of_the_product_is_longer_than_a_screen() {
    let product = |path: &str| path.contains("src/") && !path.ends_with("tests.rs");
    let mut long = Vec::new();
    for (path, text) in rust().iter().filter(|(path, _)| product(path)) {
        let text = text
            .split("\n#[cfg(test)]\nmod ")
            .next()
            .unwrap_or_default();
        long.extend(
            long_functions(text).map(|(line, lines)| format!("{path}:{line} has {lines} lines")),
        );
    }
    assert_eq!(long, Vec::<String>::new(), "at most {FUNCTION_LINES_MAX}");
}

/// Line and length of the functions that are too long. The formatter puts the closing brace of a
/// function under its first letter.
fn long_functions(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let length = move |at: usize| {
        let first = indent(lines[at]);
        let rest = lines[at..].iter();
        let end = rest
            .clone()
            .position(|line| line.trim_end() == format!("{}}}", " ".repeat(first)));
        is_function(lines[at])
            .then_some(end)
            .flatten()
            .map(|end| (at + 1, end + 1))
    };
    (0..text.lines().count())
        .filter_map(length)
        .filter(|(_, lines)| *lines > FUNCTION_LINES_MAX)
}

fn is_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        word.starts_with("pub") || matches!(*word, "const" | "async" | "extern")
    });
    words.next() == Some("fn")
}

#[test]
fn the_checks_find_what_they_look_for() {
    let long = format!(
        "impl X {{\n    pub(crate) const fn long() {{\n{}    }}\n}}\n",
        "        x();\n".repeat(70)
    );
    assert_eq!(long_functions(&long).collect::<Vec<_>>(), [(2, 72)]);
    let just = format!("fn just() {{\n{}}}\n", "    x();\n".repeat(68));
    assert_eq!(long_functions(&just).count(), 0);
    let found: Vec<&str> =
        hosts("see https://a.example/d, http://u:p@x.y, http://{host}/ and https://b.test.")
            .collect();
    assert_eq!(found, ["a.example", "b.test"]);
    assert!(is_reserved("evil.example") && !is_reserved("evil.example.net"));
}
