//! S8 and S10: what is put before models and people.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a checker names what it watches, and lets the rest pass"
)]

use goal_engine::{Effect, GoalMessage, OpenAuditor};

use crate::models::INJECTION_WORD;
use crate::world::World;

/// Code points of [`crate::models::INJECTION`] that must never reach anybody as they are.
const RAW: [char; 3] = ['\u{1b}', '\u{202e}', '\u{200b}'];
/// A marker is a few dozen tokens; with objections (2,000 characters) and a quoted error it may be
/// longer, but never as long as this.
const MARKER_MAX_BYTES: usize = 8_000;

impl World {
    pub(crate) fn check_auditor_prompt(&mut self, open: &OpenAuditor) {
        const WHAT: &str = "the auditor's prompt holds raw text of others";
        if open.system_prompt.contains(INJECTION_WORD) {
            return self.broken("S8", "the auditor's system prompt holds text of others");
        }
        self.check_text(&open.prompt, "S8", WHAT);
        if open.prompt.contains("</objective>") {
            self.broken("S8", WHAT);
        }
    }

    /// Text of others stands inside a fence, and without its teeth.
    pub(crate) fn check_text(&mut self, text: &str, checker: &'static str, what: &'static str) {
        if !text.contains(INJECTION_WORD) && !text.contains(RAW) {
            return;
        }
        let unfenced = text
            .match_indices(INJECTION_WORD)
            .any(|(at, _)| !is_fenced(text, at));
        if unfenced || text.contains(RAW) {
            self.broken_with(checker, what, text.to_owned());
        }
    }

    /// What people are shown does not move their cursor.
    pub(super) fn check_shown(&mut self, out: &[Effect]) {
        for effect in out {
            let raw = match effect {
                Effect::Notify(notice) | Effect::Reply(notice) => notice.text.contains(RAW),
                Effect::ShowStatus(view) => {
                    view.footer.as_ref().is_some_and(|line| line.contains(RAW))
                        || view.widget.iter().any(|line| line.contains(RAW))
                }
                _ => false,
            };
            if raw {
                return self.broken("S8", "a person is shown raw text of others");
            }
        }
    }

    /// A message adds to what was sent, as little as is needed.
    pub(super) fn check_prefix(&mut self, message: &GoalMessage) {
        let details = &message.details;
        let now = self.now();
        let known = details.full && self.checks_mut().full_is_known(now);
        let again = known && !self.checks_mut().is_muddied() && self.full_is_sent(&details.tag);
        if again {
            self.broken("S10", "the full message is sent although it is there");
        } else if !details.full && message.text.len() > MARKER_MAX_BYTES {
            self.broken("S10", "a marker as long as a full message");
        }
        if details.full && details.seq > 0 {
            self.meet(crate::marks::Mark::FullMessageAgain);
        }
        if message.text.contains("did nothing") || message.text.contains("no work") {
            self.meet(crate::marks::Mark::Nudged);
        }
    }

    /// Tools that are active are left alone: a changed list costs the cached prefix.
    pub(super) fn check_tools_are_off(&mut self) {
        if self.tools_were_never_off() {
            self.broken("S10", "tools are activated although they are active");
        }
    }
}

/// Whether the place lies between the marks of a fence, or of a short quotation in one line.
fn is_fenced(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or(before);
    let open = |text: &str, begin: &str, end: &str| {
        text.matches(begin).count() > text.matches(end).count()
    };
    open(before, "<<<begin ", "<<<end ") || open(line, "“", "”")
}
