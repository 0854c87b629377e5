//! Every limit of the loop that is not a setting, in one place, with its unit.

/// Model turns in a row without work that end a run of the goal (spec §4, "Inside a run").
pub const IDLE_TURNS_MAX: u32 = 20;
/// Calls of our tools in a row in one run that could do nothing, after which the run ends.
pub const DEAD_CALLS_MAX: u32 = 3;
/// Runs in a row that ended in a mendable model error before the goal pauses.
pub const ERRORED_RUNS_MAX: u32 = 5;
/// Runs in a row with the same final text before the goal pauses.
pub const REPEATS_MAX: u32 = 3;
/// As [`REPEATS_MAX`], when one of those runs wrote or edited a file successfully.
pub const REPEATS_WITH_WRITES_MAX: u32 = 6;
/// Final texts shorter than this (characters, white space folded) are never a repetition.
pub const REPEAT_MIN_CHARS: usize = 40;
/// Times the same claim may meet the same objection before the goal pauses.
pub const REFUSALS_SAME_MAX: u32 = 3;
/// Largest objective, in bytes of UTF-8.
pub const OBJECTIVE_MAX_BYTES: usize = 65_536;
/// Largest objection kept with the goal, in characters.
pub const OBJECTION_MAX_CHARS: usize = 2_000;
/// Waits before the restart after the first, second, … errored run, in milliseconds.
pub const BACK_OFF_MS: [u64; ERRORED_RUNS_MAX as usize - 1] = [5_000, 15_000, 45_000, 135_000];
