//! What user and host do, at the moments the file names.

use std::cmp::Reverse;

use goal_engine::{Deadline, Event, OpenCause};

use super::Stuck;
use crate::scenario::{Deed, Moment, Place};
use crate::world::session::What;
use crate::world::{Happening, World};

/// What an action leads to at once has happened after this many milliseconds.
const ACTION_MS: u64 = 20;
/// What the user types commands with.
const COMMAND: &str = "/goal";

impl World {
    /// From the first thing typed until nothing happens any more behind the last action.
    pub(super) fn play_out(&mut self) -> Result<(), Stuck> {
        if let Some(objective) = self.scripted.as_ref().and_then(|it| it.objective.clone()) {
            // With `--` an objective may begin with the name of a sub-command.
            self.type_goal(&format!("-- {objective}"));
            self.action_begins();
        }
        loop {
            if let Some(why) = self
                .scripted
                .as_ref()
                .and_then(|it| it.story.beyond.clone())
            {
                return Err(Stuck(why));
            }
            if self.action_is_due() {
                self.act_as_scripted();
            } else if let Some(Reverse(due)) = self.queue.pop() {
                self.step(due);
            } else {
                return self.came_to_rest();
            }
            if self.phase == crate::world::Phase::Over {
                return Err(Stuck("it never comes to an end".to_owned()));
            }
        }
    }

    fn came_to_rest(&self) -> Result<(), Stuck> {
        let actions = self.scripted.iter().flat_map(|it| &it.actions);
        match actions.filter_map(|action| action.when.as_ref()).next() {
            None => Ok(()),
            Some(moment) => Err(Stuck(format!(
                "waited for {moment}, but the loop came to rest before"
            ))),
        }
    }

    fn action_is_due(&self) -> bool {
        let Some(scripted) = self.scripted.as_ref().filter(|it| !it.acting) else {
            return false;
        };
        let Some(action) = scripted.actions.front() else {
            return false;
        };
        let reached = |counts: Option<&usize>, nth: usize| counts.is_some_and(|it| *it >= nth);
        match &action.when {
            None => true,
            Some(Moment::Rest) => self.queue.is_empty(),
            Some(Moment::BackOff) => {
                !self.is_busy() && self.deadline_now() == Some(Deadline::BackOff)
            }
            Some(Moment::Request { model, nth }) => reached(scripted.taken.get(model), *nth),
            Some(Moment::Tool { name, nth }) => reached(scripted.begun[0].get(name), *nth),
            Some(Moment::Check { name, nth }) => reached(scripted.begun[1].get(name), *nth),
        }
    }

    fn act_as_scripted(&mut self) {
        let Some(scripted) = &mut self.scripted else {
            return;
        };
        let Some(action) = scripted.actions.pop_front() else {
            return;
        };
        if let Some(moment) = action.when {
            scripted.now = Some(moment);
        }
        self.note(|| format!("the user: {:?}", action.deed));
        self.checks.user_acted();
        self.do_as_scripted(action.deed);
        self.action_begins();
    }

    fn action_begins(&mut self) {
        if let Some(scripted) = &mut self.scripted {
            scripted.acting = true;
        }
        self.at(ACTION_MS, Happening::ActionDone);
    }

    /// Lets the answers go on that the last action, and those before it at the same moment, held up.
    pub(in crate::world) fn action_is_done(&mut self) {
        let Some(scripted) = &mut self.scripted else {
            return;
        };
        scripted.acting = false;
        let next = scripted.actions.front();
        if next.is_some_and(|next| next.when.is_none()) {
            return;
        }
        let Some(Moment::Request { model, nth }) = scripted.now.take() else {
            return;
        };
        let now = |held: &super::Held| held.model == model && held.nth <= nth;
        let (released, held) = std::mem::take(&mut scripted.held)
            .into_iter()
            .partition::<Vec<_>, _>(now);
        scripted.held = held;
        for request in released {
            self.at(request.after_ms, request.answer);
        }
    }

    fn do_as_scripted(&mut self, deed: Deed) {
        match deed {
            Deed::Command(text) => {
                let text = text.strip_prefix(COMMAND).unwrap_or(&text);
                self.type_goal(text.strip_prefix(' ').unwrap_or(text));
            }
            Deed::Edit(text) => {
                self.scripted_mut(|it| it.edit = Some(text));
                self.type_goal("edit");
            }
            Deed::Message(text) => self.speak(text, false),
            Deed::Steer(text) => self.speak(text, true),
            Deed::Abort => self.abort(false),
            Deed::Compact => self.compact(),
            Deed::Reload => {
                let here = self.current;
                self.leave_for(here);
            }
            Deed::NewSession => self.leave(true),
            Deed::ResumeSession => self.leave_for(0),
            Deed::Tree(place) => self.jump(place),
            // A file is entries here, not bytes: what was half written is not there.
            Deed::KillAndReopen | Deed::KillInMidWrite => self.crash(),
            Deed::LoseCore => self.lose_core(),
            Deed::Answer(answer) => self.scripted_mut(|it| it.answer = answer),
            Deed::SelectModel(id) => {
                self.scripted_mut(|it| it.model = id);
                let model = self.executor_model();
                self.tell(Event::ModelSelected { model });
            }
            Deed::ToolsOff => self.pi.tools_active = false,
            Deed::Write { path, text } => self.scripted_mut(|it| it.workspace.put(&path, text)),
        }
    }

    fn scripted_mut(&mut self, change: impl FnOnce(&mut super::Scripted)) {
        if let Some(scripted) = &mut self.scripted {
            change(scripted);
        }
    }

    fn speak(&mut self, text: String, steers: bool) {
        self.scripted_mut(|it| it.said.push_back(text));
        if !self.is_busy() {
            self.prepare_run(None);
        } else if steers {
            self.queue_message();
        } else {
            self.pi.follow_ups += 1;
            self.tell(Event::UserMessage);
        }
    }

    fn jump(&mut self, place: Place) {
        let session = self.session();
        let here = session.leaf;
        let is_goal = |what: &What| matches!(what, What::Goal(_));
        let goal = session.entries.iter().find(|entry| is_goal(&entry.what));
        let before_goal = goal.and_then(|entry| entry.parent);
        let mut newest = here;
        self.scripted_mut(|it| newest = *it.story.newest.get_or_insert(here));
        let leaf = match place {
            Place::BeforeGoal => before_goal,
            Place::Newest => newest,
        };
        self.session_mut().move_to(leaf);
        self.checks.branch_changes();
        self.open_session(OpenCause::Tree);
    }
}
