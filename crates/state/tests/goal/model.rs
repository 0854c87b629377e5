//! A model that keeps no counter: it remembers what happened since the last start or resume, and
//! derives every streak, total and decision from that history by looking back.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the model looks back for a few kinds of step and passes over all others"
)]

use goal_state::{
    AuditMark, AuditOutcome, BACK_OFF_MS, Consequence, Decision, FailureKind, Gate, Goal,
    ModelErrorKind, Monotonic, Phase, RunEnd, RunSummary,
};
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

use crate::{LONG, gate, goal_with};

const OTHER_LONG: &str = "a second long text, which is also of more than forty characters";

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Run(RunSummary),
    /// A back-off is over.
    Restart,
    Work,
    UserMessage,
    Audit(AuditOutcome, Option<&'static str>, &'static str),
    Pause,
    Resume,
    Hold,
    Rearm,
    /// The user words the goal anew.
    Edit,
    /// The user sets the limit of continuations; `None` is off.
    Limit(Option<u32>),
    Time(u64),
}

/// What happened since the last start or resume, the newest last.
#[derive(Debug, Clone, Default)]
struct History {
    steps: Vec<Step>,
    continuations: u32,
    /// The newest run was stopped as a repetition, before it could count as one with or without work.
    repeated: bool,
    /// The user's own limit of continuations, which outlives a resume.
    own_limit: Option<Option<u32>>,
    phase: ModelPhase,
    now: u64,
    active: u64,
    generation: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ModelPhase {
    #[default]
    Pursuing,
    Held,
    Paused,
    Complete,
}

fn small_gate() -> Gate {
    Gate {
        max_continuations: Some(12),
        max_audits: Some(7),
        ..gate()
    }
}

impl History {
    fn back(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().rev()
    }

    fn empty_streak(&self) -> u32 {
        let mut count = 0;
        let mut passed_over = !self.repeated;
        for step in self.back() {
            match step {
                Step::Run(_) if !passed_over => passed_over = true,
                Step::Run(run) if run.did_work => return count,
                Step::Run(run) if run.end == RunEnd::Completed => count += 1,
                Step::UserMessage => return count,
                _ => {}
            }
        }
        count
    }

    fn errored_streak(&self) -> u32 {
        let mut count = 0;
        for step in self.back() {
            match step {
                Step::Run(run) if run.end == RunEnd::Completed => return count,
                Step::Run(run) if run.did_work => return count + 1,
                Step::Run(_) => count += 1,
                _ => {}
            }
        }
        count
    }

    /// Length of the present repetition, and whether one of its runs wrote.
    fn repetition(&self) -> (u32, bool) {
        let mut last: Option<&str> = None;
        let (mut count, mut wrote) = (0, false);
        for step in self.back() {
            match step {
                Step::UserMessage | Step::Edit => break,
                Step::Run(run) if run.end == RunEnd::Completed => {
                    let long = run.final_text.len() >= 40;
                    if !long || last.is_some_and(|text| text != run.final_text) {
                        break;
                    }
                    last = Some(&run.final_text);
                    count += 1;
                    wrote |= run.wrote;
                }
                _ => {}
            }
        }
        (count, wrote)
    }

    fn rejection_streak(&self) -> u32 {
        let mut count = 0;
        for step in self.back() {
            match step {
                Step::Work => return count,
                Step::Audit(AuditOutcome::Disapproved, ..) => count += 1,
                _ => {}
            }
        }
        count
    }

    fn failure_streak(&self) -> u32 {
        let mut count = 0;
        for step in self.back() {
            match step {
                Step::Audit(AuditOutcome::Failed(_), ..) => count += 1,
                Step::Audit(AuditOutcome::Disapproved, ..) => return count,
                _ => {}
            }
        }
        count
    }

    fn refusal_streak(&self) -> u32 {
        let mut first = None;
        let mut count = 0;
        for step in self.back() {
            if *step == Step::Edit {
                return count;
            }
            if let Step::Audit(AuditOutcome::Disapproved, claim, objection) = step {
                let Some(claim) = claim else { return count };
                if *first.get_or_insert((claim, objection)) != (claim, objection) {
                    return count;
                }
                count += 1;
            }
        }
        count
    }

    fn audits(&self) -> u32 {
        let counted = self.steps.iter().filter(|step| {
            matches!(
                step,
                Step::Audit(
                    AuditOutcome::Disapproved | AuditOutcome::Failed(_) | AuditOutcome::Approved,
                    ..
                )
            )
        });
        u32::try_from(counted.count()).unwrap_or(u32::MAX)
    }

    /// What must follow the run that is the newest step; `None` is "go on".
    fn after_run(&mut self, run: &RunSummary) -> &'static str {
        if run.end != RunEnd::Completed {
            if self.errored_streak() >= 5 {
                return "pause model_errors";
            }
            return "back off";
        }
        let (repeats, wrote) = self.repetition();
        if repeats >= if wrote { 6 } else { 3 } {
            self.repeated = true;
            return "pause repetition";
        }
        if !run.did_work && self.empty_streak() >= 3 {
            return "pause no_progress";
        }
        self.continued(if run.did_work { "continue" } else { "nudge" })
    }

    fn continued(&mut self, how: &'static str) -> &'static str {
        let limit = self
            .own_limit
            .unwrap_or_else(|| small_gate().max_continuations);
        if limit.is_some_and(|limit| self.continuations >= limit) {
            return "pause continuation_limit";
        }
        self.continuations += 1;
        how
    }

    fn after_audit(&self, outcome: &AuditOutcome) -> &'static str {
        match outcome {
            AuditOutcome::Approved => "complete",
            AuditOutcome::Aborted { .. } => "pause aborted",
            AuditOutcome::StaleGoal => "go on",
            _ if self.refusal_streak() >= 3 => "pause rejections",
            _ if self.rejection_streak() + self.failure_streak() >= 3
                && self.failure_streak() == 0 =>
            {
                "pause rejections"
            }
            _ if self.rejection_streak() + self.failure_streak() >= 3 => "pause audit_failures",
            _ if self.audits() >= 7 => "pause audit_limit",
            _ => "go on",
        }
    }

    fn stop(&mut self, phase: ModelPhase) {
        self.phase = phase;
        if phase == ModelPhase::Paused {
            self.generation += 1;
        }
    }

    /// Takes a step, and says what must follow.
    fn take(&mut self, step: &Step) -> &'static str {
        let said = match step {
            Step::Time(ms) => {
                self.now += ms;
                if self.phase == ModelPhase::Pursuing {
                    self.active += ms;
                }
                return "";
            }
            Step::Resume => {
                *self = Self {
                    now: self.now,
                    active: self.active,
                    generation: self.generation + 1,
                    own_limit: self.own_limit,
                    ..Self::default()
                };
                return "";
            }
            Step::Edit => {
                self.generation += 1;
                self.steps.push(Step::Edit);
                return "";
            }
            Step::Limit(limit) => {
                self.own_limit = Some(*limit);
                return "";
            }
            Step::Pause => "pause user",
            Step::Hold => {
                self.stop(ModelPhase::Held);
                return "";
            }
            Step::Rearm => {
                self.phase = ModelPhase::Pursuing;
                return "";
            }
            Step::Restart => self.continued("go on"),
            // An error that no retry mends stops at once, uncounted.
            Step::Run(RunSummary {
                end: RunEnd::Error(kind, _),
                ..
            }) if !kind.is_mendable() => "pause model_errors",
            Step::Run(run) => {
                self.steps.push(step.clone());
                self.after_run(run)
            }
            Step::Audit(outcome, ..) => {
                self.steps.push(step.clone());
                self.after_audit(outcome)
            }
            Step::Work | Step::UserMessage => {
                self.steps.push(step.clone());
                "go on"
            }
        };
        if said.starts_with("pause") {
            self.stop(ModelPhase::Paused);
        } else if said == "complete" {
            self.phase = ModelPhase::Complete;
        }
        said
    }
}

fn any_run() -> impl Strategy<Value = Step> {
    let end = prop_oneof![
        12 => Just(RunEnd::Completed),
        6 => Just(RunEnd::Error(ModelErrorKind::Transient, "e".to_owned())),
        1 => Just(RunEnd::Error(ModelErrorKind::Quota, "e".to_owned())),
    ];
    let text = prop_oneof![
        4 => Just(""),
        4 => Just(LONG),
        2 => Just(OTHER_LONG),
    ];
    (any::<bool>(), any::<bool>(), end, text).prop_map(|(did_work, wrote, end, text)| {
        Step::Run(RunSummary {
            did_work,
            wrote: wrote && did_work,
            end,
            final_text: text.to_owned(),
        })
    })
}

fn any_audit() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        1 => Just(AuditOutcome::Approved),
        6 => Just(AuditOutcome::Disapproved),
        4 => Just(AuditOutcome::Failed(FailureKind::Timeout)),
        1 => Just(AuditOutcome::StaleGoal),
        1 => Just(AuditOutcome::Aborted { by_command: false }),
    ];
    let claim = prop::sample::select(vec![None, Some("done"), Some("really done")]);
    let objection = prop::sample::select(vec!["no", "not yet"]);
    (outcome, claim, objection)
        .prop_map(|(outcome, claim, objection)| Step::Audit(outcome, claim, objection))
}

impl ReferenceStateMachine for History {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self {
            generation: 1,
            ..Self::default()
        })
        .boxed()
    }

    fn transitions(state: &Self) -> BoxedStrategy<Step> {
        let time = prop_oneof![
            4 => (0_u64..10_000).prop_map(Step::Time),
            1 => Just(Step::Edit),
            1 => prop::option::of(1_u32..20).prop_map(Step::Limit),
        ];
        match state.phase {
            ModelPhase::Pursuing => prop_oneof![
                8 => any_run(),
                6 => any_audit(),
                2 => Just(Step::Work),
                1 => Just(Step::UserMessage),
                1 => Just(Step::Restart),
                1 => Just(Step::Pause),
                1 => Just(Step::Hold),
                2 => time,
            ]
            .boxed(),
            ModelPhase::Held => prop_oneof![Just(Step::Resume), Just(Step::Rearm), time].boxed(),
            ModelPhase::Paused => prop_oneof![Just(Step::Resume), time].boxed(),
            // Its caller has removed it; only another start may follow.
            ModelPhase::Complete => Just(Step::Resume).boxed(),
        }
    }

    fn preconditions(state: &Self, step: &Step) -> bool {
        match step {
            Step::Time(_) | Step::Edit | Step::Limit(_) => true,
            Step::Resume => state.phase != ModelPhase::Pursuing,
            Step::Rearm => state.phase == ModelPhase::Held,
            _ => state.phase == ModelPhase::Pursuing,
        }
    }

    fn apply(mut state: Self, step: &Step) -> Self {
        state.take(step);
        state
    }
}

/// The real goal beside the model's own account of what must follow.
struct Real {
    goal: Goal,
    model: History,
}

impl Real {
    fn now(&self) -> Monotonic {
        Monotonic(self.model.now)
    }

    fn take(&mut self, step: &Step) -> String {
        let now = self.now();
        match step {
            Step::Run(run) => match self.goal.settle(run) {
                Decision::Continue { nudge: true } => "nudge".to_owned(),
                Decision::Continue { nudge: false } => "continue".to_owned(),
                Decision::BackOff(ms) => {
                    assert!(BACK_OFF_MS.contains(&ms));
                    "back off".to_owned()
                }
                Decision::Pause(stop) => {
                    let name = stop.reason.name();
                    self.goal.pause(stop, now);
                    format!("pause {name}")
                }
            },
            Step::Restart => match self.goal.count_continuation() {
                Ok(()) => "go on".to_owned(),
                Err(stop) => {
                    self.goal.pause(stop, now);
                    "pause continuation_limit".to_owned()
                }
            },
            Step::Audit(outcome, claim, objection) => self.audited(outcome, *claim, objection),
            Step::Work => {
                self.goal.note_work();
                "go on".to_owned()
            }
            Step::UserMessage => {
                self.goal.note_user_message();
                "go on".to_owned()
            }
            Step::Pause => {
                self.goal
                    .pause(goal_state::Stop::plain(goal_state::PauseReason::User), now);
                "pause user".to_owned()
            }
            Step::Resume => {
                self.goal.resume(small_gate(), now);
                String::new()
            }
            Step::Hold => {
                self.goal.hold(now);
                String::new()
            }
            Step::Rearm => {
                self.goal.rearm(now);
                String::new()
            }
            Step::Edit => {
                let objective = goal_state::Objective::new("in other words");
                self.goal.edit(objective.expect("an objective"));
                String::new()
            }
            Step::Limit(limit) => {
                self.goal.set_limit(*limit);
                String::new()
            }
            Step::Time(_) => String::new(),
        }
    }

    fn audited(&mut self, outcome: &AuditOutcome, claim: Option<&str>, objection: &str) -> String {
        let now = self.now();
        match self.goal.audited(AuditMark {
            outcome,
            claim,
            objection,
            failure: None,
        }) {
            Consequence::Complete => "complete".to_owned(),
            Consequence::GoOn => "go on".to_owned(),
            Consequence::Pause(stop) => {
                let name = stop.reason.name();
                self.goal.pause(stop, now);
                format!("pause {name}")
            }
        }
    }

    fn check(&self) {
        let (model, totals) = (&self.model, &self.goal.totals);
        assert_eq!(totals.continuations, model.continuations);
        assert_eq!(totals.audits, model.audits());
        assert_eq!(totals.empty_streak, model.empty_streak());
        assert_eq!(totals.errored_streak, model.errored_streak());
        assert_eq!(totals.repeat_streak, model.repetition().0);
        assert_eq!(totals.rejection_streak, model.rejection_streak());
        assert_eq!(totals.failure_streak, model.failure_streak());
        assert_eq!(totals.refusal_streak, model.refusal_streak());
        assert_eq!(self.goal.active_ms(self.now()), model.active);
        assert_eq!(self.goal.generation(), model.generation);
        assert_eq!(
            self.goal.is_pursuing(),
            matches!(model.phase, ModelPhase::Pursuing | ModelPhase::Complete)
        );
        assert_eq!(
            *self.goal.phase() == Phase::Held,
            model.phase == ModelPhase::Held
        );
    }
}

impl StateMachineTest for Real {
    type SystemUnderTest = Self;
    type Reference = History;

    fn init_test(reference: &History) -> Self {
        Self {
            goal: goal_with(small_gate()),
            model: reference.clone(),
        }
    }

    fn apply(mut real: Self, reference: &History, step: Step) -> Self {
        let expected = real.model.clone().take(&step);
        let happened = if let Step::Time(_) = step {
            String::new()
        } else {
            real.take(&step)
        };
        assert_eq!(happened, expected, "at {step:?}");
        real.model = reference.clone();
        real.check();
        real
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_count_and_decision_follows_from_the_history(sequential 1..60 => Real);
}
