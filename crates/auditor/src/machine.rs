//! The audit itself.

use goal_parser::{NoVerdict, Verdict, parse_verdict, without_verdict_line};

use crate::deadline::{AuditDeadline, Limits, Table};
use crate::event::{Answer, AuditorEvent, CheckRecord, OpenFailure, StopKind, Usage};

/// Tool calls kept in the record. An auditor that makes more is still judged; only the record is
/// bounded, and says so by its counts.
const CHECKS_KEPT_MAX: usize = 1_000;

/// Bytes of remarks between tool calls that are kept; the newest are worth most.
const REMARKS_MAX_BYTES: usize = 64 * 1024;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Wait for the next event or deadline.
    Wait,
    /// Prompt the auditor again, saying what was wrong.
    Remind(NoVerdictReason),
    /// The audit is over. Close the session; nothing it reports counts any more.
    Done(Finding),
}

/// How an audit ended, seen from inside (the engine knows more: whether the goal still stands).
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// A well-formed approval with at least one successful check.
    Approved,
    /// A well-formed disapproval.
    Disapproved,
    /// None of both, also after the reminder.
    NoVerdict(NoVerdictReason),
    /// The audit could not be made.
    Failed(Failure),
}

/// Why an answer is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVerdictReason {
    /// The grammar's reason.
    Grammar(NoVerdict),
    /// The answer was cut off by the output limit.
    Truncated,
    /// An approval without a successful check.
    HollowApproval,
}

/// Why an audit could not be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// No session could be opened.
    Open(OpenFailure, String),
    /// The provider answered with an error, in its words.
    Provider(String),
    /// The session broke, in the host's words.
    Session(String),
    /// A limit passed.
    Expired {
        /// Which.
        which: AuditDeadline,
        /// Its value in milliseconds.
        limit_ms: u64,
        /// The tool call in flight, as `name arguments`.
        in_flight: Option<String>,
    },
}

/// One audit from its first prompt to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    limits: Limits,
    started_ms: u64,
    deadlines: Table,
    suspended: Suspended,
    in_flight: Vec<InFlight>,
    checks: Vec<CheckRecord>,
    successes: u32,
    last: Option<Answer>,
    /// What the auditor wrote beside the tool calls of this attempt.
    remarks: Vec<String>,
    /// What it wrote in each attempt, the newest last.
    written: Vec<String>,
    /// Prompts it was given.
    attempts: u32,
    reminded_format: bool,
    reminded_hollow: bool,
    usage: Usage,
    done: bool,
}

/// What keeps the idle limit from running although no tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Suspended {
    compaction: bool,
    retry: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct InFlight {
    call_id: String,
    tool: String,
    args: String,
}

impl Audit {
    /// Arms the absolute limit; the first prompt goes out now.
    #[must_use]
    pub fn start(limits: Limits, now: u64) -> Self {
        let mut deadlines = Table::default();
        deadlines.set(
            AuditDeadline::Absolute,
            limits.absolute_ms.map(|ms| now.saturating_add(ms)),
        );
        Self {
            limits,
            started_ms: now,
            deadlines,
            suspended: Suspended::default(),
            in_flight: Vec::new(),
            checks: Vec::new(),
            successes: 0,
            last: None,
            remarks: Vec::new(),
            written: Vec::new(),
            attempts: 0,
            reminded_format: false,
            reminded_hollow: false,
            usage: Usage::default(),
            done: false,
        }
    }

    /// Takes what the session reports.
    pub fn handle(&mut self, now: u64, event: AuditorEvent) -> Step {
        if self.done {
            return Step::Wait;
        }
        match event {
            AuditorEvent::Opened => {
                self.attempts = 1;
                Step::Wait
            }
            AuditorEvent::OpenFailed { kind, message } => self.fail(Failure::Open(kind, message)),
            AuditorEvent::Output => self.on_output(now),
            AuditorEvent::AnswerEnded(answer) => self.on_answer(answer),
            AuditorEvent::ToolStarted {
                call_id,
                tool,
                args,
            } => self.on_tool_started(InFlight {
                call_id,
                tool,
                args,
            }),
            AuditorEvent::ToolFinished {
                call_id,
                tool,
                ok,
                ms,
            } => self.on_tool_finished(&call_id, tool, ok, ms),
            AuditorEvent::CompactionStarted => self.suspend(|s| s.compaction = true),
            AuditorEvent::CompactionEnded { usage } => {
                self.usage += usage;
                self.suspend(|s| s.compaction = false)
            }
            AuditorEvent::RetryStarted => self.suspend(|s| s.retry = true),
            AuditorEvent::RetryEnded => self.suspend(|s| s.retry = false),
            AuditorEvent::Rested => self.on_rest(),
            AuditorEvent::Broke { message } => self.fail(Failure::Session(message)),
        }
    }

    /// Ends the audit if a limit has passed.
    pub fn expire(&mut self, now: u64) -> Step {
        match self.deadline() {
            Some((at, which)) if at <= now && !self.done => {
                let failure = self.expired(which);
                self.fail(failure)
            }
            Some(_) | None => Step::Wait,
        }
    }

    /// The next limit, and which one it is.
    #[must_use]
    pub fn deadline(&self) -> Option<(u64, AuditDeadline)> {
        if self.done {
            None
        } else {
            self.deadlines.next()
        }
    }

    /// Ends the audit from outside (abort, stale goal); nothing counts any more.
    pub const fn cancel(&mut self) {
        self.done = true;
    }

    /// The tool calls made so far, over all attempts.
    #[must_use]
    pub fn checks(&self) -> &[CheckRecord] {
        &self.checks
    }

    /// Tool calls that ended without error, over all attempts.
    #[must_use]
    pub const fn successes(&self) -> u32 {
        self.successes
    }

    /// Prompts the auditor was given, the reminders included; none if its session never opened.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Token use so far.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// Milliseconds since the first prompt.
    #[must_use]
    pub const fn elapsed_ms(&self, now: u64) -> u64 {
        now.saturating_sub(self.started_ms)
    }

    /// The tool call in flight, as `name arguments`.
    #[must_use]
    pub fn in_flight(&self) -> Option<String> {
        self.in_flight
            .first()
            .map(|call| format!("{} {}", call.tool, call.args))
    }

    /// What the auditor wrote, all attempts, so that a reminder does not lose its findings.
    #[must_use]
    pub fn report(&self) -> String {
        joined(self.written.iter().map(|text| text.trim()))
    }

    /// The report without the lines of the verdicts: what the auditor objects to.
    #[must_use]
    pub fn objection(&self) -> String {
        joined(self.written.iter().map(|text| without_verdict_line(text)))
    }

    fn on_output(&mut self, now: u64) -> Step {
        let busy = !self.in_flight.is_empty() || self.suspended != Suspended::default();
        if !busy {
            let at = self.limits.idle_ms.map(|ms| now.saturating_add(ms));
            self.deadlines.set(AuditDeadline::Idle, at);
        }
        Step::Wait
    }

    fn on_answer(&mut self, answer: Answer) -> Step {
        self.usage += answer.usage;
        if answer.stop == StopKind::ToolUse {
            self.remark(answer.text.trim());
        }
        self.last = Some(answer);
        self.disarm_idle()
    }

    fn on_tool_started(&mut self, call: InFlight) -> Step {
        // An answer that a tool call follows is not the final one, whatever it says of itself.
        if let Some(answer) = self
            .last
            .as_mut()
            .filter(|last| last.stop == StopKind::Stop)
        {
            answer.stop = StopKind::ToolUse;
        }
        self.in_flight.push(call);
        self.disarm_idle()
    }

    fn on_tool_finished(&mut self, call_id: &str, tool: String, ok: bool, ms: Option<u64>) -> Step {
        let started = self
            .in_flight
            .iter()
            .position(|call| call.call_id == call_id);
        let args = started
            .map(|at| self.in_flight.remove(at).args)
            .unwrap_or_default();
        // Only what really ran is evidence; a call that was refused proves nothing.
        let ok = ok && ms.is_some();
        if ok {
            self.successes = self.successes.saturating_add(1);
        }
        if self.checks.len() < CHECKS_KEPT_MAX {
            self.checks.push(CheckRecord {
                tool,
                args,
                ok,
                ms: ms.unwrap_or(0),
            });
        }
        Step::Wait
    }

    fn remark(&mut self, text: &str) {
        if !text.is_empty() {
            self.remarks.push(text.to_owned());
        }
        let mut bytes: usize = self.remarks.iter().map(String::len).sum();
        while bytes > REMARKS_MAX_BYTES {
            bytes -= self.remarks.remove(0).len();
        }
    }

    fn suspend(&mut self, change: impl FnOnce(&mut Suspended)) -> Step {
        change(&mut self.suspended);
        self.disarm_idle()
    }

    fn disarm_idle(&mut self) -> Step {
        self.deadlines.set(AuditDeadline::Idle, None);
        Step::Wait
    }

    /// The prompt is answered: judge the last answer of this attempt, and only that.
    fn on_rest(&mut self) -> Step {
        self.disarm_idle();
        self.in_flight.clear();
        let Some(answer) = self.last.take() else {
            return self.no_verdict(NoVerdictReason::Grammar(NoVerdict::Empty));
        };
        self.end_attempt(&answer.text);
        match answer.stop {
            StopKind::Stop => self.judge(&answer.text),
            StopKind::Length => self.no_verdict(NoVerdictReason::Truncated),
            StopKind::Error | StopKind::Aborted | StopKind::ToolUse => {
                let message = answer
                    .error
                    .unwrap_or_else(|| "the answer was cut off".to_owned());
                self.fail(Failure::Provider(message))
            }
        }
    }

    /// Keeps what was written. An auditor that gave its account between the tool calls and ends in
    /// the bare verdict has given one all the same.
    fn end_attempt(&mut self, text: &str) {
        let remarks = std::mem::take(&mut self.remarks);
        let mut written = if without_verdict_line(text).is_empty() {
            remarks
        } else {
            Vec::new()
        };
        written.push(text.to_owned());
        self.written.push(written.join("\n\n"));
    }

    fn judge(&mut self, text: &str) -> Step {
        match parse_verdict(text) {
            Ok(Verdict::Disapproved) => self.finish(Finding::Disapproved),
            Ok(Verdict::Approved) if self.successes > 0 => self.finish(Finding::Approved),
            Ok(Verdict::Approved) => self.hollow(),
            Err(why) => self.no_verdict(NoVerdictReason::Grammar(why)),
        }
    }

    fn hollow(&mut self) -> Step {
        if self.reminded_hollow {
            return self.finish(Finding::NoVerdict(NoVerdictReason::HollowApproval));
        }
        self.reminded_hollow = true;
        self.remind(NoVerdictReason::HollowApproval)
    }

    fn no_verdict(&mut self, why: NoVerdictReason) -> Step {
        if self.reminded_format {
            return self.finish(Finding::NoVerdict(why));
        }
        self.reminded_format = true;
        self.remind(why)
    }

    const fn remind(&mut self, why: NoVerdictReason) -> Step {
        self.attempts += 1;
        Step::Remind(why)
    }

    fn expired(&self, which: AuditDeadline) -> Failure {
        let limit = match which {
            AuditDeadline::Absolute => self.limits.absolute_ms,
            AuditDeadline::Idle => self.limits.idle_ms,
        };
        Failure::Expired {
            which,
            limit_ms: limit.unwrap_or_default(),
            in_flight: self.in_flight(),
        }
    }

    fn fail(&mut self, failure: Failure) -> Step {
        self.finish(Finding::Failed(failure))
    }

    fn finish(&mut self, finding: Finding) -> Step {
        self.done = true;
        // What the auditor wrote before it was cut off is part of what it found.
        if let Some(answer) = self.last.take() {
            let noted = answer.stop == StopKind::ToolUse;
            self.end_attempt(if noted { "" } else { &answer.text });
        }
        Step::Done(finding)
    }
}

/// The texts that say something, numbered from the second one on.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for (index, text) in texts.enumerate().filter(|(_, text)| !text.is_empty()) {
        if !out.is_empty() {
            out.push_str(&format!("\n\n[answer {}]\n", index + 1));
        }
        out.push_str(text);
    }
    out
}
