//! What this process does to itself: how it dies, and who may look into it.

use std::any::Any;
use std::fmt::Display;
use std::io::Write as _;
use std::panic;

/// One line on standard error. A reader that is gone is no reason to die (`eprintln` would).
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "goal-auditor: {line}");
}

/// One line about a panic, whoever reads it; never a backtrace into somebody's terminal.
pub(crate) fn report_panics_in_one_line() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        say(panic_line(place.as_deref(), info.payload()));
    }));
}

fn panic_line(place: Option<&str>, payload: &dyn Any) -> String {
    let place = place.map_or_else(String::new, |at| format!(" at {at}"));
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let words: Vec<&str> = text.unwrap_or("no message").split_whitespace().collect();
    format!(
        "internal error{place}: {}. Please report this.",
        words.join(" ")
    )
}

/// Ends with pi, and lets no other process of the user look into this one: the handshake's token
/// is in memory. Failing here is not fatal; end of input still ends the process.
#[cfg(target_os = "linux")]
pub(crate) fn tie_to_parent() {
    use rustix::process::{
        DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal,
    };
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        say(format_args!("cannot make itself non-dumpable: {error}"));
    }
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        say(format_args!("cannot tie itself to pi's life: {error}"));
    }
}

/// Other systems have neither; end of input ends the process when pi dies.
#[cfg(not(target_os = "linux"))]
pub(crate) fn tie_to_parent() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_any_kind_is_one_line() {
        let of = |payload: &dyn Any| panic_line(Some("a.rs:1:2"), payload);
        assert_eq!(
            of(&"broke\nin\r\n two"),
            "internal error at a.rs:1:2: broke in two. Please report this."
        );
        assert!(of(&"left == right\n  left: 1".to_owned()).contains("left == right left: 1"));
        assert!(of(&7_u32).contains("no message"));
        assert_eq!(
            panic_line(None, &"x"),
            "internal error: x. Please report this."
        );
    }

    #[test]
    fn the_hook_says_it_and_the_panic_is_caught() {
        report_panics_in_one_line();
        let caught = panic::catch_unwind(|| panic!("on purpose, by a test"));
        let _ = panic::take_hook();
        assert!(caught.is_err());
    }
}
