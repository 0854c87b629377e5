//! `cargo xtask`: the chores of this repository, one file a task.

mod agent_dir;
mod bench;
mod check;
mod codegen;
mod counts;
mod demo;
mod dist;
mod install;
mod project;
mod setup;
mod sim;
mod test;
mod uninstall;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Show a goal worked on and audited to its end, on the real pi with scripted models
    Demo,
    /// Make the pictures of the documentation anew (docs/images)
    Screens,
    /// Install the pi, the Node, the compiler and the registry that the tests run on (tests/pi, tests/registry)
    Setup {
        /// Install instead what the benches measure beside it (benches/rival)
        #[arg(long)]
        benches: bool,
    },
    /// Run every check there is: set-up, format, lints, types, tests
    Test {
        /// Arguments for `cargo test`, such as a filter
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Drive the engine through hostile histories in the simulator: `sim help` lists what it can do
    Sim {
        /// Arguments for the simulator
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure what goal-auditor costs and write docs/performance.md: `bench --help` lists the options
    #[command(disable_help_flag = true)]
    Bench {
        /// Arguments for the benches
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Count the instructions of parser, engine and session read, and fail on more than 10 % above the
    /// committed baseline: `counts --renew` writes it anew
    #[command(disable_help_flag = true)]
    Counts {
        /// Arguments for the counter
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the packages that users install, into target/dist: `dist --help` lists the options
    #[command(disable_help_flag = true)]
    Dist {
        /// Arguments for the packager
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Write the TypeScript types of the wire anew from the Rust types
    Codegen,
    /// Format the Rust code
    Fmt {
        /// Only say what is not formatted
        #[arg(long)]
        check: bool,
    },
    /// Run clippy on the Rust code and the compiler on the TypeScript
    Lint,
    /// Build goal-auditor and put it into pi's extensions
    Install {
        /// pi's agent folder [default: $PI_CODING_AGENT_DIR, else ~/.pi/agent]
        #[arg(long, value_name = "DIR")]
        agent_dir: Option<PathBuf>,
        /// Install this binary instead of building one
        #[arg(long, value_name = "FILE")]
        binary: Option<PathBuf>,
    },
    /// Take goal-auditor out of pi's extensions
    Uninstall {
        /// pi's agent folder [default: $PI_CODING_AGENT_DIR, else ~/.pi/agent]
        #[arg(long, value_name = "DIR")]
        agent_dir: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Demo => demo::run(),
        Task::Screens => demo::screens(),
        Task::Setup { benches: false } => setup::run(),
        Task::Setup { benches: true } => setup::benches(),
        Task::Test { arguments } => test::run(&arguments),
        Task::Sim { arguments } => sim::run(&arguments),
        Task::Bench { arguments } => bench::run(&arguments),
        Task::Counts { arguments } => counts::run(&arguments),
        Task::Dist { arguments } => dist::run(&arguments),
        Task::Codegen => codegen::run(),
        Task::Fmt { check } => check::format(check),
        Task::Lint => check::lint(),
        Task::Install { agent_dir, binary } => install::run(agent_dir, binary),
        Task::Uninstall { agent_dir } => uninstall::run(agent_dir),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
