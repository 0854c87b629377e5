//! One pi in which goals are judged, one after the other, and what each of them left behind.

use std::sync::Arc;

use goal_tests::session::text_of;
use goal_tests::{AUDITOR, EXECUTOR, Mark, Notice, Pi, PiOptions, Reply, Request, Script, Steps};
use serde_json::{Value, json};

/// The objective of a trial that does not care.
pub(crate) const OBJECTIVE: &str = "Write hello into out.txt";

/// A pi whose workspace holds `out.txt`.
pub(crate) struct Court {
    pub(crate) pi: Pi,
}

/// What one goal left behind.
pub(crate) struct Trial {
    /// From where its records are.
    pub(crate) mark: Mark,
    /// The results of `update_goal`, in order.
    pub(crate) results: Vec<Value>,
    /// The audit entries, in order.
    pub(crate) audits: Vec<Value>,
    /// The data of the goal entries, in order.
    pub(crate) saved: Vec<Value>,
    /// What the executor was asked.
    pub(crate) executor: Vec<Arc<Request>>,
    /// What the auditor was asked.
    pub(crate) auditor: Vec<Arc<Request>>,
    /// What the user was told.
    pub(crate) notices: Vec<Notice>,
}

/// Sizes of everything that only grows.
struct Before {
    mark: Mark,
    results: usize,
    audits: usize,
    saved: usize,
    executor: usize,
    auditor: usize,
}

impl Court {
    /// A court with these settings besides the auditor's model. A run without work ends the goal,
    /// so that a scripted executor that has nothing more to say stops.
    pub(crate) fn with(settings: Value) -> Self {
        Self::of(options(settings))
    }

    /// A court in a pi of the test's making.
    pub(crate) fn of(options: PiOptions) -> Self {
        Self {
            pi: Pi::start(options),
        }
    }

    /// Pursues a goal to its rest.
    pub(crate) fn judge(&self, executor: impl Into<Steps>, auditor: impl Into<Steps>) -> Trial {
        self.judge_goal(OBJECTIVE, executor, auditor)
    }

    /// Pursues a goal with this objective to its rest.
    pub(crate) fn judge_goal(
        &self,
        objective: &str,
        executor: impl Into<Steps>,
        auditor: impl Into<Steps>,
    ) -> Trial {
        self.judge_meanwhile(objective, executor, auditor, |_, _| ())
    }

    /// Pursues a goal, does something when it has begun, and waits for its rest.
    pub(crate) fn judge_meanwhile(
        &self,
        objective: &str,
        executor: impl Into<Steps>,
        auditor: impl Into<Steps>,
        meanwhile: impl FnOnce(&Pi, &Hearing),
    ) -> Trial {
        let pi = &self.pi;
        let before = self.before();
        pi.server().set(EXECUTOR, executor);
        pi.server().set(AUDITOR, auditor);
        pi.prompt(&format!("/goal {objective}"));
        let hearing = Hearing {
            mark: before.mark,
            auditor: before.auditor,
        };
        meanwhile(pi, &hearing);
        pi.settled_quiet(before.mark);
        self.trial(&before)
    }

    fn before(&self) -> Before {
        let session = self.pi.session();
        let server = self.pi.server();
        Before {
            mark: self.pi.mark(),
            results: session.tool_results("update_goal").len(),
            audits: session.audits().len(),
            saved: session.data_of("goal").len(),
            executor: server.requests_of(EXECUTOR).len(),
            auditor: server.requests_of(AUDITOR).len(),
        }
    }

    fn trial(&self, before: &Before) -> Trial {
        let session = self.pi.session();
        let server = self.pi.server();
        let rest = |values: Vec<&Value>, skip| values.into_iter().skip(skip).cloned().collect();
        let asked = |model, skip| server.requests_of(model).into_iter().skip(skip).collect();
        Trial {
            mark: before.mark,
            results: rest(session.tool_results("update_goal"), before.results),
            audits: rest(session.audits(), before.audits),
            saved: rest(session.data_of("goal"), before.saved),
            executor: asked(EXECUTOR, before.executor),
            auditor: asked(AUDITOR, before.auditor),
            notices: self.pi.notices_since(before.mark),
        }
    }
}

/// A goal under way.
pub(crate) struct Hearing {
    /// From where its records are.
    pub(crate) mark: Mark,
    auditor: usize,
}

impl Hearing {
    /// Waits for the `nth` request (from 1) to the auditor for this goal.
    pub(crate) fn wait_auditor(&self, pi: &Pi, nth: usize) -> Arc<Request> {
        pi.wait_request(AUDITOR, self.auditor + nth)
    }
}

impl Trial {
    /// Outcome and reason of each audit entry, as `outcome` or `outcome(why)`.
    pub(crate) fn outcomes(&self) -> Vec<String> {
        let name = |audit: &Value| match audit["why"].as_str() {
            Some(why) => format!("{}({why})", audit["outcome"].as_str().unwrap_or("?")),
            None => audit["outcome"].as_str().unwrap_or("?").to_owned(),
        };
        self.audits.iter().map(name).collect()
    }

    /// How the goal stands: `paused(reason)`, `approved`, `cleared`, …
    pub(crate) fn stands(&self) -> String {
        let Some(last) = self.saved.last() else {
            return "nothing saved".to_owned();
        };
        if let Some(ended) = last["ended"].as_str() {
            return ended.to_owned();
        }
        let goal = &last["goal"];
        match goal["pauseReason"].as_str() {
            Some(reason) => format!("{}({reason})", goal["phase"].as_str().unwrap_or("?")),
            None => goal["phase"].as_str().unwrap_or("?").to_owned(),
        }
    }

    /// The text of the `nth` result (from 0) of `update_goal`.
    pub(crate) fn told(&self, nth: usize) -> String {
        self.results.get(nth).map(text_of).unwrap_or_default()
    }

    /// The one notice that contains `needle`.
    pub(crate) fn notice(&self, needle: &str) -> &str {
        let found: Vec<_> = self
            .notices
            .iter()
            .filter(|notice| notice.text.contains(needle))
            .collect();
        assert_eq!(found.len(), 1, "`{needle}` in {:#?}", self.notices);
        &found[0].text
    }
}

/// The options of [`Court::with`].
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers write `json!({…})` in place"
)]
pub(crate) fn options(settings: Value) -> PiOptions {
    let mut config = json!({ "provider": "sim", "model": "auditor", "maxEmptyContinuations": 1 });
    for (key, value) in settings.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    PiOptions::new(Script::new())
        .config(config)
        .file("out.txt", "hello")
}

/// The executor does something.
pub(crate) fn work() -> Reply {
    Reply::call("bash", json!({ "command": "printf hello > out.txt" }))
}

/// The executor claims completion.
pub(crate) fn claim(summary: &str) -> Reply {
    Reply::call(
        "update_goal",
        json!({ "status": "complete", "completionSummary": summary }),
    )
}

/// An executor that claims once and then only talks.
pub(crate) fn claims_once() -> Steps {
    Steps::of([claim("out.txt holds hello")]).then_repeat(Reply::text("I wait."))
}

/// The auditor looks at the file.
pub(crate) fn look() -> Reply {
    Reply::call("read", json!({ "path": "out.txt" }))
}

/// The auditor approves.
pub(crate) fn approve() -> Reply {
    Reply::text("out.txt holds hello.\n<approved/>")
}

/// The auditor refuses.
pub(crate) fn refuse(objection: &str) -> Reply {
    Reply::text(format!("{objection}\n<disapproved/>"))
}

/// An auditor that gives each claim the same answers.
pub(crate) fn always(answer: Reply) -> Steps {
    Steps::default().then_repeat(answer)
}
