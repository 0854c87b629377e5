//! What is being measured, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the clock behind the words moves.
const TICK: Duration = Duration::from_millis(200);

/// One line that says what is going on; nothing where there is no terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Begins.
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} pi: {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Says what is measured from now on.
    pub(super) fn say(&self, what: &str, round: usize, rounds: usize) {
        self.0.set_message(format!("{what}, {round} of {rounds}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
