//! What one run is made of: drawn first, before anything happens (swarm testing). A run with few
//! kinds of trouble goes deeper into them than one that has all of them.

use goal_engine::{Rung, Settings};

use crate::entropy::{Entropy, Stream};
use crate::models::{AuditorKind, ExecutorKind};

/// How wild the runs of a campaign are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// A strong model, an honest auditor, a quiet user: everything must simply work.
    Calm,
    /// Any mixture.
    Swarm,
    /// Models and auditors that lie, inject and break formats; every fault.
    Adversary,
    /// Small models that talk, fumble and claim too early; a patient user.
    Weak,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Calm, Self::Swarm, Self::Adversary, Self::Weak];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Swarm => "swarm",
            Self::Adversary => "adversary",
            Self::Weak => "weak",
        }
    }

    /// The profile of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// Something the user, or the world around pi, may do at any moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Esc or an abort over RPC.
    Abort,
    /// A message of the user's own.
    Message,
    /// `/goal pause`.
    Pause,
    /// `/goal resume`.
    Resume,
    /// `/goal clear`.
    Clear,
    /// `/goal` with another objective, and a yes or no where it is asked.
    NewGoal,
    /// `/goal status`, `why`, `help`, `config`: words only.
    Ask,
    /// `/goal edit`, and what the editor gives back.
    Edit,
    /// `/goal audit`.
    Audit,
    /// `/goal accept`.
    Accept,
    /// `/goal limit N`.
    Limit,
    /// `/compact`, perhaps cancelled.
    Compact,
    /// `/tree`: to an earlier entry of the session.
    Tree,
    /// `/new`.
    New,
    /// `/resume`: back to an earlier session.
    Back,
    /// `/reload`.
    Reload,
    /// The core dies.
    LoseCore,
    /// pi dies, and the session is opened again.
    Crash,
    /// The user chooses another model.
    Model,
    /// Another extension, or a flag, takes our tools away or gives them back.
    Tools,
    /// The settings file is changed.
    Settings,
}

impl Act {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Abort,
        Self::Message,
        Self::Pause,
        Self::Resume,
        Self::Clear,
        Self::NewGoal,
        Self::Ask,
        Self::Edit,
        Self::Audit,
        Self::Accept,
        Self::Limit,
        Self::Compact,
        Self::Tree,
        Self::New,
        Self::Back,
        Self::Reload,
        Self::LoseCore,
        Self::Crash,
        Self::Model,
        Self::Tools,
        Self::Settings,
    ];

    /// What a patient user does, who lets the goal work.
    const PATIENT: [Self; 4] = [Self::Message, Self::Resume, Self::Ask, Self::Pause];
}

/// How often each trouble of the host comes, in 256ths of the occasions it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    /// A compaction between two turns of a run, or after it.
    pub compaction: u8,
    /// A compaction that takes the full goal message from the context.
    pub forgets: u8,
    /// A tool of the executor fails.
    pub tool_fails: u8,
    /// The message of the user comes while the settle boundary is decided.
    pub late_message: u8,
    /// The workspace cannot be prepared or looked at.
    pub blind: u8,
    /// Somebody changes the workspace while an audit is on.
    pub meddles: u8,
    /// The core is woken after its deadline, not at it: a busy machine, or one that slept.
    pub late_tick: u8,
    /// The user acts while an audit, or a wait after an error, is under way.
    pub hasty: u8,
}

/// Everything drawn before a run begins.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The engine's settings.
    pub settings: Settings,
    /// No user interface, and the process ends when the goal rests.
    pub headless: bool,
    /// Executors that take turns.
    pub executors: Vec<ExecutorKind>,
    /// Auditors that take turns.
    pub auditors: Vec<AuditorKind>,
    /// What the user and the world may do.
    pub acts: Vec<Act>,
    /// How often they may in all.
    pub acts_max: u32,
    /// Time between two of them is below two to this power, in milliseconds.
    pub acts_apart: u32,
    /// Wires are slower than nothing: below two to this power, in milliseconds.
    pub wire: u32,
    /// Troubles of the host.
    pub rates: Rates,
    /// Steps of work the objective needs.
    pub work: u8,
    /// How audits are sealed.
    pub rung: Rung,
    /// An old goal of this or of another kind lies in the session.
    pub opens_with: Before,
}

/// What the session holds when it is opened first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A goal of the predecessor extension.
    Predecessor,
    /// An entry of a newer version.
    Newer,
    /// Entries that nobody can read.
    Garbage,
}

const LIMITS: [Option<u32>; 5] = [Some(100), None, Some(1), Some(2), Some(6)];
const TIMEOUTS: [Option<u64>; 4] = [Some(900_000), None, Some(60_000), Some(10_000)];
const IDLE_TIMEOUTS: [Option<u64>; 4] = [Some(120_000), None, Some(20_000), Some(5_000)];

impl Plan {
    /// Draws a plan.
    #[must_use]
    pub fn draw(profile: Profile, entropy: &mut Entropy) -> Self {
        match profile {
            Profile::Calm => Self::calm(entropy),
            Profile::Swarm => Self::swarm(entropy),
            Profile::Adversary => Self {
                executors: subset(entropy, &ExecutorKind::ALL),
                auditors: subset(entropy, &AuditorKind::ALL),
                rates: rates(entropy),
                headless: false,
                ..Self::swarm(entropy)
            },
            Profile::Weak => Self {
                executors: subset(entropy, &ExecutorKind::WEAK),
                auditors: vec![AuditorKind::Honest],
                acts: subset(entropy, &Act::PATIENT),
                ..Self::swarm(entropy)
            },
        }
    }

    fn calm(entropy: &mut Entropy) -> Self {
        Self {
            settings: Settings::for_tests(),
            headless: entropy.chance(Stream::Config, 64),
            executors: vec![ExecutorKind::Strong],
            auditors: vec![AuditorKind::Honest],
            acts: vec![Act::Ask],
            acts_max: 1,
            acts_apart: 16,
            wire: 0,
            rates: Rates::default(),
            work: 1 + u8::try_from(entropy.below(Stream::Config, 8)).unwrap_or(0),
            rung: Rung::Overlay,
            opens_with: Before::Nothing,
        }
    }

    fn swarm(entropy: &mut Entropy) -> Self {
        let mut plan = Self::calm(entropy);
        plan.executors = subset(entropy, &ExecutorKind::ALL);
        plan.auditors = subset(entropy, &AuditorKind::ALL);
        plan.acts = subset(entropy, &Act::ALL);
        plan.acts_max = entropy.below(Stream::Config, 9);
        plan.acts_apart = 4 + entropy.below(Stream::Config, 16);
        plan.wire = entropy.below(Stream::Config, 10);
        if entropy.chance(Stream::Config, 160) {
            plan.rates = rates(entropy);
        }
        plan.rung = entropy.pick(
            Stream::Config,
            &[Rung::Overlay, Rung::Fingerprint, Rung::None],
        );
        plan.opens_with = entropy.pick(
            Stream::Config,
            &[
                Before::Nothing,
                Before::Nothing,
                Before::Nothing,
                Before::Nothing,
                Before::Nothing,
                Before::Nothing,
                Before::Nothing,
                Before::Nothing,
                Before::Predecessor,
                Before::Garbage,
                Before::Newer,
            ],
        );
        vary(&mut plan.settings, entropy);
        plan
    }
}

pub(crate) fn vary(settings: &mut Settings, entropy: &mut Entropy) {
    settings.max_continuations = entropy.pick(Stream::Config, &LIMITS);
    settings.max_audits = entropy.pick(Stream::Config, &LIMITS);
    settings.max_empty_continuations = entropy.pick(Stream::Config, &[3, 1, 2, 5]);
    settings.max_consecutive_audit_rejections = entropy.pick(Stream::Config, &[3, 1, 2, 5]);
    settings.timeout_ms = entropy.pick(Stream::Config, &TIMEOUTS);
    settings.idle_timeout_ms = entropy.pick(Stream::Config, &IDLE_TIMEOUTS);
    if entropy.chance(Stream::Config, 32) {
        let mode = entropy.pick(Stream::Config, &["require", "off"]);
        mode.clone_into(&mut settings.sandbox.mode);
    }
}

fn rates(entropy: &mut Entropy) -> Rates {
    let mut rate = || {
        if entropy.chance(Stream::Config, 100) {
            entropy.byte(Stream::Config) / 2
        } else {
            0
        }
    };
    Rates {
        compaction: rate(),
        forgets: rate(),
        tool_fails: rate(),
        late_message: rate(),
        blind: rate(),
        meddles: rate(),
        late_tick: rate().saturating_mul(2),
        hasty: rate().saturating_mul(2),
    }
}

/// Each with even chance; the first if none.
fn subset<T: Copy>(entropy: &mut Entropy, all: &[T]) -> Vec<T> {
    let keep = 32 + entropy.below(Stream::Config, 160);
    let keep = u8::try_from(keep).unwrap_or(128);
    let kept: Vec<T> = all
        .iter()
        .copied()
        .filter(|_| entropy.chance(Stream::Config, keep))
        .collect();
    if kept.is_empty() {
        all.first().copied().into_iter().collect()
    } else {
        kept
    }
}
