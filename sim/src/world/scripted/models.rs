//! What the models answer, and what the executor's calls come to.

use goal_engine::GoalTool;
use serde_json::Value;

use super::{Held, Scripted};
use crate::goal_event::SUMMARY;
use crate::models::{AnswerEnd, Answered, Call, Tool};
use crate::scenario::Moment;
use crate::world::pi::Stage;
use crate::world::session::What;
use crate::world::{Happening, World};
use crate::{End, GoalEvent, Reply, ToolCall};

/// pi and a provider need a moment for every request, in milliseconds.
const REQUEST_MS: u64 = 5;
/// What pi gets when it asks for a summary and the file does not say otherwise.
const DEFAULT_SUMMARY: &str = "A summary.";
/// An answer that ends without a word of its end.
pub(super) const CUT_OFF: &str = "Stream ended without finish_reason";

/// The output limit of the models: an answer that ends with `length` below it met the end of the
/// context.
const OUTPUT_MAX_TOKENS: u64 = 4_096;
/// What pi keeps of a conversation when it compacts it, at its own estimate of four characters a token.
const KEPT_TOKENS: usize = 200;
const TOKEN_CHARS: usize = 4;

/// Arguments without which pi refuses a call of a tool of its own.
const REQUIRED: [(&str, &[&str]); 4] = [
    ("bash", &["command"]),
    ("read", &["path"]),
    ("write", &["path", "content"]),
    ("edit", &["path", "edits"]),
];
/// A tool that needs none; the agent has it only where it is asked for, the auditor always.
const WITHOUT_REQUIRED: &str = "ls";

/// A call that pi carries out, or refuses by itself.
pub(super) type Checked = Result<Value, String>;

impl Scripted {
    pub(super) fn has_our_tools(&self) -> bool {
        self.has_tool(GoalTool::UpdateGoal.name()) && self.has_tool(GoalTool::GetGoal.name())
    }

    fn has_tool(&self, name: &str) -> bool {
        let listed = |tools: &Vec<String>| tools.iter().any(|tool| tool == name);
        self.tools.as_ref().is_none_or(listed)
    }

    /// The answer to the next request of a model, and the number of that request.
    fn next_reply(&mut self, model: &str) -> (Reply, usize) {
        let taken = self.taken.entry(model.to_owned()).or_default();
        *taken += 1;
        let nth = *taken;
        let reply = match self.steps.get(model) {
            Some(steps) => steps.steps.get(nth - 1).cloned().or_else(|| {
                let repeated = steps.steps.last().filter(|_| steps.then_repeat);
                repeated.cloned()
            }),
            None if model == SUMMARY => Some(Reply::text(DEFAULT_SUMMARY)),
            None => None,
        };
        let reply = reply.unwrap_or_else(|| {
            self.story.beyond_script(model, nth);
            Reply::status(400, "the script has no step")
        });
        (reply, nth)
    }

    /// A later action waits for this request.
    fn is_awaited(&self, model: &str, number: usize) -> bool {
        self.actions.iter().any(|action| {
            matches!(&action.when, Some(Moment::Request { model: of, nth })
                if of == model && *nth == number)
        })
    }

    /// Arguments as pi reads them; or why it refuses the call.
    pub(super) fn checked(&self, call: &ToolCall) -> Checked {
        let name = call.name.as_str();
        let required = REQUIRED.iter().find(|(tool, _)| *tool == name);
        let own = required.is_some() || name == WITHOUT_REQUIRED;
        let ours = [GoalTool::GetGoal, GoalTool::UpdateGoal].map(GoalTool::name);
        if !self.has_tool(name) || !(own || ours.contains(&name)) {
            return Err(format!("Tool {name} not found"));
        }
        let raw = if call.arguments.is_empty() {
            "{}"
        } else {
            &call.arguments
        };
        let arguments: Value = serde_json::from_str(raw).unwrap_or_default();
        if !arguments.is_object() {
            return Err(format!("Invalid arguments for {name}: {raw}"));
        }
        let needed = required.map_or(&[][..], |(_, keys)| keys);
        match needed.iter().find(|key| arguments[**key].is_null()) {
            Some(key) => Err(format!(
                "Validation failed for tool {name}: {key} is required"
            )),
            None => Ok(arguments),
        }
    }
}

/// How long an answer is on its way.
pub(super) fn on_its_way_ms(reply: &Reply) -> u64 {
    reply.delay_ms + REQUEST_MS
}

/// The answer ended below the output limit of its model.
pub(super) fn wants_room(reply: &Reply) -> bool {
    reply.end == End::Length && reply.usage.completion < OUTPUT_MAX_TOKENS
}

/// Whether a compaction would leave anything out, once the answer that failed is dropped: the newest
/// words are kept, and what comes before them is summed up. Where all is one message, it is that.
pub(super) fn has_something_to_sum_up(words: &[&str]) -> bool {
    let behind_the_first = words.iter().skip(1);
    let chars: usize = behind_the_first.map(|text| text.chars().count()).sum();
    chars == 0 || chars >= KEPT_TOKENS * TOKEN_CHARS
}

/// A refusal in pi's words.
pub(super) fn refusal(reply: &Reply) -> Option<String> {
    reply
        .status
        .map(|status| format!("{status}: {}", reply.body))
}

impl World {
    /// A model is asked: its answer is on its way, or held until the actions of this moment are done.
    pub(super) fn ask_model(&mut self, model: &str, text: String, answer: Happening) -> Reply {
        let now = self.now;
        let Some(scripted) = &mut self.scripted else {
            return Reply::default();
        };
        let (reply, nth) = scripted.next_reply(model);
        let asked = GoalEvent::Request(model.to_owned());
        if let Some(trace) = &mut self.trace {
            trace.note(now, &format!("{asked} {nth}"));
        }
        scripted.story.asked(asked, text);
        let after_ms = on_its_way_ms(&reply);
        if scripted.is_awaited(model, nth) {
            scripted.held.push(Held {
                model: model.to_owned(),
                nth,
                after_ms,
                answer,
            });
        } else {
            self.at(after_ms, answer);
        }
        reply
    }

    /// pi asks the executor's model.
    pub(in crate::world) fn scripted_request(&mut self) {
        let Some(model) = self.executor_model() else {
            return;
        };
        let text = self.conversation();
        self.enter(Stage::Thinking);
        let answer = Happening::Stage(self.pi.epoch);
        let reply = self.ask_model(&model.id, text, answer);
        let answered = self.answered_as(&reply);
        self.pi.answer = Some(answered);
    }

    /// The script's answer as pi's loop takes it.
    fn answered_as(&mut self, reply: &Reply) -> Answered {
        let tools_active = self.pi.tools_active;
        let Some(scripted) = &mut self.scripted else {
            return nothing();
        };
        scripted.arguments.clear();
        let error = refusal(reply).or_else(|| match &reply.end {
            End::Drop | End::Close => Some(CUT_OFF.to_owned()),
            End::ContentFilter => Some("Provider finish_reason: content_filter".to_owned()),
            End::Reason(word) => Some(format!("Provider finish_reason: {word}")),
            End::Natural | End::Length | End::Stall | End::Endless => None,
        });
        if let Some(error) = error {
            return Answered {
                end: AnswerEnd::Error(error),
                ..nothing()
            };
        }
        scripted.tokens = reply.usage.prompt + reply.usage.completion;
        scripted.cut_off = wants_room(reply);
        let cut = reply.end == End::Length;
        let calls = reply.calls.iter();
        let calls = calls.map(|call| scripted.call(call, tools_active, cut));
        Answered {
            calls: calls.collect(),
            text: reply.whole_text(),
            end: if reply.end == End::Length {
                AnswerEnd::Length
            } else {
                AnswerEnd::Stop
            },
            ms: 0,
        }
    }

    /// A tool of pi's begins to run: what it comes to is known at once, and told when it ends.
    pub(in crate::world) fn play_tool(&mut self, tool: &mut Tool) {
        let Some(scripted) = &mut self.scripted else {
            return;
        };
        *scripted.begun[0].entry(tool.name.clone()).or_default() += 1;
        let arguments = scripted.arguments.pop_front().unwrap_or_default();
        if let Some(outcome) = scripted.workspace.call(&tool.name, &arguments) {
            tool.ok = !outcome.is_error;
            tool.ms = outcome.ms;
            self.write_down(&outcome.output);
        }
    }

    /// The run would end with an answer that was cut off for want of room, and pi can make some.
    pub(in crate::world) fn was_cut_off(&mut self) -> bool {
        let overflowed = self.pi.overflowed;
        let cut = self.scripted.as_mut();
        let cut = cut.is_some_and(|it| std::mem::take(&mut it.cut_off));
        cut && !overflowed && self.can_make_room()
    }

    /// pi finds something to sum up in the executor's conversation, whose last answer failed.
    pub(in crate::world) fn can_make_room(&self) -> bool {
        let words = self.words();
        let kept = words.split_last().map_or(&[][..], |(_, kept)| kept);
        let compacted = self
            .session()
            .branch()
            .any(|it| matches!(it.what, What::Compaction));
        self.scripted.is_none() || compacted || has_something_to_sum_up(kept)
    }

    /// pi asks for a summary of the executor's conversation.
    pub(in crate::world) fn ask_for_summary(&mut self, then: Happening) {
        let text = self.conversation();
        let reply = self.ask_model(SUMMARY, text, then);
        if let Some(scripted) = &mut self.scripted {
            scripted.tokens = 0;
            scripted.story.summary = reply.whole_text();
        }
    }
}

impl Scripted {
    fn call(&mut self, call: &ToolCall, tools_active: bool, cut: bool) -> Call {
        let ours = match call.name.as_str() {
            "get_goal" => Some(GoalTool::GetGoal),
            "update_goal" => Some(GoalTool::UpdateGoal),
            _ => None,
        };
        let refused = |error: String| Call::Refused {
            tool: call.name.clone(),
            error,
        };
        if ours.is_some() && !tools_active {
            return refused(format!("Tool {} not found", call.name));
        }
        if call.name == WITHOUT_REQUIRED && self.tools.is_none() {
            return refused(format!("Tool {} not found", call.name));
        }
        let arguments = match self.checked(call) {
            Ok(_) if cut => return refused("the answer was cut off".to_owned()),
            Ok(arguments) => arguments,
            Err(error) => return refused(error),
        };
        match ours {
            Some(GoalTool::GetGoal) => Call::GetGoal,
            Some(GoalTool::UpdateGoal) => Call::Claim {
                status: word(&arguments["status"]),
                summary: arguments["completionSummary"].as_str().map(str::to_owned),
            },
            None => {
                self.arguments.push_back(arguments);
                Call::Tool(Tool {
                    name: call.name.clone(),
                    ok: true,
                    ms: 0,
                    work: 1,
                })
            }
        }
    }
}

/// The status of a claim as the shim hands it on.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::to_owned);
    text.or_else(|| (!value.is_null()).then(|| value.to_string()))
}

const fn nothing() -> Answered {
    Answered {
        text: String::new(),
        calls: Vec::new(),
        end: AnswerEnd::Stop,
        ms: 0,
    }
}
