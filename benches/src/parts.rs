//! Single parts of ours, each by itself: how long it takes, and (for [`crate::growth`]) how that grows.

mod deadlines;
mod engine;
mod parser;
mod sanitising;
mod session;
mod wire;
mod workspace;

use anyhow::Result;

use crate::Effort;
use crate::growth::Growing;
use crate::node;
use crate::report::Part;

/// Measures.
///
/// # Errors
///
/// Something that is measured does not run.
pub fn run(effort: Effort) -> Result<Part> {
    Ok(Part {
        name: "parts",
        versions: versions()?,
        sections: vec![
            parser::section(effort)?,
            sanitising::section(effort),
            engine::section(effort),
            session::section(effort)?,
            wire::section(effort)?,
            deadlines::section(effort)?,
            workspace::section(effort)?,
        ],
    })
}

/// The same parts against their size.
pub(crate) fn growing(effort: Effort) -> Result<Vec<Growing>> {
    Ok(vec![
        parser::growing(effort),
        sanitising::growing(effort),
        engine::growing(effort),
        session::growing(effort)?,
        wire::growing(effort)?,
        deadlines::growing(effort)?,
        workspace::growing_fingerprint(effort)?,
        workspace::growing_commands(effort)?,
    ])
}

/// What takes part beside our own code.
pub(crate) fn versions() -> Result<Vec<(String, String)>> {
    Ok(vec![("Node".to_owned(), node::version()?)])
}
