//! Random lives of a host: whatever happens in whatever order, the engine keeps its promises.
//!
//! The host here is asynchronous as the real one is: what it reports reaches the engine at once, but
//! what the engine asks for lies in a pipe until it is delivered, so that commands cross answers.

use std::collections::{BTreeMap, VecDeque};

use goal_engine::{
    Activity, AuditOutcome, AuditorEvent, Clocks, Command, CompactionEnded, CoreRestart, Effect,
    Ended, Engine, Event, Goal, GoalTag, GoalTool, Inspection, MessageDetails, Monotonic,
    OpenCause, Phase, Prepared, Proposal, Recovered, RunSettled, Rung, SavedGoal, SessionOpened,
    Settings, Settling, StatusView, StopKind, ToolFinished, ToolInvoked, WallClock, WayOn,
};
use proptest::prelude::*;

use crate::rig::{LONG_REPLY, answer, facts, workspace};

/// Something that may happen. What cannot happen where the host stands is skipped.
#[derive(Debug, Clone)]
enum Op {
    Deliver,
    Wait(u64),
    Command(&'static str),
    Answer {
        yes: bool,
    },
    Prompt,
    Begin,
    Work {
        error: bool,
    },
    TurnEnds,
    Call {
        update: bool,
    },
    Auditor(AuditorOp),
    Settle(SettleOp),
    Decide,
    Rest,
    Abort,
    Interrupt,
    CompactionStarts,
    CompactionEnds {
        cancelled: bool,
    },
    CompactsInRun {
        lost: bool,
    },
    ToolsBecome {
        active: bool,
    },
    Leave,
    MoveInTree,
    LoseCore {
        again: bool,
    },
    /// The user closes the editor.
    Edit(Option<&'static str>),
    /// The user picks from an offer, which may just be taken back.
    Choose(WayOn),
    /// The driver answers: what it found before or after an audit.
    Look(LookOp),
}

#[derive(Debug, Clone, Copy)]
enum AuditorOp {
    Check { ok: bool },
    Output,
    Says(&'static str),
    Fails,
    Breaks,
}

#[derive(Debug, Clone, Copy)]
enum SettleOp {
    Saying(&'static str),
    Failing(&'static str),
    WithoutFullMessage,
}

fn op() -> impl Strategy<Value = Op> {
    let auditor = prop_oneof![
        3 => any::<bool>().prop_map(|ok| AuditorOp::Check { ok }),
        1 => Just(AuditorOp::Output),
        6 => prop::sample::select(vec![
            "<approved/>", "No.\n<disapproved/>", "no tag", "", "<approved/> perhaps",
        ]).prop_map(AuditorOp::Says),
        1 => Just(AuditorOp::Fails),
        1 => Just(AuditorOp::Breaks),
    ];
    let settle = prop_oneof![
        4 => prop::sample::select(vec!["", "hm", LONG_REPLY]).prop_map(SettleOp::Saying),
        2 => prop::sample::select(vec!["503: busy", "401: no", "prompt is too long"])
            .prop_map(SettleOp::Failing),
        1 => Just(SettleOp::WithoutFullMessage),
    ];
    prop_oneof![
        16 => Just(Op::Deliver),
        3 => prop::sample::select(vec![1, 100, 250, 4_999, 5_000, 60_000, 1_000_000]).prop_map(Op::Wait),
        8 => prop::sample::select(vec![
            "pause", "resume", "clear", "audit", "a goal", "another goal", "status", "accept", "edit", "limit 2", "limit 0", "why", "audit",
        ])
            .prop_map(Op::Command),
        3 => any::<bool>().prop_map(|yes| Op::Answer { yes }),
        2 => Just(Op::Prompt),
        8 => Just(Op::Begin),
        4 => any::<bool>().prop_map(|error| Op::Work { error }),
        3 => Just(Op::TurnEnds),
        5 => prop::bool::weighted(0.8).prop_map(|update| Op::Call { update }),
        10 => auditor.prop_map(Op::Auditor),
        6 => settle.prop_map(Op::Settle),
        8 => Just(Op::Decide),
        6 => Just(Op::Rest),
        1 => Just(Op::Abort),
        1 => Just(Op::Interrupt),
        1 => Just(Op::CompactionStarts),
        2 => any::<bool>().prop_map(|cancelled| Op::CompactionEnds { cancelled }),
        1 => any::<bool>().prop_map(|lost| Op::CompactsInRun { lost }),
        1 => any::<bool>().prop_map(|active| Op::ToolsBecome { active }),
        1 => Just(Op::Leave),
        1 => Just(Op::MoveInTree),
        1 => any::<bool>().prop_map(|again| Op::LoseCore { again }),
        2 => prop::sample::select(vec![None, Some(""), Some("a goal"), Some("in other words")]).prop_map(Op::Edit),
        3 => prop::sample::select(vec![
            WayOn::Resume, WayOn::Edit, WayOn::Accept, WayOn::Clear, WayOn::NotNow,
        ]).prop_map(Op::Choose),
        10 => prop::sample::select(vec![
            LookOp::Unwatched, LookOp::Unwatched, LookOp::Same(Rung::Overlay), LookOp::Same(Rung::Fingerprint),
            LookOp::Changed(Rung::Overlay), LookOp::Changed(Rung::Fingerprint), LookOp::Fails,
        ]).prop_map(Op::Look),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookOp {
    Unwatched,
    Same(Rung),
    Changed(Rung),
    Fails,
}

/// A run of the host.
#[derive(Debug, Default)]
struct Run {
    /// The goal whose message drives it.
    driven_by: Option<GoalTag>,
    aborted: bool,
    by_us: bool,
    /// The engine was asked at the boundary; its answer may still be in the pipe.
    settling: bool,
    /// The boundary was passed without a continuation.
    over: bool,
}

/// What the branch of the session holds of ours.
#[derive(Debug, Clone)]
enum Entry {
    Goal(SavedGoal),
    Audit(AuditOutcome, GoalTag),
    Message(MessageDetails),
}

#[derive(Debug)]
struct Host {
    engine: Engine,
    now: u64,
    fresh: u64,
    history: Vec<(Clocks, Event, Vec<Effect>)>,
    /// What the driver was asked to look at and has not answered.
    looks: VecDeque<Effect>,
    /// The audit whose workspace changed, if any.
    changed: Option<u64>,
    /// Asked for and not yet performed.
    pipe: VecDeque<Effect>,
    branch: Vec<Entry>,
    run: Option<Run>,
    /// A run was asked for and has not begun: the goal, and whether it was aborted already.
    starting: Option<(GoalTag, bool)>,
    compacting: bool,
    /// The user stopped what was going on, and nothing has run since.
    stopped: bool,
    tools_active: bool,
    message_queued: bool,
    proposal: Option<Proposal>,
    calls: BTreeMap<String, bool>,
    call: u64,
    turn: u64,
    auditor: Option<u64>,
    tickets: Vec<u64>,
    editors: Vec<u64>,
    /// The offer the engine believes to be open.
    offer: Option<u64>,
    /// The offer on the screen.
    shown_offer: Option<u64>,
    /// The goal at rest that an offer was made for, or whose offer a lost core took along.
    offered: Option<GoalTag>,
    /// `None` after a session was opened: it is shown anew.
    shown: Option<StatusView>,
    pursued: Option<GoalTag>,
    /// Goal entries the engine asked for, in all and when the open proposal was asked for.
    saves: usize,
    saves_when_asked: usize,
    /// An entry was asked for while a proposal was open.
    resaves: bool,
}

impl Host {
    fn new() -> Self {
        let mut host = Self {
            engine: Engine::new(settings()),
            now: 1_000,
            fresh: 0,
            history: Vec::new(),
            looks: VecDeque::new(),
            changed: None,
            pipe: VecDeque::new(),
            branch: Vec::new(),
            run: None,
            starting: None,
            compacting: false,
            stopped: false,
            tools_active: true,
            message_queued: false,
            proposal: None,
            calls: BTreeMap::new(),
            call: 0,
            turn: 1,
            auditor: None,
            tickets: Vec::new(),
            editors: Vec::new(),
            offer: None,
            shown_offer: None,
            offered: None,
            shown: None,
            pursued: None,
            saves: 0,
            saves_when_asked: 0,
            resaves: false,
        };
        host.open(OpenCause::Start);
        host
    }

    fn open(&mut self, cause: OpenCause) {
        let branch = self.recovered();
        self.shown = None;
        self.tell(Event::SessionOpened(Box::new(SessionOpened {
            cwd: Some("/work".to_owned()),
            cause,
            branch,
            has_ui: true,
            terminal: true,
            model: facts().model,
        })));
    }

    /// What `goal-protocol` would read from the branch.
    fn recovered(&self) -> Recovered {
        let saved = self
            .branch
            .iter()
            .rposition(|entry| matches!(entry, Entry::Goal(_)));
        let Some(Entry::Goal(SavedGoal::Present { goal, active_ms })) =
            saved.map(|at| &self.branch[at])
        else {
            return Recovered::default();
        };
        let after = &self.branch[saved.unwrap_or(0)..];
        let newest = after.iter().rev().find_map(|entry| match entry {
            Entry::Message(details) if goal.is(&details.tag) => Some(details.clone()),
            Entry::Message(_) | Entry::Goal(_) | Entry::Audit(..) => None,
        });
        let approved = after.iter().any(
            |entry| matches!(entry, Entry::Audit(AuditOutcome::Approved, tag) if goal.is(tag)),
        );
        let (totals, active_ms) = match newest {
            Some(details) => (details.totals, details.active_ms),
            None => (goal.totals.clone(), *active_ms),
        };
        let restored = Goal::restore(
            goal.id().to_owned(),
            goal.generation(),
            goal_engine::Objective::new(goal.objective()).expect("an objective"),
            goal.phase().clone(),
            goal.created_at(),
            active_ms,
            totals,
            goal.last_objection.clone(),
            goal.gate().clone(),
        );
        Recovered {
            goal: (!approved).then_some(restored),
            ..Recovered::default()
        }
    }

    fn clocks(&mut self) -> Clocks {
        self.fresh += 1;
        Clocks {
            now: Monotonic(self.now),
            wall: WallClock(self.now),
            fresh: self.fresh,
        }
    }

    /// Reports an event, checks what the engine makes of it, and leaves that in the pipe.
    fn tell(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let clocks = self.clocks();
            let before = self.engine.goal().cloned();
            let mut out = Vec::new();
            self.engine.handle(clocks, event.clone(), &mut out);
            self.check(&event, before.as_ref(), &out);
            for effect in &out {
                if matches!(
                    effect,
                    Effect::PrepareAudit(_) | Effect::InspectWorkspace { .. }
                ) {
                    self.looks.push_back(effect.clone());
                }
            }
            self.saves += out.iter().filter(|effect| is_save(effect)).count();
            self.pipe.extend(out.iter().cloned());
            self.history.push((clocks, event, out));
        }
    }

    // The promises, checked at every event

    fn check(&mut self, event: &Event, before: Option<&Goal>, out: &[Effect]) {
        if let Some((at, why)) = self.engine.deadline() {
            assert!(at.0 > self.now, "{why:?} is due and was not performed");
        }
        for effect in out {
            self.check_effect(event, effect, out);
        }
        if let Event::WorkspaceInspected { audit, inspection } = event
            && (self.changed == Some(*audit) || inspection.is_err())
        {
            assert!(
                !out.iter().any(is_approval),
                "approved on a workspace that changed"
            );
        }
        self.check_pause(event, before, out);
        self.check_end(event, before, out);
    }

    fn check_effect(&mut self, event: &Event, effect: &Effect, out: &[Effect]) {
        if let Effect::StartRun(message) = effect {
            assert!(
                self.is_pursued(&message.details.tag),
                "a start for a goal that is not pursued"
            );
            // The shim holds back a start that meets a compaction of the user's.
            let unaware = matches!(event, Event::RunSettled(_) | Event::SessionOpened(_));
            let compacts = self.compacting && !unaware;
            assert!(
                self.run.is_none() && !compacts,
                "a start while the host is busy"
            );
            let undelivered = self
                .pipe
                .iter()
                .any(|effect| matches!(effect, Effect::StartRun(_)));
            let cancelled = out.contains(&Effect::EndRun) || self.pipe.contains(&Effect::EndRun);
            let outstanding = self.starting.as_ref().is_some_and(|(_, aborted)| !aborted);
            assert!(cancelled || !(undelivered || outstanding), "two starts");
        }
        if let Effect::SendInRun(message) = effect {
            assert!(self.is_pursued(&message.details.tag));
            assert!(self.run.is_some());
        }
        if let Effect::Propose(proposal) = effect
            && let Some(message) = &proposal.message
        {
            assert!(self.is_pursued(&message.details.tag));
        }
        if let Effect::OpenAuditor(open) = effect {
            let goal = self.engine.goal().expect("a goal");
            let asked_by_user = open.call_id.is_none(); // Of a goal at rest, too.
            assert!(
                asked_by_user || goal.is_pursuing(),
                "an audit of a goal that is not pursued"
            );
        }
        self.check_offer(event, effect);
        if let Effect::ShowStatus(view) = effect {
            assert_ne!(Some(view), self.shown.as_ref(), "the status did not change");
            self.shown = Some(view.clone());
        }
        if let Effect::SaveGoal(SavedGoal::Gone {
            id,
            ended: Ended::Approved,
        }) = effect
        {
            let approvals = out.iter().filter(|effect| {
                matches!(effect, Effect::SaveAudit(record)
                    if record.details.outcome == AuditOutcome::Approved
                        && record.tag.id == *id
                        && record.details.checks.iter().any(|check| check.ok))
            });
            assert_eq!(
                approvals.count(),
                1,
                "complete without an approval that rests on evidence"
            );
        }
    }

    /// One choice at a time, and only of a goal at rest on a host at rest.
    fn check_offer(&mut self, event: &Event, effect: &Effect) {
        if let Effect::Withdraw { ticket } = effect {
            assert_eq!(
                self.offer.take(),
                Some(*ticket),
                "taken back twice or never made"
            );
        }
        if let Effect::Offer { ticket, .. } = effect {
            assert_eq!(self.offer, None, "two offers");
            assert!(!matches!(event, Event::SessionLeft), "an offer for nobody");
            assert!(self.run.is_none(), "an offer inside a run");
            let goal = self.engine.goal().filter(|goal| !goal.is_pursuing());
            let tag = goal.map(Goal::tag);
            assert!(tag.is_some(), "an offer without a goal at rest");
            self.offered = tag;
            self.offer = Some(*ticket);
        }
    }

    fn is_pursued(&self, tag: &GoalTag) -> bool {
        self.engine
            .goal()
            .is_some_and(|goal| goal.is_pursuing() && goal.is(tag))
    }

    /// Every pause is said.
    fn check_pause(&self, event: &Event, before: Option<&Goal>, out: &[Effect]) {
        let was = before.is_some_and(Goal::is_pursuing);
        let paused = self
            .engine
            .goal()
            .is_some_and(|goal| matches!(goal.phase(), Phase::Paused(_)));
        let opened = matches!(event, Event::SessionOpened(_));
        let taken = matches!(event, Event::ProposalTaken { .. }); // Said by the proposal's own effects.
        if was && paused && !opened && !taken {
            let said = out.iter().any(|effect| {
                matches!(effect, Effect::Notify(notice) if notice.text.starts_with("Goal paused"))
            });
            assert!(said, "a silent pause at {event:?}");
            let saved = out.iter().any(|effect| {
                matches!(effect, Effect::SaveGoal(SavedGoal::Present { goal, .. })
                    if matches!(goal.phase(), Phase::Paused(_)))
            });
            assert!(saved, "an unsaved pause at {event:?}");
        }
    }

    /// No model request follows the end of the goal that drives the run.
    fn check_end(&self, event: &Event, before: Option<&Goal>, out: &[Effect]) {
        let Some(run) = &self.run else { return };
        let driven = run.driven_by.as_ref();
        let was =
            before.is_some_and(|goal| goal.is_pursuing() && driven.is_some_and(|tag| goal.is(tag)));
        let is = driven.is_some_and(|tag| self.is_pursued(tag));
        let completed = out.iter().any(|effect| {
            matches!(
                effect,
                Effect::SaveGoal(SavedGoal::Gone {
                    ended: Ended::Approved,
                    ..
                })
            )
        });
        let boundary = matches!(
            event,
            Event::ProposalTaken { .. }
                | Event::RunSettled(_)
                | Event::SessionLeft
                | Event::SessionOpened(_)
        );
        if was && !is && !completed && !boundary && !run.aborted && !run.over {
            let ended = out.iter().any(|effect| {
                matches!(effect, Effect::EndRun)
                    || matches!(effect, Effect::FinishTool(answer) if answer.ends_run)
            });
            assert!(ended, "the run goes on after {event:?}");
        }
    }

    // The host

    fn activity(&self) -> Activity {
        if self.run.is_some() || self.starting.is_some() {
            Activity::Running
        } else if self.compacting {
            Activity::Compacting
        } else {
            Activity::Idle
        }
    }

    fn facts(&self) -> goal_engine::HostFacts {
        goal_engine::HostFacts {
            activity: self.activity(),
            tools_active: self.tools_active,
            ..facts()
        }
    }

    fn deliver(&mut self) {
        while let Some(effect) = self.pipe.pop_front() {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::SaveGoal(saved) => self.save(saved),
            Effect::SaveAudit(record) => {
                self.branch
                    .push(Entry::Audit(record.details.outcome, record.tag));
            }
            Effect::StartRun(message) => {
                self.branch.push(Entry::Message(message.details.clone()));
                match &mut self.run {
                    Some(run) => {
                        let tag = message.details.tag;
                        run.driven_by = Some(tag.clone());
                        self.tell(Event::MessageArrived { tag });
                    }
                    None => self.starting = Some((message.details.tag, false)),
                }
            }
            Effect::Propose(proposal) => self.proposal = Some(proposal),
            Effect::SendInRun(message) => self.branch.push(Entry::Message(message.details)),
            Effect::EndRun => self.end_run(),
            Effect::ActivateTools => {
                let active = self.tools_active;
                self.tell(Event::ToolsChecked { active });
            }
            Effect::FinishTool(answer) => {
                let waits = self.calls.remove(&answer.call_id);
                assert!(
                    waits.is_some(),
                    "{} was answered twice or never asked",
                    answer.call_id
                );
                if answer.ends_run
                    && let Some(run) = &mut self.run
                {
                    run.driven_by = None; // No request follows.
                }
            }
            Effect::OpenAuditor(open) => {
                assert_eq!(self.auditor, None, "two auditors");
                self.auditor = Some(open.audit);
            }
            Effect::PromptAuditor { audit, .. } => assert_eq!(self.auditor, Some(audit)),
            Effect::CloseAuditor { audit } => {
                assert_eq!(
                    self.auditor.take(),
                    Some(audit),
                    "closed twice or never opened"
                );
            }
            Effect::ShowStatus(view) => self.pursued = view.pursued,
            Effect::Confirm { ticket, .. } => self.tickets.push(ticket),
            Effect::Edit { ticket, .. } => self.editors.push(ticket),
            Effect::Offer { ticket, .. } => {
                assert_eq!(self.shown_offer, None, "two choices on the screen");
                self.shown_offer = Some(ticket);
            }
            Effect::Withdraw { ticket } => {
                self.shown_offer.take_if(|shown| *shown == ticket);
            }
            Effect::InspectWorkspace { .. }
            | Effect::PrepareAudit(_)
            | Effect::Progress { .. }
            | Effect::CountUsage { .. }
            | Effect::Ring
            | Effect::Notify(_)
            | Effect::Reply(_)
            | Effect::WriteReport { .. }
            | Effect::RestoreInput { .. }
            | Effect::Release { .. } => {}
        }
    }

    fn save(&mut self, saved: SavedGoal) {
        let last = self.branch.iter().rev().find_map(|entry| match entry {
            Entry::Goal(saved) => Some(saved),
            Entry::Audit(..) | Entry::Message(_) => None,
        });
        let same = match (last, &saved) {
            (Some(SavedGoal::Present { goal: a, .. }), SavedGoal::Present { goal: b, .. }) => {
                a == b
            }
            (Some(a), b) => a == b,
            (None, _) => false,
        };
        assert!(!same || self.resaves, "saved twice: {saved:?}");
        self.branch.push(Entry::Goal(saved));
    }

    fn end_run(&mut self) {
        if self.compacting {
            self.starting = None; // The shim holds it back, and drops it.
        } else if let Some((_, aborted)) = &mut self.starting {
            *aborted = true;
        }
        if let Some(run) = &mut self.run
            && !run.aborted
        {
            run.aborted = true;
            run.by_us = true;
        }
    }

    fn settled(&mut self) {
        // The host waits at the boundary for its handlers, also when the run was aborted there.
        if self.run.as_ref().is_some_and(|run| run.settling) {
            self.deliver();
            self.decide();
        }
        let Some(run) = self.run.take() else { return };
        self.cancel_calls();
        self.proposal = None;
        self.stopped = run.aborted && !run.by_us;
        self.tell(Event::RunSettled(RunSettled {
            aborted: run.aborted,
            by_us: run.by_us,
            start_pending: false,
            full_message_present: true,
        }));
    }

    /// An abort's signal reaches the calls that wait; they are answered before the run rests.
    fn cancel_calls(&mut self) {
        for call_id in self.calls.keys().cloned().collect::<Vec<_>>() {
            self.tell(Event::ToolCancelled { call_id });
        }
        self.deliver();
        assert!(
            self.calls.is_empty(),
            "a cancelled call waits: {:?}",
            self.calls
        );
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Deliver => self.deliver(),
            Op::Wait(ms) => self.wait(*ms),
            Op::Command(text) => self.command(text),
            Op::Answer { yes } => self.answer_question(*yes),
            Op::Prompt => self.prompt(),
            Op::Begin => self.begin(),
            Op::Work { error } => self.work(*error),
            Op::TurnEnds => {
                if self.in_turn() && self.calls.is_empty() {
                    self.turn += 1;
                    self.tell(Event::TurnEnded { broken_off: false });
                    self.deliver(); // Awaited.
                }
            }
            Op::Call { update } => self.call(*update),
            Op::Auditor(op) => self.auditor_does(*op),
            Op::Settle(op) => self.settling(*op),
            Op::Decide => self.decide(),
            Op::Rest => {
                let done = self.run.as_ref().is_some_and(|run| run.over || run.aborted);
                if done {
                    self.settled();
                }
            }
            Op::Abort => {
                if let Some(run) = &mut self.run
                    && !run.aborted
                {
                    run.aborted = true;
                    self.cancel_calls();
                }
            }
            Op::Interrupt => {
                if self.activity() == Activity::Idle {
                    self.stopped = true;
                    self.tell(Event::Interrupt);
                }
            }
            Op::CompactionStarts => {
                if self.activity() == Activity::Idle {
                    self.compacting = true;
                    self.tell(Event::CompactionStarted);
                }
            }
            Op::CompactionEnds { cancelled } => self.compaction_ends(*cancelled),
            Op::CompactsInRun { lost } => {
                if self.in_turn() && self.calls.is_empty() {
                    self.tell(Event::CompactionStarted);
                    self.tell(Event::CompactionEnded(CompactionEnded {
                        cancelled: false,
                        run_goes_on: true,
                        idle: false,
                        full_message_present: !lost,
                    }));
                    self.deliver();
                }
            }
            Op::ToolsBecome { active } => self.tools_active = *active,
            Op::Leave => self.leave(),
            Op::MoveInTree => {
                if self.activity() == Activity::Idle {
                    self.deliver();
                    if self.activity() == Activity::Idle {
                        self.open(OpenCause::Tree);
                    }
                }
            }
            Op::LoseCore { again } => self.lose_core(*again),
            Op::Look(op) => self.looks(*op),
            Op::Edit(text) => self.edit(*text),
            Op::Choose(way) => self.choose(*way),
        }
    }

    /// The driver has looked at the workspace; its answer may be for an audit that is over.
    fn looks(&mut self, op: LookOp) {
        let Some(asked) = self.looks.pop_front() else {
            return;
        };
        let event = if let Effect::PrepareAudit(prepare) = asked {
            let audit = prepare.audit;
            let prepared = match op {
                LookOp::Fails => Err("no seal".to_owned()),
                LookOp::Unwatched => Ok(Box::new(Prepared {
                    rung: Rung::None,
                    seal: None,
                    before: None,
                })),
                LookOp::Same(rung) | LookOp::Changed(rung) => Ok(Box::new(Prepared {
                    rung,
                    seal: None,
                    before: Some(workspace("same")),
                })),
            };
            Event::AuditPrepared { audit, prepared }
        } else if let Effect::InspectWorkspace { audit, .. } = asked {
            let changed = matches!(op, LookOp::Changed(_));
            self.changed = changed.then_some(audit);
            let inspection = match op {
                LookOp::Fails => Err("no such folder".to_owned()),
                LookOp::Unwatched | LookOp::Same(_) | LookOp::Changed(_) => {
                    Ok(Box::new(Inspection {
                        after: workspace("same"),
                        changed: if changed {
                            vec!["a.rs".to_owned()]
                        } else {
                            Vec::new()
                        },
                        forgiven: Vec::new(),
                    }))
                }
            };
            Event::WorkspaceInspected { audit, inspection }
        } else {
            return;
        };
        self.tell(event);
    }

    fn command(&mut self, text: &str) {
        let crosses = self.starting.is_some() || !self.pipe.is_empty();
        if text == "audit" && crosses {
            return; // As with a yes: an aborted start that begins late is taken for the next one.
        }
        let host = self.facts();
        self.tell(Event::Command(Command {
            file: None,
            text: text.to_owned(),
            host,
        }));
    }

    fn in_turn(&self) -> bool {
        self.run
            .as_ref()
            .is_some_and(|run| !run.settling && !run.over && !run.aborted)
    }

    fn wait(&mut self, ms: u64) {
        if ms > 1_000 {
            self.deliver(); // A pipe is not that slow.
        }
        let end = self.now + ms;
        while let Some((at, _)) = self.engine.deadline().filter(|(at, _)| at.0 <= end) {
            self.now = at.0;
            self.tell(Event::Tick);
            if end - self.now > 1_000 {
                self.deliver();
            }
        }
        self.now = end;
    }

    fn answer_question(&mut self, yes: bool) {
        // A yes that crosses a start is the one crossing the engine does not untangle.
        let crosses = self.starting.is_some() || !self.pipe.is_empty();
        if crosses {
            return;
        }
        if let Some(ticket) = self.tickets.pop() {
            let host = self.facts();
            self.tell(Event::Confirmed { ticket, yes, host });
        }
    }

    fn edit(&mut self, text: Option<&str>) {
        let crosses = self.starting.is_some() || !self.pipe.is_empty();
        if crosses {
            return;
        }
        if let Some(ticket) = self.editors.pop() {
            let host = self.facts();
            let text = text.map(str::to_owned);
            self.tell(Event::Edited { ticket, text, host });
        }
    }

    fn choose(&mut self, way: WayOn) {
        let Some(ticket) = self.shown_offer.take() else {
            return;
        };
        self.offer.take_if(|open| *open == ticket);
        let host = self.facts();
        self.tell(Event::Chosen { ticket, way, host });
    }

    fn prompt(&mut self) {
        if self.run.is_some() {
            self.message_queued = true;
            self.tell(Event::UserMessage);
        } else if self.starting.is_none() && !self.compacting {
            self.tell(Event::UserMessage);
            self.run = Some(Run::default());
            self.stopped = false;
            self.tell(Event::RunStarted);
        }
    }

    fn begin(&mut self) {
        if self.run.is_none()
            && !self.compacting
            && let Some((tag, aborted)) = self.starting.take()
        {
            self.stopped = false;
            self.tell(Event::RunStarted);
            self.run = Some(Run {
                driven_by: (!aborted).then(|| tag.clone()),
                aborted,
                by_us: aborted,
                ..Run::default()
            });
            self.tell(Event::MessageArrived { tag });
        }
    }

    fn work(&mut self, is_error: bool) {
        if self.in_turn() && self.calls.is_empty() {
            self.tell(Event::ToolFinished(ToolFinished {
                tool: "bash".to_owned(),
                is_error,
                ours: false,
                writes: false,
                ran: true,
                aborted: false,
                error: None,
            }));
        }
    }

    fn call(&mut self, update: bool) {
        if !self.in_turn() || !self.calls.is_empty() {
            return;
        }
        self.call += 1;
        let call_id = format!("call-{}", self.call);
        self.calls.insert(call_id.clone(), update);
        self.tell(Event::ToolInvoked(ToolInvoked {
            call_id,
            tool: if update {
                GoalTool::UpdateGoal
            } else {
                GoalTool::GetGoal
            },
            status: Some("complete".to_owned()),
            summary: None,
            turn: self.turn,
            cwd: "/work".to_owned(),
        }));
    }

    fn auditor_does(&mut self, op: AuditorOp) {
        let Some(audit) = self.auditor else { return };
        let events = match op {
            AuditorOp::Check { ok } => vec![
                AuditorEvent::ToolStarted {
                    call_id: "c".to_owned(),
                    tool: "read".to_owned(),
                    args: String::new(),
                },
                AuditorEvent::ToolFinished {
                    call_id: "c".to_owned(),
                    tool: "read".to_owned(),
                    ok,
                    ms: Some(1),
                },
            ],
            AuditorOp::Output => vec![AuditorEvent::Output],
            AuditorOp::Says(text) => vec![
                AuditorEvent::AnswerEnded(answer(text, StopKind::Stop)),
                AuditorEvent::Rested,
            ],
            AuditorOp::Fails => vec![
                AuditorEvent::AnswerEnded(answer("<approved/>", StopKind::Error)),
                AuditorEvent::Rested,
            ],
            AuditorOp::Breaks => vec![AuditorEvent::Broke {
                message: "gone".to_owned(),
            }],
        };
        for event in events {
            self.tell(Event::Auditor { audit, event });
        }
    }

    fn settling(&mut self, op: SettleOp) {
        if !self.in_turn() || !self.calls.is_empty() {
            return;
        }
        if self.message_queued {
            self.message_queued = false; // It is answered first, inside the run.
            return;
        }
        if let Some(run) = &mut self.run {
            run.settling = true;
        }
        self.saves_when_asked = self.saves;
        let (failed, error, text, present) = match op {
            SettleOp::Saying(text) => (false, None, text, true),
            SettleOp::Failing(error) => (true, Some(error.to_owned()), "", true),
            SettleOp::WithoutFullMessage => (false, None, "", false),
        };
        self.tell(Event::Settling(Settling {
            failed,
            provider_aborted: false,
            error,
            final_text: text.to_owned(),
            tools_active: self.tools_active,
            full_message_present: present,
        }));
    }

    /// The shim has the answer: it takes it, or lets the user's message go first.
    fn decide(&mut self) {
        let Some(proposal) = self.proposal.take() else {
            return;
        };
        let Some(run) = &mut self.run else { return };
        let number = proposal.number;
        run.settling = false;
        if self.message_queued || run.by_us {
            run.over = !self.message_queued;
            self.message_queued = false;
            return self.tell(Event::ProposalYielded { proposal: number });
        }
        run.over = proposal.message.is_none() || run.aborted;
        // What was saved since the question was asked may be saved again.
        self.resaves |= self.saves != self.saves_when_asked;
        self.tell(Event::ProposalTaken { proposal: number });
        for effect in proposal.effects {
            self.perform(effect);
        }
        if let Some(message) = proposal.message {
            self.branch.push(Entry::Message(message.details.clone()));
            if let Some(run) = &mut self.run {
                run.driven_by = Some(message.details.tag);
            }
        }
    }

    fn compaction_ends(&mut self, cancelled: bool) {
        if !self.compacting {
            return;
        }
        self.compacting = false;
        self.tell(Event::CompactionEnded(CompactionEnded {
            cancelled,
            run_goes_on: false,
            idle: self.run.is_none(),
            full_message_present: true,
        }));
    }

    /// Leaving looks like an abort first.
    fn leave(&mut self) {
        if let Some(run) = &mut self.run {
            run.aborted = true;
            self.settled();
        }
        self.tell(Event::SessionLeft);
        self.pipe.clear();
        self.calls.clear();
        self.auditor = None;
        self.starting = None;
        self.compacting = false;
        self.message_queued = false;
        self.tickets.clear();
        self.editors.clear();
        self.offer = None;
        self.shown_offer = None;
        self.open(OpenCause::Start);
        let goal = self.engine.goal();
        assert!(
            goal.is_none_or(|goal| !goal.is_pursuing()),
            "a goal goes on by itself"
        );
    }

    fn lose_core(&mut self, again: bool) {
        let audit_lost = self.calls.values().any(|update| *update);
        self.pipe.clear();
        self.calls.clear();
        self.auditor = None;
        self.proposal = None;
        if let Some(run) = &mut self.run {
            run.over |= run.settling;
            run.settling = false;
        }
        self.looks.clear();
        self.offer = None;
        self.shown_offer = None;
        self.engine = Engine::new(settings());
        self.history.clear();
        let pursued = self.pursued.clone();
        self.open(OpenCause::CoreRestart(CoreRestart {
            pursued,
            recent_losses: if again { 2 } else { 1 },
            audit_lost,
            running: self.run.is_some() || self.starting.is_some(),
            full_message_present: true,
            headless: false,
            stopped: self.stopped,
        }));
        let rests = self.engine.goal().filter(|goal| !goal.is_pursuing());
        self.offered = rests.map(Goal::tag).or_else(|| self.offered.take());
    }

    // The promises that hold once everything has come to rest

    fn come_to_rest(&mut self) {
        for _ in 0..20 {
            self.deliver();
            self.begin();
            self.deliver();
            self.compaction_ends(false);
            self.looks(LookOp::Unwatched);
            self.deliver();
            if self.run.is_some() {
                self.cancel_calls();
                self.decide();
                self.settling(SettleOp::Saying(""));
                self.deliver();
                self.decide();
                self.deliver();
            }
            if self.run.as_ref().is_some_and(|run| run.over || run.aborted) {
                self.settled();
            }
            self.deliver();
            let busy = self.activity() != Activity::Idle;
            let pursued = self.engine.goal().is_some_and(Goal::is_pursuing);
            assert!(
                busy || !pursued || self.engine.deadline().is_some(),
                "a pursued goal rests silently"
            );
            self.wait(1_000_000);
        }
        assert!(self.calls.is_empty(), "{:?}", self.calls);
        assert_eq!(self.auditor, None);
        assert_eq!(self.activity(), Activity::Idle, "it never comes to rest");
        self.branch_tells_the_truth();
        self.ways_on_were_offered();
    }

    /// A goal does not rest without its ways on having been shown, unless a question is open.
    fn ways_on_were_offered(&self) {
        let rests = self.engine.goal().filter(|goal| !goal.is_pursuing());
        let asked = !(self.tickets.is_empty() && self.editors.is_empty());
        if let Some(goal) = rests.filter(|_| !asked) {
            assert_eq!(self.offered, Some(goal.tag()), "nothing was offered");
        }
    }

    fn branch_tells_the_truth(&self) {
        let read = self.recovered().goal;
        match (self.engine.goal(), read) {
            (None, None) => {}
            (Some(goal), Some(read)) => {
                assert_eq!(
                    (goal.id(), goal.generation()),
                    (read.id(), read.generation())
                );
                assert!(goal.phase() == read.phase() || *read.phase() == Phase::Held);
                assert_eq!(
                    (goal.objective(), goal.gate()),
                    (read.objective(), read.gate())
                );
            }
            (goal, read) => panic!("the branch says {read:?}, and the truth is {goal:?}"),
        }
    }

    fn replays(&self) {
        let mut engine = Engine::new(settings());
        for (clocks, event, out) in &self.history {
            let mut again = Vec::new();
            engine.handle(*clocks, event.clone(), &mut again);
            assert_eq!(&again, out, "at {event:?}");
        }
    }
}

fn is_approval(effect: &Effect) -> bool {
    matches!(effect, Effect::SaveAudit(record) if record.details.outcome == AuditOutcome::Approved)
}

fn is_save(effect: &Effect) -> bool {
    matches!(effect, Effect::SaveGoal(_))
}

fn settings() -> Settings {
    Settings {
        max_continuations: Some(8),
        max_audits: Some(4),
        ..Settings::for_tests()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_engine_keeps_its_promises(ops in prop::collection::vec(op(), 1..120)) {
        let mut host = Host::new();
        host.apply(&Op::Command("a goal"));
        for op in &ops {
            host.apply(op);
        }
        host.replays();
        host.come_to_rest();
    }
}
