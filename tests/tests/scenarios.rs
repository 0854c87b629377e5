//! The scenario files, played on the real pi: one test a file, named like it.

use std::collections::{BTreeMap, BTreeSet};

use std::process::Command;

use goal_sim::{Scenario, ScenarioError, Workspace};
use goal_tests::scenario::{check, load, names, play};
use goal_tests::{Pi, PiOptions, Reply, Script, install};
use serde_json::{Value, json};

/// One test for each file of `sim/scenarios`, under its name with underscores.
macro_rules! scenarios {
    ($($name:ident)+) => {
        const LISTED: &[&str] = &[$(stringify!($name)),+];

        $(#[test]
        fn $name() {
            check(&stringify!($name).replace('_', "-"));
        })+
    };
}

scenarios! {
    aborted_in_a_compaction
    aborted_in_an_audit
    accepted_by_the_user
    another_session_has_no_goal
    approval_after_a_reminded_look
    approval_without_a_look
    approved_after_a_refusal
    audited_for_the_user
    auditor_always_overloaded
    auditor_changes_the_workspace
    auditor_compacts_between_checks
    auditor_falls_silent
    auditor_overflow
    auditor_recovers
    auditor_talks_for_ever
    auditor_without_credentials
    auditor_writes_in_its_own_copy
    back_off_goes_on_by_itself
    check_that_never_ends
    claim_after_the_approval
    cleared_and_another_goal
    cleared_goal_stays_away
    cleared_in_an_audit
    commands_without_a_goal
    compacted_after_a_run
    compacted_by_hand
    compacted_inside_a_run
    core_lost_in_an_audit
    core_lost_once
    core_lost_twice
    cut_off_at_the_end_of_the_context
    dead_calls_of_a_paused_goal
    dead_calls_without_a_goal
    directive_in_objective_and_claim
    done_without_a_claim
    dropped_in_mid_answer
    edited_at_rest
    edited_in_a_run
    edited_in_an_audit
    edits_are_work
    empty_answers
    error_in_the_guise_of_an_answer
    errors_and_empty_runs_apart
    executor_without_credentials
    failing_read_is_no_evidence
    filtered_answer
    first_goal_in_the_users_run
    five_errored_runs
    five_errored_runs_alone
    held_goal_is_resumed
    killed_in_a_run
    killed_in_an_audit
    killed_in_mid_write
    last_refusal_in_a_batch
    limited_by_the_user
    long_objective
    many_calls_few_entries
    message_goes_first
    message_in_an_audit
    moved_in_the_tree
    no_limits_but_the_user
    no_verdict_broken_answers
    no_verdict_decorated_tags
    no_verdict_echoed_prompt
    nothing_in_the_new_session
    nothing_sent_is_changed
    objections_survive_a_compaction
    objective_of_several_lines
    objective_with_invisible_characters
    objective_with_shell_words
    odd_arguments_of_a_claim
    one_call_one_text
    only_looks_at_the_goal
    overflow_mended_by_compaction
    overflow_that_stays
    part_of_the_objective_claimed
    paused_by_an_abort
    paused_in_a_back_off
    paused_in_an_audit_and_resumed
    paused_without_progress
    planted_note_obeyed
    planted_report_is_no_proof
    project_settings_are_ignored
    question_for_the_user
    quota_used_up
    refusals_and_failures_add_up
    reloaded_in_a_back_off
    reminded_of_the_verdict
    replaced_in_an_audit
    resumed_in_a_back_off
    resumed_with_another_model
    retried_by_pi
    retries_of_pi_used_up
    second_goal_needs_a_yes
    several_claims_in_one_message
    silent_check
    slow_first_word
    steered_in_a_run
    steered_in_an_audit
    stopped_in_a_check
    stopped_in_a_tool
    the_last_audit
    the_same_claim_and_objection
    the_same_words_while_writing
    thin_evidence_is_shown
    three_refusals_in_one_run
    tools_off_from_the_start
    tools_off_in_a_run
    turns_without_work_in_one_run
    verdicts_that_count
    waiting_in_the_same_words
    words_that_are_commands
    workspace_changed_meanwhile
    wrong_tool_names
}

#[test]
fn every_scenario_file_is_played() {
    let files: Vec<_> = names().iter().map(|name| name.replace('-', "_")).collect();
    assert_eq!(LISTED, files, "add the file's name to the list above");
}

/// The rows of `docs/situations.md`: their numbers, with the scenarios that are named there.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let file = install::root().join("docs/situations.md");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let rows = text.lines().filter(|line| line.starts_with("| S"));
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        let number = cells.next().unwrap_or_default().to_owned();
        let scenarios = cells.nth(1).unwrap_or_default().split(", ");
        let scenarios = scenarios.map(|name| name.trim_matches('`').to_owned());
        (number, scenarios.collect())
    };
    rows.map(row).collect()
}

#[test]
fn the_table_of_situations_names_the_scenarios_that_show_them() {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in names() {
        let scenario = load(&name);
        for row in &scenario.covers {
            shown.entry(row.clone()).or_default().insert(name.clone());
        }
    }
    assert_eq!(
        documented(),
        shown,
        "docs/situations.md and `covers` differ"
    );
}

/// A scenario of one step, with these lines before and behind it.
fn one_step(before: &str, behind: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = 'x'\nabout = 'y'\n{before}\n[models.executor]\nsteps = [{{ text = 'I rest.' }}]\n{behind}\n\
         [expect]\noutcome = 'paused'\n"
    );
    Scenario::parse(&text, "a test")
}

#[test]
fn a_scenario_that_gets_stuck_says_where() {
    let quits = "objective = 'x'\nsettings = { maxEmptyContinuations = 1 }";
    let endless = "objective = 'x'";
    for (scenario, words) in [
        (
            one_step(quits, "[[actions]]\nwhen = 'back_off'\ndo = 'abort'"),
            "waited for back_off, but the loop came to rest before",
        ),
        (
            one_step(endless, ""),
            "waited for rest, but goal-sim: the script has no step 2 for model executor",
        ),
    ] {
        let stuck = play(&scenario.expect("a scenario"))
            .err()
            .map(|stuck| stuck.to_string());
        assert_eq!(stuck.as_deref(), Some(words));
    }
}

#[test]
fn the_program_prints_a_line_for_each_file_and_ends_with_the_worst_status() {
    let folder = tempfile::tempdir().expect("a temp dir");
    let file = |name: &str, expected: &str| {
        let text = format!(
            "name = '{name}'\nabout = 'x'\n[models.executor]\nsteps = []\n[[actions]]\n\
             do = {{ command = '/goal status' }}\n[expect]\noutcome = '{expected}'\n"
        );
        let path = folder.path().join(name).with_extension("toml");
        std::fs::write(&path, text).expect("the folder can be written");
        path.display().to_string()
    };
    let (fine, otherwise) = (file("fine", "none"), file("otherwise", "approved"));
    let run = |files: &[&str]| {
        let program = env!("CARGO_BIN_EXE_goal-scenario");
        let output = Command::new(program).args(files).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    assert_eq!(run(&[]).0, Some(2), "no file");
    assert_eq!(run(&[&fine]).0, Some(0));
    let (status, text) = run(&[&otherwise, &fine]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("✓ fine") && text.contains("✗ otherwise"),
        "{text}"
    );
    assert!(
        text.contains("the outcome: expected approved; got none"),
        "{text}"
    );
    let (status, text) = run(&["no/such/file.toml", &fine]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("cannot read no/such/file.toml"), "{text}");
}

/// Calls of pi's own tools, each after the other, that the fake workspace must play alike.
fn calls() -> Vec<(&'static str, Value)> {
    let edit = |old: &str, new: &str| {
        let edits = json!([{ "oldText": old, "newText": new }]);
        ("edit", json!({ "path": "a/b.txt", "edits": edits }))
    };
    let path = |tool, path: &str| (tool, json!({ "path": path }));
    let bash = |command: &str| ("bash", json!({ "command": command }));
    vec![
        path("ls", "."),
        path("read", "a/b.txt"),
        (
            "write",
            json!({ "path": "a/b.txt", "content": "one two one" }),
        ),
        path("read", "a/b.txt"),
        path("ls", "a"),
        path("ls", "none"),
        path("read", "a"),
        edit("one", "1"),
        edit("none", "1"),
        edit("two", "two"),
        edit("two", "2"),
        ("write", json!({ "path": "a", "content": "x" })),
        ("write", json!({ "path": "a/b.txt/c", "content": "x" })),
        ("write", json!({ "path": "empty", "content": "" })),
        path("read", "empty"),
        bash("true"),
        bash("exit 3"),
        bash("cat a/b.txt"),
        bash("cat none"),
        bash("printf 'x' > none/f"),
        bash("printf 'x\\n' >> empty"),
        bash("test -f empty"),
        bash("rm empty"),
        bash("rm empty"),
        bash("ls"),
        bash("sleep 0.1"),
    ]
}

#[test]
fn the_fake_workspace_plays_calls_as_pis_own_tools_do() {
    let calls = calls();
    let replies = calls
        .iter()
        .map(|(tool, arguments)| Reply::call(tool, arguments.clone()));
    let steps: Vec<_> = replies.chain([Reply::text("Done.")]).collect();
    let options = PiOptions::plain(Script::new().executor(steps));
    let pi = Pi::start(options.flag("--tools").flag("read,write,edit,ls,bash"));
    let mark = pi.prompt("Go");
    pi.wait_settled(mark);
    let session = pi.session();
    let results = session.messages("toolResult");
    assert_eq!(results.len(), calls.len());
    let mut fake = Workspace::default();
    for ((tool, arguments), result) in calls.iter().zip(results) {
        let played = fake.call(tool, arguments).expect("a tool that is played");
        assert_eq!(
            result["isError"], played.is_error,
            "{tool} {arguments}: {result}"
        );
    }
    assert_eq!(&pi.world().files(), fake.files());
}
