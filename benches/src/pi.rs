//! The real pi, with this project beside `@capyup/pi-goal` and beside no extension.
//!
//! All of them get the same scripted models and the same settings, one after the other in turns, and
//! every figure is of the model server's clock or of what it received. Nothing of pi is changed.
#![allow(
    clippy::disallowed_methods,
    reason = "what is measured lives in real time, and is waited for"
)]

mod calls;
mod compared;
mod contender;
mod kept;
mod looping;
mod memory;
mod opening;
mod progress;
mod rival;
mod runaway;
mod traffic;
mod walk;

use anyhow::Result;

use crate::Effort;
use crate::report::Part;

use progress::Progress;

/// Measures.
///
/// # Errors
///
/// pi, the other extension or npm does not run, or the contenders do not do the same work.
pub fn run(effort: Effort) -> Result<Part> {
    rival::install()?;
    let progress = Progress::new();
    let outages = runaway::Outages::start();
    let played = runaway::Played::take(&progress)?;
    let mut sections = looping::measure(effort, &progress)?;
    sections.extend(calls::measure(effort, &progress)?);
    sections.extend(opening::measure(effort, &progress)?);
    sections.push(played.section(outages)?);
    Ok(Part {
        name: "pi",
        versions: rival::versions()?,
        sections,
    })
}
