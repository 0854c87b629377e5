//! The scenario files, played on the real pi: one test a file, named like it.

use std::collections::{BTreeMap, BTreeSet};

use goal_tests::install;
use goal_tests::scenario::{check, load, names};

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
    dead_calls_of_a_paused_goal
    dead_calls_without_a_goal
    directive_in_objective_and_claim
    done_without_a_claim
    dropped_in_mid_answer
    empty_answers
    error_in_the_guise_of_an_answer
    errors_and_empty_runs_apart
    executor_without_credentials
    failing_read_is_no_evidence
    first_goal_in_the_users_run
    five_errored_runs
    five_errored_runs_alone
    held_goal_is_resumed
    killed_in_a_run
    killed_in_an_audit
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
    second_goal_needs_a_yes
    several_claims_in_one_message
    silent_check
    slow_first_word
    steered_in_a_run
    stopped_in_a_check
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
