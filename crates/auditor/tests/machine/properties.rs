//! Whatever the auditor's session reports in whatever order.

use goal_audit::{
    Answer, Audit, AuditorEvent, Finding, Limits, OpenFailure, Step, StopKind, Usage,
};
use goal_parser::{Verdict, parse_verdict};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    Event(u64, AuditorEvent),
    Expire(u64),
}

fn any_event() -> impl Strategy<Value = AuditorEvent> {
    let text = prop::sample::select(vec![
        "<approved/>",
        "fine\n<approved/>",
        "**<approved/>**",
        "<disapproved/>",
        "no tag",
        "",
        "<approved/> but",
        "<think>\n<approved/>",
        "<approved/>\n<disapproved/>",
    ]);
    let stop = prop_oneof![
        5 => Just(StopKind::Stop),
        2 => Just(StopKind::ToolUse),
        1 => Just(StopKind::Length),
        1 => Just(StopKind::Error),
        1 => Just(StopKind::Aborted),
    ];
    let call = prop::sample::select(vec!["a", "b"]);
    let answer = (text, stop).prop_map(|(text, stop)| {
        AuditorEvent::AnswerEnded(Answer {
            text: text.to_owned(),
            stop,
            error: None,
            usage: Usage::default(),
        })
    });
    let started = call.clone().prop_map(|call| AuditorEvent::ToolStarted {
        call_id: call.to_owned(),
        tool: "read".to_owned(),
        args: String::new(),
    });
    let finished = (call, any::<bool>(), any::<bool>()).prop_map(|(call, ok, ran)| {
        AuditorEvent::ToolFinished {
            call_id: call.to_owned(),
            tool: "read".to_owned(),
            ok,
            ms: ran.then_some(1),
        }
    });
    prop_oneof![
        8 => answer,
        3 => started,
        3 => finished,
        6 => Just(AuditorEvent::Rested),
        3 => Just(AuditorEvent::Output),
        1 => Just(AuditorEvent::Opened),
        1 => Just(AuditorEvent::CompactionStarted),
        1 => Just(AuditorEvent::CompactionEnded { usage: Usage::default() }),
        1 => Just(AuditorEvent::RetryStarted),
        1 => Just(AuditorEvent::RetryEnded),
        1 => Just(AuditorEvent::Broke { message: "gone".to_owned() }),
        1 => Just(AuditorEvent::OpenFailed { kind: OpenFailure::Session, message: "no".to_owned() }),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    let step = 0_u64..400;
    prop_oneof![
        9 => (step.clone(), any_event()).prop_map(|(ms, event)| Op::Event(ms, event)),
        1 => step.prop_map(Op::Expire),
    ]
}

/// What an approval must rest on, followed from the events alone.
#[derive(Default)]
struct Witness {
    successes: u32,
    /// The newest event that says what the model did last in this attempt.
    last: Option<Answer>,
    reminders: u32,
}

impl Witness {
    fn sees(&mut self, event: &AuditorEvent) {
        if let AuditorEvent::ToolFinished {
            ok: true,
            ms: Some(_),
            ..
        } = event
        {
            self.successes += 1;
        }
        if let AuditorEvent::ToolStarted { .. } = event {
            self.last = None;
        }
        if let AuditorEvent::AnswerEnded(answer) = event {
            self.last = Some(answer.clone());
        }
    }

    fn approves(&self) -> bool {
        self.successes > 0
            && self.last.as_ref().is_some_and(|answer| {
                answer.stop == StopKind::Stop
                    && parse_verdict(&answer.text) == Ok(Verdict::Approved)
            })
    }
}

fn follow(ops: &[Op]) {
    let limits = Limits {
        absolute_ms: Some(5_000),
        idle_ms: Some(300),
    };
    let mut audit = Audit::start(limits, 0);
    let mut witness = Witness::default();
    let (mut now, mut done) = (0, false);
    for op in ops {
        let step = match op {
            Op::Event(ms, event) => {
                now += ms;
                // The engine's law: what is due comes first.
                let due = audit.expire(now);
                if let Step::Done(finding) = &due {
                    assert!(!done && matches!(finding, Finding::Failed(_)));
                    done = true;
                }
                witness.sees(event);
                audit.handle(now, event.clone())
            }
            Op::Expire(ms) => {
                now += ms;
                audit.expire(now)
            }
        };
        assert!(
            !done || step == Step::Wait,
            "a step after the end: {step:?}"
        );
        match &step {
            Step::Done(finding) => {
                done = true;
                assert!(
                    *finding != Finding::Approved || witness.approves(),
                    "approved without cause"
                );
            }
            Step::Remind(_) => {
                witness.reminders += 1;
                witness.last = None;
            }
            Step::Wait => {}
        }
        assert!(witness.reminders <= 2, "a third reminder");
        assert_eq!(audit.deadline().is_none(), done);
        assert!(
            audit.deadline().is_none_or(|(at, _)| at > now),
            "a limit was missed"
        );
        assert!(
            audit.deadline().is_none_or(|(at, _)| at <= 5_000),
            "the absolute limit moved"
        );
        if !done {
            assert_eq!(audit.successes(), witness.successes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_events_approves_without_evidence_and_a_final_approval(
        ops in prop::collection::vec(any_op(), 1..60)
    ) {
        follow(&ops);
    }
}
