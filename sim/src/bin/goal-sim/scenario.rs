//! Scenarios in the simulator.

use anyhow::Result;

use crate::Status;
use crate::args::Scenario;

pub(crate) fn run(_options: &Scenario) -> Result<Status> {
    anyhow::bail!("not yet")
}
