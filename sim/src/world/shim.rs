//! What the extension does with effects: at once, in order, deciding nothing.

use std::collections::VecDeque;

use goal_engine::{Effect, GoalMessage, GoalTag, MessageDetails};

use super::session::What;
use super::user::Dialog;
use super::{Happening, Phase, World};
use crate::marks::Mark;

/// While a compaction by hand ends, pi is not idle yet.
const START_RETRY_MS: u64 = 20;

/// A command on its way to the core.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) text: String,
    /// The core was lost over it, and it was asked once more.
    pub(crate) again: bool,
}

/// The extension's own state, one for the life of a session.
#[derive(Debug, Default)]
pub(crate) struct Shim {
    /// The goal named as pursued by the last status.
    pub(crate) pursued: Option<GoalTag>,
    /// Between the first `agent_start` since rest and `agent_settled`.
    pub(crate) running: bool,
    /// A run was asked for with this message, and it is not in the context yet.
    pub(crate) starting: Option<MessageDetails>,
    /// The run was aborted by us.
    pub(crate) aborted_by_us: bool,
    /// The user stopped what was going on, and nothing has run since.
    pub(crate) stopped: bool,
    /// The run is being ended: what is left of the batch is blocked.
    pub(crate) ending: bool,
    /// A call of this batch has finished.
    pub(crate) batch_ran: bool,
    /// A call of this turn did work.
    pub(crate) turn_worked: bool,
    /// The call that waits is an `update_goal`.
    pub(crate) claims: bool,
    /// A start that is tried again later; its number.
    deferred: Option<GoalMessage>,
    start: u32,
    /// Changes of the place in the session's tree that the core has not answered to: what it
    /// asked for before is of another branch.
    pub(crate) moving: u32,
    /// The commands that were typed and not answered, the oldest first.
    pub(crate) commands: VecDeque<Typed>,
    /// The headless command has returned.
    pub(crate) released: Option<bool>,
}

impl Shim {
    pub(crate) const fn turn_starts(&mut self) {
        self.ending = false;
        self.batch_ran = false;
        self.turn_worked = false;
    }

    /// The shim of the next session.
    pub(crate) fn reborn(&self) -> Self {
        Self {
            start: self.start + 1,
            ..Self::default()
        }
    }
}

impl World {
    pub(super) fn perform(&mut self, effect: Effect) {
        if self.shim.moving > 0 && is_of_a_branch(&effect) {
            return self.mark(Mark::StaleEffectDropped);
        }
        self.check_performed(&effect);
        match effect {
            Effect::SaveGoal(saved) => self.session_mut().push(What::Goal(Box::new(saved))),
            Effect::SaveAudit(record) => {
                self.session_mut().push(What::Audit(record));
            }
            Effect::StartRun(message) => self.start_run(message, false),
            Effect::SendInRun(message) => {
                if self.shim.running {
                    self.pi.steered.push(message);
                } else {
                    self.pi.steered.insert(0, message);
                }
            }
            Effect::EndRun => {
                self.shim.start += 1;
                let held_back = self.shim.deferred.take().is_some();
                self.shim.ending = true;
                self.abort_run_as_ours();
                if held_back && !self.is_busy() {
                    self.start_is_over();
                }
            }
            Effect::ActivateTools => {
                self.tools_are_turned_on();
                let active = self.pi.tools_active;
                self.tell(goal_engine::Event::ToolsChecked { active });
            }
            Effect::FinishTool(answer) => {
                self.check_result(&answer);
                self.write_down(&answer.text);
                self.pi.approved |= is_approval(&answer);
                self.our_call_ends(answer.is_error, answer.ends_run);
            }
            Effect::OpenAuditor(open) => self.open_auditor(&open),
            Effect::PromptAuditor { audit, text } => self.prompt_auditor(audit, &text),
            Effect::CloseAuditor { audit } => self.close_auditor(audit),
            Effect::ShowStatus(view) => {
                self.shim.stopped &= self.shim.pursued == view.pursued;
                self.shim.pursued = view.pursued;
            }
            Effect::Confirm { ticket, .. } => self.user_is_asked(Dialog::Confirm { ticket }),
            Effect::Edit { ticket, .. } => self.user_is_asked(Dialog::Edit { ticket }),
            Effect::Offer {
                ticket, options, ..
            } => self.user_is_offered(ticket, &options),
            Effect::Withdraw { ticket } => self.offer_is_withdrawn(ticket),
            Effect::Release {
                approved, reason, ..
            } => self.release(approved, reason.as_deref()),
            Effect::Notify(notice) | Effect::Reply(notice) => self.user_is_told(notice.text),
            Effect::Propose(_)
            | Effect::InspectWorkspace { .. }
            | Effect::PrepareAudit(_)
            | Effect::Progress { .. }
            | Effect::CountUsage { .. }
            | Effect::Ring
            | Effect::WriteReport { .. }
            | Effect::RestoreInput { .. } => {}
        }
    }

    fn start_run(&mut self, message: GoalMessage, deferred: bool) {
        let pursued = self.shim.pursued.as_ref();
        if deferred && pursued != Some(&message.details.tag) {
            return;
        }
        self.shim.start += 1;
        self.shim.stopped = false;
        if self.shim.running {
            self.check_start_in_run();
            self.shim.starting = Some(message.details.clone());
            self.pi.steered.push(message); // One extra turn of the run that is going on.
        } else if !self.is_busy() && !self.pi.compacting {
            self.check_start();
            self.shim.starting = Some(message.details.clone());
            self.checks.segment_begins(&message);
            self.prepare_run(Some(message));
        } else {
            self.mark(Mark::StartDeferred);
            self.shim.deferred = Some(message);
            let number = self.shim.start;
            self.at(START_RETRY_MS, Happening::Start(number));
        }
    }

    /// A start that was held back is ended before it began.
    fn start_is_over(&mut self) {
        self.mark(Mark::StartEndedBeforeItBegan);
        self.tell(goal_engine::Event::RunSettled(goal_engine::RunSettled {
            aborted: true,
            by_us: true,
            start_pending: false,
            full_message_present: self.full_message_present(),
        }));
    }

    pub(super) fn start_again(&mut self, number: u32) {
        if number == self.shim.start
            && let Some(message) = self.shim.deferred.take()
        {
            self.start_run(message, true);
        }
    }

    fn release(&mut self, approved: bool, reason: Option<&str>) {
        if self.shim.released.is_some() {
            return self.fail("S9", "a headless command was released twice");
        }
        let silent = reason.is_none_or(|reason| reason.trim().is_empty());
        if !approved && silent {
            return self.fail("S9", "a headless goal stopped without a reason");
        }
        self.mark(if approved {
            Mark::ReleasedApproved
        } else {
            Mark::ReleasedWithReason
        });
        self.shim.released = Some(approved);
        if self.plan.headless {
            self.phase = Phase::Over;
        }
    }

    /// The core is lost: whoever waits is let go. True if an audit was under way.
    pub(super) fn let_go(&mut self) -> bool {
        let audit = self.auditor.is_some() || (self.pi.call.is_some() && self.shim.claims);
        self.auditor = None;
        self.auditor_life += 1;
        self.close_offer();
        self.shim.start += 1;
        self.shim.deferred = None;
        self.checks.core_is_lost();
        audit
    }

    /// Without a core nothing is pursued or shown.
    pub(super) fn blank(&mut self) {
        self.shim.pursued = None;
    }
}

/// Effects that write into the session, or work for a goal of its branch.
const fn is_of_a_branch(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::SaveGoal(_) | Effect::SaveAudit(_) | Effect::StartRun(_) | Effect::SendInRun(_)
    )
}

fn is_approval(answer: &goal_engine::ToolAnswer) -> bool {
    let outcome = answer.audit.as_ref().map(|audit| &audit.outcome);
    outcome == Some(&goal_engine::AuditOutcome::Approved)
}
