//! What an auditor's session reports.

use std::ops::AddAssign;

/// Something that happened in the auditor's session.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditorEvent {
    /// The session is open and was prompted.
    Opened,
    /// No session could be opened.
    OpenFailed {
        /// Which part failed.
        kind: OpenFailure,
        /// In the host's words.
        message: String,
    },
    /// The model began to stream output, or goes on streaming (coalesced by the host).
    Output,
    /// An answer of the model ended.
    AnswerEnded(Answer),
    /// A tool call of the auditor began.
    ToolStarted {
        /// The host's id of the call.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// Its arguments, cut by the host.
        args: String,
    },
    /// A tool call of the auditor was finalised.
    ToolFinished {
        /// The host's id of the call.
        call_id: String,
        /// The tool's name (a refused call has no start).
        tool: String,
        /// It ended without error.
        ok: bool,
        /// How long it ran, in milliseconds; `None` if it never did.
        ms: Option<u64>,
    },
    /// The host compacts the auditor's context.
    CompactionStarted,
    /// The compaction ended, well or not.
    CompactionEnded {
        /// Token use of the summary.
        usage: Usage,
    },
    /// The host waits before it retries a failed request.
    RetryStarted,
    /// The wait is over.
    RetryEnded,
    /// The prompt is answered: the session is at rest.
    Rested,
    /// The session broke.
    Broke {
        /// In the host's words.
        message: String,
    },
}

/// Which part of opening a session failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFailure {
    /// No credentials for the provider.
    MissingCredentials,
    /// The model is not known to the host.
    MissingModel,
    /// Anything else.
    Session,
}

/// An answer of the auditor's model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its text parts, joined; what was streamed, if the final message carries none.
    pub text: String,
    /// How it ended.
    pub stop: StopKind,
    /// The provider's error message.
    pub error: Option<String>,
    /// Token use of this answer.
    pub usage: Usage,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// Normally.
    Stop,
    /// With tool calls; another answer follows.
    ToolUse,
    /// Cut off by the output limit.
    Length,
    /// With an error of the provider.
    Error,
    /// It was aborted.
    Aborted,
}

/// Token use and cost, every field present.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Prompt tokens that were not cached.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Prompt tokens read from a cache.
    pub cache_read: f64,
    /// Prompt tokens written to a cache.
    pub cache_write: f64,
    /// All tokens, as the provider counts them.
    pub total_tokens: f64,
    /// Cost of the parts, in the provider's currency unit (US dollars).
    pub cost_input: f64,
    /// See `cost_input`.
    pub cost_output: f64,
    /// See `cost_input`.
    pub cost_cache_read: f64,
    /// See `cost_input`.
    pub cost_cache_write: f64,
    /// Cost in all.
    pub cost_total: f64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        for (sum, part) in self.fields_mut().into_iter().zip(other.fields()) {
            // A provider that reports nonsense must not make the host's totals nonsense.
            let more = *sum + part;
            if more.is_finite() {
                *sum = more;
            }
        }
    }
}

impl Usage {
    const fn fields(&self) -> [f64; 10] {
        [
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.total_tokens,
            self.cost_input,
            self.cost_output,
            self.cost_cache_read,
            self.cost_cache_write,
            self.cost_total,
        ]
    }

    const fn fields_mut(&mut self) -> [&mut f64; 10] {
        [
            &mut self.input,
            &mut self.output,
            &mut self.cache_read,
            &mut self.cache_write,
            &mut self.total_tokens,
            &mut self.cost_input,
            &mut self.cost_output,
            &mut self.cost_cache_read,
            &mut self.cost_cache_write,
            &mut self.cost_total,
        ]
    }
}

/// A tool call of the auditor, as kept in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRecord {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, cut.
    pub args: String,
    /// It ended without error.
    pub ok: bool,
    /// How long it ran, in milliseconds.
    pub ms: u64,
}
