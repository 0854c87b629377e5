//! The auditor's session of a scenario: pi's own loop once more, smaller.

use std::collections::VecDeque;

use goal_engine::{Answer, AuditorEvent, OpenAuditor, Rung, StopKind, Usage};

use serde_json::Value;

use super::CONTEXT_MAX_TOKENS;
use super::models::{CUT_OFF, has_something_to_sum_up, refusal, wants_room};
use crate::goal_event::SUMMARY;
use crate::world::{Happening, World};
use crate::{End, Reply, ToolCall, Workspace};

/// pi tries a failed request again so often; the wait before the first, which doubles.
const RETRIES_MAX: u32 = 3;
const RETRY_MS: u64 = 50;
/// The shim tells of output at most so often, in milliseconds.
const OUTPUT_EVERY_MS: u64 = 250;

/// Where the auditor's session stands.
#[derive(Debug, Default)]
pub(super) struct Look {
    stage: Stage,
    /// The model that is asked.
    model: String,
    /// What it was sent so far, text by text; the first two are its instructions and its job.
    texts: Vec<String>,
    /// The copy it works on, if the machine has such.
    copy: Option<Workspace>,
    reply: Reply,
    calls: VecDeque<ToolCall>,
    running: Option<Check>,
    number: u32,
    retries: u32,
    /// Tokens of its context, as its provider last counted them.
    tokens: u64,
    /// It compacted for want of room already.
    overflowed: bool,
    /// Its conversation was summed up once.
    compacted: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing is asked.
    #[default]
    Resting,
    /// The session is being opened.
    Opening,
    /// It was prompted, and asks next.
    Prompted,
    /// A request is out.
    Asking,
    /// An answer comes bit by bit; so many bits are left.
    Dripping(usize),
    /// An answer never ends.
    Endless,
    /// A tool runs.
    Checking,
    /// pi waits before it asks again.
    Retrying,
    /// The conversation is compacted.
    Compacting,
}

impl Look {
    /// The conversation behind the system prompt has something to sum up.
    fn can_make_room(&self) -> bool {
        let words: Vec<_> = self.texts.iter().skip(1).map(String::as_str).collect();
        self.compacted || has_something_to_sum_up(&words)
    }
}

/// A call that runs.
#[derive(Debug)]
struct Check {
    id: String,
    tool: String,
    ok: bool,
    ms: u64,
}

impl World {
    /// A session is opened for an audit.
    pub(in crate::world) fn scripted_audit_opens(&mut self, open: &OpenAuditor) {
        if let Some(scripted) = &mut self.scripted {
            scripted.look = Look {
                model: open.model.id.clone(),
                texts: vec![open.system_prompt.clone()],
                copy: (open.rung == Rung::Overlay).then(|| scripted.workspace.clone()),
                ..Look::default()
            };
        }
    }

    /// The session is prompted.
    pub(in crate::world) fn scripted_prompt(&mut self, text: &str) {
        let Some(look) = self.looking() else { return };
        let first = look.texts.len() == 1;
        look.texts.push(text.to_owned());
        look.overflowed = false;
        look.stage = if first {
            Stage::Opening
        } else {
            Stage::Prompted
        };
        self.auditor_waits_for(1);
    }

    fn looking(&mut self) -> Option<&mut Look> {
        self.scripted.as_mut().map(|scripted| &mut scripted.look)
    }

    /// What the session waited for is over.
    pub(in crate::world) fn scripted_look(&mut self) {
        let Some(look) = self.looking() else { return };
        match look.stage {
            Stage::Resting => {}
            Stage::Opening => {
                self.report(AuditorEvent::Opened);
                self.auditor_asks();
            }
            Stage::Prompted => self.auditor_asks(),
            Stage::Asking => self.answer_begins(),
            Stage::Dripping(left) => self.answer_drips(left),
            Stage::Endless => {
                self.report(AuditorEvent::Output);
                self.auditor_waits_for(OUTPUT_EVERY_MS);
            }
            Stage::Checking => self.scripted_check_ends(),
            Stage::Retrying => {
                self.report(AuditorEvent::RetryEnded);
                self.auditor_asks();
            }
            Stage::Compacting => {
                self.report(AuditorEvent::CompactionEnded {
                    usage: Usage::default(),
                });
                self.auditor_asks();
            }
        }
    }

    fn auditor_asks(&mut self) {
        let life = self.auditor_life;
        let Some(look) = self.looking() else { return };
        look.stage = Stage::Asking;
        let (model, text) = (look.model.clone(), look.texts.join("\n"));
        self.requests[1] += 1;
        let reply = self.ask_model(&model, text, Happening::Auditor(life));
        if let Some(look) = self.looking() {
            look.reply = reply;
        }
    }

    fn answer_begins(&mut self) {
        let Some(look) = self.looking() else { return };
        let reply = &look.reply;
        if let Some(error) = refusal(reply) {
            return self.auditor_fails(String::new(), error);
        }
        let silent = reply.thinking.is_empty() && reply.text.is_empty() && reply.calls.is_empty();
        let bits = reply.drip.map_or(0, |drip| drip.chunks);
        if !silent {
            self.report(AuditorEvent::Output);
        }
        self.answer_drips(bits);
    }

    fn answer_drips(&mut self, left: usize) {
        let Some(look) = self.looking() else { return };
        let pause_ms = look.reply.drip.map_or(0, |drip| drip.pause_ms);
        if left > 0 {
            look.stage = Stage::Dripping(left - 1);
            self.report(AuditorEvent::Output);
            return self.auditor_waits_for(pause_ms);
        }
        self.scripted_answer_ends();
    }

    fn scripted_answer_ends(&mut self) {
        let Some(look) = self.looking() else { return };
        let reply = std::mem::take(&mut look.reply);
        let text = reply.whole_text();
        match &reply.end {
            End::Stall => look.stage = Stage::Resting,
            End::Endless => {
                look.stage = Stage::Endless;
                self.auditor_waits_for(OUTPUT_EVERY_MS);
            }
            End::Drop | End::Close => self.auditor_fails(text, CUT_OFF.to_owned()),
            End::ContentFilter => {
                self.auditor_fails(text, "Provider finish_reason: content_filter".to_owned());
            }
            End::Reason(word) => {
                let error = format!("Provider finish_reason: {word}");
                self.auditor_fails(text, error);
            }
            End::Length => {
                let before = look.can_make_room();
                look.texts.push(text.clone());
                self.auditor_answered(text, StopKind::Length, None, &reply);
                if wants_room(&reply) && before {
                    self.auditor_recovers();
                } else {
                    self.auditor_is_done();
                }
            }
            End::Natural => self.auditor_goes_on(text, &reply),
        }
    }

    fn auditor_goes_on(&mut self, text: String, reply: &Reply) {
        let stop = if reply.calls.is_empty() {
            StopKind::Stop
        } else {
            StopKind::ToolUse
        };
        let Some(look) = self.looking() else { return };
        look.texts.push(text.clone());
        look.retries = 0;
        look.tokens = reply.usage.prompt + reply.usage.completion;
        look.calls = reply.calls.clone().into();
        self.auditor_answered(text, stop, None, reply);
        if stop == StopKind::Stop {
            self.auditor_is_done();
        } else {
            self.next_check();
        }
    }

    fn auditor_is_done(&mut self) {
        if let Some(look) = self.looking() {
            look.stage = Stage::Resting;
        }
        self.report(AuditorEvent::Rested);
    }

    fn auditor_answered(
        &mut self,
        text: String,
        stop: StopKind,
        error: Option<String>,
        reply: &Reply,
    ) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "token counts of a script are small"
        )]
        let [input, output] = [reply.usage.prompt, reply.usage.completion].map(|it| it as f64);
        self.report(AuditorEvent::AnswerEnded(Answer {
            text,
            stop,
            error,
            usage: Usage {
                input,
                output,
                total_tokens: input + output,
                ..Usage::default()
            },
        }));
    }

    /// The provider failed: pi compacts, asks again, or leaves it at that.
    fn auditor_fails(&mut self, text: String, error: String) {
        let overflow = error.contains("too long");
        let passes = ["429", "500", "503", "Stream"]
            .iter()
            .any(|start| error.starts_with(start));
        self.auditor_answered(text, StopKind::Error, Some(error), &Reply::default());
        let Some(look) = self.looking() else { return };
        if overflow && look.can_make_room() {
            self.auditor_recovers();
        } else if passes && look.retries < RETRIES_MAX {
            let wait_ms = RETRY_MS << look.retries;
            look.retries += 1;
            look.stage = Stage::Retrying;
            self.report(AuditorEvent::RetryStarted);
            self.auditor_waits_for(wait_ms);
        } else {
            self.auditor_is_done();
        }
    }

    /// After its calls; where the context is full, pi compacts first.
    fn auditor_asks_next(&mut self) {
        if self
            .looking()
            .is_some_and(|look| look.tokens > CONTEXT_MAX_TOKENS)
        {
            self.auditor_compacts();
        } else {
            self.auditor_asks();
        }
    }

    /// There was no room: once, pi makes some and asks again.
    fn auditor_recovers(&mut self) {
        let Some(look) = self.looking() else { return };
        if std::mem::replace(&mut look.overflowed, true) {
            self.auditor_is_done();
        } else {
            self.auditor_compacts();
        }
    }

    /// The conversation is summed up; the job is always said again.
    fn auditor_compacts(&mut self) {
        let life = self.auditor_life;
        let Some(look) = self.looking() else { return };
        look.tokens = 0;
        look.compacted = true;
        look.stage = Stage::Compacting;
        let text = look.texts.join("\n");
        self.report(AuditorEvent::CompactionStarted);
        let summary = self.ask_model(SUMMARY, text, Happening::Auditor(life));
        if let Some(look) = self.looking() {
            look.texts.truncate(2);
            look.texts.push(summary.whole_text());
        }
    }

    // Its calls

    fn next_check(&mut self) {
        let Some(scripted) = &mut self.scripted else {
            return;
        };
        let Some(call) = scripted.look.calls.pop_front() else {
            return self.auditor_asks_next();
        };
        scripted.look.number += 1;
        match scripted.checked(&call) {
            Ok(arguments) => self.scripted_check_begins(call.name, &arguments),
            Err(error) => self.check_is_refused(call.name, error),
        }
    }

    fn check_is_refused(&mut self, tool: String, error: String) {
        let Some(look) = self.looking() else { return };
        look.texts.push(error);
        let call_id = look.number.to_string();
        self.report(AuditorEvent::ToolFinished {
            call_id,
            tool,
            ok: false,
            ms: None,
        });
        self.next_check();
    }

    /// A tool begins to run: what it comes to is known at once, and told when it ends.
    fn scripted_check_begins(&mut self, tool: String, arguments: &Value) {
        let Some(scripted) = &mut self.scripted else {
            return;
        };
        *scripted.begun[1].entry(tool.clone()).or_default() += 1;
        let look = &mut scripted.look;
        let workspace = look.copy.as_mut().unwrap_or(&mut scripted.workspace);
        let outcome = workspace.call(&tool, arguments);
        let (output, ok, ms) = outcome.map_or_else(
            || (format!("Tool {tool} not found"), false, 0),
            |outcome| (outcome.output, !outcome.is_error, outcome.ms),
        );
        let id = look.number.to_string();
        look.texts.push(output);
        look.stage = Stage::Checking;
        look.running = Some(Check {
            id: id.clone(),
            tool: tool.clone(),
            ok,
            ms,
        });
        self.report(AuditorEvent::ToolStarted {
            call_id: id,
            tool,
            args: arguments.to_string(),
        });
        self.auditor_waits_for(ms);
    }

    fn scripted_check_ends(&mut self) {
        let Some(Check { id, tool, ok, ms }) = self.looking().and_then(|it| it.running.take())
        else {
            return;
        };
        self.report(AuditorEvent::ToolFinished {
            call_id: id,
            tool,
            ok,
            ms: Some(ms),
        });
        self.next_check();
    }
}
