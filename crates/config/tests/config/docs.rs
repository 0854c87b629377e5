//! `docs/configuration.md` says what the code does.

use goal_config::KEYS;

const DOCS: &str = include_str!("../../../../docs/configuration.md");

#[test]
fn the_table_of_the_documentation_is_the_table_of_keys() {
    let rows: Vec<Vec<String>> = DOCS
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(plain).collect())
        .collect();
    let keys: Vec<Vec<String>> = KEYS
        .iter()
        .map(|key| {
            [key.name, key.env, key.default, key.valid]
                .map(str::to_owned)
                .to_vec()
        })
        .collect();
    assert_eq!(rows, keys);
}

fn plain(cell: &str) -> String {
    cell.replace('`', "").trim().to_owned()
}

#[test]
fn the_examples_of_the_documentation_are_valid() {
    let mut examples = 0;
    for block in DOCS.split("```json\n").skip(1) {
        let text = block.split("```").next().unwrap();
        let loaded = crate::resolve(Some(text), &[]);
        assert_eq!(crate::lines(&loaded), [""; 0]);
        examples += 1;
    }
    assert!(examples > 0);
}

/// The messages quoted there are real ones.
#[test]
fn the_messages_of_the_documentation_are_what_is_said() {
    let home = "/home/you/.pi/agent/goal-auditor.json";
    let loaded = goal_config::resolve(
        Some((
            std::path::Path::new(home),
            "{\n  \"timeoutMs\": \"15 min\",\n  \"maxAudit\": 5\n}\n",
        )),
        &|_| None,
    );
    let quoted = DOCS.replace('\n', " ");
    for line in crate::lines(&loaded) {
        assert!(quoted.contains(&line), "{line}");
    }
    assert_eq!(loaded.diagnostics.len(), 2);
}
