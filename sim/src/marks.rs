//! Situations a campaign must have met: a campaign that never saw one has proved nothing about it.

/// Declares the marks with the words they are listed by.
macro_rules! marks {
    ($($name:ident $words:literal,)*) => {
        /// A situation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "each variant's words are its documentation")]
        pub enum Mark { $($name,)* }

        impl Mark {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What happened, in words.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }
        }
    };
}

marks! {
    AuditApproved "an audit approved",
    AuditDisapproved "an audit disapproved",
    AuditNoVerdict "an audit without a verdict",
    AuditFailed "an audit failed",
    AuditStale "an audit was stale",
    AuditAborted "an audit was aborted",
    AuditByUser "the user asked for an audit",
    PausedUser "paused: user",
    PausedAborted "paused: aborted",
    PausedNoProgress "paused: no progress",
    PausedRepetition "paused: repetition",
    PausedModelErrors "paused: model errors",
    PausedRejections "paused: rejections",
    PausedAuditFailures "paused: audit failures",
    PausedContinuationLimit "paused: continuation limit",
    PausedAuditLimit "paused: audit limit",
    PausedToolsOff "paused: tools off",
    PausedCoreLost "paused: core lost",
    EndedApproved "ended: approved",
    EndedCleared "ended: cleared",
    EndedReplaced "ended: replaced",
    EndedAccepted "ended: accepted",
    Held "a goal was held when its session was opened",
    Edited "an objective was edited",
    OfferTaken "a way on was chosen from an offer",
    OfferWithdrawn "an offer was taken back",
    DeadlineAbortGrace "deadline: abort grace",
    DeadlineBackOff "deadline: back-off",
    DeadlineAuditWorkspace "deadline: looking at the workspace",
    DeadlineAuditTimeout "deadline: audit, absolute",
    DeadlineAuditIdle "deadline: audit, idle",
    AuditorReminded "the auditor was reminded of its verdict",
    AuditorRetried "the auditor's request was retried",
    AuditorFaded "the auditor fell silent for ever",
    HostRetry "pi retried a request",
    OverflowCompaction "pi compacted after an overflow",
    CompactionInRun "pi compacted between two turns",
    CompactionBeforeRun "pi compacted before a run",
    ManualCompaction "the user compacted",
    FullMessageAgain "the full message was sent again after a compaction",
    Nudged "a run without work was nudged",
    StartDeferred "a start waited for a compaction",
    StartEndedBeforeItBegan "a start that waited was ended before it began",
    ProposalYielded "a proposal was yielded",
    LateMessage "a message came while the boundary was decided",
    AbortedByUser "the user aborted",
    InterruptAtRest "the user interrupted a back-off",
    CoreLost "the core was lost",
    CommandRepeated "a command was asked again, because its core was lost",
    CoreGone "the core was lost too often",
    CrashedInAudit "pi was killed in mid-audit",
    CrashedInRun "pi was killed in a run",
    CrashedAtRest "pi was killed at rest",
    AuditLostTold "the user was told of a lost audit",
    LeftInRun "a session was left in a run",
    SessionChanged "another session was opened",
    StaleEffectDropped "an effect of another branch was dropped",
    MovedInTree "the user moved in the session's tree",
    ReleasedApproved "a headless goal ended approved",
    ReleasedWithReason "a headless goal ended with a reason",
    PatienceLost "the user stopped an audit without limits",
    StoppedByLimitOfRun "the user stopped a goal whose limits were off",
    Healed "a stopped goal was resumed when all was well",
    HealedToTheEnd "and it completed",
}

/// The marks one run, or a campaign, has met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks(u128);

const _: () = assert!(Mark::ALL.len() <= 128, "one bit a mark");

impl Marks {
    /// The situation was met.
    pub const fn meet(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u32;
    }

    /// Whether it was.
    #[must_use]
    pub const fn has(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u32) != 0
    }

    /// Those of both.
    pub const fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Those that were met.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::ALL
            .iter()
            .copied()
            .filter(move |mark| self.has(*mark))
    }

    /// Those that were not met.
    pub fn missing(self) -> impl Iterator<Item = Mark> {
        Mark::ALL
            .iter()
            .copied()
            .filter(move |mark| !self.has(*mark))
    }
}
