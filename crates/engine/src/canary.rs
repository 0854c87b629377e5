//! Known defects, planted on purpose to prove that the simulator sees them.
//!
//! With the feature `canary` an engine can be given one of them when it is made. Without the feature
//! there is nothing to give: `Plant::holds` is a constant `false`, and what depends on it is gone
//! from the compiled engine. The enum stays, so that each place names its defect.

use goal_audit::{AuditorEvent, Finding, NoVerdictReason, Step};
use goal_state::{AuditOutcome, Decision, Goal, GoalTag, PauseReason, Phase, Totals};

use crate::audit::ActiveAudit;
use crate::effect::Effect;
use crate::engine::Engine;
use crate::event::Event;

/// A mistake of the kind that loops and auditors like this one were shipped with. The comments say
/// what the engine does wrong, and how such code comes to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(
    not(feature = "canary"),
    expect(unreachable_pub, reason = "exported with the feature only")
)]
pub enum Canary {
    /// S1: an approval counts although the auditor looked at nothing; whoever trusts the tag alone
    /// writes this.
    HollowApproval,
    /// S1: a tag anywhere in the answer is a verdict, as with `text.includes("<approved/>")`. Quoted
    /// files, echoed prompts and "I will not write … yet" approve.
    QuotedTag,
    /// S1: only the timer ends an audit, so a verdict that comes after the limit but before the timer
    /// is heard still counts.
    LateVerdict,
    /// S1: Esc ends the agent's turn but is not passed on to the audit, whose approval then counts.
    EscMissesAudit,
    /// S1: a goal is known by its id alone, so an audit of the old words approves the new ones.
    ApprovalOutlivesEdit,
    /// S1: the workspace is looked at around an audit, and what was found is only shown.
    ChangedWorkspaceApproved,
    /// S2: a run that starts does not cancel the back-off, whose timer then starts a second one.
    BackOffOutlivesRun,
    /// S2: a failed request is taken for the end of the run (deciding at `agent_end`, the
    /// predecessor's mistake): the loop goes on while the host tries again by itself.
    ContinuesIntoRetry,
    /// S2: nothing keeps a second audit from starting beside the first.
    SecondAudit,
    /// S3: `/goal pause` stops the next continuation but not the run that is going.
    PauseLeavesRun,
    /// S3: the interrupt key is heard only while the host is busy, so a back-off survives it.
    EscMissesBackOff,
    /// S3: a goal that was pursued when its session was left goes on as soon as that is opened.
    GoesOnAtLoad,
    /// S4: `get_goal` and `update_goal` count as work (the predecessor's mistake), so an agent that
    /// only asks how it stands is never stopped.
    OwnToolsAreWork,
    /// S4: every call counts as work, whether it ran, failed, or named no tool at all.
    FailedCallsAreWork,
    /// S4: `>` instead of `>=` at `maxContinuations`.
    OneContinuationTooMany,
    /// S4: each run begins with a clean slate of errors, so they never add up to a stop.
    ErrorsForgotten,
    /// S4: only whole runs are counted, so one run may go on without work for ever.
    IdleTurnsUncounted,
    /// S5: the audit of a cancelled call ends without an answer to the call.
    CancelledCallUnanswered,
    /// S5: a missing return: a second claim in a message is answered with the first one's result and
    /// then audited, and answered, once more.
    RepeatedClaimAnsweredTwice,
    /// S6: an auditor's session is closed after a verdict only, not after a failure or an abort.
    AuditorLeftOpen,
    /// S6: stopping a goal leaves its deadlines set.
    DeadlineOutlivesStop,
    /// S6: the auditor's silence is counted while one of its tools runs (the predecessor's mistake):
    /// a long test run is killed as idle.
    IdleRunsInTools,
    /// S7: a pause changes the goal in memory and on the screen, but no entry is written.
    PauseNotSaved,
    /// S7: after an audit, the record taken before it is written over the newer one (the
    /// predecessor's mistake): refusals are forgotten, and a goal that was completed comes back.
    StaleWriteAfterAudit,
    /// S7: the goal of another branch is kept where the present one has none (the predecessor read
    /// entries of all branches).
    GoalOfAnotherBranch,
    /// S7: continuations do not carry the totals, so a reload starts the counting again.
    TotalsLeftOut,
    /// S8: the agent reads the objective bare in a sentence, without a fence.
    RawObjective,
    /// S8: the auditor's prompt holds the agent's claim as it was written, tags and all.
    RawClaim,
    /// S8: a marker carries the auditor's objections bare.
    RawObjections,
    /// S9: a goal that stops at a boundary is saved as paused, and nobody is told.
    SilentStop,
    /// S9: `/goal resume`, which the stop's own text names, is refused at a limit.
    AdviceRefused,
    /// S10: every continuation repeats the whole objective.
    FullMessageEachTime,
    /// S10: our tools are switched on anew at every start, which changes the tools the provider sees.
    ToolsToggled,
}

/// What an engine has planted in it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plant {
    #[cfg(feature = "canary")]
    canary: Option<Canary>,
}

#[cfg(feature = "canary")]
impl Canary {
    /// All of them, in the order of the checkers that must find them.
    pub const ALL: [Self; 33] = [
        Self::HollowApproval,
        Self::QuotedTag,
        Self::LateVerdict,
        Self::EscMissesAudit,
        Self::ApprovalOutlivesEdit,
        Self::ChangedWorkspaceApproved,
        Self::BackOffOutlivesRun,
        Self::ContinuesIntoRetry,
        Self::SecondAudit,
        Self::PauseLeavesRun,
        Self::EscMissesBackOff,
        Self::GoesOnAtLoad,
        Self::OwnToolsAreWork,
        Self::FailedCallsAreWork,
        Self::OneContinuationTooMany,
        Self::ErrorsForgotten,
        Self::IdleTurnsUncounted,
        Self::CancelledCallUnanswered,
        Self::RepeatedClaimAnsweredTwice,
        Self::AuditorLeftOpen,
        Self::DeadlineOutlivesStop,
        Self::IdleRunsInTools,
        Self::PauseNotSaved,
        Self::StaleWriteAfterAudit,
        Self::GoalOfAnotherBranch,
        Self::TotalsLeftOut,
        Self::RawObjective,
        Self::RawClaim,
        Self::RawObjections,
        Self::SilentStop,
        Self::AdviceRefused,
        Self::FullMessageEachTime,
        Self::ToolsToggled,
    ];

    /// The name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HollowApproval => "hollow-approval",
            Self::QuotedTag => "quoted-tag",
            Self::LateVerdict => "late-verdict",
            Self::EscMissesAudit => "esc-misses-audit",
            Self::ApprovalOutlivesEdit => "approval-outlives-edit",
            Self::ChangedWorkspaceApproved => "changed-workspace-approved",
            Self::BackOffOutlivesRun => "back-off-outlives-run",
            Self::ContinuesIntoRetry => "continues-into-retry",
            Self::SecondAudit => "second-audit",
            Self::PauseLeavesRun => "pause-leaves-run",
            Self::EscMissesBackOff => "esc-misses-back-off",
            Self::GoesOnAtLoad => "goes-on-at-load",
            Self::OwnToolsAreWork => "own-tools-are-work",
            Self::FailedCallsAreWork => "failed-calls-are-work",
            Self::OneContinuationTooMany => "one-continuation-too-many",
            Self::ErrorsForgotten => "errors-forgotten",
            Self::IdleTurnsUncounted => "idle-turns-uncounted",
            Self::CancelledCallUnanswered => "cancelled-call-unanswered",
            Self::RepeatedClaimAnsweredTwice => "repeated-claim-answered-twice",
            Self::AuditorLeftOpen => "auditor-left-open",
            Self::DeadlineOutlivesStop => "deadline-outlives-stop",
            Self::IdleRunsInTools => "idle-runs-in-tools",
            Self::PauseNotSaved => "pause-not-saved",
            Self::StaleWriteAfterAudit => "stale-write-after-audit",
            Self::GoalOfAnotherBranch => "goal-of-another-branch",
            Self::TotalsLeftOut => "totals-left-out",
            Self::RawObjective => "raw-objective",
            Self::RawClaim => "raw-claim",
            Self::RawObjections => "raw-objections",
            Self::SilentStop => "silent-stop",
            Self::AdviceRefused => "advice-refused",
            Self::FullMessageEachTime => "full-message-each-time",
            Self::ToolsToggled => "tools-toggled",
        }
    }

    /// The number of the simulator's checker that must find it: 1 for S1, and so on to 10.
    #[must_use]
    pub const fn checker(self) -> u8 {
        match self {
            Self::HollowApproval
            | Self::QuotedTag
            | Self::LateVerdict
            | Self::EscMissesAudit
            | Self::ApprovalOutlivesEdit
            | Self::ChangedWorkspaceApproved => 1,
            Self::BackOffOutlivesRun | Self::ContinuesIntoRetry | Self::SecondAudit => 2,
            Self::PauseLeavesRun | Self::EscMissesBackOff | Self::GoesOnAtLoad => 3,
            Self::OwnToolsAreWork
            | Self::FailedCallsAreWork
            | Self::OneContinuationTooMany
            | Self::ErrorsForgotten
            | Self::IdleTurnsUncounted => 4,
            Self::CancelledCallUnanswered | Self::RepeatedClaimAnsweredTwice => 5,
            Self::AuditorLeftOpen | Self::DeadlineOutlivesStop | Self::IdleRunsInTools => 6,
            Self::PauseNotSaved
            | Self::StaleWriteAfterAudit
            | Self::GoalOfAnotherBranch
            | Self::TotalsLeftOut => 7,
            Self::RawObjective | Self::RawClaim | Self::RawObjections => 8,
            Self::SilentStop | Self::AdviceRefused => 9,
            Self::FullMessageEachTime | Self::ToolsToggled => 10,
        }
    }
}

#[cfg(feature = "canary")]
impl Engine {
    /// An engine with this defect planted in it, or with none.
    #[must_use]
    pub fn with_canary(settings: crate::Settings, canary: Option<Canary>) -> Self {
        let mut engine = Self::new(settings);
        engine.plant = Plant { canary };
        engine
    }
}

impl Plant {
    #[cfg(feature = "canary")]
    fn holds(self, canary: Canary) -> bool {
        self.canary == Some(canary)
    }

    #[cfg(not(feature = "canary"))]
    const fn holds(self, _: Canary) -> bool {
        false
    }
}

/// The defects that take more than a condition. Each does nothing unless it is planted.
impl Engine {
    /// Whether this defect is planted; without the feature, never.
    pub(crate) fn planted(&self, canary: Canary) -> bool {
        self.plant.holds(canary)
    }

    /// [`Canary::LateVerdict`]: deadlines are not looked at when this event comes.
    pub(crate) fn planted_lateness(&self, event: &Event) -> bool {
        self.planted(Canary::LateVerdict) && matches!(event, Event::Auditor { .. })
    }

    /// [`Canary::IdleRunsInTools`]: the start of a tool is a sign of life like any other.
    pub(crate) fn planted_event(&self, event: AuditorEvent) -> AuditorEvent {
        let starts = matches!(event, AuditorEvent::ToolStarted { .. });
        if starts && self.planted(Canary::IdleRunsInTools) {
            AuditorEvent::Output
        } else {
            event
        }
    }

    /// [`Canary::HollowApproval`] and [`Canary::QuotedTag`]: approved, instead of a reminder.
    pub(crate) fn planted_step(&self, step: Step) -> Step {
        let approves = match &step {
            Step::Remind(NoVerdictReason::HollowApproval) => self.planted(Canary::HollowApproval),
            Step::Remind(NoVerdictReason::Grammar(_)) => {
                self.planted(Canary::QuotedTag) && self.tag_was_written()
            }
            Step::Remind(NoVerdictReason::Truncated) | Step::Wait | Step::Done(_) => false,
        };
        if approves {
            Step::Done(Finding::Approved)
        } else {
            step
        }
    }

    fn tag_was_written(&self) -> bool {
        let written = self.audit.as_ref().map(ActiveAudit::report);
        written.is_some_and(|text| text.contains("<approved/>"))
    }

    /// [`Canary::ApprovalOutlivesEdit`]: the same goal, whatever became of its words.
    pub(crate) fn planted_match(&self, goal: &Goal, tag: &GoalTag) -> bool {
        self.planted(Canary::ApprovalOutlivesEdit) && goal.id() == tag.id
    }

    /// [`Canary::AuditorLeftOpen`]: nobody thinks of the session when an audit ends like this.
    pub(crate) fn planted_leak(&self, outcome: &AuditOutcome) -> bool {
        let broken = match outcome {
            AuditOutcome::Failed(_) | AuditOutcome::Aborted { .. } => true,
            AuditOutcome::Approved
            | AuditOutcome::Disapproved
            | AuditOutcome::NoVerdict(_)
            | AuditOutcome::StaleWorkspace
            | AuditOutcome::StaleGoal => false,
        };
        broken && self.planted(Canary::AuditorLeftOpen)
    }

    /// [`Canary::CancelledCallUnanswered`]: who would read the answer of a call that was cancelled?
    pub(crate) fn planted_silence(&self, outcome: &AuditOutcome) -> bool {
        matches!(outcome, AuditOutcome::Aborted { .. })
            && self.planted(Canary::CancelledCallUnanswered)
    }

    /// [`Canary::StaleWriteAfterAudit`]: the entry that an audit's end writes once more.
    pub(crate) fn planted_entry(&self) -> Option<Effect> {
        let saved = self.saved.as_ref()?;
        self.planted(Canary::StaleWriteAfterAudit)
            .then(|| Effect::SaveGoal(saved.clone()))
    }

    /// [`Canary::ErrorsForgotten`]: what the goal counts before a run is judged.
    pub(crate) fn planted_streak(&mut self) {
        if self.planted(Canary::ErrorsForgotten)
            && let Some(goal) = &mut self.goal
        {
            goal.totals.errored_streak = 0;
        }
    }

    /// [`Canary::OneContinuationTooMany`]: the limit itself is still allowed.
    pub(crate) fn planted_decision(&mut self, decision: Decision) -> Decision {
        let at_limit = matches!(&decision, Decision::Pause(stop) if stop.reason == PauseReason::ContinuationLimit);
        let planted = self.planted(Canary::OneContinuationTooMany);
        match &mut self.goal {
            Some(goal)
                if planted
                    && at_limit
                    && goal.gate().max_continuations == Some(goal.totals.continuations) =>
            {
                goal.totals.continuations += 1;
                Decision::Continue { nudge: false }
            }
            Some(_) | None => decision,
        }
    }

    /// [`Canary::GoesOnAtLoad`]: a goal that was found held is pursued at once.
    pub(crate) fn planted_load(&mut self, out: &mut Vec<Effect>) {
        let held = self
            .goal
            .as_ref()
            .is_some_and(|goal| *goal.phase() == Phase::Held);
        if held && self.planted(Canary::GoesOnAtLoad) {
            let now = self.clocks.now;
            self.goal.iter_mut().for_each(|goal| goal.rearm(now));
            self.restart(out);
        }
    }

    /// [`Canary::GoalOfAnotherBranch`]: where the branch has no goal, the one in memory must be it.
    pub(crate) fn planted_goal(
        &self,
        in_memory: Option<Goal>,
        on_branch: Option<Goal>,
    ) -> Option<Goal> {
        if self.planted(Canary::GoalOfAnotherBranch) {
            on_branch.or(in_memory)
        } else {
            on_branch
        }
    }

    /// [`Canary::TotalsLeftOut`]: what a continuation says was counted.
    pub(crate) fn planted_totals(&self, goal: &Goal) -> Totals {
        if self.planted(Canary::TotalsLeftOut) {
            Totals::default()
        } else {
            goal.totals.clone()
        }
    }

    /// [`Canary::RawObjective`]: the full message as a sentence.
    pub(crate) fn planted_message(&self, goal: &Goal, text: String) -> String {
        if self.planted(Canary::RawObjective) {
            format!("Work on this until it is done: {}", goal.objective())
        } else {
            text
        }
    }

    /// [`Canary::RawClaim`]: the audit's prompt with the claim behind it.
    pub(crate) fn planted_prompt(&self, claim: Option<&str>, mut prompt: String) -> String {
        if self.planted(Canary::RawClaim)
            && let Some(claim) = claim
        {
            prompt.push_str(&format!("\n\nThe agent says: {claim}"));
        }
        prompt
    }

    /// [`Canary::RawObjections`]: the marker with the objections behind it.
    pub(crate) fn planted_marker(&self, objections: Option<&str>, mut marker: String) -> String {
        if self.planted(Canary::RawObjections)
            && let Some(objections) = objections
        {
            marker.push_str(&format!("\n\nThe auditor says: {objections}"));
        }
        marker
    }

    /// [`Canary::AdviceRefused`]: a limit is a limit.
    pub(crate) fn planted_refusal(&self) -> bool {
        let at_limit = match self.goal.as_ref().map(Goal::phase) {
            Some(Phase::Paused(stop)) => matches!(
                stop.reason,
                PauseReason::ContinuationLimit | PauseReason::AuditLimit
            ),
            Some(Phase::Pursuing | Phase::Held) | None => false,
        };
        at_limit && self.planted(Canary::AdviceRefused)
    }

    /// [`Canary::ContinuesIntoRetry`]: goes on at the end of a failed request.
    pub(crate) fn planted_restart(&mut self, broken_off: bool, out: &mut Vec<Effect>) {
        if broken_off && self.run_is_the_goals() && self.planted(Canary::ContinuesIntoRetry) {
            self.restart(out);
        }
    }
}
