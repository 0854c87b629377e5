//! Drives the engine: stamps events with the clocks, turns effects into lines, keeps the token.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{SystemTime, UNIX_EPOCH};

use goal_config::Loaded;
use goal_engine::{Clocks, Effect, Engine, Event, Level, Monotonic, Notice, WallClock};
use goal_protocol::{EffectWire, EventWire, LineOut, PROTOCOL_VERSION};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Duration, Instant};

use super::files::Places;
use super::lines::Incoming;
use super::trace::Trace;
use super::workspace::{Found, Workspaces};
use crate::{process, settings};

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Stop,
}

/// A line before its event is understood, so that a line we do not understand still gets its answer.
#[derive(Deserialize)]
struct Envelope<'a> {
    token: String,
    #[serde(default)]
    id: Option<u64>,
    #[serde(borrow)]
    event: &'a RawValue,
}

/// The engine with everything it must not have itself.
pub(crate) struct Driver {
    outgoing: Sender<Vec<u8>>,
    found: UnboundedSender<Incoming>,
    origin: Instant,
    link: Option<Link>,
    /// The law's assertion: no event is taken while effects of another are unsent.
    draining: bool,
}

/// What the handshake agreed on.
struct Link {
    token: String,
    agent_dir: Option<PathBuf>,
    workspaces: Workspaces,
    places: Places,
    loaded: Loaded,
    told_settings: bool,
    probed: bool,
    engine: Engine,
    trace: Trace,
}

impl Driver {
    pub(crate) fn new(outgoing: Sender<Vec<u8>>, found: UnboundedSender<Incoming>) -> Self {
        Self {
            outgoing,
            found,
            origin: now(),
            link: None,
            draining: false,
        }
    }

    /// When the engine wants to be woken.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let (at, _) = self.link.as_ref()?.engine.deadline()?;
        Some(self.origin + Duration::from_millis(at.0))
    }

    /// The deadline has come.
    pub(crate) fn tick(&mut self) -> Flow {
        self.drive(None, vec![Event::Tick]);
        Flow::GoOn
    }

    /// Takes a line of the shim.
    pub(crate) fn take(&mut self, incoming: Incoming) -> Flow {
        let bytes = match incoming {
            Incoming::Line(bytes) => bytes,
            Incoming::TooLong => return self.diagnose(None, "a line was too long and was dropped"),
            Incoming::Found(found) => return self.found(found),
            Incoming::End => return Flow::Stop,
        };
        let envelope: Envelope<'_> = match serde_json::from_slice(&bytes) {
            Ok(envelope) => envelope,
            Err(error) => return self.diagnose(None, &format!("a line was no message: {error}")),
        };
        let event = EventWire::deserialize(envelope.event);
        match (&self.link, event) {
            (
                None,
                Ok(EventWire::Hello {
                    protocol,
                    agent_dir,
                    ..
                }),
            ) => self.hello(envelope.token, envelope.id, protocol, agent_dir),
            (None, _) => self.refuse(&envelope, "the first message was no greeting"),
            (Some(link), _) if link.token != envelope.token => {
                // Somebody else wrote to our pipe, or a shim mixed up its cores: not ours to answer.
                process::say("a message without the token of the handshake was ignored");
                Flow::GoOn
            }
            (Some(_), Err(error)) => self.diagnose(
                envelope.id,
                &format!("a message was not understood: {error}"),
            ),
            (Some(_), Ok(event)) => self.event(envelope.id, event),
        }
    }

    /// The thread that looks at workspaces has an answer.
    fn found(&mut self, found: Found) -> Flow {
        let event = self.link.as_mut().map(|link| link.workspaces.event(found));
        self.drive(None, event.into_iter().collect());
        Flow::GoOn
    }

    fn hello(
        &mut self,
        token: String,
        id: Option<u64>,
        protocol: u32,
        agent_dir: Option<String>,
    ) -> Flow {
        if protocol != PROTOCOL_VERSION {
            let message = format!(
                "the extension speaks protocol {protocol}, this goal-auditor {} speaks {PROTOCOL_VERSION}: \
                 install both from the same version, then /reload",
                env!("CARGO_PKG_VERSION")
            );
            self.send(&token, id, vec![EffectWire::Refused { message }]);
            return Flow::Stop;
        }
        let agent_dir = agent_dir.map(PathBuf::from);
        let loaded = settings::load(agent_dir.as_deref());
        let settings = settings::for_engine(&loaded);
        let trace = Trace::new(loaded.settings.trace.as_deref(), &settings);
        let engine = Engine::new(settings);
        let welcome = EffectWire::Welcome {
            protocol: PROTOCOL_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        self.send(&token, id, vec![welcome]);
        self.link = Some(Link {
            token,
            workspaces: Workspaces::new(self.found.clone(), agent_dir.clone()),
            places: Places::default(),
            agent_dir,
            loaded,
            told_settings: false,
            probed: false,
            engine,
            trace,
        });
        Flow::GoOn
    }

    fn refuse(&self, envelope: &Envelope<'_>, message: &str) -> Flow {
        let refused = EffectWire::Refused {
            message: message.to_owned(),
        };
        self.send(&envelope.token, envelope.id, vec![refused]);
        Flow::Stop
    }

    fn event(&mut self, id: Option<u64>, wire: EventWire) -> Flow {
        let Some(link) = &mut self.link else {
            return Flow::Stop;
        };
        let mut events = Vec::new();
        if rereads_settings(&wire) {
            events.extend(link.reread());
        }
        let opens = matches!(wire, EventWire::SessionOpened { .. });
        if let EventWire::SessionOpened { cwd: Some(cwd), .. } = &wire {
            link.probe(cwd);
            link.places.cwd = Some(PathBuf::from(cwd));
        }
        if let EventWire::AuditorClosed { audit } = &wire {
            link.workspaces.closed(*audit);
        }
        if let EventWire::Command { host, .. } = &wire {
            link.places.session = host.session_file.as_ref().map(PathBuf::from);
        }
        let path = link
            .loaded
            .path
            .as_ref()
            .map(|path| path.display().to_string());
        let Some(mut event) = goal_protocol::event(wire, path.as_deref()) else {
            self.drive(id, events);
            return Flow::GoOn;
        };
        if let Event::Command(command) = &mut event {
            command.file = link.places.objective(&command.text);
        }
        events.push(event);
        let told = opens.then(|| link.tell_settings()).flatten();
        self.drive_with(id, events, told);
        Flow::GoOn
    }

    fn drive(&mut self, id: Option<u64>, events: Vec<Event>) {
        self.drive_with(id, events, None);
    }

    /// The law: one event, all its effects, then the next.
    fn drive_with(&mut self, id: Option<u64>, events: Vec<Event>, told: Option<Effect>) {
        assert!(
            !self.draining,
            "an event was taken while effects of another were unsent"
        );
        self.draining = true;
        let mut effects: Vec<Effect> = told.into_iter().collect();
        let mut events = VecDeque::from(events);
        while let Some(event) = events.pop_front() {
            let clocks = self.clocks();
            let from = effects.len();
            let prepared = prepared_audit(&event);
            let untraced = self.link.as_mut().and_then(|link| {
                let told = link.handle(clocks, event, &mut effects);
                told.err()
            });
            if let Some(why) = untraced {
                self.diagnose(None, &why);
            }
            let fresh = &effects[from..];
            events.extend(self.own_work(fresh));
            self.let_go_unless_opened(prepared, fresh);
        }
        if let Some(token) = self.link.as_ref().map(|link| link.token.clone())
            && (id.is_some() || !effects.is_empty())
        {
            let effects = effects
                .into_iter()
                .filter_map(goal_protocol::effect)
                .collect();
            self.send(&token, id, effects);
        }
        self.draining = false;
    }

    /// What the driver does by itself. Most of it is answered later, by [`Incoming::Found`].
    fn own_work(&mut self, effects: &[Effect]) -> Vec<Event> {
        let Some(link) = &mut self.link else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for effect in effects {
            if let Effect::PrepareAudit(order) = effect {
                link.workspaces.prepare((**order).clone());
            } else if let Effect::InspectWorkspace { audit, whole } = effect {
                events.extend(link.workspaces.inspect(*audit, *whole));
            } else if let Effect::WriteReport { path, goal } = effect {
                let dir = link.agent_dir.as_deref();
                let written = link
                    .places
                    .write_report(path.as_deref(), goal.as_deref(), dir);
                events.push(Event::ReportWritten(written));
            }
        }
        events
    }

    /// An audit that was broken off while it was prepared is not opened: nothing is held for it.
    fn let_go_unless_opened(&mut self, prepared: Option<u64>, effects: &[Effect]) {
        let opened = effects
            .iter()
            .any(|effect| matches!(effect, Effect::OpenAuditor(_)));
        if let Some((audit, link)) = prepared.zip(self.link.as_mut())
            && !opened
        {
            link.workspaces.let_go(audit);
        }
    }

    fn clocks(&self) -> Clocks {
        let millis = now().saturating_duration_since(self.origin).as_millis();
        Clocks {
            now: Monotonic(u64::try_from(millis).unwrap_or(u64::MAX)),
            wall: WallClock(wall_ms()),
            fresh: fresh(),
        }
    }

    fn diagnose(&self, id: Option<u64>, message: &str) -> Flow {
        match &self.link {
            Some(link) => {
                let message = format!("goal-auditor: {message}");
                self.send(&link.token, id, vec![EffectWire::Diagnostic { message }]);
            }
            None => process::say(message),
        }
        Flow::GoOn
    }

    fn send(&self, token: &str, id: Option<u64>, effects: Vec<EffectWire>) {
        let line = LineOut {
            token: token.to_owned(),
            id,
            effects,
        };
        match serde_json::to_vec(&line) {
            Ok(mut bytes) => {
                bytes.push(b'\n');
                // A writer that has stopped means that the host is gone; the reader notices too.
                let _ = self.outgoing.send(bytes);
            }
            Err(error) => process::say(format_args!("a message could not be written: {error}")),
        }
    }
}

impl Link {
    /// Gives the engine an event, and traces that if asked to.
    ///
    /// # Errors
    /// What went wrong with the trace; the engine is not concerned.
    fn handle(
        &mut self,
        clocks: Clocks,
        event: Event,
        effects: &mut Vec<Effect>,
    ) -> Result<(), String> {
        let from = effects.len();
        let (agent_dir, cwd) = (self.agent_dir.as_deref(), self.places.cwd.as_deref());
        let begun = self.trace.event(clocks, &event, agent_dir, cwd);
        self.engine.handle(clocks, event, effects);
        begun.and_then(|()| self.trace.effects(&effects[from..]))
    }

    /// Finds out, once, what a seal can do here.
    fn probe(&mut self, workspace: &str) {
        let sandbox = settings::for_engine(&self.loaded).sandbox;
        if sandbox.mode != "off" && !std::mem::replace(&mut self.probed, true) {
            self.workspaces.probe(workspace, &sandbox);
        }
    }

    /// The settings, if they are not what they were.
    fn reread(&mut self) -> Option<Event> {
        let loaded = settings::load(self.agent_dir.as_deref());
        if loaded == self.loaded {
            return None;
        }
        if loaded.settings.trace != self.loaded.settings.trace {
            // One that begins now would lack what the engine knows by now.
            self.trace.stop();
        }
        self.loaded = loaded;
        self.told_settings = false;
        Some(Event::SettingsRead(settings::for_engine(&self.loaded)))
    }

    /// What is wrong with the settings, once.
    fn tell_settings(&mut self) -> Option<Effect> {
        if std::mem::replace(&mut self.told_settings, true) {
            return None;
        }
        let wrong = self.loaded.diagnostics.iter().map(ToString::to_string);
        let lines: Vec<String> = wrong.collect();
        (!lines.is_empty()).then(|| {
            let text = format!("goal-auditor settings:\n{}", lines.join("\n"));
            Effect::Notify(Notice {
                level: Level::Warning,
                text,
            })
        })
    }
}

const fn prepared_audit(event: &Event) -> Option<u64> {
    if let Event::AuditPrepared { audit, .. } = event {
        Some(*audit)
    } else {
        None
    }
}

/// The moments at which a change of the settings is looked for: often enough to be told in time,
/// never inside a run's hot path.
fn rereads_settings(wire: &EventWire) -> bool {
    matches!(
        wire,
        EventWire::SessionOpened { .. }
            | EventWire::Command { .. }
            | EventWire::ToolInvoked { .. }
            | EventWire::Settling { .. }
    )
}

#[expect(clippy::disallowed_methods, reason = "the driver owns the clock")]
fn now() -> Instant {
    Instant::from_std(std::time::Instant::now())
}

#[expect(clippy::disallowed_methods, reason = "the driver owns the clock")]
fn wall_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Unguessable, from the system. Without a source of randomness the process cannot keep its
/// promise that fences hold, so it ends.
fn fresh() -> u64 {
    match getrandom::u64() {
        Ok(number) => number,
        Err(error) => {
            process::say(format_args!("the system gives no random numbers: {error}"));
            std::process::exit(1);
        }
    }
}
