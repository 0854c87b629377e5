//! The colours of what the simulator prints. A terminal that shows none is told none (anstream).

use anstyle::{AnsiColor, Style};

/// All is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Something is broken.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Worth a look.
pub const ODD: Style = AnsiColor::Yellow.on_default();
/// Less important.
pub const DIM: Style = Style::new().dimmed();
