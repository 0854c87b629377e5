//! Lines of the wire, into an engine.

use std::collections::{BTreeMap, VecDeque};

use goal_engine::{AuditorEvent, StopKind};
use goal_engine::{
    Clocks, Effect, Ended, Engine, Event, GoalTool, Monotonic, Prepared, Rung, SavedGoal, Settings,
    StatusView, WallClock,
};
use goal_parser::{Verdict, parse_verdict};
use goal_protocol::trace::{Recorder, TRACE_MAX_BYTES, TraceEnd, replay};
use goal_protocol::{EffectWire, EventWire};

use crate::commands;

/// Lines that are played; an engine that needs more to go wrong is the simulator's.
const LINES_MAX: usize = 256;

/// The longest time that one line may let pass, in milliseconds: a day.
const WAIT_MAX_MS: u64 = 86_400_000;

/// Effects of one event. The engine answers an event; it does not work through a backlog.
const EFFECTS_MAX: usize = 32;

/// Each line is an event as the shim would send it (without token and number), or a number of
/// milliseconds to let pass; other lines are dropped, as the driver drops them. In an event, the
/// number 0 of a proposal, question or audit stands for the newest one: a real one cannot be guessed.
///
/// Whatever the lines say, in whatever order:
///
/// * a goal is complete only after a check that succeeded and an answer that approves;
/// * a call is answered at most once, and no call that was not made;
/// * at most one auditor's session is open, and what is closed was open;
/// * no deadline is left in the past;
/// * what is asked of the shim can be written and read back, and the widget is two plain lines;
/// * a trace of it all, replayed, gives the same effects.
pub fn wire(bytes: &[u8]) {
    let mut host = Host::new();
    for line in bytes.split(|byte| *byte == b'\n').take(LINES_MAX) {
        if let Ok(ms) = serde_json::from_slice::<u64>(line) {
            host.wait(ms.min(WAIT_MAX_MS));
        } else if let Ok(wire) = serde_json::from_slice::<EventWire>(line) {
            host.take(wire);
        }
    }
    host.replays();
}

/// A driver that answers what the core asks of it, and follows what must hold.
struct Host {
    engine: Engine,
    now: u64,
    events: u64,
    /// Calls of our tools that wait for their answer, by id.
    calls: BTreeMap<String, u32>,
    auditor: Option<Auditor>,
    newest: Newest,
    trace: Recorder<Vec<u8>>,
    /// Everything asked for so far is so much.
    asked: u64,
}

/// The auditor's session that is open, or was last.
struct Auditor {
    number: u64,
    open: bool,
    checked: bool,
    approves: bool,
}

/// Numbers that the engine drew last.
#[derive(Default)]
struct Newest {
    proposal: u64,
    question: u64,
    audit: u64,
}

impl Host {
    fn new() -> Self {
        let settings = Settings::for_tests();
        let trace = Recorder::start(Vec::new(), &settings, "fuzzed", TRACE_MAX_BYTES);
        Self {
            // Writing to memory does not fail.
            trace: trace.unwrap_or_else(|error| unreachable!("{error}")),
            engine: Engine::new(settings),
            now: 0,
            events: 0,
            calls: BTreeMap::new(),
            auditor: None,
            newest: Newest::default(),
            asked: 0,
        }
    }

    fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while let Some((at, _)) = self.engine.deadline().filter(|(at, _)| at.0 <= end) {
            self.now = at.0;
            self.give(Event::Tick);
        }
        self.now = end;
    }

    fn take(&mut self, mut wire: EventWire) {
        self.put_newest(&mut wire);
        if let Some(event) = goal_protocol::event(wire, None) {
            self.give(event);
        }
    }

    fn put_newest(&self, wire: &mut EventWire) {
        if let EventWire::ProposalTaken { proposal } | EventWire::ProposalYielded { proposal } =
            wire
        {
            put(proposal, self.newest.proposal);
        }
        if let EventWire::Confirmed { ticket, .. }
        | EventWire::Edited { ticket, .. }
        | EventWire::Chosen { ticket, .. } = wire
        {
            put(ticket, self.newest.question);
        }
        if let EventWire::Auditor { audit, .. } | EventWire::AuditorClosed { audit } = wire {
            put(audit, self.newest.audit);
        }
    }

    /// One event by the law of the drive, and what the driver does by itself after it.
    fn give(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            self.follow(&event);
            let mut effects = Vec::new();
            let clocks = self.clocks();
            self.trace.event(clocks, &event);
            self.engine.handle(clocks, event, &mut effects);
            assert!(self.trace.effects(&effects).is_ok());
            assert!(effects.len() <= EFFECTS_MAX, "{effects:#?}");
            for effect in &effects {
                events.extend(self.check(effect));
                is_writable(effect);
            }
            self.asked += effects.len() as u64;
            let late = self.engine.deadline().filter(|(at, _)| at.0 <= self.now);
            assert_eq!(late, None, "at {}", self.now);
        }
    }

    fn replays(mut self) {
        self.trace.end();
        let replayed = replay(self.trace.out().as_slice());
        assert!(replayed.is_ok(), "{replayed:?}");
        let Ok(replayed) = replayed else { return };
        assert_eq!(replayed.difference, None, "{replayed:#?}");
        assert_eq!(replayed.end, Some(TraceEnd::Closed));
        assert_eq!(
            (replayed.events, replayed.effects),
            (self.events, self.asked)
        );
    }

    const fn clocks(&mut self) -> Clocks {
        self.events += 1;
        Clocks {
            now: Monotonic(self.now),
            wall: WallClock(1_700_000_000_000 + self.now),
            fresh: self.events,
        }
    }

    fn follow(&mut self, event: &Event) {
        if let Event::ToolInvoked(invoked) = event {
            let (GoalTool::GetGoal | GoalTool::UpdateGoal) = invoked.tool;
            *self.calls.entry(invoked.call_id.clone()).or_default() += 1;
        }
        if let Event::Auditor { audit, event } = event
            && let Some(auditor) = &mut self.auditor
            && auditor.number == *audit
        {
            auditor.follow(event);
        }
    }

    /// What must hold of an effect; returned is the driver's own answer to it.
    fn check(&mut self, effect: &Effect) -> Option<Event> {
        if let Effect::SaveGoal(SavedGoal::Gone { ended, .. }) = effect {
            let earned = self.auditor.as_ref().is_some_and(Auditor::earned_it);
            assert!(*ended != Ended::Approved || earned, "completed for nothing");
        } else if let Effect::FinishTool(answer) = effect {
            let waiting = self.calls.entry(answer.call_id.clone()).or_default();
            assert!(*waiting > 0, "nobody waits: {answer:?}");
            *waiting -= 1;
        } else if let Effect::OpenAuditor(opened) = effect {
            let other = self.auditor.as_ref().is_some_and(|auditor| auditor.open);
            assert!(!other, "a second auditor: {opened:?}");
            self.auditor = Some(Auditor::opened(opened.audit));
        } else if let Effect::CloseAuditor { audit } = effect {
            let auditor = self.auditor.as_mut();
            let auditor = auditor.filter(|auditor| auditor.open && auditor.number == *audit);
            assert!(auditor.is_some(), "{audit} is not open");
            auditor.into_iter().for_each(|auditor| auditor.open = false);
        } else if let Effect::PrepareAudit(order) = effect {
            self.newest.audit = order.audit;
            return Some(prepared(order.audit));
        } else if let Effect::Propose(proposal) = effect {
            self.newest.proposal = proposal.number;
        } else if let Effect::Confirm { ticket, .. }
        | Effect::Edit { ticket, .. }
        | Effect::Offer { ticket, .. } = effect
        {
            self.newest.question = *ticket;
        } else if let Effect::ShowStatus(view) = effect {
            is_two_plain_lines(view);
        }
        None
    }
}

impl Auditor {
    const fn opened(number: u64) -> Self {
        Self {
            number,
            open: true,
            checked: false,
            approves: false,
        }
    }

    fn follow(&mut self, event: &AuditorEvent) {
        if let AuditorEvent::ToolFinished { ok, ms, .. } = event {
            self.checked |= *ok && ms.is_some();
        } else if let AuditorEvent::AnswerEnded(answer) = event {
            let read = parse_verdict(&answer.text);
            self.approves |= answer.stop == StopKind::Stop && read == Ok(Verdict::Approved);
        }
    }

    const fn earned_it(&self) -> bool {
        self.checked && self.approves
    }
}

fn put(number: &mut u64, newest: u64) {
    if *number == 0 {
        *number = newest;
    }
}

/// A workspace that nobody looks at; what a look finds is the simulator's.
fn prepared(audit: u64) -> Event {
    Event::AuditPrepared {
        audit,
        prepared: Ok(Box::new(Prepared {
            rung: Rung::None,
            seal: None,
            before: None,
        })),
    }
}

/// The line to the shim: written, and read back the same.
fn is_writable(effect: &Effect) {
    let Some(wire) = goal_protocol::effect(effect.clone()) else {
        return;
    };
    let written = serde_json::to_string(&wire);
    assert!(written.is_ok(), "{wire:?}");
    let read: Result<EffectWire, _> = serde_json::from_str(&written.unwrap_or_default());
    assert!(
        read.as_ref().is_ok_and(|read| *read == wire),
        "{wire:?}, read {read:?}"
    );
}

fn is_two_plain_lines(view: &StatusView) {
    assert!(view.widget.len() <= 2, "{:?}", view.widget);
    for line in view.widget.iter().chain(&view.footer) {
        let plain = !commands(line) && !line.contains(['\n', '\r', '\t']);
        assert!(plain, "{line:?}");
    }
}
