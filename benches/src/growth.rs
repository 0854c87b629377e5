//! growth

use anyhow::Result;

use crate::Effort;
use crate::report::Part;

/// Measures.
///
/// # Errors
///
/// Something that is measured does not run.
pub fn run(effort: Effort) -> Result<Part> {
    let _ = effort;
    Ok(Part {
        name: "growth",
        versions: Vec::new(),
        sections: Vec::new(),
    })
}
