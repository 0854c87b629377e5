//! What this process does to itself: how it dies, and who may look into it.

use std::panic;

/// One line about a panic, whoever reads it; never a backtrace into somebody's terminal.
pub(crate) fn report_panics_in_one_line() {
    panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" at {at}"));
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("no message").replace('\n', " ");
        eprintln!("goal-auditor: internal error{place}: {message}. Please report this.");
    }));
}

/// Ends with pi, and lets no other process of the user look into this one: the handshake's token
/// is in memory. Failing here is not fatal; end of input still ends the process.
#[cfg(target_os = "linux")]
pub(crate) fn tie_to_parent() {
    use rustix::process::{
        DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal,
    };
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        eprintln!("goal-auditor: cannot make itself non-dumpable: {error}");
    }
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        eprintln!("goal-auditor: cannot tie itself to pi's life: {error}");
    }
}

/// Other systems have neither; end of input ends the process when pi dies.
#[cfg(not(target_os = "linux"))]
pub(crate) fn tie_to_parent() {}
