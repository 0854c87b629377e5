//! The session file as pi keeps it: a tree of entries, of which one branch is current.

use goal_engine::{AuditRecord, Effect, GoalTag, MessageDetails, Recovered, SavedGoal};
use goal_protocol::{EffectWire, RecordWire, read_branch};
use serde_json::{Value, json};

use crate::plan::Before;

/// One entry of the file.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) parent: Option<usize>,
    pub(crate) what: What,
}

/// What an entry is.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// A message of the user.
    User,
    /// An answer of the model; the number of its `update_goal` calls.
    Assistant { claims: u32 },
    /// The result of such a call.
    Answered,
    /// A goal entry of ours.
    Goal(Box<SavedGoal>),
    /// An audit entry of ours.
    Audit(Box<AuditRecord>),
    /// A message of ours.
    Message(Box<MessageDetails>),
    /// A compaction: what came before is no longer sent, unless kept.
    Compaction,
    /// An entry of another author, or of another version, under one of our names.
    Foreign(Foreign),
}

/// Entries we did not write.
#[derive(Debug, Clone)]
pub(crate) enum Foreign {
    Predecessor(Value),
    Ours(Value),
}

/// A session file with the place in it that the user is at.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) entries: Vec<Entry>,
    pub(crate) leaf: Option<usize>,
    /// What the model is sent, newest last: the messages of ours among it.
    pub(crate) context: Vec<Sent>,
    /// pi has written the file: it does with the first message.
    pub(crate) written: bool,
    /// A goal of a newer version was found; nothing may be written over it.
    pub(crate) newer: bool,
}

/// A message in the context.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The goal whose full message it is.
    pub(crate) full: Option<GoalTag>,
}

impl Session {
    /// A session that holds what `before` says.
    pub(crate) fn holding(before: Before) -> Self {
        let mut session = Self::default();
        let foreign = match before {
            Before::Nothing => return session,
            Before::Predecessor => Foreign::Predecessor(
                json!({ "phase": "ready", "objective": "an old goal", "autoContinue": true }),
            ),
            Before::Newer => {
                session.newer = true;
                Foreign::Ours(json!({ "v": 99, "kind": "goal", "goal": {} }))
            }
            Before::Garbage => {
                Foreign::Ours(json!({ "v": 1, "kind": "goal", "goal": { "id": 7 } }))
            }
        };
        session.push(What::User);
        session.push(What::Foreign(foreign));
        session
    }

    pub(crate) fn push(&mut self, what: What) {
        self.written |= matches!(what, What::User | What::Assistant { .. });
        self.entries.push(Entry {
            parent: self.leaf,
            what,
        });
        self.leaf = Some(self.entries.len() - 1);
    }

    /// The current branch, newest first.
    pub(crate) fn branch(&self) -> impl Iterator<Item = &Entry> {
        self.branch_at(self.leaf)
    }

    /// The branch that ends at an entry, newest first.
    pub(crate) fn branch_at(&self, leaf: Option<usize>) -> impl Iterator<Item = &Entry> {
        self.numbers_at(leaf).map(|number| &self.entries[number])
    }

    /// The numbers of its entries.
    fn numbers_at(&self, leaf: Option<usize>) -> impl Iterator<Item = usize> {
        let mut at = leaf;
        std::iter::from_fn(move || {
            let number = at?;
            at = self.entries.get(number)?.parent;
            Some(number)
        })
    }

    /// Moves to another place of the tree; the context is that of the branch.
    pub(crate) fn move_to(&mut self, leaf: Option<usize>) {
        self.leaf = leaf;
        self.context = context_of(self.branch_at(leaf));
    }

    /// Drops what the file did not hold yet: pi was killed.
    pub(crate) fn killed(&mut self) {
        if !self.written {
            self.entries.clear();
            self.leaf = None;
        }
        self.context = context_of(self.branch());
    }

    /// A compaction: of the context only the newest `kept` messages of ours are left.
    pub(crate) fn compact(&mut self, forgets: bool) {
        self.push(What::Compaction);
        if forgets {
            self.context.clear();
        }
    }

    /// The full message of this goal is in the context.
    pub(crate) fn holds_full(&self, tag: Option<&GoalTag>) -> bool {
        let Some(tag) = tag else { return false };
        self.context
            .iter()
            .any(|sent| sent.full.as_ref() == Some(tag))
    }

    /// Every entry as the shim hands it to the core, for many looks at the same file.
    pub(crate) fn records(&self) -> Vec<Option<RecordWire>> {
        self.entries
            .iter()
            .map(|entry| record(&entry.what))
            .collect()
    }

    /// What the product reads from the branch that ends at `leaf`, out of [`Session::records`].
    pub(crate) fn read_at(&self, leaf: Option<usize>, records: &[Option<RecordWire>]) -> Recovered {
        read_branch(
            self.numbers_at(leaf)
                .filter_map(|number| records[number].as_ref()),
        )
    }

    /// What the product reads from the branch that ends at `leaf`.
    pub(crate) fn recovered_at(&self, leaf: Option<usize>) -> Recovered {
        let records: Vec<RecordWire> = self
            .branch_at(leaf)
            .filter_map(|entry| record(&entry.what))
            .collect();
        let mut recovered = read_branch(&records);
        recovered.audit_lost = self.audit_lost_at(leaf);
        recovered
    }

    /// The newest answer called `update_goal` and got no result, and nothing follows it.
    fn audit_lost_at(&self, leaf: Option<usize>) -> bool {
        let mut answered = 0;
        for entry in self.branch_at(leaf) {
            match &entry.what {
                What::Answered => answered += 1,
                What::Assistant { claims } => return answered < *claims,
                What::User | What::Message(_) => return false,
                What::Goal(_) | What::Audit(_) | What::Compaction | What::Foreign(_) => {}
            }
        }
        false
    }
}

fn context_of<'a>(branch: impl Iterator<Item = &'a Entry>) -> Vec<Sent> {
    let mut context: Vec<Sent> = branch
        .take_while(|entry| !matches!(entry.what, What::Compaction))
        .filter_map(|entry| match &entry.what {
            What::Message(details) => Some(Sent {
                full: details.full.then(|| details.tag.clone()),
            }),
            What::User
            | What::Assistant { .. }
            | What::Answered
            | What::Goal(_)
            | What::Audit(_)
            | What::Compaction
            | What::Foreign(_) => None,
        })
        .collect();
    context.reverse();
    context
}

/// An entry as the shim hands it to the core: through the formats that are saved.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only what was just made can come back"
)]
fn record(what: &What) -> Option<RecordWire> {
    let effect = match what {
        What::Goal(saved) => Effect::SaveGoal((**saved).clone()),
        What::Audit(audit) => Effect::SaveAudit(audit.clone()),
        What::Message(details) => {
            let message = goal_engine::GoalMessage {
                text: String::new(),
                details: (**details).clone(),
            };
            Effect::StartRun(message)
        }
        What::Foreign(Foreign::Ours(data)) => return Some(RecordWire::Ours { data: data.clone() }),
        What::Foreign(Foreign::Predecessor(data)) => {
            return Some(RecordWire::Predecessor { data: data.clone() });
        }
        What::User | What::Assistant { .. } | What::Answered | What::Compaction => return None,
    };
    match goal_protocol::effect(effect)? {
        EffectWire::SaveEntry { entry } => Some(RecordWire::Ours {
            data: serde_json::to_value(entry).ok()?,
        }),
        EffectWire::StartRun { message } => Some(RecordWire::Message {
            data: serde_json::to_value(message.details).ok()?,
        }),
        _ => None,
    }
}

/// What an entry of ours keeps in the file.
pub(crate) fn saved(what: &What) -> Option<Value> {
    match record(what)? {
        RecordWire::Ours { data } | RecordWire::Message { data } => Some(data),
        RecordWire::Predecessor { .. } => None,
    }
}
