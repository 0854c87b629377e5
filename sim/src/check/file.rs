//! S7: the session file, cut anywhere, gives the goal as it was saved last.

use goal_engine::{AuditOutcome, Goal, Phase, Recovered, SavedGoal};

use crate::world::World;
use crate::world::session::{Session, What};

/// The id under which the product takes up a goal of the predecessor.
const PREDECESSOR: &str = "g-predecessor";

/// What the branch that ends at `leaf` must give, against what was read from it.
pub(crate) fn compare(
    session: &Session,
    leaf: Option<usize>,
    read: &Recovered,
) -> Option<&'static str> {
    let mut approved = Vec::new();
    let mut audits = 0;
    let mut newest = None;
    for entry in session.branch_at(leaf) {
        match &entry.what {
            What::Audit(record) => {
                audits += 1;
                if record.details.outcome == AuditOutcome::Approved {
                    approved.push(record.tag.clone());
                }
            }
            What::Message(details) => newest = newest.or(Some(details)),
            What::Goal(saved) => {
                return match (&**saved, &read.goal) {
                    (SavedGoal::Gone { .. }, None) => None,
                    (SavedGoal::Gone { .. }, Some(_)) => Some("a goal that is gone is read back"),
                    (SavedGoal::Present { goal, .. }, None) if approved.contains(&goal.tag()) => {
                        None
                    }
                    (SavedGoal::Present { .. }, None) => Some("a saved goal is lost"),
                    (SavedGoal::Present { goal, .. }, Some(read)) => {
                        let totals = newest
                            .filter(|details| goal.is(&details.tag))
                            .map_or(&goal.totals, |details| &details.totals);
                        differs(goal, read).or_else(|| {
                            (audits == 0 && *totals != read.totals)
                                .then_some("totals are read back wrongly")
                        })
                    }
                };
            }
            What::User
            | What::Assistant { .. }
            | What::Answered
            | What::Compaction
            | What::Foreign(_) => {}
        }
    }
    read.goal.as_ref().map(|_| "a goal is read from nothing")
}

/// What of the record a load must keep.
fn differs(saved: &Goal, read: &Goal) -> Option<&'static str> {
    let phase = match saved.phase() {
        Phase::Pursuing => *read.phase() == Phase::Held,
        Phase::Held | Phase::Paused(_) => saved.phase() == read.phase(),
    };
    match () {
        () if saved.id() != read.id() || saved.generation() != read.generation() => {
            Some("another goal is read back")
        }
        () if saved.objective() != read.objective() => Some("another objective is read back"),
        () if saved.gate() != read.gate() => Some("another gate is read back"),
        () if !phase => Some("another phase is read back"),
        () => None,
    }
}

impl World {
    /// At rest, file and engine agree.
    pub(crate) fn check_file_tells_the_truth(&mut self) {
        let read = self.read_file().goal;
        // The predecessor's entries know no gate; the settings of the moment give one.
        let foreign = read.as_ref().is_some_and(|goal| goal.id() == PREDECESSOR);
        if self.session_is_newer() || foreign || !self.core_is_alive() {
            return;
        }
        let broken = match (self.goal_now(), &read) {
            (None, None) => None,
            (Some(goal), Some(read)) => differs(goal, read),
            (None, Some(_)) => Some("the file has a goal, the engine none"),
            (Some(_), None) => Some("the engine has a goal, the file none"),
        };
        if let Some(what) = broken {
            let more = format!("file {read:?}, engine {:?}", self.goal_now());
            self.broken_with("S7", what, more);
        }
    }
}
