//! Writes the TypeScript side of the wire, so that the shim cannot drift from the core.

use std::fmt::Write as _;

use goal_engine::tool_texts;
use ts_rs::{Config, TS};

use crate::{
    ActivityWire, AuditDetailsWire, AuditWire, AuditorEventWire, CheckWire, CostWire, EffectWire,
    EntryWire, EventWire, FingerprintWire, GateWire, GoalFactsWire, GoalToolWire, GoalWire,
    HostWire, LevelWire, LineIn, LineOut, LiveAuditWire, MessageDetailsWire, MessageWire,
    ModelWire, MoodWire, OfferedWayWire, OpenCauseWire, OpenFailureWire, PROTOCOL_VERSION,
    RecordWire, SAVED_VERSION, StopWire, TagWire, TotalsWire, UsageWire, WayOnWire,
};

const HEAD: &str = "\
// Generated from crates/protocol by `cargo xtask codegen`. Do not edit.
";

/// The whole of `extension/wire.ts`: types of both directions, versions, and the fixed texts of our
/// tools.
#[must_use]
pub fn typescript() -> String {
    let mut out = String::from(HEAD);
    push_constants(&mut out);
    push_types(&mut out);
    out
}

fn push_constants(out: &mut String) {
    let _ = writeln!(out, "\nexport const PROTOCOL_VERSION = {PROTOCOL_VERSION};");
    let _ = writeln!(out, "export const SAVED_VERSION = {SAVED_VERSION};");
    let _ = writeln!(out, "export const TEXTS = {{");
    for (name, text) in tool_texts() {
        let _ = writeln!(out, "  {name}: {},", serde_json::Value::from(text));
    }
    let _ = writeln!(out, "}} as const;");
}

fn push_types(out: &mut String) {
    let cfg = Config::default();
    push::<LineIn>(out, &cfg);
    push::<EventWire>(out, &cfg);
    push::<OpenCauseWire>(out, &cfg);
    push::<RecordWire>(out, &cfg);
    push::<HostWire>(out, &cfg);
    push::<ActivityWire>(out, &cfg);
    push::<WayOnWire>(out, &cfg);
    push::<ModelWire>(out, &cfg);
    push::<GoalToolWire>(out, &cfg);
    push::<AuditorEventWire>(out, &cfg);
    push::<OpenFailureWire>(out, &cfg);
    push::<StopWire>(out, &cfg);
    push::<LineOut>(out, &cfg);
    push::<EffectWire>(out, &cfg);
    push::<OfferedWayWire>(out, &cfg);
    push::<MessageWire>(out, &cfg);
    push::<LiveAuditWire>(out, &cfg);
    push::<GoalFactsWire>(out, &cfg);
    push::<MoodWire>(out, &cfg);
    push::<LevelWire>(out, &cfg);
    push::<EntryWire>(out, &cfg);
    push::<TagWire>(out, &cfg);
    push::<GoalWire>(out, &cfg);
    push::<TotalsWire>(out, &cfg);
    push::<GateWire>(out, &cfg);
    push::<MessageDetailsWire>(out, &cfg);
    push::<AuditWire>(out, &cfg);
    push::<FingerprintWire>(out, &cfg);
    push::<CheckWire>(out, &cfg);
    push::<AuditDetailsWire>(out, &cfg);
    push::<UsageWire>(out, &cfg);
    push::<CostWire>(out, &cfg);
}

fn push<T: TS>(out: &mut String, cfg: &Config) {
    out.push('\n');
    if let Some(docs) = T::docs() {
        out.push_str(docs.trim_end());
        out.push('\n');
    }
    let _ = writeln!(out, "export {}", T::decl(cfg));
}
