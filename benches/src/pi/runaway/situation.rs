//! What the models do that do not stop.

use goal_tests::{Reply, Script, Steps};
use serde_json::json;

use crate::pi::contender::{claim, look_at_goal};
use crate::pi::traffic::brings_result;

/// How a provider says that a conversation is too long.
const TOO_LONG: &str = "This model's maximum context length is 128000 tokens. However, your messages \
     resulted in 250000 tokens.";

/// A model that comes to no end, or a provider that gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Situation {
    Talks,
    Empty,
    SameWords,
    Refused,
    NoVerdict,
    ServerError,
    RateLimit,
    TooLong,
    FailingCalls,
    LooksAtGoal,
    Aborted,
}

impl Situation {
    pub(super) const ALL: [Self; 11] = [
        Self::Talks,
        Self::Empty,
        Self::SameWords,
        Self::Refused,
        Self::NoVerdict,
        Self::ServerError,
        Self::RateLimit,
        Self::TooLong,
        Self::FailingCalls,
        Self::LooksAtGoal,
        Self::Aborted,
    ];

    /// As the table says it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Talks => "only talks, in other words each time",
            Self::Empty => "answers nothing",
            Self::SameWords => "reads a file and says the same, each time",
            Self::Refused => "claims to be done, and the auditor refuses",
            Self::NoVerdict => "claims to be done, and the auditor gives no verdict",
            Self::ServerError => "fails with status 500",
            Self::RateLimit => "fails with status 429",
            Self::TooLong => "refuses: the conversation is too long",
            Self::FailingCalls => "calls a tool that fails",
            Self::LooksAtGoal => "only looks at the goal",
            Self::Aborted => "is aborted by the user once, then only talks",
        }
    }

    /// Who meets it may wait long for its end.
    pub(super) const fn is_outage(self) -> bool {
        matches!(self, Self::ServerError | Self::RateLimit)
    }

    /// The user stops the first answer.
    pub(super) const fn is_aborted(self) -> bool {
        matches!(self, Self::Aborted)
    }

    /// What the models say.
    pub(super) fn script(self) -> Script {
        let script = Script::new();
        match self {
            Self::Talks => script.executor(talk()),
            Self::Empty => script.executor(Reply::text("")),
            Self::SameWords => script.executor(same_words()),
            Self::Refused => script
                .executor(claims())
                .auditor(inspects("Two lines are missing.\n<disapproved/>")),
            Self::NoVerdict => script
                .executor(claims())
                .auditor(inspects("I have looked at everything.")),
            Self::ServerError => script.executor(Reply::status(500, "internal server error")),
            Self::RateLimit => script.executor(Reply::status(429, "too many requests")),
            Self::TooLong => script.executor(Reply::status(400, TOO_LONG)),
            Self::FailingCalls => script.executor(read("missing.txt")),
            Self::LooksAtGoal => script.executor(look_at_goal()),
            Self::Aborted => {
                script.executor(talk_after(Reply::text("Well").held_before_end("never")))
            }
        }
    }
}

fn talk() -> Steps {
    talk_after(Reply::text("Let me think about it."))
}

fn talk_after(first: Reply) -> Steps {
    let mut said = 1;
    Steps::of([first]).then_choose(move |_| {
        said += 1;
        Reply::text(format!(
            "Thought {said}: there is more to be said about this."
        ))
    })
}

fn same_words() -> Steps {
    Steps::choose(|request| {
        if brings_result(request) {
            Reply::text("I have read the file once more, and I go on with the next part.")
        } else {
            read("notes.txt")
        }
    })
}

fn claims() -> Steps {
    let mut claims = 0;
    Steps::choose(move |request| {
        if brings_result(request) {
            claims += 1;
            Reply::text(format!(
                "After claim {claims} I see that it was not accepted."
            ))
        } else {
            claim()
        }
    })
}

/// An auditor that looks at one file before it says this.
fn inspects(says: &'static str) -> Steps {
    Steps::choose(move |request| {
        if brings_result(request) {
            Reply::text(says)
        } else {
            read("notes.txt")
        }
    })
}

fn read(path: &str) -> Reply {
    Reply::call("read", json!({ "path": path }))
}
