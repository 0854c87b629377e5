//! Which answer comes next.

use std::collections::{BTreeMap, VecDeque};

use crate::{Reply, Request};

/// The model id of the agent that works on the goal.
pub const EXECUTOR: &str = "executor";
/// The model id of the agent that judges the work.
pub const AUDITOR: &str = "auditor";

/// What pi gets when it asks for a summary and the script does not say otherwise.
const DEFAULT_SUMMARY: &str = "## Goal\nA summary written by goal-sim.";

type Chooser = Box<dyn FnMut(&Request) -> Reply + Send>;

/// The answers of all models.
pub struct Script {
    models: BTreeMap<String, Steps>,
    compaction: Steps,
}

/// The answers of one model, in order.
#[derive(Default)]
pub struct Steps {
    queue: VecDeque<Reply>,
    rest: Rest,
    taken: usize,
}

/// What happens after the listed answers.
#[derive(Default)]
enum Rest {
    /// The request is refused with a 400 that says so: the test wrote too few steps, or the product
    /// asks too often. Both must be loud.
    #[default]
    Refuse,
    Repeat(Box<Reply>),
    Choose(Chooser),
}

impl Script {
    /// A script in which no model has an answer yet.
    pub fn new() -> Self {
        Self {
            models: BTreeMap::new(),
            compaction: Steps::default().then_repeat(Reply::text(DEFAULT_SUMMARY)),
        }
    }

    /// Sets the answers of a model.
    pub fn model(mut self, id: &str, steps: impl Into<Steps>) -> Self {
        self.models.insert(id.to_owned(), steps.into());
        self
    }

    /// Sets the answers of the executor.
    pub fn executor(self, steps: impl Into<Steps>) -> Self {
        self.model(EXECUTOR, steps)
    }

    /// Sets the answers of the auditor.
    pub fn auditor(self, steps: impl Into<Steps>) -> Self {
        self.model(AUDITOR, steps)
    }

    /// Sets the answers to pi's requests for a summary, whatever model they name. Without it every
    /// one gets a short summary. They never consume a model's step.
    pub fn compaction(mut self, steps: impl Into<Steps>) -> Self {
        self.compaction = steps.into();
        self
    }

    /// The model ids that have answers.
    pub fn model_ids(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    /// Adds one answer to the end of a model's list.
    pub(crate) fn push(&mut self, model: &str, reply: Reply) {
        self.models
            .entry(model.to_owned())
            .or_default()
            .queue
            .push_back(reply);
    }

    /// Replaces the answers of a model.
    pub(crate) fn set(&mut self, model: &str, steps: Steps) {
        self.models.insert(model.to_owned(), steps);
    }

    /// Replaces the answers to requests for a summary.
    pub(crate) fn set_compaction(&mut self, steps: Steps) {
        self.compaction = steps;
    }

    /// How many steps of this model were taken.
    pub(crate) fn taken(&self, model: &str) -> usize {
        self.models.get(model).map_or(0, |steps| steps.taken)
    }

    /// The answer to `request`; takes the step.
    pub(crate) fn answer(&mut self, request: &Request) -> Reply {
        if request.is_compaction() {
            return self.compaction.next(request);
        }
        self.models
            .entry(request.model.clone())
            .or_default()
            .next(request)
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Steps {
    /// The listed answers; a request after the last one is refused with a 400.
    pub fn of(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            queue: replies.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Every answer is chosen by `choose`.
    pub fn choose(choose: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        Self::default().then_choose(choose)
    }

    /// After the listed answers, this one for ever.
    pub fn then_repeat(mut self, reply: Reply) -> Self {
        self.rest = Rest::Repeat(Box::new(reply));
        self
    }

    /// After the listed answers, the last of them for ever.
    pub fn repeat_last(mut self) -> Self {
        if let Some(last) = self.queue.pop_back() {
            self.rest = Rest::Repeat(Box::new(last));
        }
        self
    }

    /// After the listed answers, what `choose` says.
    pub fn then_choose(mut self, choose: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        self.rest = Rest::Choose(Box::new(choose));
        self
    }

    fn next(&mut self, request: &Request) -> Reply {
        self.taken += 1;
        if let Some(reply) = self.queue.pop_front() {
            return reply;
        }
        match &mut self.rest {
            Rest::Refuse => Reply::status(400, exhausted(request)),
            Rest::Repeat(reply) => reply.as_ref().clone(),
            Rest::Choose(choose) => choose(request),
        }
    }
}

impl<const N: usize> From<[Reply; N]> for Steps {
    fn from(replies: [Reply; N]) -> Self {
        Self::of(replies)
    }
}

impl From<Vec<Reply>> for Steps {
    fn from(replies: Vec<Reply>) -> Self {
        Self::of(replies)
    }
}

impl From<Reply> for Steps {
    /// The same answer for ever.
    fn from(reply: Reply) -> Self {
        Self::default().then_repeat(reply)
    }
}

/// How the refusal of a request begins that the script has no step for.
const EXHAUSTED: &str = "goal-sim: the script has no step";

/// Whether this refuses a request that its script has no step for.
pub(crate) fn is_exhausted(reply: &Reply) -> bool {
    reply.status.is_some() && reply.body.starts_with(EXHAUSTED)
}

fn exhausted(request: &Request) -> String {
    format!("{EXHAUSTED} {} for model {}", request.nth, request.model)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ask(script: &mut Script, model: &str, system: &str) -> Reply {
        let body = serde_json::json!({
            "model": model,
            "messages": [{ "role": "system", "content": system }],
        });
        let request = Request::parse(body.to_string().into_bytes(), Duration::ZERO);
        script.answer(&request)
    }

    #[test]
    fn steps_come_in_order_and_the_last_may_repeat() {
        let mut script =
            Script::new().executor(Steps::of([Reply::text("a"), Reply::text("b")]).repeat_last());
        let texts: Vec<_> = (0..4)
            .map(|_| ask(&mut script, EXECUTOR, "").text)
            .collect();
        assert_eq!(texts, ["a", "b", "b", "b"]);
    }

    #[test]
    fn a_request_after_the_last_step_is_refused_loudly() {
        let mut script = Script::new().executor([Reply::text("a")]);
        ask(&mut script, EXECUTOR, "");
        let refused = ask(&mut script, EXECUTOR, "");
        assert_eq!(refused.status, Some(400));
        assert!(refused.body.contains("no step"), "{}", refused.body);
    }

    #[test]
    fn a_summary_does_not_consume_a_step() {
        let mut script = Script::new().executor([Reply::text("a")]);
        let summary = ask(
            &mut script,
            EXECUTOR,
            "You are a context summarization assistant. …",
        );
        assert_eq!(summary.text, DEFAULT_SUMMARY);
        assert_eq!(ask(&mut script, EXECUTOR, "").text, "a");
    }
}
