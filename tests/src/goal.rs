//! What most tests of the goal loop do and ask.

use std::sync::Arc;

use goal_sim::{EXECUTOR, Request};
use serde_json::Value;

use crate::pi::QUIET;
use crate::{Mark, Notice, Pi, Reply, Session, Steps};

impl Pi {
    /// Sets a goal; returns the mark before it.
    pub fn goal(&self, objective: &str) -> Mark {
        self.prompt(&format!("/goal {objective}"))
    }

    /// Waits until the goal has paused since `mark` and nothing happens any more; returns what the
    /// user was told.
    pub fn wait_paused(&self, mark: Mark) -> Notice {
        let notice = self.wait_notice(mark, "Goal paused");
        self.quiet(QUIET);
        notice
    }

    /// Waits until a model error has put the goal into a back-off and pi rests; returns the wait
    /// that was announced, in seconds.
    pub fn wait_back_off(&self, mark: Mark) -> u64 {
        const BEFORE: &str = "The goal goes on in ";
        let text = self.wait_notice(mark, BEFORE).text;
        self.wait_settled(mark);
        let (_, rest) = text.split_once(BEFORE).unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    }

    /// The requests the executor was asked so far.
    pub fn asked(&self) -> Vec<Arc<Request>> {
        self.server().requests_of(EXECUTOR)
    }

    /// Fails unless every call of a tool is followed at once by its result, in every request.
    pub fn assert_calls_and_results_adjacent(&self) {
        for request in self.asked() {
            let mut open = 0;
            for message in &request.messages {
                match message.role.as_str() {
                    "tool" => open -= 1,
                    _ if open == 0 => open = message.calls.len(),
                    role => self.fail(&format!("a {role} message stands among tool results")),
                }
            }
        }
    }
}

impl Session {
    /// A field of the last saved goal, `null` if there is none.
    pub fn goal_field(&self, name: &str) -> &Value {
        self.goals().last().map_or(&Value::Null, |goal| &goal[name])
    }

    /// How many of our messages are the full goal message.
    pub fn full_messages(&self) -> usize {
        let full = |message: &&&Value| message["details"]["full"] == true;
        self.continuations().iter().filter(full).count()
    }
}

/// Every run of the executor: `first`, and `then` once a tool has answered.
pub fn each_run(first: Reply, then: Reply) -> Steps {
    Steps::choose(move |request| {
        let answered = request.messages.last().is_some_and(|m| m.role == "tool");
        if answered {
            then.clone()
        } else {
            first.clone()
        }
    })
}
