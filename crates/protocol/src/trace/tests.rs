//! Any event comes back from its line as it was, and any drive of the engine from its trace.

use goal_engine::{
    Activity, Answer, AuditorEvent, Clocks, Command, CompactionEnded, CoreRestart, Engine, Event,
    FileTrouble, Gate, Goal, GoalTag, GoalTool, HostFacts, Inspection, LastAudit, ModelInfo,
    ModelRef, Monotonic, Objective, OpenCause, OpenFailure, PauseReason, Phase, Prepared,
    Recovered, RunSettled, Rung, SandboxGate, SessionOpened, SettingRow, Settings, Settling, Stop,
    StopKind, TextHash, ToolFinished, ToolInvoked, Totals, Usage, WallClock, WayOn,
    WorkspaceSummary,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::event::{EventLine, event, line};
use super::{Recorder, TRACE_MAX_BYTES, replay};

/// What reading a branch lets through.
const GENERATION_MAX: u64 = 1 << 52;

/// Drives of up to 40 events; a thousand and more events in all.
const DRIVES: u32 = 64;

/// Text with all that JSON has to escape, and more.
fn text() -> BoxedStrategy<String> {
    prop_oneof![
        "[a-z/ ]{0,12}",
        "\\PC{0,8}",
        vec(any::<char>(), 0..8).prop_map(|chars| chars.into_iter().collect())
    ]
    .boxed()
}

fn texts() -> BoxedStrategy<Vec<String>> {
    vec(text(), 0..3).boxed()
}

fn model() -> BoxedStrategy<ModelRef> {
    (text(), text())
        .prop_map(|(provider, id)| ModelRef { provider, id })
        .boxed()
}

fn told<T: std::fmt::Debug>(
    found: impl Strategy<Value = T>,
) -> impl Strategy<Value = Result<T, String>> {
    prop_oneof![found.prop_map(Ok), text().prop_map(Err)]
}

/// A limit, of which `0` does not exist in the core: it is "off" in files.
fn limit() -> BoxedStrategy<Option<u32>> {
    of(1..=u32::MAX).boxed()
}

fn limit_ms() -> BoxedStrategy<Option<u64>> {
    of(1..=u64::MAX).boxed()
}

fn sandbox() -> BoxedStrategy<SandboxGate> {
    (text(), text(), texts(), of(any::<u32>()))
        .prop_map(|(mode, network, hide, scratch_mb)| SandboxGate {
            mode,
            network,
            hide,
            scratch_mb,
        })
        .boxed()
}

fn gate() -> BoxedStrategy<Gate> {
    (
        (model(), of(text()), limit_ms(), limit_ms()),
        (
            any::<[u32; 2]>(),
            limit(),
            any::<bool>(),
            limit(),
            sandbox(),
        ),
    )
        .prop_map(
            |(
                (model, thinking_level, timeout_ms, idle_timeout_ms),
                (caps, max_continuations, own_limit, max_audits, sandbox),
            )| Gate {
                model,
                thinking_level,
                timeout_ms,
                idle_timeout_ms,
                max_empty_continuations: caps[0],
                max_consecutive_audit_rejections: caps[1],
                max_continuations,
                own_limit,
                max_audits,
                sandbox,
            },
        )
        .boxed()
}

fn settings() -> BoxedStrategy<Settings> {
    let row = (text(), text(), text()).prop_map(|(name, value, source)| SettingRow {
        name,
        value,
        source,
    });
    (of(text()), of(text()), gate(), texts(), vec(row, 0..3))
        .prop_map(|(provider, model, gate, changed, rows)| Settings {
            provider,
            model,
            thinking_level: gate.thinking_level,
            timeout_ms: gate.timeout_ms,
            idle_timeout_ms: gate.idle_timeout_ms,
            max_empty_continuations: gate.max_empty_continuations,
            max_consecutive_audit_rejections: gate.max_consecutive_audit_rejections,
            max_continuations: gate.max_continuations,
            max_audits: gate.max_audits,
            sandbox: gate.sandbox,
            changed,
            rows,
        })
        .boxed()
}

fn totals() -> BoxedStrategy<Totals> {
    let hash = || of("[0-9a-f]{16}").prop_map(|text| text.as_deref().and_then(TextHash::parse));
    (any::<[u32; 8]>(), any::<bool>(), hash(), hash())
        .prop_map(|(counts, repeat_wrote, last_text, last_refusal)| Totals {
            continuations: counts[0],
            audits: counts[1],
            empty_streak: counts[2],
            errored_streak: counts[3],
            repeat_streak: counts[4],
            rejection_streak: counts[5],
            failure_streak: counts[6],
            refusal_streak: counts[7],
            last_text,
            last_refusal,
            repeat_wrote,
        })
        .boxed()
}

fn phase() -> BoxedStrategy<Phase> {
    let reason = prop_oneof![
        select(vec![
            PauseReason::User,
            PauseReason::Aborted,
            PauseReason::NoProgress,
            PauseReason::Repetition,
            PauseReason::Rejections,
            PauseReason::ContinuationLimit,
            PauseReason::AuditLimit,
            PauseReason::ToolsOff,
            PauseReason::CoreLost,
        ]),
        text().prop_map(PauseReason::AuditFailures),
    ];
    let paused =
        (reason, of(text())).prop_map(|(reason, detail)| Phase::Paused(Stop { reason, detail }));
    prop_oneof![Just(Phase::Held), paused].boxed()
}

/// A goal as it is read from a branch.
fn goal() -> BoxedStrategy<Goal> {
    let objective = "\\PC{1,20}".prop_filter_map("blank", |text| Objective::new(&text).ok());
    (
        (text(), 0..GENERATION_MAX, objective, phase(), any::<u64>()),
        (any::<u64>(), totals(), of(text()), gate()),
    )
        .prop_map(
            |((id, generation, objective, phase, at), (active, totals, last, gate))| {
                Goal::restore(
                    id,
                    generation,
                    objective,
                    phase,
                    WallClock(at),
                    active,
                    totals,
                    last,
                    gate,
                )
            },
        )
        .boxed()
}

fn branch() -> BoxedStrategy<Recovered> {
    let last_audit = (text(), of(text()), text(), any::<u32>(), of(text()), text()).prop_map(
        |(outcome, why, model, successes, failure, report)| LastAudit {
            outcome,
            why,
            model,
            successes,
            failure,
            report,
        },
    );
    (
        of(goal()),
        any::<u32>(),
        texts(),
        any::<[bool; 2]>(),
        of(last_audit),
    )
        .prop_map(
            |(goal, audits_ever, diagnostics, flags, last_audit)| Recovered {
                goal,
                audits_ever,
                diagnostics,
                newer_version: flags[0],
                last_audit,
                audit_lost: flags[1],
            },
        )
        .boxed()
}

fn cause() -> BoxedStrategy<OpenCause> {
    let tag = (text(), any::<u64>()).prop_map(|(id, generation)| GoalTag { id, generation });
    let restart = (of(tag), any::<u32>(), any::<[bool; 5]>());
    prop_oneof![
        Just(OpenCause::Start),
        Just(OpenCause::Tree),
        restart.prop_map(
            |(pursued, recent_losses, flags)| OpenCause::CoreRestart(CoreRestart {
                pursued,
                recent_losses,
                audit_lost: flags[0],
                running: flags[1],
                full_message_present: flags[2],
                headless: flags[3],
                stopped: flags[4],
            })
        ),
    ]
    .boxed()
}

fn opened() -> BoxedStrategy<Event> {
    (
        cause(),
        branch(),
        any::<[bool; 2]>(),
        of(model()),
        of(text()),
    )
        .prop_map(|(cause, branch, flags, model, cwd)| {
            Event::SessionOpened(Box::new(SessionOpened {
                cause,
                branch,
                has_ui: flags[0],
                terminal: flags[1],
                model,
                cwd,
            }))
        })
        .boxed()
}

fn host() -> BoxedStrategy<HostFacts> {
    let info = (model(), text()).prop_map(|(model, name)| ModelInfo { model, name });
    let activity = select(vec![
        Activity::Idle,
        Activity::Running,
        Activity::Compacting,
    ]);
    (
        activity,
        any::<[bool; 3]>(),
        of(model()),
        of(text()),
        vec(info, 0..3),
        of(text()),
    )
        .prop_map(
            |(activity, flags, model, thinking_level, models, config_path)| HostFacts {
                activity,
                has_ui: flags[0],
                headless: flags[1],
                model,
                thinking_level,
                models,
                tools_active: flags[2],
                config_path,
            },
        )
        .boxed()
}

fn command() -> BoxedStrategy<Event> {
    let trouble = prop_oneof![
        Just(FileTrouble::NotAFile),
        any::<u64>().prop_map(FileTrouble::TooLarge),
        Just(FileTrouble::NotText),
        Just(FileTrouble::Blank),
        text().prop_map(FileTrouble::Unreadable),
    ];
    let file = prop_oneof![text().prop_map(Ok), trouble.prop_map(Err)];
    (text(), of(file), host())
        .prop_map(|(text, file, host)| Event::Command(Command { text, file, host }))
        .boxed()
}

fn answers() -> BoxedStrategy<Event> {
    let way = select(vec![
        WayOn::Resume,
        WayOn::Edit,
        WayOn::Accept,
        WayOn::Clear,
        WayOn::NotNow,
    ]);
    prop_oneof![
        (any::<u64>(), any::<bool>(), host()).prop_map(|(ticket, yes, host)| Event::Confirmed {
            ticket,
            yes,
            host
        }),
        (any::<u64>(), of(text()), host()).prop_map(|(ticket, text, host)| Event::Edited {
            ticket,
            text,
            host
        }),
        (any::<u64>(), way, host()).prop_map(|(ticket, way, host)| Event::Chosen {
            ticket,
            way,
            host
        }),
        told(text()).prop_map(Event::ReportWritten),
        any::<bool>().prop_map(|active| Event::ToolsChecked { active }),
        of(model()).prop_map(|model| Event::ModelSelected { model }),
    ]
    .boxed()
}

fn tools() -> BoxedStrategy<Event> {
    let tool = select(vec![GoalTool::GetGoal, GoalTool::UpdateGoal]);
    prop_oneof![
        (text(), any::<[bool; 5]>(), of(text())).prop_map(|(tool, flags, error)| {
            Event::ToolFinished(ToolFinished {
                tool,
                is_error: flags[0],
                ours: flags[1],
                writes: flags[2],
                ran: flags[3],
                aborted: flags[4],
                error,
            })
        }),
        (text(), tool, of(text()), of(text()), any::<u64>(), text()).prop_map(
            |(call_id, tool, status, summary, turn, cwd)| {
                Event::ToolInvoked(ToolInvoked {
                    call_id,
                    tool,
                    status,
                    summary,
                    turn,
                    cwd,
                })
            }
        ),
        text().prop_map(|call_id| Event::ToolCancelled { call_id }),
    ]
    .boxed()
}

fn runs() -> BoxedStrategy<Event> {
    prop_oneof![
        select(vec![
            Event::SessionLeft,
            Event::RunStarted,
            Event::UserMessage,
            Event::Interrupt,
            Event::CompactionStarted,
            Event::Tick,
        ]),
        any::<bool>().prop_map(|broken_off| Event::TurnEnded { broken_off }),
        (text(), any::<u64>()).prop_map(|(id, generation)| Event::MessageArrived {
            tag: GoalTag { id, generation },
        }),
        any::<u64>().prop_map(|proposal| Event::ProposalTaken { proposal }),
        any::<u64>().prop_map(|proposal| Event::ProposalYielded { proposal }),
        (any::<[bool; 4]>(), of(text()), text()).prop_map(|(flags, error, final_text)| {
            Event::Settling(Settling {
                failed: flags[0],
                provider_aborted: flags[1],
                error,
                final_text,
                tools_active: flags[2],
                full_message_present: flags[3],
            })
        }),
        any::<[bool; 4]>().prop_map(|flags| Event::CompactionEnded(CompactionEnded {
            cancelled: flags[0],
            run_goes_on: flags[1],
            idle: flags[2],
            full_message_present: flags[3],
        })),
        any::<[bool; 4]>().prop_map(|flags| Event::RunSettled(RunSettled {
            aborted: flags[0],
            by_us: flags[1],
            start_pending: flags[3],
            full_message_present: flags[2],
        })),
    ]
    .boxed()
}

fn usage() -> BoxedStrategy<Usage> {
    // The wire knows no other numbers, because JSON does not.
    let number = prop::num::f64::POSITIVE | prop::num::f64::NORMAL | prop::num::f64::ZERO;
    prop::array::uniform10(number)
        .prop_map(|part| Usage {
            input: part[0],
            output: part[1],
            cache_read: part[2],
            cache_write: part[3],
            total_tokens: part[4],
            cost_input: part[5],
            cost_output: part[6],
            cost_cache_read: part[7],
            cost_cache_write: part[8],
            cost_total: part[9],
        })
        .boxed()
}

fn of_auditor() -> BoxedStrategy<AuditorEvent> {
    let kind = select(vec![
        OpenFailure::MissingCredentials,
        OpenFailure::MissingModel,
        OpenFailure::Session,
    ]);
    let stop = select(vec![
        StopKind::Stop,
        StopKind::ToolUse,
        StopKind::Length,
        StopKind::Error,
        StopKind::Aborted,
    ]);
    prop_oneof![
        select(vec![
            AuditorEvent::Opened,
            AuditorEvent::Output,
            AuditorEvent::CompactionStarted,
            AuditorEvent::RetryStarted,
            AuditorEvent::RetryEnded,
            AuditorEvent::Rested,
        ]),
        (kind, text()).prop_map(|(kind, message)| AuditorEvent::OpenFailed { kind, message }),
        (text(), stop, of(text()), usage()).prop_map(|(text, stop, error, usage)| {
            AuditorEvent::AnswerEnded(Answer {
                text,
                stop,
                error,
                usage,
            })
        }),
        (text(), text(), text()).prop_map(|(call_id, tool, args)| AuditorEvent::ToolStarted {
            call_id,
            tool,
            args
        }),
        (text(), text(), any::<bool>(), of(any::<u64>())).prop_map(|(call_id, tool, ok, ms)| {
            AuditorEvent::ToolFinished {
                call_id,
                tool,
                ok,
                ms,
            }
        }),
        usage().prop_map(|usage| AuditorEvent::CompactionEnded { usage }),
        text().prop_map(|message| AuditorEvent::Broke { message }),
    ]
    .boxed()
}

fn summary() -> BoxedStrategy<WorkspaceSummary> {
    (
        any::<[u64; 2]>(),
        text(),
        of(text()),
        (text(), text()),
        btree_map(text(), text(), 0..3),
    )
        .prop_map(
            |([files, bytes], digest, commit, (repositories, rules), parts)| WorkspaceSummary {
                digest,
                files,
                bytes,
                commit,
                repositories,
                rules,
                parts,
            },
        )
        .boxed()
}

fn of_the_driver() -> BoxedStrategy<Event> {
    let rung = || select(vec![Rung::Overlay, Rung::Fingerprint, Rung::None]);
    let prepared = (rung(), of(text()), of(summary()))
        .prop_map(|(rung, seal, before)| Box::new(Prepared { rung, seal, before }));
    let inspection = (summary(), texts(), texts()).prop_map(|(after, changed, forgiven)| {
        Box::new(Inspection {
            after,
            changed,
            forgiven,
        })
    });
    prop_oneof![
        settings().prop_map(Event::SettingsRead),
        (any::<u64>(), told(prepared))
            .prop_map(|(audit, prepared)| Event::AuditPrepared { audit, prepared }),
        (any::<u64>(), told(inspection))
            .prop_map(|(audit, inspection)| Event::WorkspaceInspected { audit, inspection }),
        (rung(), of(text())).prop_map(|(rung, why)| Event::SandboxProbed { rung, why }),
        (any::<u64>(), of_auditor()).prop_map(|(audit, event)| Event::Auditor { audit, event }),
    ]
    .boxed()
}

fn any_event() -> BoxedStrategy<Event> {
    prop_oneof![
        opened(),
        command(),
        answers(),
        tools(),
        runs(),
        of_the_driver()
    ]
    .boxed()
}

proptest! {
    #[test]
    fn any_event_comes_back_from_its_line_as_it_was(given in any_event()) {
        let written = serde_json::to_string(&line(&given)).expect("JSON");
        prop_assert!(!written.contains('\n'), "one line: {written}");
        let read: EventLine = serde_json::from_str(&written).expect("a line of ours");
        prop_assert_eq!(event(read), Some(given));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(DRIVES))]

    #[test]
    fn whatever_the_engine_is_told_is_replayed_to_the_same_effects(
        settings in settings(),
        first in opened(),
        events in vec((any_event(), 0_u64..100_000, any::<u64>()), 0..40),
    ) {
        let mut engine = Engine::new(settings.clone());
        let mut recorder =
            Recorder::start(Vec::new(), &settings, "0.1.0", TRACE_MAX_BYTES).expect("memory");
        let mut now = 0;
        for (event, later, fresh) in std::iter::once((first, 1, 2)).chain(events) {
            now += later;
            let clocks = Clocks { now: Monotonic(now), wall: WallClock(now), fresh };
            recorder.event(clocks, &event);
            let mut effects = Vec::new();
            engine.handle(clocks, event, &mut effects);
            recorder.effects(&effects).expect("memory");
        }
        let replay = replay(recorder.out().as_slice()).expect("a trace");
        prop_assert_eq!(replay.difference, None);
    }
}
