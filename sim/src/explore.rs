//! Exhaustive: every sequence of a small alphabet of events up to a depth, on a host that answers at
//! once. States that are equal but for ids and numbers are looked at once.

use std::collections::{BTreeMap, VecDeque};

use goal_engine::{
    Activity, Answer, AuditOutcome, AuditorEvent, Clocks, Command, Effect, Ended, Engine, Event,
    Goal, GoalTag, GoalTool, HostFacts, ModelInfo, Monotonic, OpenCause, Phase, Prepared,
    Recovered, RunSettled, Rung, SavedGoal, SessionOpened, Settings, Settling, StopKind,
    ToolFinished, ToolInvoked, Usage, WallClock,
};

/// What may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letter {
    /// `/goal` with an objective.
    Goal,
    /// `/goal pause`.
    Pause,
    /// `/goal resume`.
    Resume,
    /// `/goal clear`.
    Clear,
    /// The run that was asked for begins, and its message arrives.
    Begin,
    /// The user's own message begins a run.
    UsersRun,
    /// A tool does work.
    Work,
    /// A turn ends without work.
    IdleTurn,
    /// The run settles.
    Settle,
    /// The run settles with an error that time mends.
    SettleFailing,
    /// The user aborts the run.
    Abort,
    /// `update_goal`.
    Claim,
    /// The auditor looks.
    Check,
    /// The auditor approves.
    Approve,
    /// The auditor refuses.
    Refuse,
    /// Time passes to the next deadline.
    Wait,
    /// The session is left and opened again.
    Reopen,
}

impl Letter {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Goal,
        Self::Pause,
        Self::Resume,
        Self::Clear,
        Self::Begin,
        Self::UsersRun,
        Self::Work,
        Self::IdleTurn,
        Self::Settle,
        Self::SettleFailing,
        Self::Abort,
        Self::Claim,
        Self::Check,
        Self::Approve,
        Self::Refuse,
        Self::Wait,
        Self::Reopen,
    ];
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explored {
    /// States that can be told apart.
    pub states: usize,
    /// Events that were tried.
    pub transitions: u64,
    /// The depth that was completed.
    pub depth: usize,
    /// The first word that breaks a promise, and which.
    pub failure: Option<(Vec<Letter>, &'static str)>,
}

/// Explores all words up to `depth`. `watch` is told the states after each depth.
pub fn explore(depth: usize, watch: &mut dyn FnMut(usize, usize)) -> Explored {
    let mut found = Explored::default();
    let mut seen: BTreeMap<[u8; 16], ()> = BTreeMap::new();
    let mut frontier: VecDeque<Vec<Letter>> = VecDeque::from([Vec::new()]);
    for level in 1..=depth {
        let mut next = VecDeque::new();
        while let Some(word) = frontier.pop_front() {
            let host = Host::after(&word);
            for letter in Letter::ALL {
                if !host.allows(letter) {
                    continue;
                }
                found.transitions += 1;
                let mut longer = word.clone();
                longer.push(letter);
                let host = Host::after(&longer);
                if let Some(broken) = host.broken {
                    found.failure = Some((longer, broken));
                    return found;
                }
                if seen.insert(host.state(), ()).is_none() {
                    next.push_back(longer);
                }
            }
        }
        frontier = next;
        found.depth = level;
        found.states = seen.len();
        watch(level, seen.len());
    }
    found
}

/// A host that performs everything at once.
struct Host {
    engine: Engine,
    now: u64,
    fresh: u64,
    starting: Option<GoalTag>,
    running: bool,
    /// The run is of the goal with this tag.
    drive: Option<GoalTag>,
    call: Option<String>,
    auditor: Option<u64>,
    successes: u32,
    last_approves: bool,
    saved: Option<SavedGoal>,
    broken: Option<&'static str>,
}

impl Host {
    fn after(word: &[Letter]) -> Self {
        let mut host = Self {
            engine: Engine::new(settings()),
            now: 0,
            fresh: 0,
            starting: None,
            running: false,
            drive: None,
            call: None,
            auditor: None,
            successes: 0,
            last_approves: false,
            saved: None,
            broken: None,
        };
        host.open(Recovered::default());
        for letter in word {
            host.apply(*letter);
        }
        host
    }

    fn allows(&self, letter: Letter) -> bool {
        let in_run = self.running && self.call.is_none();
        match letter {
            Letter::Goal => self.engine.goal().is_none(),
            Letter::Pause | Letter::Resume | Letter::Clear | Letter::Reopen => true,
            Letter::Begin => self.starting.is_some() && !self.running,
            Letter::UsersRun => !self.running && self.starting.is_none(),
            Letter::Work
            | Letter::IdleTurn
            | Letter::Settle
            | Letter::SettleFailing
            | Letter::Claim => in_run,
            Letter::Abort => self.running,
            Letter::Check | Letter::Approve | Letter::Refuse => self.auditor.is_some(),
            Letter::Wait => self.engine.deadline().is_some(),
        }
    }

    fn apply(&mut self, letter: Letter) {
        match letter {
            Letter::Goal => self.command("finish the work"),
            Letter::Pause => self.command("pause"),
            Letter::Resume => self.command("resume"),
            Letter::Clear => self.command("clear"),
            Letter::Begin => {
                let tag = self.starting.take();
                self.running = true;
                self.give(Event::RunStarted);
                if let Some(tag) = tag {
                    self.drive = Some(tag.clone());
                    self.give(Event::MessageArrived { tag });
                }
            }
            Letter::UsersRun => {
                self.give(Event::UserMessage);
                self.running = true;
                self.drive = None;
                self.give(Event::RunStarted);
            }
            Letter::Work => self.give(Event::ToolFinished(ToolFinished {
                tool: "bash".to_owned(),
                is_error: false,
                ours: false,
                writes: false,
                ran: true,
                aborted: false,
                error: None,
            })),
            Letter::IdleTurn => self.give(Event::TurnEnded { broken_off: false }),
            Letter::Settle => self.settle(None),
            Letter::SettleFailing => self.settle(Some("503: overloaded".to_owned())),
            Letter::Abort => self.end_run(false),
            Letter::Claim => self.claim(),
            Letter::Check => self.check(),
            Letter::Approve => self.says("Seen.\n<approved/>"),
            Letter::Refuse => self.says("No.\n<disapproved/>"),
            Letter::Wait => {
                if let Some((at, _)) = self.engine.deadline() {
                    self.now = self.now.max(at.0);
                    self.give(Event::Tick);
                }
            }
            Letter::Reopen => self.reopen(),
        }
    }

    fn command(&mut self, text: &str) {
        let host = self.facts();
        self.give(Event::Command(Command {
            text: text.to_owned(),
            file: None,
            host,
        }));
    }

    fn settle(&mut self, error: Option<String>) {
        self.give(Event::Settling(Settling {
            failed: error.is_some(),
            provider_aborted: false,
            error,
            final_text: String::new(),
            tools_active: true,
            full_message_present: true,
        }));
    }

    fn claim(&mut self) {
        let call_id = "call".to_owned();
        self.call = Some(call_id.clone());
        self.give(Event::ToolInvoked(ToolInvoked {
            call_id,
            tool: GoalTool::UpdateGoal,
            status: Some("complete".to_owned()),
            summary: None,
            turn: 1,
            cwd: "/work".to_owned(),
        }));
    }

    fn check(&mut self) {
        let Some(audit) = self.auditor else { return };
        self.successes += 1;
        let call_id = "c".to_owned();
        let tool = "read".to_owned();
        let started = AuditorEvent::ToolStarted {
            call_id: call_id.clone(),
            tool: tool.clone(),
            args: String::new(),
        };
        self.give(Event::Auditor {
            audit,
            event: started,
        });
        let finished = AuditorEvent::ToolFinished {
            call_id,
            tool,
            ok: true,
            ms: Some(1),
        };
        self.give(Event::Auditor {
            audit,
            event: finished,
        });
    }

    fn says(&mut self, text: &str) {
        let Some(audit) = self.auditor else { return };
        self.last_approves = text.contains("<approved/>");
        let answer = Answer {
            text: text.to_owned(),
            stop: StopKind::Stop,
            error: None,
            usage: Usage::default(),
        };
        for event in [AuditorEvent::AnswerEnded(answer), AuditorEvent::Rested] {
            self.give(Event::Auditor { audit, event });
        }
    }

    fn end_run(&mut self, by_us: bool) {
        if !self.running {
            return;
        }
        if let Some(call_id) = self.call.clone() {
            self.give(Event::ToolCancelled { call_id });
        }
        self.running = false;
        self.drive = None;
        self.give(Event::RunSettled(RunSettled {
            aborted: true,
            by_us,
            start_pending: false,
            full_message_present: true,
        }));
    }

    fn reopen(&mut self) {
        self.end_run(false);
        self.give(Event::SessionLeft);
        self.engine = Engine::new(settings());
        self.starting = None;
        self.call = None;
        self.auditor = None;
        let goal = match &self.saved {
            Some(SavedGoal::Present { goal, active_ms }) => restored(goal, *active_ms),
            Some(SavedGoal::Gone { .. }) | None => None,
        };
        self.open(Recovered {
            goal,
            ..Recovered::default()
        });
        if self.engine.goal().is_some_and(Goal::is_pursuing) {
            self.broken = Some("S3: a goal that was loaded goes on by itself");
        }
    }

    fn open(&mut self, branch: Recovered) {
        self.give(Event::SessionOpened(Box::new(SessionOpened {
            cause: OpenCause::Start,
            branch,
            has_ui: true,
            terminal: false,
            model: crate::world::host_model(),
            cwd: Some("/work".to_owned()),
        })));
    }

    fn facts(&self) -> HostFacts {
        let busy = self.running || self.starting.is_some();
        HostFacts {
            activity: if busy {
                Activity::Running
            } else {
                Activity::Idle
            },
            has_ui: true,
            headless: false,
            model: crate::world::host_model(),
            thinking_level: None,
            models: crate::world::host_model()
                .into_iter()
                .map(|model| ModelInfo {
                    model,
                    name: String::new(),
                })
                .collect(),
            tools_active: true,
            config_path: None,
        }
    }

    /// The law of the drive.
    fn give(&mut self, event: Event) {
        self.fresh = self.fresh.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let clocks = Clocks {
            now: Monotonic(self.now),
            wall: WallClock(self.now),
            fresh: self.fresh,
        };
        let mut out = Vec::new();
        self.engine.handle(clocks, event, &mut out);
        self.check_completion(&out);
        for effect in out {
            self.perform(effect);
        }
        self.check_rest();
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::SaveGoal(saved) => self.saved = Some(saved),
            Effect::StartRun(message) => {
                if self.running || self.starting.is_some() {
                    self.broken = Some("S2: a start while one is outstanding");
                }
                self.starting = Some(message.details.tag);
            }
            Effect::Propose(proposal) => self.take(proposal),
            Effect::EndRun => {
                if self.starting.take().is_some() {
                    self.running = true;
                    self.give(Event::RunStarted);
                }
                self.end_run(true);
            }
            Effect::FinishTool(answer) => {
                if self.call.take().is_none() {
                    self.broken = Some("S5: a second result");
                }
                if answer.ends_run && self.running {
                    self.running = false;
                    self.drive = None;
                    self.settle_quietly();
                }
            }
            Effect::PrepareAudit(prepare) => self.give(Event::AuditPrepared {
                audit: prepare.audit,
                prepared: Ok(Box::new(Prepared {
                    rung: Rung::None,
                    seal: None,
                    before: None,
                })),
            }),
            Effect::OpenAuditor(open) => self.open_auditor(open.audit),
            Effect::CloseAuditor { audit } => {
                if self.auditor.take() != Some(audit) {
                    self.broken = Some("S6: closed what is not open");
                }
            }
            Effect::SaveAudit(_)
            | Effect::SendInRun(_)
            | Effect::ActivateTools
            | Effect::Progress { .. }
            | Effect::InspectWorkspace { .. }
            | Effect::CountUsage { .. }
            | Effect::PromptAuditor { .. }
            | Effect::Notify(_)
            | Effect::Reply(_)
            | Effect::ShowStatus(_)
            | Effect::Confirm { .. }
            | Effect::Edit { .. }
            | Effect::Offer { .. }
            | Effect::Withdraw { .. }
            | Effect::WriteReport { .. }
            | Effect::Ring
            | Effect::RestoreInput { .. }
            | Effect::Release { .. } => {}
        }
    }

    /// Every proposal is taken at once.
    fn take(&mut self, proposal: goal_engine::Proposal) {
        self.give(Event::ProposalTaken {
            proposal: proposal.number,
        });
        for effect in proposal.effects {
            self.perform(effect);
        }
        if let Some(message) = proposal.message {
            self.drive = Some(message.details.tag);
            return;
        }
        self.running = false;
        self.drive = None;
        self.give(Event::RunSettled(RunSettled {
            aborted: false,
            by_us: false,
            start_pending: false,
            full_message_present: true,
        }));
    }

    fn open_auditor(&mut self, audit: u64) {
        if self.auditor.replace(audit).is_some() {
            self.broken = Some("S2: two auditors");
        }
        self.successes = 0;
        self.last_approves = false;
        let event = AuditorEvent::Opened;
        self.give(Event::Auditor { audit, event });
    }

    /// A result that ends the run: the boundary comes without another request.
    fn settle_quietly(&mut self) {
        self.running = true;
        self.settle(None);
    }

    fn check_completion(&mut self, out: &[Effect]) {
        let completes = out.iter().any(|effect| {
            matches!(
                effect,
                Effect::SaveGoal(SavedGoal::Gone {
                    ended: Ended::Approved,
                    ..
                })
            )
        });
        let audited = out.iter().any(|effect| {
            matches!(effect, Effect::SaveAudit(record)
                if record.details.outcome == AuditOutcome::Approved)
        });
        if completes && !(audited && self.successes > 0 && self.last_approves) {
            self.broken = Some("S1: complete without an audit that approved on evidence");
        }
    }

    /// A pursued goal has something ahead of it, and a stopped one nothing.
    fn check_rest(&mut self) {
        let pursuing = self.engine.goal().is_some_and(Goal::is_pursuing);
        let ahead = self.running || self.starting.is_some() || self.engine.deadline().is_some();
        if pursuing && !ahead && self.auditor.is_none() {
            self.broken
                .get_or_insert("L3: a pursued goal rests silently");
        }
        let paused = self
            .engine
            .goal()
            .is_some_and(|goal| matches!(goal.phase(), Phase::Paused(_)));
        if paused && self.engine.deadline().is_some() && self.auditor.is_none() {
            self.broken
                .get_or_insert("S6: a stopped goal has a deadline");
        }
    }

    /// The state without the names of things.
    fn state(&self) -> [u8; 16] {
        let host = (
            self.starting.is_some(),
            self.running,
            self.drive.is_some(),
            self.call.is_some(),
            self.auditor.is_some(),
            self.successes.min(1),
        );
        let deadline = self
            .engine
            .deadline()
            .map(|(at, _)| at.0 - self.now.min(at.0));
        let text = format!("{host:?} {deadline:?} {:?}", self.engine);
        let mut hash = [0; 16];
        hash.copy_from_slice(&blake3::hash(nameless(&text).as_bytes()).as_bytes()[..16]);
        hash
    }
}

/// Ids, generations and moments replaced by the order in which they appear.
fn nameless(text: &str) -> String {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(rest.len());
        let name = &rest[..end];
        rest = &rest[end..];
        if name.len() > 3 {
            let next = names.len();
            let number = *names.entry(name).or_insert(next);
            out.push('#');
            out.push_str(&number.to_string());
        } else {
            out.push_str(name);
        }
    }
    out.push_str(rest);
    out
}

fn restored(goal: &Goal, active_ms: u64) -> Option<Goal> {
    Some(Goal::restore(
        goal.id().to_owned(),
        goal.generation(),
        goal_engine::Objective::new(goal.objective()).ok()?,
        goal.phase().clone(),
        goal.created_at(),
        active_ms,
        goal.totals.clone(),
        goal.last_objection.clone(),
        goal.gate().clone(),
    ))
}

fn settings() -> Settings {
    let mut settings = Settings::for_tests();
    settings.max_continuations = Some(2);
    settings.max_audits = Some(2);
    settings.max_empty_continuations = 2;
    "off".clone_into(&mut settings.sandbox.mode);
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_word_keeps_the_promises() {
        let found = explore(4, &mut |_, _| ());
        assert_eq!(found.failure, None);
        assert!(found.states > 50, "{found:?}");
    }

    #[test]
    fn names_of_things_are_no_part_of_a_state() {
        assert_eq!(
            nameless("a 12345 b 67890 12345"),
            nameless("a 99999 b 11111 99999")
        );
        assert_ne!(nameless("a 12345 b 12345"), nameless("a 12345 b 67890"));
    }
}
