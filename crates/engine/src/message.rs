//! The messages of ours in the executor's conversation.

use goal_prompts::{self as prompts, Marker, Nudge};
use goal_state::Goal;

use crate::canary::Canary;
use crate::effect::{GoalMessage, MessageDetails};
use crate::engine::Engine;

/// Why the last run did nothing, for the nudge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NudgeWhy {
    NoWork,
    ToolTrouble { tool: String, error: String },
}

impl Engine {
    /// The full goal message for the goal as it stands.
    pub(crate) fn full_message(&mut self, resumed: bool) -> Option<GoalMessage> {
        let token = self.token();
        let goal = self.goal.as_ref()?;
        let text = prompts::goal_message(&prompts::GoalMessage {
            token: &token,
            objective: goal.objective(),
            last_objection: goal.last_objection.as_deref(),
            resumed,
        });
        let text = self.planted_message(goal, text);
        // The full message carries the objections itself.
        self.objection_owed = false;
        self.message(text, true)
    }

    /// A continuation: the marker, or the full message where a compaction took that away.
    pub(crate) fn continuation(
        &mut self,
        nudge: Option<&NudgeWhy>,
        full_message_present: bool,
    ) -> Option<GoalMessage> {
        if !full_message_present || self.planted(Canary::FullMessageEachTime) {
            return self.full_message(true);
        }
        let token = self.token();
        let goal = self.goal.as_ref()?;
        let objections = goal
            .last_objection
            .as_deref()
            .filter(|_| self.objection_owed);
        let text = prompts::marker(&Marker {
            goal_id: goal.id(),
            nudge: nudge.map(|why| match why {
                NudgeWhy::NoWork => Nudge::NoWork,
                NudgeWhy::ToolTrouble { tool, error } => Nudge::ToolTrouble { tool, error },
            }),
            objections,
            token: &token,
        });
        let text = self.planted_marker(objections, text);
        self.objection_owed = false;
        self.message(text, false)
    }

    fn message(&self, text: String, full: bool) -> Option<GoalMessage> {
        let goal = self.goal.as_ref()?;
        Some(GoalMessage {
            text,
            details: self.details(goal, full),
        })
    }

    fn details(&self, goal: &Goal, full: bool) -> MessageDetails {
        MessageDetails {
            tag: goal.tag(),
            seq: goal.totals.continuations,
            full,
            totals: self.planted_totals(goal),
            active_ms: goal.active_ms(self.clocks.now),
        }
    }
}
