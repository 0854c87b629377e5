//! `goal-auditor audit-tool`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use goal_sandbox::hidden_paths;
use goal_sandbox::tools::{
    Answer, FindArgs, GrepArgs, LsArgs, ReadArgs, View, find, grep, ls, read,
};
use serde::Deserialize;

use crate::cli::{AuditToolArgs, ReadingTool};
use crate::config;

/// pi's parameters of the four tools; null is absent, and what is unknown is ignored, as in pi.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Arguments {
    path: Option<String>,
    pattern: Option<String>,
    glob: Option<String>,
    offset: Option<f64>,
    limit: Option<f64>,
    context: Option<f64>,
    ignore_case: Option<bool>,
    literal: Option<bool>,
}

pub(crate) fn run(args: &AuditToolArgs) -> ExitCode {
    match answer(args) {
        Ok(text) => match io::stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            eprint!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer(args: &AuditToolArgs) -> Answer {
    let text = match &args.arguments {
        Some(text) => text.clone(),
        None => io::read_to_string(io::stdin()).map_err(|error| error.to_string())?,
    };
    let given: Arguments =
        serde_json::from_str(&text).map_err(|error| format!("Invalid arguments: {error}"))?;
    let view = view(args)?;
    let missing = |name: &str| format!("Invalid arguments: `{name}` is missing");
    match args.tool {
        ReadingTool::Read => {
            let path = given.path.ok_or_else(|| missing("path"))?;
            let (offset, limit) = (given.offset, given.limit);
            read(
                &view,
                &ReadArgs {
                    path,
                    offset,
                    limit,
                },
            )
        }
        ReadingTool::Ls => ls(
            &view,
            &LsArgs {
                path: given.path,
                limit: given.limit,
            },
        ),
        ReadingTool::Find => find(
            &view,
            &FindArgs {
                pattern: given.pattern.ok_or_else(|| missing("pattern"))?,
                path: given.path,
                limit: given.limit,
            },
        ),
        ReadingTool::Grep => grep(
            &view,
            &GrepArgs {
                pattern: given.pattern.ok_or_else(|| missing("pattern"))?,
                path: given.path,
                glob: given.glob,
                ignore_case: given.ignore_case.unwrap_or(false),
                literal: given.literal.unwrap_or(false),
                context: given.context,
                limit: given.limit,
            },
        ),
    }
}

fn view(args: &AuditToolArgs) -> Result<View, String> {
    let cwd = std::env::current_dir().map_err(|error| format!("No working folder: {error}"))?;
    let home = std::env::home_dir();
    let agent_dir = config::default_agent_dir();
    let hidden = hidden_paths(home.as_deref(), agent_dir.as_deref(), &cwd, &args.hide);
    Ok(View::new(cwd, home, &hidden))
}
