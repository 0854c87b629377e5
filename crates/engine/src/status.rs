//! Footer and widget: what the user sees at every moment. Nothing in it changes by itself, so
//! nothing is redrawn while nothing happens.

use goal_prompts::safe::for_display;
use goal_state::{Goal, Phase};

use crate::deadline::Deadline;
use crate::effect::{GoalFacts, Mood, StatusView};
use crate::engine::Engine;
use crate::say;
use crate::start::Waiting;

/// Columns of the objective in a plain widget. pi wraps longer lines, and a widget stays two lines.
const OBJECTIVE_COLUMNS: usize = 60;
/// Columns of a plain widget.
const PLAIN_COLUMNS: usize = 80;
/// Columns of the objective for a terminal, which cuts it itself.
const OBJECTIVE_COLUMNS_MAX: usize = 300;

/// An objective as it is shown. Made once for each, because the view is made at every event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ShownObjective {
    objective: String,
    plain: String,
    wide: String,
}

impl ShownObjective {
    /// Makes the lines anew if the objective is another.
    pub(crate) fn follow(&mut self, objective: &str) {
        if self.objective != objective {
            *self = Self {
                objective: objective.to_owned(),
                plain: for_display(objective, OBJECTIVE_COLUMNS),
                wide: for_display(objective, OBJECTIVE_COLUMNS_MAX),
            };
        }
    }
}

/// The view of the engine as it stands.
pub(crate) fn view(engine: &Engine) -> StatusView {
    let waiting = engine.deadline().is_some() || engine.audit.is_some();
    let Some(goal) = &engine.goal else {
        return StatusView {
            waiting,
            ..StatusView::default()
        };
    };
    let objective = &engine.shown_objective.plain;
    let state = say::state_in_short(goal, doing(engine));
    let facts = facts(engine, goal);
    StatusView {
        footer: Some(format!("goal: {state}")),
        widget: vec![plain_head(goal.phase(), &facts), format!("  {objective}")],
        goal: Some(Box::new(facts)),
        pursued: engine.pursued(),
        waiting,
    }
}

/// The goal's clock, put into a view that is about to be shown.
pub(crate) fn wind_clock(engine: &Engine, view: &mut StatusView) {
    let facts = view.goal.as_mut().zip(engine.goal.as_ref());
    if let Some((facts, goal)) = facts {
        facts.active_ms = goal.active_ms(engine.clocks.now);
    }
}

fn facts(engine: &Engine, goal: &Goal) -> GoalFacts {
    let mood = mood(goal.phase(), doing(engine));
    GoalFacts {
        mood,
        state: say::phase_words(goal, doing(engine)),
        objective: engine.shown_objective.wide.clone(),
        counts: say::counts(goal, engine.last_audit.as_ref()),
        active_ms: 0,
    }
}

const fn mood(phase: &Phase, doing: Doing) -> Mood {
    match (phase, doing) {
        (_, Doing::Auditing) => Mood::Auditing,
        (Phase::Held, _) => Mood::Held,
        (Phase::Paused(_), _) => Mood::Paused,
        (Phase::Pursuing, Doing::Working) => Mood::Working,
        (Phase::Pursuing, Doing::BackingOff | Doing::Waiting) => Mood::Waiting,
    }
}

/// The first line of a plain widget: the same facts, but no clock, and as many as fit whole.
fn plain_head(phase: &Phase, facts: &GoalFacts) -> String {
    let mut head = format!("{} goal {}", symbol(phase), facts.state);
    for count in &facts.counts {
        let longer = format!("{head} · {count}");
        if longer.chars().count() > PLAIN_COLUMNS {
            break;
        }
        head = longer;
    }
    head
}

const fn symbol(phase: &Phase) -> &'static str {
    match phase {
        Phase::Pursuing => "●",
        Phase::Held => "○",
        Phase::Paused(_) => "■",
    }
}

/// What a pursued goal is doing right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Working,
    Auditing,
    BackingOff,
    Waiting,
}

pub(crate) fn doing(engine: &Engine) -> Doing {
    let backs_off = matches!(engine.deadline(), Some((_, Deadline::BackOff)));
    if engine.audit.is_some() {
        Doing::Auditing
    } else if backs_off {
        Doing::BackingOff
    } else if engine.waiting.and_then(Waiting::at_rest).is_some() {
        Doing::Waiting
    } else {
        Doing::Working
    }
}
