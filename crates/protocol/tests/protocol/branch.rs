//! What a branch says about a goal, newest first (spec §2).

use goal_engine::{
    Effect, Ended, Gate, Goal, GoalMessage, MessageDetails, ModelRef, Objective, PauseReason,
    Phase, Recovered, SandboxGate, SavedGoal, Stop, TextHash, Totals, WallClock,
};
use goal_protocol::{RecordWire, effect, read_branch};
use serde_json::{Value, json};

pub(crate) fn gate() -> Gate {
    Gate {
        model: ModelRef {
            provider: "p".to_owned(),
            id: "org/model".to_owned(),
        },
        thinking_level: Some("high".to_owned()),
        timeout_ms: None,
        idle_timeout_ms: Some(120_000),
        max_empty_continuations: 3,
        max_consecutive_audit_rejections: 4,
        max_continuations: None,
        own_limit: false,
        max_audits: Some(20),
        sandbox: SandboxGate {
            mode: "prefer".to_owned(),
            network: "loopback".to_owned(),
            hide: vec!["/secret".to_owned()],
            scratch_mb: Some(64),
        },
    }
}

fn totals() -> Totals {
    Totals {
        continuations: 5,
        audits: 2,
        empty_streak: 1,
        errored_streak: 1,
        repeat_streak: 2,
        rejection_streak: 1,
        failure_streak: 0,
        refusal_streak: 1,
        last_text: TextHash::parse("0123456789abcdef"),
        last_refusal: TextHash::parse("fedcba9876543210"),
        repeat_wrote: true,
    }
}

pub(crate) fn goal_of(phase: Phase) -> Goal {
    goal_named("g-1", phase)
}

fn goal_named(id: &str, phase: Phase) -> Goal {
    Goal::restore(
        id.to_owned(),
        3,
        Objective::new("Write 👩‍💻 a poem\r\nin two lines").expect("an objective"),
        phase,
        WallClock(1_700_000_000_000),
        12_345,
        totals(),
        Some("the door is missing".to_owned()),
        gate(),
    )
}

/// The entry an engine's effect leaves on the branch.
fn entry(effect_: Effect) -> RecordWire {
    let wire = serde_json::to_value(effect(effect_)).expect("JSON");
    ours(wire["entry"].clone())
}

fn ours(data: Value) -> RecordWire {
    RecordWire::Ours { data }
}

fn saved(goal: &Goal) -> RecordWire {
    entry(Effect::SaveGoal(SavedGoal::Present {
        goal: Box::new(goal.clone()),
        active_ms: 12_345,
    }))
}

fn gone() -> RecordWire {
    entry(Effect::SaveGoal(SavedGoal::Gone {
        id: "g-1".to_owned(),
        ended: Ended::Cleared,
    }))
}

fn message(id: &str, generation: u64, continuations: u32) -> RecordWire {
    let details = MessageDetails {
        tag: goal_engine::GoalTag {
            id: id.to_owned(),
            generation,
        },
        seq: continuations,
        full: false,
        totals: Totals {
            continuations,
            audits: 2,
            ..Totals::default()
        },
        active_ms: 20_000,
    };
    let start = Effect::StartRun(GoalMessage {
        text: "go on".to_owned(),
        details,
    });
    let wire = serde_json::to_value(effect(start)).expect("JSON");
    RecordWire::Message {
        data: wire["message"]["details"].clone(),
    }
}

fn audit(outcome: &str, why: Option<&str>, generation: u64, number: u32) -> RecordWire {
    ours(json!({
        "v": 1, "kind": "audit", "goalId": "g-1", "generation": generation, "number": number, "outcome": outcome,
        "why": why, "model": "p/auditor", "checks": [{"ok": true}, {"ok": false}, {"ok": true}],
    }))
}

fn pursuing() -> RecordWire {
    let mut record = saved(&goal_of(Phase::Held));
    if let RecordWire::Ours { data } = &mut record {
        data["goal"]["phase"] = json!("pursuing");
    }
    record
}

fn read(records: &[RecordWire]) -> Recovered {
    read_branch(records)
}

fn found(records: &[RecordWire]) -> Goal {
    read(records).goal.expect("a goal")
}

#[test]
fn a_goal_comes_back_as_it_was_saved_in_every_phase() {
    let reasons = [
        ("user", None),
        ("aborted", None),
        ("no_progress", None),
        ("repetition", None),
        ("model_errors", Some("quota")),
        ("rejections", None),
        ("audit_failures", Some("idle_timeout")),
        ("continuation_limit", None),
        ("audit_limit", None),
        ("tools_off", None),
        ("core_lost", None),
    ];
    let paused = reasons.map(|(name, kind)| {
        Phase::Paused(Stop {
            reason: PauseReason::from_saved(name, kind).expect("a reason"),
            detail: Some("quoted".to_owned()),
        })
    });
    for phase in paused.into_iter().chain([Phase::Held]) {
        let goal = goal_of(phase);
        let read = read(&[saved(&goal)]);
        assert_eq!(read.goal.as_ref(), Some(&goal));
        assert!(read.diagnostics.is_empty() && !read.newer_version);
    }
}

#[test]
fn a_goal_that_was_pursued_comes_back_held() {
    assert_eq!(*found(&[pursuing()]).phase(), Phase::Held);
}

#[test]
fn the_newest_goal_entry_counts_and_a_gone_goal_stays_gone() {
    let other = goal_named("g-2", Phase::Held);
    assert_eq!(found(&[saved(&other), gone(), pursuing()]).id(), "g-2");
    let read = read(&[gone(), pursuing(), saved(&other)]);
    assert!(read.goal.is_none() && read.diagnostics.is_empty());
}

#[test]
fn an_empty_branch_says_nothing() {
    assert_eq!(read(&[]), Recovered::default());
}

#[test]
fn what_cannot_be_read_is_skipped_with_one_diagnostic_and_the_older_one_counts() {
    let mut broken = vec![
        json!(null),
        json!("text"),
        json!([]),
        json!({}),
        json!({"v": 1}),
        json!({"v": 1, "kind": "goal"}),
        json!({"v": 1, "kind": "goal", "goal": 3}),
        json!({"v": 1, "kind": "goal", "goal": {"id": "g"}}),
        json!({"v": 1, "kind": "prophecy"}),
        json!({"v": 1, "kind": "audit", "goalId": "g-1"}),
        // An entry without our version is not one of ours.
        json!({"kind": "goal", "goal": null}),
        json!({"v": "1", "kind": "goal", "goal": null}),
        json!({"v": 0, "kind": "goal", "goal": null}),
        json!({"v": -1, "kind": "goal", "goal": null}),
    ];
    let RecordWire::Ours { data } = pursuing() else {
        panic!("ours")
    };
    for (path, value) in [
        ("id", json!("")),
        ("objective", json!("   ")),
        ("objective", json!("x".repeat(65_537))),
        ("phase", json!("dancing")),
        ("phase", json!("paused")),
        ("generation", json!(-1)),
        ("generation", json!(1.5)),
        ("generation", json!(u64::MAX)),
        ("generation", json!(1_u64 << 53)),
        ("continuations", json!("many")),
        ("activeMs", json!(null)),
        ("gate", json!(null)),
    ] {
        let mut data = data.clone();
        data["goal"][path] = value;
        broken.push(data);
    }
    let mut unknown = data;
    unknown["goal"]["phase"] = json!("paused");
    unknown["goal"]["pauseReason"] = json!("boredom");
    broken.push(unknown);
    for data in broken {
        let read = read(&[ours(data.clone()), pursuing()]);
        assert_eq!(
            read.goal.map(|goal| goal.id().to_owned()).as_deref(),
            Some("g-1"),
            "{data}"
        );
        assert_eq!(read.diagnostics.len(), 1, "{data}");
    }
}

#[test]
fn many_unreadable_entries_are_one_diagnostic() {
    let records: Vec<RecordWire> = (0..10).map(|at| ours(json!(at))).collect();
    let read = read(&records);
    assert_eq!(read.diagnostics.len(), 1);
    assert!(
        read.diagnostics[0].contains("10"),
        "{}",
        read.diagnostics[0]
    );
}

#[test]
fn a_newer_version_hides_everything_with_one_warning() {
    for newer in [
        ours(json!({"v": 2, "kind": "goal", "goal": null})),
        ours(json!({"v": 99})),
        RecordWire::Message {
            data: json!({"v": 2}),
        },
    ] {
        for records in [vec![newer.clone(), pursuing()], vec![pursuing(), newer]] {
            let read = read(&records);
            assert!(read.newer_version && read.goal.is_none());
            assert_eq!(read.diagnostics.len(), 1);
        }
    }
}

#[test]
fn the_newest_continuation_has_the_newest_totals() {
    let goal = found(&[message("g-1", 3, 9), message("g-1", 3, 8), pursuing()]);
    assert_eq!(goal.totals.continuations, 9);
    assert_eq!(goal.active_ms(goal_engine::Monotonic(0)), 20_000);
}

#[test]
fn a_continuation_counts_only_for_its_goal_at_its_generation_and_if_it_is_newer() {
    for records in [
        vec![message("g-2", 3, 9), pursuing()],
        vec![message("g-1", 2, 9), pursuing()],
        vec![message("g-1", 4, 9), pursuing()],
        vec![pursuing(), message("g-1", 3, 9)],
        vec![
            RecordWire::Message {
                data: json!({"v": 1, "totals": 3}),
            },
            pursuing(),
        ],
        vec![RecordWire::Message { data: json!(null) }, pursuing()],
    ] {
        let read = read(&records);
        assert_eq!(
            read.goal.map(|goal| goal.totals),
            Some(totals()),
            "{records:?}"
        );
        assert!(read.diagnostics.is_empty());
    }
}

#[test]
fn a_stray_continuation_does_not_hide_the_one_that_counts() {
    for stray in [
        message("g-2", 1, 1),
        RecordWire::Message {
            data: json!({"v": 1}),
        },
    ] {
        let goal = found(&[stray, message("g-1", 3, 9), pursuing()]);
        assert_eq!(goal.totals.continuations, 9);
    }
}

#[test]
fn an_audit_whose_goal_entry_was_lost_counts_all_the_same() {
    for (outcome, why, audits, rejections, failures) in [
        ("disapproved", None, 3, 2, 0),
        ("no_verdict", Some("no_tag"), 3, 1, 1),
        ("failed", Some("timeout"), 3, 1, 1),
        ("stale", Some("workspace"), 3, 1, 1),
        ("stale", Some("goal"), 2, 1, 0),
        ("aborted", Some("user"), 2, 1, 0),
        ("enlightened", None, 2, 1, 0),
    ] {
        let totals = found(&[audit(outcome, why, 3, 3), pursuing()]).totals;
        let counted = (
            totals.audits,
            totals.rejection_streak,
            totals.failure_streak,
        );
        assert_eq!(counted, (audits, rejections, failures), "{outcome}");
    }
}

#[test]
fn audits_after_the_goal_entry_count_oldest_first() {
    let totals = found(&[
        audit("disapproved", None, 3, 4),
        audit("failed", None, 3, 3),
        pursuing(),
    ])
    .totals;
    assert_eq!(
        (
            totals.audits,
            totals.rejection_streak,
            totals.failure_streak
        ),
        (4, 2, 0)
    );
    let totals = found(&[
        audit("failed", None, 3, 4),
        audit("disapproved", None, 3, 3),
        pursuing(),
    ])
    .totals;
    assert_eq!(
        (
            totals.audits,
            totals.rejection_streak,
            totals.failure_streak
        ),
        (4, 2, 1)
    );
}

#[test]
fn an_audit_before_the_newest_continuation_is_in_its_totals_already() {
    let goal = found(&[
        message("g-1", 3, 9),
        audit("disapproved", None, 3, 3),
        pursuing(),
    ]);
    assert_eq!(goal.totals.audits, 2);
    let goal = found(&[
        audit("disapproved", None, 3, 3),
        message("g-1", 3, 9),
        pursuing(),
    ]);
    assert_eq!(goal.totals.audits, 3);
}

#[test]
fn an_approval_ended_its_goal_even_if_the_entry_that_says_so_was_lost() {
    assert!(
        read(&[audit("approved", None, 3, 3), pursuing()])
            .goal
            .is_none()
    );
    assert!(
        read(&[
            message("g-1", 3, 9),
            audit("approved", None, 3, 3),
            pursuing()
        ])
        .goal
        .is_none()
    );
    // But not one of an older generation, of another goal, or from before the goal entry.
    assert!(
        read(&[audit("approved", None, 2, 3), pursuing()])
            .goal
            .is_some()
    );
    assert!(
        read(&[pursuing(), audit("approved", None, 3, 3)])
            .goal
            .is_some()
    );
    let other = saved(&goal_named("g-2", Phase::Held));
    assert!(read(&[audit("approved", None, 3, 3), other]).goal.is_some());
}

#[test]
fn the_newest_audit_is_shown_and_numbers_go_on_over_the_goals_whole_life() {
    let records = [
        pursuing(),
        audit("disapproved", None, 2, 7),
        audit("failed", Some("timeout"), 1, 6),
    ];
    let read = read(&records);
    assert_eq!(read.audits_ever, 7);
    let last = read.last_audit.expect("an audit");
    assert_eq!(
        (last.outcome.as_str(), last.model.as_str(), last.successes),
        ("disapproved", "p/auditor", 2)
    );
}

#[test]
fn counts_at_their_limit_stay_there() {
    let RecordWire::Ours { mut data } = pursuing() else {
        panic!("ours")
    };
    for name in [
        "continuations",
        "audits",
        "rejectionStreak",
        "failureStreak",
        "emptyStreak",
    ] {
        data["goal"][name] = json!(u32::MAX);
    }
    let goal = found(&[
        audit("failed", None, 3, u32::MAX),
        audit("disapproved", None, 3, 1),
        ours(data),
    ]);
    assert_eq!(goal.totals.audits, u32::MAX);
}

#[test]
fn the_predecessors_goal_appears_held_where_there_is_none_of_ours() {
    let predecessor = |phase: &str, objective: Value| RecordWire::Predecessor {
        data: json!({"phase": phase, "objective": objective}),
    };
    for (phase, expected) in [
        ("ready", true),
        ("paused", true),
        ("idle", false),
        ("dreaming", false),
    ] {
        let goal = read(&[predecessor(phase, json!("its objective"))]).goal;
        assert_eq!(goal.is_some(), expected, "{phase}");
        if let Some(goal) = goal {
            assert_eq!(
                (goal.objective(), goal.phase()),
                ("its objective", &Phase::Held)
            );
        }
    }
    for broken in [json!(null), json!(""), json!("x".repeat(65_537)), json!(3)] {
        assert!(read(&[predecessor("ready", broken)]).goal.is_none());
    }
    // Its newest state decides, and an entry of ours outranks it, a goal that is gone included.
    assert!(
        read(&[
            predecessor("idle", json!(null)),
            predecessor("ready", json!("old"))
        ])
        .goal
        .is_none()
    );
    assert_eq!(
        found(&[predecessor("ready", json!("its")), pursuing()]).id(),
        "g-1"
    );
    assert!(
        read(&[predecessor("ready", json!("its")), gone()])
            .goal
            .is_none()
    );
}

#[test]
fn unknown_fields_of_a_goal_are_tolerated() {
    let RecordWire::Ours { mut data } = pursuing() else {
        panic!("ours")
    };
    data["goal"]["mood"] = json!("good");
    data["goal"]["gate"]["jury"] = json!([1, 2]);
    data["note"] = json!(true);
    assert_eq!(found(&[ours(data)]).id(), "g-1");
}
