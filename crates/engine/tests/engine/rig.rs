//! A fake host for the engine: it keeps the law of the drive (see the engine's head) with a clock of
//! its own, remembers what the engine asked for, and plays the few things pi does by itself.

use std::collections::VecDeque;
use std::ops::Deref;

use goal_engine::{
    Activity, Answer, AuditorEvent, Clocks, Command, CompactionEnded, CoreRestart, Effect, Engine,
    Event, FileTrouble, Gate, Goal, GoalMessage, GoalTag, GoalTool, HostFacts, Inspection, Level,
    ModelInfo, ModelRef, Monotonic, Objective, OpenAuditor, OpenCause, Phase, Prepared, Proposal,
    Recovered, RunSettled, Rung, SavedGoal, SessionOpened, Settings, Settling, StopKind,
    ToolAnswer, ToolFinished, ToolInvoked, Totals, Usage, WallClock, WayOn, WorkspaceSummary,
};

/// Longer than any text of a goal, and equal from run to run.
pub(crate) const LONG_REPLY: &str =
    "I have looked at everything there is to look at and I am still thinking.";

/// What the engine asked for at one event, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Asked(pub(crate) Vec<Effect>);

impl Deref for Asked {
    type Target = [Effect];

    fn deref(&self) -> &[Effect] {
        &self.0
    }
}

impl Asked {
    pub(crate) fn start(&self) -> Option<&GoalMessage> {
        self.iter().find_map(|effect| {
            if let Effect::StartRun(message) = effect {
                Some(message)
            } else {
                None
            }
        })
    }

    pub(crate) fn sent_in_run(&self) -> Option<&GoalMessage> {
        self.iter().find_map(|effect| {
            if let Effect::SendInRun(message) = effect {
                Some(message)
            } else {
                None
            }
        })
    }

    pub(crate) fn proposal(&self) -> Option<&Proposal> {
        self.iter().find_map(|effect| {
            if let Effect::Propose(proposal) = effect {
                Some(proposal)
            } else {
                None
            }
        })
    }

    pub(crate) fn answer(&self) -> Option<&ToolAnswer> {
        self.iter().find_map(|effect| {
            if let Effect::FinishTool(answer) = effect {
                Some(&**answer)
            } else {
                None
            }
        })
    }

    pub(crate) fn opened(&self) -> Option<&OpenAuditor> {
        self.iter().find_map(|effect| {
            if let Effect::OpenAuditor(open) = effect {
                Some(&**open)
            } else {
                None
            }
        })
    }

    pub(crate) fn ends_run(&self) -> bool {
        self.contains(&Effect::EndRun)
    }

    pub(crate) fn saved(&self) -> Vec<&SavedGoal> {
        self.iter()
            .filter_map(|effect| {
                if let Effect::SaveGoal(saved) = effect {
                    Some(saved)
                } else {
                    None
                }
            })
            .collect()
    }

    pub(crate) fn audits(&self) -> Vec<&str> {
        self.iter()
            .filter_map(|effect| {
                if let Effect::SaveAudit(record) = effect {
                    Some(record.details.outcome.name())
                } else {
                    None
                }
            })
            .collect()
    }

    /// What the footer shows from now on.
    pub(crate) fn footer(&self) -> Option<&str> {
        self.iter().rev().find_map(|effect| {
            if let Effect::ShowStatus(view) = effect {
                view.footer.as_deref()
            } else {
                None
            }
        })
    }

    /// Every text for the user, notices and replies.
    pub(crate) fn told(&self) -> String {
        let texts = self.iter().filter_map(|effect| {
            if let Effect::Notify(notice) | Effect::Reply(notice) = effect {
                Some(notice.text.as_str())
            } else {
                None
            }
        });
        texts.collect::<Vec<_>>().join("\n---\n")
    }

    pub(crate) fn ticket(&self) -> Option<u64> {
        self.iter().find_map(|effect| {
            if let Effect::Confirm { ticket, .. } | Effect::Edit { ticket, .. } = effect {
                Some(*ticket)
            } else {
                None
            }
        })
    }

    /// An offer: its ticket and what can be chosen.
    pub(crate) fn offered(&self) -> Option<(u64, Vec<WayOn>)> {
        self.iter().find_map(|effect| {
            if let Effect::Offer {
                ticket, options, ..
            } = effect
            {
                Some((*ticket, options.iter().map(|option| option.way).collect()))
            } else {
                None
            }
        })
    }

    pub(crate) fn restored(&self) -> Option<&str> {
        self.iter().find_map(|effect| {
            if let Effect::RestoreInput { text } = effect {
                Some(text.as_str())
            } else {
                None
            }
        })
    }

    pub(crate) fn released(&self) -> Option<(bool, Option<&str>)> {
        self.iter().find_map(|effect| {
            if let Effect::Release {
                approved, reason, ..
            } = effect
            {
                Some((*approved, reason.as_deref()))
            } else {
                None
            }
        })
    }

    /// One short word or two for each effect; the status left out.
    pub(crate) fn brief(&self) -> String {
        let words: Vec<String> = self.iter().filter_map(brief).collect();
        if words.is_empty() {
            "-".to_owned()
        } else {
            words.join(", ")
        }
    }
}

fn brief(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::SaveGoal(saved) => format!("save {}", saved_name(saved)),
        Effect::SaveAudit(record) => format!("save audit {}", record.details.outcome.name()),
        Effect::StartRun(message) => format!("start {}", message_name(message)),
        Effect::Propose(proposal) => {
            let next = proposal
                .message
                .as_ref()
                .map_or("rest", |message| message_name(message));
            let then: Vec<String> = proposal.effects.iter().filter_map(brief).collect();
            format!("propose {next} [{}]", then.join(", "))
        }
        Effect::SendInRun(message) => format!("send {}", message_name(message)),
        Effect::EndRun => "END RUN".to_owned(),
        Effect::ActivateTools => "activate tools".to_owned(),
        Effect::FinishTool(answer) => format!(
            "answer{}{}",
            if answer.is_error { " error" } else { "" },
            if answer.ends_run { " ENDS RUN" } else { "" }
        ),
        Effect::PrepareAudit(_)
        | Effect::InspectWorkspace { .. }
        | Effect::Progress { .. }
        | Effect::CountUsage { .. }
        | Effect::Ring
        | Effect::ShowStatus(_) => return None,
        Effect::OpenAuditor(_) => "open auditor".to_owned(),
        Effect::PromptAuditor { .. } => "remind auditor".to_owned(),
        Effect::CloseAuditor { .. } => "close auditor".to_owned(),
        Effect::Notify(notice) => format!("notify {}", level(notice.level)),
        Effect::Reply(notice) => format!("reply {}", level(notice.level)),
        Effect::Confirm { .. } => "confirm".to_owned(),
        Effect::Edit { .. } => "edit".to_owned(),
        Effect::Offer { .. } => "offer".to_owned(),
        Effect::Withdraw { .. } => "withdraw".to_owned(),
        Effect::WriteReport { .. } => "write report".to_owned(),
        Effect::RestoreInput { .. } => "restore input".to_owned(),
        Effect::Release { approved, .. } => format!("release approved={approved}"),
    })
}

fn saved_name(saved: &SavedGoal) -> String {
    match saved {
        SavedGoal::Present { goal, .. } => phase_name(goal.phase()),
        SavedGoal::Gone { ended, .. } => format!("gone({})", ended.name()),
    }
}

fn message_name(message: &GoalMessage) -> &'static str {
    if message.details.full {
        "full"
    } else {
        "marker"
    }
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

pub(crate) fn phase_name(phase: &Phase) -> String {
    match phase {
        Phase::Paused(stop) => format!("paused({})", stop.reason),
        Phase::Pursuing | Phase::Held => phase.name().to_owned(),
    }
}

/// The engine with a clock and a host's facts.
pub(crate) struct Rig {
    pub(crate) engine: Engine,
    now: u64,
    fresh: u64,
    pub(crate) facts: HostFacts,
    /// Events with their clocks, for a replay.
    pub(crate) given: Vec<(Clocks, Event)>,
    /// What the driver finds before and after an audit; `None` never answers.
    pub(crate) prepared: Option<Result<Prepared, String>>,
    pub(crate) inspection: Option<Result<Inspection, String>>,
    /// The host is a terminal, from the next session on.
    pub(crate) terminal: bool,
    /// The start that was asked for and has not arrived.
    starting: Option<GoalTag>,
    turn: u64,
    call: u64,
}

impl Rig {
    /// An empty session with the default settings.
    pub(crate) fn new() -> Self {
        Self::with(Settings::for_tests())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let mut rig = Self::without_session(settings);
        rig.open(OpenCause::Start, Recovered::default());
        rig
    }

    pub(crate) fn without_session(settings: Settings) -> Self {
        Self {
            engine: Engine::new(settings),
            now: 1_000,
            fresh: 0,
            facts: facts(),
            given: Vec::new(),
            prepared: Some(Ok(Prepared {
                rung: Rung::None,
                seal: None,
                before: None,
            })),
            inspection: None,
            terminal: false,
            starting: None,
            turn: 1,
            call: 0,
        }
    }

    /// An empty session in a terminal.
    pub(crate) fn at_terminal() -> Self {
        let mut rig = Self::without_session(Settings::for_tests());
        rig.terminal = true;
        rig.open(OpenCause::Start, Recovered::default());
        rig
    }

    /// Headless, as `pi -p` runs it.
    pub(crate) fn headless() -> Self {
        let mut rig = Self::new();
        rig.facts.headless = true;
        rig.facts.has_ui = false;
        rig
    }

    pub(crate) fn open(&mut self, cause: OpenCause, branch: Recovered) -> Asked {
        let (has_ui, terminal) = (self.facts.has_ui, self.terminal);
        self.give(Event::SessionOpened(Box::new(SessionOpened {
            cwd: Some("/work".to_owned()),
            cause,
            branch,
            has_ui,
            terminal,
            model: Some(model("p/executor")),
        })))
    }

    /// One event, by the law. What the driver does by itself is answered at once.
    pub(crate) fn give(&mut self, event: Event) -> Asked {
        let mut all = Vec::new();
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let mut out = Vec::new();
            let clocks = self.clocks();
            self.given.push((clocks, event.clone()));
            self.engine.handle(clocks, event, &mut out);
            events.extend(out.iter().filter_map(|effect| self.drivers_work(effect)));
            for effect in &out {
                if let Effect::StartRun(message) = effect {
                    self.starting = Some(message.details.tag.clone());
                }
            }
            all.extend(out);
        }
        Asked(all)
    }

    fn drivers_work(&self, effect: &Effect) -> Option<Event> {
        if let Effect::PrepareAudit(prepare) = effect {
            return Some(Event::AuditPrepared {
                audit: prepare.audit,
                prepared: self.prepared.clone()?.map(Box::new),
            });
        }
        if let Effect::InspectWorkspace { audit, .. } = effect {
            return Some(Event::WorkspaceInspected {
                audit: *audit,
                inspection: self.inspection.clone()?.map(Box::new),
            });
        }
        None
    }

    /// Lets time pass, waking the engine at each of its deadlines.
    pub(crate) fn wait(&mut self, ms: u64) -> Asked {
        let end = self.now + ms;
        let mut out = Vec::new();
        for _ in 0..1_000 {
            match self.engine.deadline() {
                Some((at, _)) if at.0 <= end => {
                    self.now = self.now.max(at.0);
                    out.extend(self.give(Event::Tick).0);
                }
                Some(_) | None => {
                    self.now = end;
                    return Asked(out);
                }
            }
        }
        panic!("a deadline that never passes: {:?}", self.engine.deadline());
    }

    /// Lets time pass without waking the engine, as a busy machine does.
    pub(crate) fn sleep_through(&mut self, ms: u64) {
        self.now += ms;
    }

    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    fn clocks(&mut self) -> Clocks {
        self.fresh += 1;
        Clocks {
            now: Monotonic(self.now),
            wall: WallClock(1_700_000_000_000 + self.now),
            fresh: self.fresh,
        }
    }

    // The user

    pub(crate) fn command(&mut self, text: &str) -> Asked {
        let host = self.facts.clone();
        self.give(Event::Command(Command {
            text: text.to_owned(),
            file: None,
            host,
        }))
    }

    pub(crate) fn answer_question(&mut self, ticket: u64, yes: bool) -> Asked {
        let host = self.facts.clone();
        self.give(Event::Confirmed { ticket, yes, host })
    }

    pub(crate) fn choose(&mut self, ticket: u64, way: WayOn) -> Asked {
        let host = self.facts.clone();
        self.give(Event::Chosen { ticket, way, host })
    }

    /// A command whose text names a file.
    pub(crate) fn command_with(&mut self, text: &str, file: Result<&str, FileTrouble>) -> Asked {
        let host = self.facts.clone();
        self.give(Event::Command(Command {
            text: text.to_owned(),
            file: Some(file.map(str::to_owned)),
            host,
        }))
    }

    pub(crate) fn saves_edit(&mut self, ticket: u64, text: Option<&str>) -> Asked {
        let host = self.facts.clone();
        let text = text.map(str::to_owned);
        self.give(Event::Edited { ticket, text, host })
    }

    // A run

    /// pi leaves rest.
    pub(crate) fn run_starts(&mut self) -> Asked {
        self.facts.activity = Activity::Running;
        let mut asked = self.give(Event::RunStarted);
        if let Some(tag) = self.starting.take() {
            asked.0.extend(self.give(Event::MessageArrived { tag }).0);
        }
        asked
    }

    /// pi leaves rest for a message of the user's own, before whatever was asked for reaches it.
    pub(crate) fn users_run_starts(&mut self) -> Asked {
        self.facts.activity = Activity::Running;
        self.give(Event::UserMessage);
        self.give(Event::RunStarted)
    }

    /// The message of the start that was asked for reaches pi.
    pub(crate) fn message_arrives(&mut self) -> Asked {
        let tag = self.starting.take().expect("a start was asked for");
        self.give(Event::MessageArrived { tag })
    }

    /// A goal from the command to its running run.
    pub(crate) fn pursue(&mut self, objective: &str) -> Asked {
        let asked = self.command(objective);
        assert!(asked.start().is_some(), "no start: {}", asked.brief());
        self.run_starts();
        asked
    }

    pub(crate) fn work(&mut self) -> Asked {
        self.tool(|_| {})
    }

    pub(crate) fn tool(&mut self, change: impl FnOnce(&mut ToolFinished)) -> Asked {
        let mut finished = ToolFinished {
            tool: "bash".to_owned(),
            is_error: false,
            ours: false,
            writes: false,
            ran: true,
            aborted: false,
            error: None,
        };
        change(&mut finished);
        self.give(Event::ToolFinished(finished))
    }

    pub(crate) fn turn_ends(&mut self) -> Asked {
        self.turn += 1;
        self.give(Event::TurnEnded { broken_off: false })
    }

    /// The settle boundary is asked about, and nothing more.
    pub(crate) fn settling(&mut self, change: impl FnOnce(&mut Settling)) -> Asked {
        let mut settling = Settling {
            failed: false,
            provider_aborted: false,
            error: None,
            final_text: String::new(),
            tools_active: true,
            full_message_present: true,
        };
        change(&mut settling);
        self.give(Event::Settling(settling))
    }

    pub(crate) fn take(&mut self, asked: &Asked) -> Asked {
        let proposal = asked.proposal().expect("a proposal").number;
        self.give(Event::ProposalTaken { proposal })
    }

    /// The boundary is asked about, taken, and if nothing continues the host comes to rest.
    /// What was asked for is all of it, the proposal's own effects included.
    pub(crate) fn settles(&mut self, change: impl FnOnce(&mut Settling)) -> Asked {
        let asked = self.settling(change);
        let proposal = asked.proposal().expect("a proposal").clone();
        let mut all = asked.0;
        all.extend(
            self.give(Event::ProposalTaken {
                proposal: proposal.number,
            })
            .0,
        );
        all.extend(proposal.effects);
        if proposal.message.is_none() {
            all.extend(self.rests().0);
        }
        Asked(all)
    }

    /// A run that ends with this text, work or not.
    pub(crate) fn ends_saying(&mut self, text: &str) -> Asked {
        let text = text.to_owned();
        self.settles(|settling| settling.final_text = text)
    }

    /// A run that ends with a model error.
    pub(crate) fn ends_failing(&mut self, error: &str) -> Asked {
        let error = error.to_owned();
        self.settles(|settling| {
            settling.failed = true;
            settling.error = Some(error);
        })
    }

    pub(crate) fn rests(&mut self) -> Asked {
        self.settled(false, false)
    }

    pub(crate) fn settled(&mut self, aborted: bool, by_us: bool) -> Asked {
        self.facts.activity = Activity::Idle;
        self.give(Event::RunSettled(RunSettled {
            aborted,
            by_us,
            start_pending: false,
            full_message_present: true,
        }))
    }

    pub(crate) fn compaction_ends(&mut self, change: impl FnOnce(&mut CompactionEnded)) -> Asked {
        let mut ended = CompactionEnded {
            cancelled: false,
            run_goes_on: false,
            idle: false,
            full_message_present: true,
        };
        change(&mut ended);
        self.give(Event::CompactionEnded(ended))
    }

    // Our tools

    pub(crate) fn calls(&mut self, tool: GoalTool, change: impl FnOnce(&mut ToolInvoked)) -> Asked {
        self.call += 1;
        let mut invoked = ToolInvoked {
            call_id: format!("call-{}", self.call),
            tool,
            status: Some("complete".to_owned()),
            summary: None,
            turn: self.turn,
            cwd: "/work".to_owned(),
        };
        change(&mut invoked);
        self.give(Event::ToolInvoked(invoked))
    }

    pub(crate) fn gets_goal(&mut self) -> Asked {
        self.calls(GoalTool::GetGoal, |_| {})
    }

    pub(crate) fn claims(&mut self) -> Asked {
        self.calls(GoalTool::UpdateGoal, |_| {})
    }

    pub(crate) fn claims_that(&mut self, summary: &str) -> Asked {
        let summary = summary.to_owned();
        self.calls(GoalTool::UpdateGoal, |call| call.summary = Some(summary))
    }

    // The auditor

    pub(crate) fn auditor(&mut self, audit: u64, event: AuditorEvent) -> Asked {
        self.give(Event::Auditor { audit, event })
    }

    pub(crate) fn checks(&mut self, audit: u64) -> Asked {
        let mut all = self
            .auditor(
                audit,
                AuditorEvent::ToolStarted {
                    call_id: "check".to_owned(),
                    tool: "read".to_owned(),
                    args: "{}".to_owned(),
                },
            )
            .0;
        all.extend(
            self.auditor(
                audit,
                AuditorEvent::ToolFinished {
                    call_id: "check".to_owned(),
                    tool: "read".to_owned(),
                    ok: true,
                    ms: Some(3),
                },
            )
            .0,
        );
        Asked(all)
    }

    /// The auditor answers, and rests.
    pub(crate) fn auditor_says(&mut self, audit: u64, text: &str) -> Asked {
        self.auditor_answers(audit, answer(text, StopKind::Stop))
    }

    pub(crate) fn auditor_answers(&mut self, audit: u64, answer: Answer) -> Asked {
        let mut all = self.auditor(audit, AuditorEvent::AnswerEnded(answer)).0;
        all.extend(self.auditor(audit, AuditorEvent::Rested).0);
        Asked(all)
    }

    /// A claim, audited with one check and answered with this text.
    pub(crate) fn audited(&mut self, text: &str) -> Asked {
        let claim = self.claims();
        let audit = claim.opened().expect("an audit").audit;
        self.checks(audit);
        self.auditor_says(audit, text)
    }

    // Looking at it

    pub(crate) fn goal(&self) -> &Goal {
        self.engine.goal().expect("a goal")
    }

    pub(crate) fn phase(&self) -> String {
        self.engine
            .goal()
            .map_or_else(|| "none".to_owned(), |goal| phase_name(goal.phase()))
    }

    pub(crate) fn tag(&self) -> GoalTag {
        self.goal().tag()
    }
}

pub(crate) fn answer(text: &str, stop: StopKind) -> Answer {
    Answer {
        text: text.to_owned(),
        stop,
        error: None,
        usage: Usage {
            input: 10.0,
            output: 2.0,
            total_tokens: 12.0,
            ..Usage::default()
        },
    }
}

pub(crate) fn model(label: &str) -> ModelRef {
    let (provider, id) = label.split_once('/').expect("provider/id");
    ModelRef {
        provider: provider.to_owned(),
        id: id.to_owned(),
    }
}

pub(crate) fn facts() -> HostFacts {
    let models = ["p/executor", "p/auditor"].map(|label| ModelInfo {
        model: model(label),
        name: label.to_owned(),
    });
    HostFacts {
        activity: Activity::Idle,
        has_ui: true,
        headless: false,
        model: Some(model("p/executor")),
        thinking_level: None,
        models: models.to_vec(),
        tools_active: true,
        config_path: Some("/agent/goal-auditor.json".to_owned()),
    }
}

/// A goal as a branch would give it back.
pub(crate) fn saved_goal(phase: Phase) -> Goal {
    Goal::restore(
        "g-saved".to_owned(),
        7,
        Objective::new("the saved objective").expect("an objective"),
        phase,
        WallClock(1_600_000_000_000),
        60_000,
        Totals::default(),
        None,
        gate(),
    )
}

pub(crate) fn gate() -> Gate {
    let settings = Settings::for_tests();
    Gate {
        model: model("p/executor"),
        thinking_level: None,
        timeout_ms: settings.timeout_ms,
        idle_timeout_ms: settings.idle_timeout_ms,
        max_empty_continuations: settings.max_empty_continuations,
        max_consecutive_audit_rejections: settings.max_consecutive_audit_rejections,
        max_continuations: settings.max_continuations,
        own_limit: false,
        max_audits: settings.max_audits,
        sandbox: settings.sandbox,
    }
}

pub(crate) fn branch_with(goal: Goal) -> Recovered {
    Recovered {
        goal: Some(goal),
        ..Recovered::default()
    }
}

pub(crate) fn restart(pursued: Option<GoalTag>) -> CoreRestart {
    CoreRestart {
        pursued,
        recent_losses: 1,
        audit_lost: false,
        running: false,
        full_message_present: true,
        headless: false,
        stopped: false,
    }
}

/// A workspace as a look found it.
pub(crate) fn workspace(digest: &str) -> WorkspaceSummary {
    WorkspaceSummary {
        digest: digest.to_owned(),
        files: 1,
        bytes: 1,
        commit: None,
        repositories: String::new(),
        rules: String::new(),
        parts: std::collections::BTreeMap::new(),
    }
}
