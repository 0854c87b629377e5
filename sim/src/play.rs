//! Scenario files in the simulator: the engine that ships in the fake host, with a script in place
//! of everything that is drawn.

pub use crate::world::Stuck;

use crate::{Observed, Scenario};

/// Plays a scenario until nothing happens any more behind the last action.
///
/// # Errors
/// The moment of an action never came, a model was asked more often than it has answers, or it
/// never came to an end.
pub fn play(scenario: &Scenario) -> Result<Observed, Stuck> {
    crate::world::play(scenario)
}
