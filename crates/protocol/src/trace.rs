//! Traces: what an engine was told and what it answered, so that it can be driven the same way again.
//!
//! A trace is JSON lines. The first says who recorded and under which settings; each further one is
//! an event with the clocks given beside it, and the effects that came of it; a last one may say how
//! it ended. The engine is a pure function of all that, so [`replay`] must meet every effect again, as
//! it is written. Neither the handshake nor its token is in it.

mod difference;
mod effect;
mod event;
mod read;
mod record;
mod replay;
#[cfg(test)]
mod tests;
mod wire;

pub use difference::{DiffError, Difference, Part, Side, diff};
pub use read::{TraceEnd, TraceError};
pub use record::{Recorder, Recording};
pub use replay::{GoalEnd, Replay, replay};

/// Version of the format. Raised when an older reader would misunderstand a newer trace.
pub const TRACE_VERSION: u32 = 1;
/// The largest trace, in bytes. About a hundred thousand events; a session that goes on longer is
/// recorded up to there.
pub const TRACE_MAX_BYTES: u64 = 64 << 20;

/// What the first line says it is.
const FORMAT: &str = "goal-auditor-trace";
