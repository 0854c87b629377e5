//! `dist`: the packages that users install, made by the package in dist/.

use anyhow::Result;

use crate::project;

/// Makes the packages with these arguments.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = project::cargo();
    command.args(["run", "--quiet", "--package", "goal-dist", "--"]);
    command.args(arguments);
    project::pass_status_on(&mut command)
}
