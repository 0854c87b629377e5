//! Footer and widget: what the user sees at every moment. Nothing in it changes by itself, so
//! nothing is redrawn while nothing happens.

use goal_prompts::safe::for_display;
use goal_state::Phase;

use crate::deadline::Deadline;
use crate::effect::StatusView;
use crate::engine::Engine;
use crate::say;
use crate::start::Waiting;

/// Columns of the objective in the widget. pi wraps longer lines, and a widget stays two lines.
const OBJECTIVE_COLUMNS: usize = 60;

/// The view of the engine as it stands.
pub(crate) fn view(engine: &Engine) -> StatusView {
    let waiting = engine.deadline().is_some() || engine.audit.is_some();
    let Some(goal) = &engine.goal else {
        return StatusView {
            waiting,
            ..StatusView::default()
        };
    };
    let objective = for_display(goal.objective(), OBJECTIVE_COLUMNS);
    let state = say::state_in_short(goal, doing(engine));
    StatusView {
        footer: Some(format!("goal: {state}")),
        widget: vec![
            format!("{} goal {state}", symbol(goal.phase())),
            format!("  {objective}"),
        ],
        pursued: engine.pursued(),
        waiting,
    }
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
