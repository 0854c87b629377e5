//! A session file: its lines, and the current branch among them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::{self, BufRead};

use goal_protocol::EntryWire;

use crate::entry::{Line, Text, What};
use crate::{Session, time};

/// A session file, read.
#[derive(Debug, Default)]
pub(crate) struct SessionFile {
    pub(crate) session: Session,
    /// The current branch, oldest first.
    pub(crate) branch: Vec<Entry>,
    /// Ids of goals that are on other branches only.
    pub(crate) elsewhere: usize,
    /// Lines that are no entries.
    pub(crate) skipped: u32,
    /// Places of the branch where a line before it is missing.
    pub(crate) gaps: u32,
    /// A header or an entry was there.
    pub(crate) is_session: bool,
}

/// An entry of the branch.
#[derive(Debug)]
pub(crate) struct Entry {
    /// When it was written; that of the entry before if it does not say.
    pub(crate) at: u64,
    pub(crate) what: What,
}

/// An entry with its place in the tree. A parent always comes before its children in the file.
struct Node {
    parent: Option<usize>,
    gap: bool,
    entry: Entry,
}

/// Reads a session file to its end; it may be torn, mixed with foreign lines, or no session at all.
pub(crate) fn read(mut input: impl BufRead) -> io::Result<SessionFile> {
    let mut tree = Tree::default();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        tree.take(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(tree.into_file())
}

#[derive(Default)]
struct Tree {
    file: SessionFile,
    nodes: Vec<Node>,
    ids: BTreeMap<String, usize>,
}

impl Tree {
    fn take(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let taken = serde_json::from_str::<Line<'_>>(line).and_then(|line| self.take_line(line));
        if taken.is_err() {
            self.file.skipped += 1;
        }
    }

    fn take_line(&mut self, line: Line<'_>) -> Result<(), serde_json::Error> {
        let at = line.timestamp.as_deref().and_then(time::parse);
        if line.kind == "session" {
            self.file.is_session = true;
            self.file.session.id = line.id.map(Into::into);
            self.file.session.cwd = line.cwd.map(|Text(cwd)| cwd);
            self.file.session.started_at = at;
            return Ok(());
        }
        let what = line.what()?;
        if line.kind == "session_info" {
            self.file.session.name = line.name.map(|Text(name)| name);
        }
        let Some(id) = line.id else { return Ok(()) };
        self.file.is_session = true;
        let (parent, gap) = self.parent_of(line.parent_id.as_deref());
        let before = parent.and_then(|parent| self.nodes.get(parent));
        let at = at.or_else(|| before.map(|node| node.entry.at));
        let entry = Entry {
            at: at.unwrap_or_default(),
            what,
        };
        self.ids.insert(id.into_owned(), self.nodes.len());
        self.nodes.push(Node { parent, gap, entry });
        Ok(())
    }

    /// Where an entry hangs. If its parent's line is missing, the line before it takes its place.
    fn parent_of(&self, id: Option<&str>) -> (Option<usize>, bool) {
        let Some(id) = id else { return (None, false) };
        match self.ids.get(id) {
            Some(&parent) => (Some(parent), false),
            None => (self.nodes.len().checked_sub(1), true),
        }
    }

    /// The branch ends in the last entry, as when pi opens the file.
    fn into_file(self) -> SessionFile {
        let Self {
            mut file, nodes, ..
        } = self;
        let mut on_branch = vec![false; nodes.len()];
        let mut at = nodes.len().checked_sub(1);
        while let Some(index) = at {
            on_branch[index] = true;
            file.gaps += u32::from(nodes[index].gap);
            at = nodes[index].parent;
        }
        let (mut here, mut left) = (BTreeSet::new(), BTreeSet::new());
        for (node, on_branch) in nodes.into_iter().zip(on_branch) {
            if let Some(goal) = goal_of(&node.entry.what) {
                if on_branch { &mut here } else { &mut left }.insert(goal.to_owned());
            }
            if on_branch {
                file.branch.push(node.entry);
            }
        }
        file.elsewhere = left.difference(&here).count();
        file.session.last_at = file.branch.last().map(|entry| entry.at);
        file
    }
}

fn goal_of(what: &What) -> Option<&str> {
    match what {
        What::Saved(saved) => match &**saved {
            EntryWire::Goal { goal, .. } => goal.as_ref().map(|goal| goal.id.as_str()),
            EntryWire::Audit { .. } => None,
        },
        What::Unreadable
        | What::Continuation(_)
        | What::User
        | What::Assistant(_)
        | What::ToolResult { .. }
        | What::Compaction(_)
        | What::Usage(_)
        | What::Other => None,
    }
}
