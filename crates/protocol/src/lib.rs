//! The wire between shim and core, the formats saved in the session, and their conversions to the
//! engine's types. Nothing is decided here.

mod convert;
mod effect;
mod event;
mod read;
mod saved;
pub mod trace;
mod typescript;

pub use convert::{effect, event, some_unless_zero};
pub use effect::*;
pub use event::*;
pub use read::read_branch;
pub use saved::*;
pub use typescript::typescript;

/// Version of the wire. Raised when an old shim and a new core would misunderstand each other.
pub const PROTOCOL_VERSION: u32 = 2;
