//! The offer: where a goal came to rest, a terminal shows its ways on as a choice.
//!
//! An offer is made once a stop, when nothing runs and no other question is open, and it is taken
//! back as soon as what it offers is no longer how things are. Its answer is the typed command.

use goal_state::{GoalTag, PauseReason, Phase};

use crate::effect::{Effect, OfferedWay, WayOn};
use crate::engine::Engine;
use crate::event::HostFacts;
use crate::say;

/// The offers of one session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Offers {
    /// The goal came to rest, and its ways on were not offered since.
    due: bool,
    open: Option<OpenOffer>,
}

/// An offer the user has not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenOffer {
    ticket: u64,
    /// The goal at rest that it is about.
    about: GoalTag,
}

impl Offers {
    /// The goal came to rest, or its session was opened with it at rest.
    pub(crate) const fn fall_due(&mut self) {
        self.due = true;
    }

    /// Another branch: what came to rest on the old one is no matter any more.
    pub(crate) const fn undue(&mut self) {
        self.due = false;
    }

    /// The session is left: its terminal takes the question away by itself.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Engine {
    /// Takes back an offer that no longer fits, and makes one that is due. Called after every event.
    pub(crate) fn keep_offer(&mut self, out: &mut Vec<Effect>) {
        let about = self.goal_to_offer();
        if let Some(open) = self
            .offers
            .open
            .take_if(|open| Some(&open.about) != about.as_ref())
        {
            let ticket = open.ticket;
            out.push(Effect::Withdraw { ticket });
            self.offers.due = true; // Nobody answered it: once nothing goes on any more, again.
        }
        self.offers.due &= self.goal.as_ref().is_some_and(|goal| !goal.is_pursuing());
        if let Some(about) = about.filter(|_| self.offers.due) {
            self.offers.due = false;
            if self.offers.open.is_none() {
                self.make_offer(about, out);
            }
        }
    }

    /// The goal at rest, while nothing goes on that an answer could cross.
    fn goal_to_offer(&self) -> Option<GoalTag> {
        let busy = self.host.running
            || self.host.compacting
            || self.starting.is_some()
            || self.waiting.is_some()
            || self.audit.is_some()
            || self.deadline().is_some();
        let asked = !self.questions.is_empty();
        let goal = self.goal.as_ref().filter(|goal| !goal.is_pursuing())?;
        let may_ask = self.host.terminal && !self.newer_version;
        (may_ask && !busy && !asked).then(|| goal.tag())
    }

    fn make_offer(&mut self, about: GoalTag, out: &mut Vec<Effect>) {
        let Some(goal) = &self.goal else { return };
        let ways = ways_on(goal.phase());
        let options = ways.into_iter().map(|way| OfferedWay {
            way,
            label: say::offered_way(way),
        });
        let (title, options) = (say::offer_title(goal), options.collect());
        let ticket = self.number();
        self.offers.open = Some(OpenOffer { ticket, about });
        out.push(Effect::Offer {
            ticket,
            title,
            options,
        });
    }

    /// The user chose. An answer to an offer that was taken back is nobody's.
    pub(crate) fn chosen(
        &mut self,
        ticket: u64,
        way: WayOn,
        host: &HostFacts,
        out: &mut Vec<Effect>,
    ) {
        self.note_host(host);
        let open = self.offers.open.take_if(|open| open.ticket == ticket);
        let still =
            open.is_some_and(|open| self.goal.as_ref().is_some_and(|goal| goal.is(&open.about)));
        if !still {
            return;
        }
        match way {
            WayOn::Resume => self.resume_command(host, out),
            WayOn::Edit => self.edit_command(host, out),
            WayOn::Accept => self.accept_command(host, out),
            WayOn::Clear => self.clear_command(out),
            WayOn::NotNow => {}
        }
    }
}

/// The ways on that work from a phase as it is.
fn ways_on(phase: &Phase) -> Vec<WayOn> {
    let resume = resumes_at_once(phase).then_some(WayOn::Resume);
    let others = [WayOn::Edit, WayOn::Accept, WayOn::Clear, WayOn::NotNow];
    resume.into_iter().chain(others).collect()
}

/// Whether going on needs nothing else first. Where it does, the stop's own text says what, and a
/// resume before that would only stop again.
fn resumes_at_once(phase: &Phase) -> bool {
    let Phase::Paused(stop) = phase else {
        return true;
    };
    match &stop.reason {
        PauseReason::ModelErrors(kind) => kind.is_mendable(),
        PauseReason::ToolsOff => false,
        PauseReason::User
        | PauseReason::Aborted
        | PauseReason::NoProgress
        | PauseReason::Repetition
        | PauseReason::Rejections
        | PauseReason::AuditFailures(_)
        | PauseReason::ContinuationLimit
        | PauseReason::AuditLimit
        | PauseReason::CoreLost => true,
    }
}
