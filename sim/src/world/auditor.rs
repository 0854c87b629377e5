//! The auditor's session as the shim runs it: it reports what happens, and is silent once closed.

use std::collections::VecDeque;

use goal_engine::{Answer, AuditorEvent, Event, OpenAuditor, OpenFailure, StopKind, Usage};

use super::{Happening, World};
use crate::entropy::Stream;
use crate::marks::Mark;
use crate::models::{AuditorKind, Move, auditor};

/// An open session.
#[derive(Debug)]
pub(crate) struct Auditor {
    pub(crate) audit: u64,
    kind: AuditorKind,
    moves: VecDeque<Move>,
    prompts: u32,
    /// The tool that runs: its number, whether it will succeed, how long it takes.
    running: Option<(u32, bool, u64)>,
    calls: u32,
    /// An answer of the model is on its way.
    opened: bool,
    /// pi's own retries that are left, and the error after them.
    retrying: Option<(&'static str, u8)>,
    /// The session retries right now.
    waits: bool,
}

/// Time to the first word of an answer is below two to this power, in milliseconds.
const FIRST_POWER: u32 = 16;

impl World {
    pub(super) fn open_auditor(&mut self, open: &OpenAuditor) {
        if self.auditor.is_some() {
            return self.fail("S2", "two auditors are open");
        }
        self.check_auditor_prompt(open);
        let kind = self.entropy.pick(Stream::Models, &self.plan.auditors);
        self.auditor_life += 1;
        self.scripted_audit_opens(open);
        self.auditor = Some(Auditor {
            audit: open.audit,
            kind,
            moves: VecDeque::new(),
            prompts: 0,
            running: None,
            calls: 0,
            opened: false,
            retrying: None,
            waits: false,
        });
        if self.rate(|rates| rates.meddles) {
            self.checks.workspace_changed = true;
        }
        self.prompted(&open.prompt);
        self.tempt_the_user();
    }

    pub(super) fn prompt_auditor(&mut self, audit: u64, text: &str) {
        if self
            .auditor
            .as_ref()
            .is_some_and(|open| open.audit == audit)
        {
            self.mark(Mark::AuditorReminded);
            self.prompted(text);
        }
    }

    pub(super) fn close_auditor(&mut self, audit: u64) {
        match self.auditor.take_if(|open| open.audit == audit) {
            Some(_) => self.auditor_life += 1,
            None => self.fail("S6", "an auditor was closed that is not open"),
        }
    }

    fn prompted(&mut self, text: &str) {
        if self.scripted.is_some() {
            return self.scripted_prompt(text);
        }
        let done = self.open == 0;
        let healed = self.is_healed();
        let Some(open) = &mut self.auditor else {
            return;
        };
        let moves = auditor(open.kind, done, open.prompts, &mut self.entropy);
        open.moves = moves.into();
        if healed {
            for one in &mut open.moves {
                if let Move::Check { ok, .. } = one {
                    *ok = true;
                }
            }
        }
        open.prompts += 1;
        self.auditor_waits(FIRST_POWER);
    }

    fn auditor_waits(&mut self, power: u32) {
        let ms = self.ms(power);
        self.auditor_waits_for(ms);
    }

    pub(super) fn auditor_waits_for(&mut self, ms: u64) {
        let life = self.auditor_life;
        self.at(ms, Happening::Auditor(life));
    }

    pub(super) fn report(&mut self, event: AuditorEvent) {
        if let Some(audit) = self.auditor.as_ref().map(|open| open.audit) {
            self.tell(Event::Auditor { audit, event });
        }
    }

    pub(super) fn auditor_moves(&mut self, life: u32) {
        if life != self.auditor_life {
            return;
        }
        if self.scripted.is_some() {
            return self.scripted_look();
        }
        let Some(open) = &mut self.auditor else {
            return;
        };
        if open.kind == AuditorKind::Closed {
            return self.auditor_cannot_open();
        }
        if !std::mem::replace(&mut open.opened, true) {
            self.report(AuditorEvent::Opened);
            return self.auditor_waits(4);
        }
        if let Some((number, ok, ms)) = open.running.take() {
            return self.check_ends(number, ok, ms);
        }
        if let Some((error, retries)) = open.retrying {
            return self.auditor_retries(error, retries);
        }
        if let Some(next) = open.moves.pop_front() {
            self.auditor_does(next);
        }
    }

    fn auditor_cannot_open(&mut self) {
        let kind = self.entropy.pick(
            Stream::Models,
            &[
                OpenFailure::Session,
                OpenFailure::MissingModel,
                OpenFailure::MissingCredentials,
            ],
        );
        self.report(AuditorEvent::OpenFailed {
            kind,
            message: "no".to_owned(),
        });
    }

    fn auditor_does(&mut self, next: Move) {
        match next {
            Move::Output => {
                self.report(AuditorEvent::Output);
                let power = self.silence_power();
                self.auditor_waits(power);
            }
            Move::Check { ok, ms, mutates } => self.check_begins(ok, ms, mutates),
            Move::Hang => self.tool_starts(),
            Move::Say { text, stop } => self.auditor_says(text, stop),
            Move::Fail { error, retries } => {
                self.requests[1] += 1;
                self.answer(String::new(), StopKind::Error, Some(error));
                if let Some(open) = &mut self.auditor {
                    open.retrying = Some((error, retries));
                }
                self.auditor_waits(2);
            }
            Move::Break => self.report(AuditorEvent::Broke {
                message: "the session broke".to_owned(),
            }),
            Move::Fade => self.mark(Mark::AuditorFaded),
        }
    }

    /// Silences between two pieces of output.
    fn silence_power(&self) -> u32 {
        match self.auditor.as_ref().map(|open| open.kind) {
            Some(AuditorKind::Slow) => 17,
            Some(AuditorKind::Endless) => 15,
            Some(_) | None => 10,
        }
    }

    fn check_begins(&mut self, ok: bool, ms: u64, mutates: bool) {
        self.requests[1] += 1;
        self.answer(String::new(), StopKind::ToolUse, None);
        self.tool_starts();
        self.checks.workspace_changed |= mutates && self.plan.rung != goal_engine::Rung::Overlay;
        let ms = self.hurry(ms);
        if let Some(open) = &mut self.auditor {
            open.running = Some((open.calls, ok, ms));
        }
        self.auditor_waits_for(ms);
    }

    fn tool_starts(&mut self) {
        let Some(open) = &mut self.auditor else {
            return;
        };
        open.calls += 1;
        let event = AuditorEvent::ToolStarted {
            call_id: open.calls.to_string(),
            tool: "read".to_owned(),
            args: "src/a.rs".to_owned(),
        };
        self.report(event);
    }

    fn check_ends(&mut self, number: u32, ok: bool, ms: u64) {
        self.report(AuditorEvent::ToolFinished {
            call_id: number.to_string(),
            tool: "read".to_owned(),
            ok,
            ms: Some(ms),
        });
        self.auditor_waits(FIRST_POWER);
    }

    fn auditor_says(&mut self, text: String, stop: StopKind) {
        self.requests[1] += 1;
        if !text.is_empty() {
            self.report(AuditorEvent::Output);
        }
        self.answer(text, stop, None);
        self.report(AuditorEvent::Rested);
    }

    fn auditor_retries(&mut self, error: &'static str, retries: u8) {
        let Some(open) = &mut self.auditor else {
            return;
        };
        if std::mem::take(&mut open.waits) {
            open.retrying = Some((error, retries - 1));
            self.report(AuditorEvent::RetryEnded);
            self.requests[1] += 1;
            self.answer(String::new(), StopKind::Error, Some(error));
            self.auditor_waits(4);
        } else if retries > 0 {
            open.waits = true;
            self.mark(Mark::AuditorRetried);
            self.report(AuditorEvent::RetryStarted);
            self.auditor_waits_for(2_000);
        } else {
            open.retrying = None;
            self.report(AuditorEvent::Rested);
        }
    }

    fn answer(&mut self, text: String, stop: StopKind, error: Option<&str>) {
        self.report(AuditorEvent::AnswerEnded(Answer {
            text,
            stop,
            error: error.map(str::to_owned),
            usage: Usage {
                input: 100.0,
                output: 10.0,
                total_tokens: 110.0,
                ..Usage::default()
            },
        }));
    }
}
