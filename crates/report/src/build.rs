//! From the entries of a branch to the goals of a report.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use goal_prompts::safe::for_display;
use goal_protocol::{AuditWire, EntryWire, GoalWire, MessageDetailsWire, SAVED_VERSION};

use crate::chronicle::{Chronicle, state_of};
use crate::entry::What;
use crate::model::{Goal, Origin, Report, Run, Spent, Standing, VERSION};
use crate::session::{self, Entry, SessionFile};
use crate::{MARK, ReportError, words};

/// Columns of an objective in a list of goals.
const OBJECTIVE_COLUMNS: usize = 60;

/// Reads the session file at `path`; with `goal`, only the goal of that id (or of the only id that
/// begins so).
///
/// # Errors
///
/// The file cannot be read, is no session's, or has no such goal on its current branch.
pub fn read(path: &Path, goal: Option<&str>) -> Result<Report, ReportError> {
    let unreadable = |error| ReportError::Unreadable {
        path: path.to_owned(),
        error,
    };
    if path.is_dir() {
        return Err(ReportError::Folder {
            path: path.to_owned(),
        });
    }
    let file = File::open(path).map_err(unreadable)?;
    read_lines(path, BufReader::new(file), goal)
}

/// Like [`read`], with the lines of the file from elsewhere.
///
/// # Errors
///
/// As for [`read`].
pub fn read_lines(
    path: &Path,
    lines: impl BufRead,
    goal: Option<&str>,
) -> Result<Report, ReportError> {
    let file = session::read(lines).map_err(|error| ReportError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    if !file.is_session {
        return Err(ReportError::NotASession {
            path: path.to_owned(),
        });
    }
    let elsewhere = file.elsewhere;
    let mut report = report(file, path);
    if report.goals.is_empty() {
        return Err(ReportError::NoGoal {
            path: path.to_owned(),
            elsewhere,
        });
    }
    if let Some(wanted) = goal {
        report.goals = chosen(report.goals, wanted)?;
    }
    Ok(report)
}

fn report(file: SessionFile, path: &Path) -> Report {
    let mut historian = Historian::default();
    for entry in file.branch {
        historian.take(entry);
    }
    let mut session = file.session;
    session.path = path.display().to_string();
    let notes = words::notes(
        file.skipped,
        file.gaps,
        historian.unreadable,
        historian.newer,
    );
    Report {
        kind: MARK,
        v: VERSION,
        generator: format!("goal-auditor {}", env!("CARGO_PKG_VERSION")),
        session,
        goals: historian.into_goals(),
        notes,
    }
}

/// The goal with that id, or the only one whose id begins so.
fn chosen(goals: Vec<Goal>, wanted: &str) -> Result<Vec<Goal>, ReportError> {
    let exact = goals.iter().position(|goal| goal.id == wanted);
    let mut begin = (0..goals.len()).filter(|&at| goals[at].id.starts_with(wanted));
    let at = exact.or_else(|| begin.next().filter(|_| begin.next().is_none()));
    let known = || {
        let known = goals.iter();
        known
            .map(|goal| {
                (
                    goal.id.clone(),
                    for_display(&goal.objective, OBJECTIVE_COLUMNS),
                )
            })
            .collect()
    };
    match at.filter(|_| !wanted.is_empty()) {
        Some(at) => Ok(goals.into_iter().skip(at).take(1).collect()),
        None => Err(ReportError::UnknownGoal {
            wanted: wanted.to_owned(),
            known: known(),
        }),
    }
}

/// Walks a branch, oldest entry first.
#[derive(Default)]
struct Historian {
    /// In the order in which they were set.
    goals: Vec<Chronicle>,
    ids: BTreeMap<String, usize>,
    /// The goal whose run is open: what the agent does next belongs to it.
    open: Option<usize>,
    /// What the newest claim of completion says.
    claim: Option<String>,
    /// Entries of ours that could not be read.
    unreadable: u32,
    /// One of them is of a newer version.
    newer: bool,
}

impl Historian {
    fn take(&mut self, Entry { at, what }: Entry) {
        match what {
            What::Saved(saved) => self.saved(at, *saved),
            What::Continuation(message) => self.continuation(at, &message),
            What::Unreadable => self.unreadable += 1,
            What::User => self.user(at),
            What::Assistant(answer) => {
                self.claim = answer.claims.iter().flatten().last().cloned();
                self.in_open(|told| told.answered(at, &answer));
            }
            What::ToolResult { ours, failed } => self.in_run(at, |run| match (ours, failed) {
                (true, _) => run.goal_calls += 1,
                (false, true) => run.calls_failed += 1,
                (false, false) => run.calls_ok += 1,
            }),
            What::Compaction(usage) => {
                self.in_open(|told| told.compacted(at, &Spent::from(&usage)));
            }
            What::Usage(usage) => self.in_run(at, |run| run.spent.add(&Spent::from(&usage))),
            What::Other => {}
        }
    }

    fn saved(&mut self, at: u64, entry: EntryWire) {
        let (EntryWire::Goal { v, .. } | EntryWire::Audit { v, .. }) = entry;
        self.newer |= v > SAVED_VERSION;
        match entry {
            EntryWire::Goal {
                goal: Some(goal), ..
            } => self.goal(at, *goal),
            EntryWire::Goal {
                goal: None,
                goal_id,
                ended,
                ..
            } => {
                self.gone(at, goal_id.as_deref(), ended.as_deref());
            }
            EntryWire::Audit { audit, .. } => self.audit(at, *audit),
        }
    }

    fn goal(&mut self, at: u64, saved: GoalWire) {
        let Some(state) = state_of(&saved) else {
            self.unreadable += 1;
            return;
        };
        match self.ids.get(&saved.id) {
            Some(&known) => self.goals[known].saved_again(at, state, saved),
            None => {
                self.ids.insert(saved.id.clone(), self.goals.len());
                self.goals.push(Chronicle::new(at, state, saved));
            }
        }
    }

    fn gone(&mut self, at: u64, id: Option<&str>, ended: Option<&str>) {
        let newest = self.goals.len().checked_sub(1);
        let known = id.map_or(newest, |id| self.ids.get(id).copied());
        let (Some(known), Some(ended)) = (known, ended) else {
            self.unreadable += 1;
            return;
        };
        self.goals[known].ended(at, ended);
    }

    fn audit(&mut self, at: u64, saved: AuditWire) {
        let Some(&known) = self.ids.get(&saved.goal_id) else {
            self.unreadable += 1;
            return;
        };
        // What the user asked for answers no claim and belongs to no run.
        let claim = self.claim.take().filter(|_| !saved.by_user);
        let in_run = self.open == Some(known) && !saved.by_user;
        self.goals[known].audited(at, saved, claim, in_run);
    }

    fn continuation(&mut self, at: u64, message: &MessageDetailsWire) {
        self.newer |= message.v > SAVED_VERSION;
        let Some(&known) = self.ids.get(&message.goal_id) else {
            self.unreadable += 1;
            return;
        };
        let same_goal = self.open == Some(known);
        self.open = Some(known);
        self.goals[known].continued(at, message, same_goal);
    }

    /// A message of the user's belongs to the run it comes into. A goal that waits after an error
    /// is woken by it; where no goal is pursued, the run it begins is the user's own.
    fn user(&mut self, at: u64) {
        let Some(open) = self.open else { return };
        let told = &mut self.goals[open];
        if told.goal.state.standing != Standing::Pursuing {
            self.open = None;
        } else if told.failed {
            let generation = told.saved.generation;
            told.begin(at, generation, Origin::User);
        } else {
            self.in_run(at, |run| run.user_messages += 1);
        }
    }

    fn in_run(&mut self, at: u64, what: impl FnOnce(&mut Run)) {
        self.in_open(|told| told.in_run(at, what));
    }

    fn in_open(&mut self, what: impl FnOnce(&mut Chronicle)) {
        if let Some(told) = self.open.and_then(|open| self.goals.get_mut(open)) {
            what(told);
        }
    }

    fn into_goals(self) -> Vec<Goal> {
        let goals = self.goals.into_iter().rev();
        goals.map(Chronicle::into_goal).collect()
    }
}
