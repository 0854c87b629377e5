//! The world of one run: the engine that ships, a host as pi and the shim make one, models, a user,
//! and a clock that jumps from one happening to the next.
//!
//! Single-threaded, and without a clock or chance of its own: the same [`Source`] gives the same
//! run. What the engine asks for reaches the host through a wire with a delay, and so does what the
//! host reports, so that commands, answers and effects cross each other as they do in pi.
//!
//! [`core`] is the wire and the driver, [`shim`] what the extension does with effects, [`pi`] the
//! host's run loop, [`auditor`] the second session, [`user`] whoever sits in front of it. With a
//! scenario, [`scripted`] says what models and user do.

mod auditor;
mod core;
pub(crate) mod pi;
mod scripted;
pub(crate) mod session;
mod shim;
mod user;

pub use scripted::Stuck;
pub(crate) use scripted::play;
pub(crate) use user::host_model;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use goal_engine::{Event, Goal, GoalTag, Settings};

use crate::check::{Checks, Failure};
use crate::entropy::{Entropy, Source, Stream, Tapes};
use crate::marks::{Mark, Marks};
use crate::models::{AuditorKind, ExecutorKind};
use crate::plan::{Plan, Profile, Rates};
use crate::seen::Seen;
use crate::trace::Trace;
use session::Session;

/// Events after which a run counts as one that never ends.
const HAPPENINGS_MAX: u32 = 20_000;
/// Model requests after which the user stops a goal whose limits are off.
const REQUESTS_MAX: u32 = 120;
/// The same in simulated time: a day.
const DURATION_MAX_MS: u64 = 24 * 3_600_000;
/// In the second phase everything is well: so many requests are enough for any goal.
const HEALED_REQUESTS_MAX: u32 = 60;
/// And so much simulated time.
const HEALED_MAX_MS: u64 = 4 * 3_600_000;

/// What came of one run.
#[derive(Debug)]
pub struct Outcome {
    /// The first promise that was broken.
    pub failure: Option<Failure>,
    /// Situations that were met.
    pub marks: Marks,
    /// States and transitions that were seen.
    pub seen: Seen,
    /// Events the engine took.
    pub events: u64,
    /// Simulated time, in milliseconds.
    pub duration_ms: u64,
    /// Requests to the executor and to the auditor.
    pub requests: [u32; 2],
    /// What was drawn.
    pub drawn: Tapes,
    /// Over every event and what was asked for: equal for equal runs.
    pub digest: u64,
    /// Completions of a goal whose work was not done.
    pub false_completions: u32,
    /// Completions in all.
    pub completions: u32,
    /// Disapprovals of work that was done.
    pub false_refusals: u32,
    /// The first claim of the executor, if it made one, was false: what a loop without an auditor
    /// would have believed.
    pub self_graded_falsely: bool,
    /// The lines of the run, if they were asked for.
    pub trace: Option<Trace>,
}

/// How to run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keep every line.
    pub trace: bool,
    /// Every audit is made by such an auditor, in the plan of [`crate::gate`].
    pub auditor: Option<crate::models::AuditorKind>,
    /// A broken promise does not end the run: for tables that count what comes of it.
    pub keep_going: bool,
    /// Plant this defect.
    #[cfg(feature = "canary")]
    pub canary: Option<goal_engine::Canary>,
}

/// One run of a campaign.
#[must_use]
pub fn run(source: &Source, profile: Profile, options: &Options) -> Outcome {
    let mut entropy = Entropy::new(source);
    let mut plan = Plan::draw(profile, &mut entropy);
    if let Some(auditor) = options.auditor {
        crate::gate::plan(&mut plan, auditor);
    }
    let mut world = World::new(entropy, plan, options, None);
    world.live();
    world.outcome()
}

/// A moment in the queue.
#[derive(Debug)]
struct Due {
    at: u64,
    number: u64,
    what: Happening,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// What is due. Numbers name the life of whatever asked for it: what has ended is not disturbed.
#[derive(Debug)]
enum Happening {
    /// The core takes the next event off its wire.
    CoreTakes(u32),
    /// The shim takes the next effects off its wire.
    ShimTakes(u32),
    /// A deadline of the engine.
    Tick(u32),
    /// The driver has looked at the workspace.
    Looked(u32, Box<Event>),
    /// What the run's stage waits for is over.
    Stage(u32),
    /// A compaction the user asked for is over.
    Compacted(u32),
    /// The next move of the auditor's session.
    Auditor(u32),
    /// The user acts.
    User,
    /// The user acts on what is under way.
    Hasty,
    /// The user answers a question or closes an editor.
    Answer(u32, user::Dialog),
    /// The shim tries to start a run again.
    Start(u32),
    /// What an action of a scenario led to at once has happened.
    ActionDone,
}

/// Everything there is.
pub(crate) struct World {
    entropy: Entropy,
    plan: Plan,
    now: u64,
    fresh: u64,
    scheduled: u64,
    happenings: u32,
    queue: BinaryHeap<Reverse<Due>>,
    core: core::Core,
    shim: shim::Shim,
    pi: pi::Pi,
    auditor: Option<auditor::Auditor>,
    auditor_life: u32,
    user: user::User,
    sessions: Vec<Session>,
    current: usize,
    /// Steps of the objective that are not done.
    open: u8,
    checks: Checks,
    marks: Marks,
    seen: Seen,
    requests: [u32; 2],
    completions: u32,
    false_completions: u32,
    false_refusals: u32,
    phase: Phase,
    trace: Option<Trace>,
    digest: u64,
    keep_going: bool,
    /// A scenario in place of everything that is drawn.
    scripted: Option<Box<scripted::Scripted>>,
    /// Runs in which the first claim came before the work was done.
    self_graded: Option<bool>,
    #[cfg(feature = "canary")]
    canary: Option<goal_engine::Canary>,
}

/// Where the run as a whole stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Anything may happen.
    Trouble,
    /// Limits are off, and the user has had enough.
    Stopping,
    /// All is well again: the goal must come to its end.
    Healed {
        since: u64,
        requests: u32,
        /// The generation of the goal that had stopped.
        generation: u64,
    },
    /// Nothing more is expected.
    Over,
}

impl World {
    fn new(
        entropy: Entropy,
        plan: Plan,
        options: &Options,
        scripted: Option<Box<scripted::Scripted>>,
    ) -> Self {
        let sessions = vec![Session::holding(plan.opens_with)];
        let open = plan.work;
        let mut world = Self {
            core: core::Core::new(),
            shim: shim::Shim::default(),
            pi: pi::Pi::default(),
            auditor: None,
            auditor_life: 0,
            user: user::User::new(plan.acts_max),
            sessions,
            current: 0,
            open,
            checks: Checks::default(),
            marks: Marks::default(),
            seen: Seen::default(),
            requests: [0; 2],
            completions: 0,
            false_completions: 0,
            false_refusals: 0,
            phase: Phase::Trouble,
            trace: options.trace.then(Trace::default),
            digest: 0xcbf2_9ce4_8422_2325,
            keep_going: options.keep_going,
            scripted,
            self_graded: None,
            entropy,
            plan,
            now: 1_000,
            fresh: 0,
            scheduled: 0,
            happenings: 0,
            queue: BinaryHeap::new(),
            #[cfg(feature = "canary")]
            canary: options.canary,
        };
        world.open_session(goal_engine::OpenCause::Start);
        if world.scripted.is_none() {
            world.user_begins();
        }
        world
    }

    /// From the first command to the last word.
    fn live(&mut self) {
        while self.phase != Phase::Over && (self.keep_going || self.checks.failure.is_none()) {
            match self.queue.pop() {
                Some(Reverse(due)) => self.step(due),
                None => self.quiet(),
            }
        }
        if self.checks.failure.is_none() {
            self.check_the_file();
        }
    }

    fn step(&mut self, due: Due) {
        debug_assert!(due.at >= self.now, "time runs forward");
        self.now = due.at;
        self.happenings += 1;
        if self.happenings > HAPPENINGS_MAX {
            self.phase = Phase::Over;
            return self.fail("L1", "the run never comes to an end");
        }
        match due.what {
            Happening::CoreTakes(life) => self.core_takes(life),
            Happening::ShimTakes(life) => self.shim_takes(life),
            Happening::Tick(life) => self.tick(life),
            Happening::Looked(life, event) => self.looked(life, *event),
            Happening::Stage(epoch) => self.stage_is_over(epoch),
            Happening::Compacted(epoch) => self.compacted(epoch),
            Happening::Auditor(life) => self.auditor_moves(life),
            Happening::User => self.user_acts(),
            Happening::Hasty => self.user_is_hasty(),
            Happening::Answer(life, dialog) => self.user_answers(life, dialog),
            Happening::Start(number) => self.start_again(number),
            Happening::ActionDone => self.action_is_done(),
        }
        self.mind_the_limits();
    }

    fn at(&mut self, after_ms: u64, what: Happening) {
        self.scheduled += 1;
        self.queue.push(Reverse(Due {
            at: self.now + after_ms,
            number: self.scheduled,
            what,
        }));
    }

    /// Whoever lets a goal run without limits stops it at some time.
    fn mind_the_limits(&mut self) {
        match self.phase {
            Phase::Trouble => {
                if self.requests[0] > REQUESTS_MAX || self.now > DURATION_MAX_MS {
                    self.phase = Phase::Stopping;
                    self.user.left = 0;
                    self.mark(Mark::StoppedByLimitOfRun);
                    if self.plan.headless {
                        self.phase = Phase::Over; // CI kills it.
                    } else {
                        self.type_goal("pause");
                        self.abort(false);
                    }
                }
            }
            Phase::Healed {
                since, requests, ..
            } => {
                if self.requests[0] > requests + HEALED_REQUESTS_MAX {
                    self.fail("L2", "all is well, and the goal takes too many requests");
                } else if self.now > since + HEALED_MAX_MS {
                    self.fail("L2", "all is well, and the goal takes too long");
                }
            }
            Phase::Stopping | Phase::Over => {}
        }
    }

    /// Nothing is due any more.
    fn quiet(&mut self) {
        if self.waits_without_limit() {
            self.lose_patience();
            if !self.queue.is_empty() || self.phase == Phase::Over {
                return;
            }
        }
        self.check_quiet();
        match self.phase {
            Phase::Trouble | Phase::Stopping if self.plan.headless => self.phase = Phase::Over,
            Phase::Trouble | Phase::Stopping => self.heal(),
            Phase::Healed { generation, .. } => {
                self.check_completed(generation);
                self.phase = Phase::Over;
            }
            Phase::Over => {}
        }
    }

    /// What stopped was resumed, as its stop advised, and nothing was in its way.
    fn check_completed(&mut self, generation: u64) {
        let Some(goal) = self.goal().filter(|_| !self.session().newer) else {
            return;
        };
        let stands = format!("{:?}", goal.phase());
        if goal.generation() == generation {
            self.fail_with("S9", "the way on that a stop names leads nowhere", stands);
        } else {
            self.fail_with("L2", "all is well, and the goal does not complete", stands);
        }
    }

    /// An auditor fell silent, and the user had switched the limits off.
    fn waits_without_limit(&self) -> bool {
        let unlimited = self
            .goal()
            .is_some_and(|goal| goal.gate().timeout_ms.is_none());
        self.auditor.is_some() && unlimited
    }

    fn lose_patience(&mut self) {
        self.mark(Mark::PatienceLost);
        if self.plan.headless {
            self.phase = Phase::Over;
        } else if self.is_busy() {
            self.abort(false);
        } else {
            self.type_goal("pause");
        }
    }

    /// Faults stop, whoever survived is made well, and the user does what the last notice advised.
    fn heal(&mut self) {
        self.phase = Phase::Healed {
            since: self.now,
            requests: self.requests[0],
            generation: self.goal().map_or(0, Goal::generation),
        };
        self.plan.rates = Rates::default();
        self.plan.executors = vec![ExecutorKind::Strong];
        self.plan.auditors = vec![AuditorKind::Honest];
        self.plan.rung = goal_engine::Rung::Overlay;
        self.plan.wire = 0;
        self.pi.tools_active = true;
        self.pi.kind = None;
        self.user.left = 0;
        if self.goal().is_none_or(Goal::is_pursuing) || self.session().newer {
            self.phase = Phase::Over;
            return;
        }
        self.mark(Mark::Healed);
        self.type_goal("resume");
    }

    const fn is_healed(&self) -> bool {
        matches!(self.phase, Phase::Healed { .. })
    }

    fn goal(&self) -> Option<&Goal> {
        self.core
            .engine
            .as_ref()
            .and_then(goal_engine::Engine::goal)
    }

    fn session(&self) -> &Session {
        &self.sessions[self.current]
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.sessions[self.current]
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.meet(mark);
    }

    fn rate(&mut self, rate: impl Fn(&Rates) -> u8) -> bool {
        let rate = rate(&self.plan.rates);
        self.entropy.chance(Stream::Faults, rate)
    }

    /// Milliseconds, short when all is well.
    fn hurry(&self, ms: u64) -> u64 {
        if self.is_healed() { ms.min(50) } else { ms }
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = &mut self.trace {
            trace.note(now, &line());
        }
    }

    fn fail(&mut self, checker: &'static str, what: &'static str) {
        self.fail_with(checker, what, String::new());
    }

    fn fail_with(&mut self, checker: &'static str, what: &'static str, more: String) {
        let at_ms = self.now;
        self.note(|| format!("FAILS {checker}: {what} {more}"));
        self.checks.failure.get_or_insert(Failure {
            checker,
            what,
            more,
            at_ms,
        });
    }

    fn outcome(self) -> Outcome {
        Outcome {
            failure: self.checks.failure,
            marks: self.marks,
            seen: self.seen,
            events: self.core.taken,
            duration_ms: self.now,
            requests: self.requests,
            drawn: self.entropy.drawn(),
            digest: self.digest,
            false_completions: self.false_completions,
            completions: self.completions,
            false_refusals: self.false_refusals,
            self_graded_falsely: self.self_graded == Some(false),
            trace: self.trace,
        }
    }

    fn settings(&self) -> Settings {
        self.plan.settings.clone()
    }

    fn pursued_tag(&self) -> Option<&GoalTag> {
        self.shim.pursued.as_ref()
    }
}

/// What the checkers may look at.
impl World {
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    pub(crate) const fn checks_mut(&mut self) -> &mut Checks {
        &mut self.checks
    }

    pub(crate) fn goal_now(&self) -> Option<&Goal> {
        self.goal()
    }

    pub(crate) const fn drive_now(&self) -> &pi::Drive {
        &self.pi.drive
    }

    pub(crate) const fn stage_now(&self) -> pi::Stage {
        self.pi.stage
    }

    pub(crate) fn call_now(&self) -> Option<&str> {
        self.pi.call.as_deref()
    }

    pub(crate) fn deadline_now(&self) -> Option<goal_engine::Deadline> {
        let engine = self.core.engine.as_ref()?;
        engine.deadline().map(|(_, why)| why)
    }

    pub(crate) const fn core_is_alive(&self) -> bool {
        self.core.is_alive()
    }

    pub(crate) const fn auditor_is_open(&self) -> bool {
        self.auditor.is_some()
    }

    pub(crate) const fn is_headless(&self) -> bool {
        self.plan.headless
    }

    pub(crate) fn session_is_newer(&self) -> bool {
        self.session().newer
    }

    pub(crate) fn read_file(&self) -> goal_engine::Recovered {
        let session = self.session();
        session.recovered_at(session.leaf)
    }

    pub(crate) fn full_is_sent(&self, tag: &GoalTag) -> bool {
        self.session().holds_full(Some(tag))
    }

    pub(crate) const fn start_is_outstanding(&self) -> bool {
        self.shim.starting.is_some()
    }

    pub(crate) fn tools_were_never_off(&self) -> bool {
        self.pi.tools_active && !self.plan.acts.contains(&crate::plan::Act::Tools)
    }

    pub(crate) fn meet(&mut self, mark: Mark) {
        self.mark(mark);
    }

    pub(crate) fn broken(&mut self, checker: &'static str, what: &'static str) {
        self.fail(checker, what);
    }

    pub(crate) fn broken_with(&mut self, checker: &'static str, what: &'static str, more: String) {
        self.fail_with(checker, what, more);
    }

    /// Another goal: there is work to do again.
    pub(crate) const fn work_begins(&mut self) {
        self.open = self.plan.work;
    }

    pub(crate) fn note_completion(&mut self) {
        self.completions += 1;
        self.false_completions += u32::from(self.open > 0);
        if self.is_healed() {
            self.mark(Mark::HealedToTheEnd);
        }
    }

    pub(crate) const fn note_refusal(&mut self) {
        if self.open == 0 {
            self.false_refusals += 1;
        }
    }
}
