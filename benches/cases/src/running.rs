//! An engine in the run of a goal, and events as a host sends them.

use goal_engine::{
    Activity, AuditorEvent, Clocks, Command, Effect, Engine, Event, GoalMessage, GoalTool,
    HostFacts, ModelInfo, ModelRef, Monotonic, OpenCause, Proposal, Recovered, SandboxGate,
    SessionOpened, Settings, Settling, ToolFinished, ToolInvoked, WallClock,
};

/// An engine that works on a goal, driven by the law with a clock of its own.
#[derive(Debug)]
pub struct Running {
    engine: Engine,
    now: u64,
    events: u64,
}

impl Running {
    /// In the run of a goal, without limits of its number of iterations or audits.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Settings::for_tests())
    }

    /// The same with other limits of an audit. An audit needs neither seal nor look at the workspace.
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        let mut running = Self::resting(Settings {
            max_continuations: None,
            max_audits: None,
            sandbox: SandboxGate {
                mode: "off".to_owned(),
                ..settings.sandbox
            },
            ..settings
        });
        running.give(opened(Recovered::default()));
        let started = running.give(command("the objective"));
        running.give(Event::RunStarted);
        let tag = started
            .iter()
            .find_map(message)
            .map(|message| message.details.tag.clone());
        let tag = tag.unwrap_or_else(|| panic!("a goal starts a run: {started:?}"));
        running.give(Event::MessageArrived { tag });
        running
    }

    /// Before any session was opened.
    #[must_use]
    pub fn resting(settings: Settings) -> Self {
        Self {
            engine: Engine::new(settings),
            now: 0,
            events: 0,
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Sets the engine's clock, in milliseconds; it never runs backwards.
    pub fn at(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// One event, and what the engine asks for.
    pub fn give(&mut self, event: Event) -> Vec<Effect> {
        self.events += 1;
        let clocks = Clocks {
            now: Monotonic(self.now),
            wall: WallClock(self.now),
            fresh: self.events,
        };
        let mut out = Vec::new();
        self.engine.handle(clocks, event, &mut out);
        out
    }

    /// A finished call of a tool that did work.
    pub fn call(&mut self) {
        let asked = self.give(call());
        debug_assert!(asked.is_empty(), "{asked:?}");
    }

    /// One iteration of the loop: a call, the settle boundary, and the continuation is taken.
    pub fn iterate(&mut self) {
        self.call();
        let asked = self.give(settling(self.events));
        let proposal = asked.iter().find_map(proposal);
        let number = proposal
            .filter(|proposal| proposal.message.is_some())
            .map(|proposal| proposal.number);
        let proposal = number.unwrap_or_else(|| panic!("the loop goes on: {asked:?}"));
        self.give(Event::ProposalTaken { proposal });
    }

    /// The agent claims to be done, and its auditor's session is open.
    pub fn claim(&mut self) -> Auditing {
        let asked = self.give(Event::ToolInvoked(ToolInvoked {
            call_id: "call".to_owned(),
            tool: GoalTool::UpdateGoal,
            status: Some("complete".to_owned()),
            summary: Some("all done".to_owned()),
            turn: self.events,
            cwd: "/work".to_owned(),
        }));
        let audit = asked.iter().find_map(auditor);
        let audit = audit.unwrap_or_else(|| panic!("a claim is audited: {asked:?}"));
        let event = AuditorEvent::Opened;
        self.give(Event::Auditor { audit, event });
        Auditing { audit, calls: 0 }
    }
}

impl Default for Running {
    fn default() -> Self {
        Self::new()
    }
}

/// An audit in flight: makes the events of its session.
#[derive(Debug, Clone, Copy)]
pub struct Auditing {
    /// Its number.
    pub audit: u64,
    calls: u64,
}

impl Auditing {
    /// The auditor runs a command to its end.
    pub fn check(&mut self, running: &mut Running) {
        self.calls += 1;
        let call_id = self.calls.to_string();
        running.give(self.event(AuditorEvent::ToolStarted {
            call_id: call_id.clone(),
            tool: "bash".to_owned(),
            args: "{\"command\":\"cargo test\"}".to_owned(),
        }));
        running.give(self.event(AuditorEvent::ToolFinished {
            call_id,
            tool: "bash".to_owned(),
            ok: true,
            ms: Some(1),
        }));
    }

    /// Something in the auditor's session.
    #[must_use]
    pub const fn event(&self, event: AuditorEvent) -> Event {
        Event::Auditor {
            audit: self.audit,
            event,
        }
    }
}

/// A session is opened with this on its branch.
#[must_use]
pub fn opened(branch: Recovered) -> Event {
    Event::SessionOpened(Box::new(SessionOpened {
        cause: OpenCause::Start,
        branch,
        has_ui: true,
        terminal: true,
        cwd: None,
        model: Some(model()),
    }))
}

/// `/goal …` is typed while the host is idle.
#[must_use]
pub fn command(text: &str) -> Event {
    Event::Command(Command {
        text: text.to_owned(),
        file: None,
        host: HostFacts {
            activity: Activity::Idle,
            has_ui: true,
            headless: false,
            model: Some(model()),
            thinking_level: None,
            models: vec![ModelInfo {
                model: model(),
                name: "m".to_owned(),
            }],
            tools_active: true,
            config_path: None,
        },
    })
}

/// A finished call of a tool that did work.
#[must_use]
pub fn call() -> Event {
    Event::ToolFinished(ToolFinished {
        tool: "bash".to_owned(),
        is_error: false,
        ours: false,
        writes: true,
        ran: true,
        aborted: false,
        error: None,
    })
}

/// A run at its settle boundary, with a text of its own: saying the same again and again would stop it.
fn settling(number: u64) -> Event {
    Event::Settling(Settling {
        failed: false,
        provider_aborted: false,
        error: None,
        final_text: format!(
            "Part {number} is done. {}",
            "I go on with the next one. ".repeat(10)
        ),
        tools_active: true,
        full_message_present: true,
    })
}

fn model() -> ModelRef {
    ModelRef {
        provider: "p".to_owned(),
        id: "m".to_owned(),
    }
}

const fn message(effect: &Effect) -> Option<&GoalMessage> {
    if let Effect::StartRun(message) = effect {
        Some(message)
    } else {
        None
    }
}

const fn proposal(effect: &Effect) -> Option<&Proposal> {
    if let Effect::Propose(proposal) = effect {
        Some(proposal)
    } else {
        None
    }
}

fn auditor(effect: &Effect) -> Option<u64> {
    if let Effect::OpenAuditor(open) = effect {
        Some(open.audit)
    } else {
        None
    }
}
