//! The scenario files, played on the real pi: one test a file, named like it.

use goal_tests::scenario::{check, names};

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
    approved_after_a_refusal
    auditor_without_credentials
    compacted_inside_a_run
    core_lost_once
    killed_in_an_audit
    message_goes_first
    paused_by_an_abort
    paused_in_an_audit_and_resumed
    paused_without_progress
    wrong_tool_names
}

#[test]
fn every_scenario_file_is_played() {
    let files: Vec<_> = names().iter().map(|name| name.replace('-', "_")).collect();
    assert_eq!(LISTED, files, "add the file's name to the list above");
}
