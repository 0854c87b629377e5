//! `goal-auditor serve`: the engine behind standard input and output.
//!
//! A thread reads lines and is never blocked by what they cause; another writes them. Between them
//! one loop follows the engine's law: one event, all its effects, then sleep until the next event
//! or the engine's deadline.

mod driver;
mod files;
mod lines;
pub(crate) mod trace;
mod workspace;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use self::driver::{Driver, Flow};
use self::lines::Incoming;
use crate::process;

/// Longest wait for the host to take the last lines.
const FAREWELL_MAX: Duration = Duration::from_secs(1);

/// Serves one pi process until its end of input.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    process::tie_to_parent();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .context("starting the timer")?;
    let (found, incoming) = lines::read_stdin()?;
    let (outgoing, written) = lines::write_stdout()?;
    runtime.block_on(serve(incoming, Driver::new(outgoing, found)));
    // The channel has ended with the driver; let the last line (a refusal, say) go out whole. A host
    // that does not read must not keep this process alive.
    let _ = written.recv_timeout(FAREWELL_MAX);
    Ok(ExitCode::SUCCESS)
}

async fn serve(mut incoming: UnboundedReceiver<Incoming>, mut driver: Driver) {
    loop {
        let flow = tokio::select! {
            // Lines first: what the host reports outranks a deadline that falls due just now.
            biased;
            line = incoming.recv() => match line {
                Some(line) => driver.take(line),
                None => Flow::Stop,
            },
            () = until(driver.deadline()) => driver.tick(),
        };
        if flow == Flow::Stop {
            return;
        }
    }
}

/// Sleeps until a moment, or for ever.
async fn until(deadline: Option<Instant>) {
    /// Longest sleep in one go; the loop asks again afterwards.
    const NAP_MAX: Duration = Duration::from_secs(3_600);
    match deadline {
        Some(at) => sleep_until(at.min(Instant::now() + NAP_MAX)).await,
        None => std::future::pending().await,
    }
}
