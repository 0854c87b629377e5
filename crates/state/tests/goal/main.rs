//! The goal record and its moves from the outside: tables for every rule, and a model that derives
//! every count from the goal's history.
#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod audits;
mod model;
mod phases;
mod settle;

use goal_state::{
    Gate, Goal, ModelErrorKind, ModelRef, Monotonic, Objective, RunEnd, RunSummary, SandboxGate,
    WallClock,
};

/// At least the length from which a final text can be a repetition, folded.
const LONG: &str = "0123456789 0123456789 0123456789 0123456";

fn gate() -> Gate {
    Gate {
        model: ModelRef {
            provider: "p".to_owned(),
            id: "m".to_owned(),
        },
        thinking_level: None,
        timeout_ms: None,
        idle_timeout_ms: None,
        max_empty_continuations: 3,
        max_consecutive_audit_rejections: 3,
        max_continuations: Some(100),
        own_limit: false,
        max_audits: Some(20),
        sandbox: SandboxGate {
            mode: "prefer".to_owned(),
            network: "loopback".to_owned(),
            hide: Vec::new(),
            scratch_mb: None,
        },
    }
}

fn goal_with(gate: Gate) -> Goal {
    Goal::start(
        "g-1".to_owned(),
        1,
        Objective::new("the objective").expect("an objective"),
        gate,
        Monotonic(0),
        WallClock(1_000),
    )
}

fn goal() -> Goal {
    goal_with(gate())
}

fn run(did_work: bool, text: &str) -> RunSummary {
    RunSummary {
        did_work,
        wrote: false,
        end: RunEnd::Completed,
        final_text: text.to_owned(),
    }
}

fn failed(kind: ModelErrorKind, did_work: bool) -> RunSummary {
    RunSummary {
        end: RunEnd::Error(kind, "the provider's words".to_owned()),
        ..run(did_work, "")
    }
}
