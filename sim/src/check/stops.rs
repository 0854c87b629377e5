//! S9: every stop is said and saved; S6: it leaves nothing armed.

use goal_engine::{Deadline, Effect, Event, Goal, Phase, SavedGoal};

use crate::check::Stood;
use crate::world::World;

impl World {
    pub(super) fn check_stop(&mut self, event: &Event, before: Option<&Stood>, out: &[Effect]) {
        for effect in out {
            if let Effect::Propose(proposal) = effect {
                self.check_stop_is_said(&proposal.effects);
            }
        }
        self.check_nothing_waits();
        let was = before.is_some_and(|stood| stood.pursuing);
        let paused = self
            .goal_now()
            .is_some_and(|goal| matches!(goal.phase(), Phase::Paused(_)));
        let opened = matches!(event, Event::SessionOpened(_) | Event::SessionLeft);
        // A stop at the boundary is among the proposal's own effects.
        let taken = matches!(event, Event::ProposalTaken { .. });
        if !was || !paused || opened || taken {
            return;
        }
        if out.iter().any(is_saved_pause) {
            self.check_stop_is_said(out);
        } else if !self.session_is_newer() {
            self.broken("S7", "a stop that is not saved");
        }
    }

    /// Nothing of a goal that rests is left armed.
    fn check_nothing_waits(&mut self) {
        let pursued = self.goal_now().is_some_and(Goal::is_pursuing);
        if !pursued && self.deadline_now() == Some(Deadline::BackOff) {
            self.broken("S6", "a deadline outlives the stop of its goal");
        }
    }

    /// Whoever reads the notice knows a way on.
    fn check_stop_is_said(&mut self, effects: &[Effect]) {
        if self.is_headless() || !effects.iter().any(is_saved_pause) {
            return;
        }
        let advised = effects.iter().any(|effect| {
            matches!(effect, Effect::Notify(notice) | Effect::Reply(notice)
                if notice.text.contains("/goal "))
        });
        if !advised {
            self.broken("S9", "a stop without a word, or without a way on");
        }
    }
}

fn is_saved_pause(effect: &Effect) -> bool {
    matches!(effect, Effect::SaveGoal(SavedGoal::Present { goal, .. })
        if matches!(goal.phase(), Phase::Paused(_)))
}
