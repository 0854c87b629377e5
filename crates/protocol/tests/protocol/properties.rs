//! Reading never throws, whatever is on the branch or the wire; and what was saved comes back.

use goal_engine::{
    Effect, Goal, GoalMessage, MessageDetails, Objective, PauseReason, Phase, SavedGoal, Stop,
    Totals, WallClock,
};
use goal_protocol::{EventWire, RecordWire, effect, event, read_branch};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::branch::gate;
use crate::lines::events;

/// Any JSON, with the names and values that mean something mixed in.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "v",
        "kind",
        "goal",
        "goalId",
        "id",
        "generation",
        "objective",
        "phase",
        "pauseReason",
        "createdAt",
        "activeMs",
        "continuations",
        "audits",
        "emptyStreak",
        "erroredStreak",
        "repeatStreak",
        "rejectionStreak",
        "failureStreak",
        "gate",
        "totals",
        "number",
        "outcome",
        "why",
        "checks",
        "ok",
        "model",
        "provider",
        "x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(vec![
            "goal",
            "audit",
            "continuation",
            "pursuing",
            "held",
            "paused",
            "approved",
            "disapproved",
            "failed",
            "g-1",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 12, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..16)
                .prop_map(|fields| fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>())
                .prop_map(Value::from),
        ]
    })
}

fn any_record() -> impl Strategy<Value = RecordWire> {
    (any_json(), 0_u8..3).prop_map(|(data, kind)| match kind {
        0 => RecordWire::Ours { data },
        1 => RecordWire::Message { data },
        _ => RecordWire::Predecessor { data },
    })
}

/// A sound event with one value replaced by anything.
fn damaged_event() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(events()),
        any::<prop::sample::Index>(),
        any_json(),
    )
        .prop_map(|(mut event, at, value)| {
            let names: Vec<String> = event
                .as_object()
                .map(|fields| fields.keys().cloned().collect())
                .unwrap_or_default();
            event[at.get(&names).as_str()] = value;
            event
        })
}

fn any_totals() -> impl Strategy<Value = Totals> {
    (any::<[u32; 8]>(), any::<bool>()).prop_map(|(counts, repeat_wrote)| Totals {
        continuations: counts[0],
        audits: counts[1],
        empty_streak: counts[2],
        errored_streak: counts[3],
        repeat_streak: counts[4],
        rejection_streak: counts[5],
        failure_streak: counts[6],
        refusal_streak: counts[7],
        last_text: None,
        last_refusal: None,
        repeat_wrote,
    })
}

fn any_goal() -> impl Strategy<Value = Goal> {
    let phase = prop_oneof![
        Just(Phase::Held),
        ".{0,40}".prop_map(|text| Phase::Paused(Stop {
            reason: PauseReason::NoProgress,
            detail: Some(text),
        })),
    ];
    let objective = "\\PC{1,60}".prop_filter_map("blank", |text| Objective::new(&text).ok());
    (
        "[a-z0-9-]{1,12}",
        0_u64..1_000_000,
        objective,
        phase,
        any_totals(),
        any::<u32>(),
    )
        .prop_map(|(id, generation, objective, phase, totals, active)| {
            Goal::restore(
                id,
                generation,
                objective,
                phase,
                WallClock(1),
                active.into(),
                totals,
                None,
                gate(),
            )
        })
}

fn saved(goal: &Goal) -> RecordWire {
    let saved = SavedGoal::Present {
        goal: Box::new(goal.clone()),
        active_ms: goal.active_ms(goal_engine::Monotonic(0)),
    };
    let wire = serde_json::to_value(effect(Effect::SaveGoal(saved))).expect("JSON");
    RecordWire::Ours {
        data: wire["entry"].clone(),
    }
}

fn message(goal: &Goal, totals: &Totals, active_ms: u64) -> RecordWire {
    let details = MessageDetails {
        tag: goal.tag(),
        seq: 1,
        full: false,
        totals: totals.clone(),
        active_ms,
    };
    let text = String::new();
    let wire = effect(Effect::StartRun(GoalMessage { text, details }));
    let wire = serde_json::to_value(wire).expect("JSON");
    RecordWire::Message {
        data: wire["message"]["details"].clone(),
    }
}

proptest! {
    #[test]
    fn reading_a_branch_never_throws_or_changes_what_it_read(records in prop::collection::vec(any_record(), 0..8)) {
        let before = records.clone();
        let read = read_branch(&records);
        prop_assert_eq!(records, before);
        prop_assert!(read.goal.is_none_or(|goal| !goal.is_pursuing()), "nothing is pursued by being read");
        prop_assert!(read.diagnostics.len() <= 1);
    }

    #[test]
    fn reading_an_event_never_throws(value in prop_oneof![any_json(), damaged_event()]) {
        if let Ok(wire) = serde_json::from_value::<EventWire>(value) {
            let _ = event(wire, None);
        }
    }

    #[test]
    fn rubbish_newer_than_a_goal_hides_it_only_if_it_is_a_sound_entry(goal in any_goal(), rubbish in any_json()) {
        prop_assume!(rubbish.get("v").and_then(Value::as_u64) != Some(1));
        prop_assume!(rubbish.get("v").and_then(Value::as_u64).is_none_or(|v| v <= 1));
        let read = read_branch(&[RecordWire::Ours { data: rubbish }, saved(&goal)]);
        prop_assert_eq!(read.goal, Some(goal));
    }

    #[test]
    fn a_reloaded_goal_is_the_saved_one_plus_the_newest_totals(
        goal in any_goal(),
        totals in any_totals(),
        active_ms in any::<u32>(),
        older in any_totals(),
    ) {
        let alone = read_branch(&[saved(&goal)]);
        prop_assert_eq!(alone.goal.as_ref(), Some(&goal));
        let read = read_branch(&[
            message(&goal, &totals, active_ms.into()),
            message(&goal, &older, 0),
            saved(&goal),
        ]);
        let read = read.goal.expect("a goal");
        prop_assert_eq!(&read.totals, &totals);
        prop_assert_eq!(read.active_ms(goal_engine::Monotonic(0)), u64::from(active_ms));
        let same = Goal::restore(
            goal.id().to_owned(), goal.generation(), Objective::new(goal.objective()).expect("an objective"),
            goal.phase().clone(), goal.created_at(), active_ms.into(), totals, None, gate(),
        );
        prop_assert_eq!(read, same);
    }
}

/// A count, not a time: a longer branch takes as many more steps as it has more records.
#[test]
fn fifty_thousand_records_are_read_once_each() {
    let goal = Goal::restore(
        "g".to_owned(),
        1,
        Objective::new("x").expect("an objective"),
        Phase::Held,
        WallClock(1),
        0,
        Totals::default(),
        None,
        gate(),
    );
    let audit = json!({"v": 1, "kind": "audit", "goalId": "g", "generation": 1, "number": 1, "outcome": "failed"});
    let mut records = Vec::new();
    for _ in 0..25_000 {
        records.push(message(&goal, &Totals::default(), 1));
        records.push(RecordWire::Ours {
            data: audit.clone(),
        });
    }
    records.push(saved(&goal));
    let mut looked_at = 0_usize;
    let read = read_branch(records.iter().inspect(|_| looked_at += 1));
    assert_eq!(looked_at, records.len());
    // The audits older than the newest message are in its totals.
    assert_eq!(read.goal.map(|goal| goal.totals.audits), Some(0));
    assert!(read.diagnostics.is_empty());
}
