//! Every line of the wire as JSON.

use std::collections::BTreeSet;

use goal_engine::{
    AuditDetails, AuditOutcome, AuditRecord, CheckRecord, Effect, Ended, FailureKind, Goal,
    GoalFacts, GoalMessage, Level, LiveAudit, MessageDetails, Monotonic, Mood, NoVerdictWhy,
    Notice, Objective, OfferedWay, OpenAuditor, PauseReason, PrepareAudit, Proposal, Rung,
    SavedGoal, Settings, StatusView, Stop, ToolAnswer, Usage, WallClock, WayOn,
};
use goal_protocol::{EffectWire, EventWire, LineIn, effect, event};
use serde_json::{Value, json};

use crate::branch::{gate, goal_of};

/// One sample of every event, as the shim writes it.
pub(crate) fn events() -> Vec<Value> {
    let host = json!({
        "activity": "idle", "hasUi": true, "headless": false, "toolsActive": true,
        "model": {"provider": "p", "id": "a/b", "name": "A"}, "models": [{"provider": "p", "id": "x"}],
        "thinkingLevel": "high",
    });
    let usage = json!({
        "input": 1.0, "output": 2.0, "cacheRead": 3.0, "cacheWrite": 4.0, "totalTokens": 10.0,
        "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.3, "cacheWrite": 0.4, "total": 1.0},
    });
    let auditor = [
        json!({"type": "opened"}),
        json!({"type": "open_failed", "kind": "missing_model", "message": "m"}),
        json!({"type": "output"}),
        json!({"type": "answer_ended", "text": "t", "stop": "toolUse", "error": null, "usage": usage}),
        json!({"type": "tool_started", "callId": "c", "tool": "read", "args": "{}"}),
        json!({"type": "tool_finished", "callId": "c", "tool": "read", "ok": true, "ms": 3}),
        json!({"type": "compaction_started"}),
        json!({"type": "compaction_ended", "usage": usage}),
        json!({"type": "retry_started"}),
        json!({"type": "retry_ended"}),
        json!({"type": "rested"}),
        json!({"type": "broke", "message": "m"}),
    ];
    let plain = [
        json!({"type": "hello", "protocol": goal_protocol::PROTOCOL_VERSION, "shim": "0.1.0", "agentDir": "/a"}),
        json!({"type": "ping"}),
        json!({"type": "session_opened", "cause": {"type": "start"}, "records": [
            {"type": "ours", "data": {"v": 1}}, {"type": "message", "data": null},
            {"type": "predecessor", "data": [1]},
        ], "auditLost": true, "hasUi": true, "terminal": true, "model": null}),
        json!({"type": "session_opened", "cause": {"type": "core_restart", "pursued": {"id": "g", "generation": 2},
            "recentLosses": 1, "auditLost": false, "running": true, "fullMessagePresent": true,
            "headless": false, "stopped": false}, "records": [], "auditLost": false, "hasUi": false, "terminal": false, "model": null}),
        json!({"type": "session_left"}),
        json!({"type": "command", "text": "x", "host": host}),
        json!({"type": "confirmed", "ticket": 7, "yes": true, "host": host}),
        json!({"type": "edited", "ticket": 7, "text": "t", "host": host}),
        json!({"type": "chosen", "ticket": 7, "way": "not_now", "host": host}),
        json!({"type": "tools_checked", "active": true}),
        json!({"type": "run_started"}),
        json!({"type": "message_arrived", "tag": {"id": "g", "generation": 2}}),
        json!({"type": "user_message"}),
        json!({"type": "turn_ended", "brokenOff": false}),
        json!({"type": "tool_finished", "tool": "bash", "isError": false, "ran": true, "aborted": false, "error": null}),
        json!({"type": "tool_invoked", "callId": "c", "tool": "update_goal", "status": "complete", "summary": null,
            "turn": 3, "cwd": "/w"}),
        json!({"type": "tool_cancelled", "callId": "c"}),
        json!({"type": "settling", "failed": true, "providerAborted": false, "error": "e", "finalText": "t",
            "toolsActive": true, "fullMessagePresent": false}),
        json!({"type": "proposal_taken", "proposal": 5}),
        json!({"type": "proposal_yielded", "proposal": 5}),
        json!({"type": "run_settled", "aborted": true, "byUs": false, "startPending": false, "fullMessagePresent": true}),
        json!({"type": "interrupt"}),
        json!({"type": "compaction_started"}),
        json!({"type": "compaction_ended", "cancelled": false, "runGoesOn": true, "idle": false,
            "fullMessagePresent": true}),
        json!({"type": "model_selected", "model": {"provider": "p", "id": "x"}}),
        json!({"type": "auditor_closed", "audit": 9}),
    ];
    let of_auditor = auditor
        .into_iter()
        .map(|event| json!({"type": "auditor", "audit": 9, "event": event}));
    plain.into_iter().chain(of_auditor).collect()
}

#[test]
fn every_event_is_read_and_written_as_the_shim_writes_it() {
    for sample in events() {
        let line = json!({"token": "t", "id": 4, "event": sample});
        let read: LineIn = serde_json::from_value(line.clone()).expect("a line");
        assert_eq!(
            without_nulls(serde_json::to_value(&read).expect("JSON")),
            without_nulls(line)
        );
    }
}

#[test]
fn the_samples_leave_no_event_out() {
    // A new variant breaks this match; add its sample above.
    let name = |event: &EventWire| match event {
        EventWire::Hello { .. } => 0,
        EventWire::Ping => 1,
        EventWire::SessionOpened { .. } => 2,
        EventWire::SessionLeft => 3,
        EventWire::Command { .. } => 4,
        EventWire::Confirmed { .. } => 5,
        EventWire::ToolsChecked { .. } => 6,
        EventWire::RunStarted => 7,
        EventWire::UserMessage => 8,
        EventWire::TurnEnded { .. } => 9,
        EventWire::ToolFinished { .. } => 10,
        EventWire::ToolInvoked { .. } => 11,
        EventWire::ToolCancelled { .. } => 12,
        EventWire::Settling { .. } => 13,
        EventWire::ProposalTaken { .. } => 14,
        EventWire::ProposalYielded { .. } => 15,
        EventWire::RunSettled { .. } => 16,
        EventWire::Interrupt => 17,
        EventWire::CompactionStarted => 18,
        EventWire::CompactionEnded { .. } => 19,
        EventWire::ModelSelected { .. } => 20,
        EventWire::Auditor { .. } => 21,
        EventWire::Edited { .. } => 22,
        EventWire::AuditorClosed { .. } => 23,
        EventWire::Chosen { .. } => 24,
        EventWire::MessageArrived { .. } => 25,
    };
    let seen: BTreeSet<i32> = events()
        .into_iter()
        .map(|sample| name(&serde_json::from_value(sample).expect("an event")))
        .collect();
    assert_eq!(seen, (0..=25).collect());
}

#[test]
fn fields_of_a_newer_shim_are_tolerated_and_its_events_are_an_error() {
    for mut sample in events() {
        sample["somethingNew"] = json!({"deep": [1, 2]});
        serde_json::from_value::<EventWire>(sample).expect("an event");
    }
    for sample in [
        json!({"type": "goal_wished"}),
        json!({"type": "auditor", "audit": 1, "event": {"type": "dreamed"}}),
        json!({"type": "session_opened", "cause": {"type": "magic"}, "records": []}),
        json!({"type": 3}),
        json!({}),
        json!([]),
        json!(null),
    ] {
        assert!(
            serde_json::from_value::<EventWire>(sample.clone()).is_err(),
            "{sample}"
        );
    }
}

#[test]
fn an_event_without_a_field_that_decides_is_an_error() {
    for (sample, field) in [
        (
            json!({"type": "confirmed", "ticket": 7, "yes": true}),
            "host",
        ),
        (json!({"type": "turn_ended"}), "brokenOff"),
        (
            json!({"type": "run_settled", "aborted": true, "fullMessagePresent": true}),
            "byUs",
        ),
        (
            json!({"type": "tool_finished", "tool": "bash", "isError": false, "aborted": false}),
            "ran",
        ),
    ] {
        let error = serde_json::from_value::<EventWire>(sample)
            .expect_err("an error")
            .to_string();
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn only_the_lines_for_the_driver_are_no_event_of_the_engine() {
    for sample in events() {
        let kind = sample["type"].as_str();
        let for_the_driver = matches!(kind, Some("hello" | "ping" | "auditor_closed"));
        let wire = serde_json::from_value(sample).expect("an event");
        assert_eq!(event(wire, None).is_none(), for_the_driver);
    }
}

#[test]
fn our_tools_and_the_writing_ones_are_told_by_name() {
    for (tool, ours, writes) in [
        ("get_goal", true, false),
        ("update_goal", true, false),
        ("write", false, true),
        ("edit", false, true),
        ("bash", false, false),
        ("mcp_update_goal", false, false),
    ] {
        let wire = json!({"type": "tool_finished", "tool": tool, "isError": false, "ran": true, "aborted": false});
        let wire = serde_json::from_value(wire).expect("an event");
        let Some(goal_engine::Event::ToolFinished(finished)) = event(wire, None) else {
            panic!("not a finished tool");
        };
        assert_eq!((finished.ours, finished.writes), (ours, writes), "{tool}");
    }
}

/// One sample of every effect.
fn effects() -> Vec<Effect> {
    let goal = goal_of(goal_engine::Phase::Paused(Stop {
        reason: PauseReason::AuditFailures("timeout".to_owned()),
        detail: Some("too slow".to_owned()),
    }));
    let message = GoalMessage {
        text: "go on".to_owned(),
        details: MessageDetails {
            tag: goal.tag(),
            seq: 2,
            full: false,
            totals: goal.totals.clone(),
            active_ms: 1_500,
        },
    };
    let notice = Notice {
        level: Level::Warning,
        text: "look".to_owned(),
    };
    let present = SavedGoal::Present {
        goal: Box::new(goal),
        active_ms: 1_500,
    };
    let gone = SavedGoal::Gone {
        id: "g-1".to_owned(),
        ended: Ended::Approved,
    };
    vec![
        Effect::SaveGoal(present.clone()),
        Effect::SaveGoal(gone),
        Effect::SaveAudit(Box::new(record())),
        Effect::StartRun(message.clone()),
        Effect::Propose(Proposal {
            number: 1,
            message: Some(message.clone()),
            effects: vec![Effect::SaveGoal(present), Effect::Notify(notice.clone())],
        }),
        Effect::Propose(Proposal {
            number: 2,
            message: None,
            effects: Vec::new(),
        }),
        Effect::SendInRun(message),
        Effect::EndRun,
        Effect::ActivateTools,
        Effect::FinishTool(Box::new(ToolAnswer {
            call_id: "c".to_owned(),
            text: "audited".to_owned(),
            is_error: false,
            ends_run: true,
            audit: Some(record().details),
            usage: Some(record().usage),
        })),
        Effect::Progress {
            call_id: Some("c".to_owned()),
            text: "auditing".to_owned(),
            live: Box::new(LiveAudit {
                stage: "checking",
                model: gate().model,
                elapsed_ms: 5,
                limit_ms: None,
                successes: 1,
                checks: 1,
                recent: record().details.checks,
                in_flight: None,
            }),
        },
        Effect::OpenAuditor(Box::new(OpenAuditor {
            audit: 3,
            call_id: Some("c".to_owned()),
            model: gate().model,
            thinking_level: None,
            system_prompt: "audit".to_owned(),
            prompt: "this".to_owned(),
            rung: Rung::Overlay,
            seal: Some("/seal".to_owned()),
        })),
        Effect::PromptAuditor {
            audit: 3,
            text: "again".to_owned(),
        },
        Effect::CloseAuditor { audit: 3 },
        Effect::Notify(notice.clone()),
        Effect::Reply(notice),
        Effect::ShowStatus(StatusView {
            footer: Some("goal".to_owned()),
            widget: vec!["one".to_owned()],
            goal: Some(Box::new(GoalFacts {
                mood: Mood::Working,
                state: "pursuing".to_owned(),
                objective: "x".to_owned(),
                counts: vec!["audits 1".to_owned()],
                active_ms: 5,
            })),
            pursued: Some(record().tag),
            waiting: true,
        }),
        Effect::Confirm {
            ticket: 7,
            title: "sure?".to_owned(),
            message: "really?".to_owned(),
        },
        Effect::Offer {
            ticket: 8,
            title: "what next?".to_owned(),
            options: offered(),
        },
        Effect::Withdraw { ticket: 8 },
        Effect::CountUsage {
            model: gate().model,
            usage: record().usage,
        },
        Effect::Ring,
        Effect::RestoreInput {
            text: "/goal x".to_owned(),
        },
        Effect::Release {
            approved: false,
            reason: Some("why".to_owned()),
            report: true,
        },
    ]
}

fn offered() -> Vec<OfferedWay> {
    let ways = [
        WayOn::Resume,
        WayOn::Edit,
        WayOn::Accept,
        WayOn::Clear,
        WayOn::NotNow,
    ];
    let label = "words".to_owned();
    ways.map(|way| OfferedWay {
        way,
        label: label.clone(),
    })
    .to_vec()
}

fn record() -> AuditRecord {
    AuditRecord {
        tag: goal_of(goal_engine::Phase::Pursuing).tag(),
        number: 2,
        by_user: true,
        details: AuditDetails {
            outcome: AuditOutcome::NoVerdict(NoVerdictWhy::NoTag),
            model: gate().model,
            checks: vec![CheckRecord {
                tool: "read".to_owned(),
                args: "{}".to_owned(),
                ok: true,
                ms: 3,
            }],
            duration_ms: 20,
            report: "fine".to_owned(),
            rung: Rung::Fingerprint,
            paused: None,
        },
        thinking_level: Some("high".to_owned()),
        attempts: 2,
        usage: Usage {
            input: 1.0,
            cost_total: 0.5,
            ..Usage::default()
        },
        started_at: WallClock(1_700_000_000_000),
        gate: gate(),
        failure: None,
        before: Some(workspace("blake3:1")),
        after: Some(workspace("blake3:2")),
    }
}

/// Read the snapshot as the shim's author: names and shapes are the contract.
#[test]
fn every_effect_is_written_as_the_shim_reads_it_and_comes_back() {
    let wires: Vec<EffectWire> = effects().into_iter().filter_map(effect).collect();
    let written = serde_json::to_value(&wires).expect("JSON");
    let read: Vec<EffectWire> = serde_json::from_value(written.clone()).expect("effects");
    assert_eq!(read, wires);
    insta::assert_snapshot!(serde_json::to_string_pretty(&written).expect("JSON"));
}

#[test]
fn the_drivers_own_work_never_reaches_the_wire() {
    let prepare = PrepareAudit {
        audit: 1,
        workspace: "/w".to_owned(),
        sandbox: gate().sandbox,
    };
    assert!(effect(Effect::PrepareAudit(Box::new(prepare))).is_none());
    assert!(
        effect(Effect::InspectWorkspace {
            audit: 1,
            whole: true
        })
        .is_none()
    );
}

#[test]
fn a_usage_always_carries_every_field_cost_included() {
    let answer = effects().into_iter().filter_map(effect).find_map(|wire| {
        if let EffectWire::FinishTool { usage, .. } = wire {
            usage
        } else {
            None
        }
    });
    let usage = serde_json::to_value(answer.expect("a usage")).expect("JSON");
    for field in ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] {
        assert!(usage[field].is_number(), "{field}");
    }
    for field in ["input", "output", "cacheRead", "cacheWrite", "total"] {
        assert!(usage["cost"][field].is_number(), "cost.{field}");
    }
}

#[test]
fn every_outcome_and_reason_has_its_name_in_the_file() {
    let outcomes = [
        (AuditOutcome::Approved, "approved", None),
        (AuditOutcome::Disapproved, "disapproved", None),
        (
            AuditOutcome::NoVerdict(NoVerdictWhy::HollowApproval),
            "no_verdict",
            Some("hollow_approval"),
        ),
        (
            AuditOutcome::Failed(FailureKind::CoreLost),
            "failed",
            Some("core_lost"),
        ),
        (AuditOutcome::StaleWorkspace, "stale", Some("workspace")),
        (AuditOutcome::StaleGoal, "stale", Some("goal")),
        (
            AuditOutcome::Aborted { by_command: true },
            "aborted",
            Some("command"),
        ),
        (
            AuditOutcome::Aborted { by_command: false },
            "aborted",
            Some("user"),
        ),
    ];
    for (outcome, name, why) in outcomes {
        let mut record = record();
        record.details.outcome = outcome;
        let wire = effect(Effect::SaveAudit(Box::new(record)));
        let entry = serde_json::to_value(wire).expect("JSON")["entry"].clone();
        assert_eq!(entry["outcome"].as_str(), Some(name));
        assert_eq!(entry.get("why").and_then(Value::as_str), why);
        assert_eq!(
            (entry["v"].as_u64(), entry["kind"].as_str()),
            (Some(1), Some("audit"))
        );
    }
}

#[test]
fn a_goal_is_saved_under_the_stable_names() {
    let settings = Settings::for_tests();
    let goal = Goal::start(
        "g-1".to_owned(),
        3,
        Objective::new("x").expect("an objective"),
        gate(),
        Monotonic(0),
        WallClock(5),
    );
    let saved = SavedGoal::Present {
        goal: Box::new(goal),
        active_ms: 0,
    };
    let entry =
        serde_json::to_value(effect(Effect::SaveGoal(saved))).expect("JSON")["entry"].clone();
    for name in [
        "id",
        "generation",
        "objective",
        "phase",
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
    ] {
        assert!(entry["goal"].get(name).is_some(), "{name}");
    }
    assert_eq!(
        entry["goal"]["gate"]["maxAudits"].as_u64(),
        settings.max_audits.map(u64::from)
    );
}

/// Optional fields may be written as null or left out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

fn workspace(digest: &str) -> goal_engine::WorkspaceSummary {
    goal_engine::WorkspaceSummary {
        digest: digest.to_owned(),
        files: 2,
        bytes: 30,
        commit: None,
        repositories: "r".to_owned(),
        rules: "i".to_owned(),
        parts: std::collections::BTreeMap::from([("src".to_owned(), "p".to_owned())]),
    }
}
