//! What happened, in the words in which the real pi's story is told.

use std::collections::BTreeSet;

use goal_engine::Phase;
use serde_json::json;

use crate::world::World;
use crate::world::session::{What, saved};
use crate::{GoalEvent, Observed};

/// What is written down on the way.
#[derive(Debug, Default)]
pub(super) struct Story {
    asked: Vec<GoalEvent>,
    texts: Vec<String>,
    notices: Vec<String>,
    /// What stands in the conversations.
    lines: Vec<Line>,
    /// The text of the compaction that is under way.
    pub(super) summary: String,
    /// A request that the script has no answer for.
    pub(super) beyond: Option<String>,
    /// The newest entry when the user first moved in the tree.
    pub(super) newest: Option<Option<usize>>,
}

/// Words in a session, by the entry that was its newest when they were written.
#[derive(Debug)]
struct Line {
    session: usize,
    at: Option<usize>,
    text: String,
}

impl Story {
    pub(super) fn asked(&mut self, event: GoalEvent, text: String) {
        self.asked.push(event);
        self.texts.push(text);
    }

    pub(super) fn beyond_script(&mut self, model: &str, nth: usize) {
        let why = || format!("{model} was asked {nth} times, and has no step for that");
        self.beyond.get_or_insert_with(why);
    }

    /// What was written at an entry.
    fn at(&self, session: usize, at: usize) -> &str {
        let here = |line: &&Line| line.session == session && line.at == Some(at);
        self.lines.iter().find(here).map_or("", |line| &line.text)
    }
}

impl World {
    /// Words reach the conversation, behind the newest entry.
    pub(in crate::world) fn write_down(&mut self, text: &str) {
        let (session, at) = (self.current, self.session().leaf);
        if let Some(scripted) = &mut self.scripted {
            let text = text.to_owned();
            scripted.story.lines.push(Line { session, at, text });
        }
    }

    /// The user's oldest message that did not arrive yet has arrived.
    pub(in crate::world) fn write_users_words_down(&mut self) {
        let said = self.scripted.as_mut().and_then(|it| it.said.pop_front());
        if let Some(text) = said {
            self.write_down(&text);
        }
    }

    /// A compaction stands in the session, with its text.
    pub(in crate::world) fn write_summary_down(&mut self) {
        if let Some(scripted) = &mut self.scripted {
            let text = std::mem::take(&mut scripted.story.summary);
            self.write_down(&text);
        }
    }

    /// The user is told something.
    pub(in crate::world) fn user_is_told(&mut self, text: String) {
        if let Some(scripted) = &mut self.scripted {
            scripted.story.notices.push(text);
        }
    }

    /// What the executor's model is sent: the words of the branch since its last compaction.
    pub(super) fn conversation(&self) -> String {
        self.words().join("\n")
    }

    /// The same, text by text.
    pub(super) fn words(&self) -> Vec<&str> {
        let session = self.session();
        let mut kept = BTreeSet::new();
        let mut at = session.leaf;
        while let Some(entry) = at.and_then(|at| session.entries.get(at)) {
            kept.insert(at);
            at = entry.parent;
            if matches!(entry.what, What::Compaction) {
                break;
            }
        }
        let lines = self.scripted.iter().flat_map(|it| &it.story.lines);
        let here = |line: &&Line| line.session == self.current && kept.contains(&line.at);
        lines.filter(here).map(|line| line.text.as_str()).collect()
    }

    /// What came out.
    pub(super) fn observed(self) -> Observed {
        let events = self.told_events();
        let held = self.goal().is_some_and(|goal| *goal.phase() == Phase::Held);
        let Some(scripted) = self.scripted else {
            return Observed::default();
        };
        let (story, workspace) = (scripted.story, scripted.workspace);
        Observed {
            events,
            asked: story.asked,
            texts: story.texts,
            held,
            notices: story.notices,
            files: workspace.files().clone(),
        }
    }

    fn told_events(&self) -> Vec<GoalEvent> {
        let session = self.session();
        let mut told = Vec::new();
        let mut at = session.leaf;
        while let Some((number, entry)) = at.and_then(|at| Some((at, session.entries.get(at)?))) {
            told.extend(self.told(number, &entry.what));
            at = entry.parent;
        }
        told.reverse();
        told
    }

    /// The event that an entry stands for, by way of the file's own format.
    fn told(&self, number: usize, what: &What) -> Option<GoalEvent> {
        let data = saved(what).unwrap_or_default();
        let text = self.scripted.as_ref()?.story.at(self.current, number);
        let entry = match what {
            What::User => json!({ "type": "message", "message": { "role": "user" } }),
            What::Compaction => json!({ "type": "compaction" }),
            What::Goal(_) | What::Audit(_) | What::Foreign(_) => {
                json!({ "type": "custom", "customType": "goal-auditor", "data": data })
            }
            What::Message(_) => json!({
                "type": "custom_message", "customType": "goal-auditor", "content": text, "details": data,
            }),
            What::Assistant { .. } | What::Answered => return None,
        };
        GoalEvent::of_entry(&entry)
    }
}
