//! Every text a person reads, except the command line's own: what happened, why, what to do.
//!
//! Whatever others wrote (objective, provider's words, report) goes through the display filter.

use goal_audit::{AuditDeadline, Failure, OpenFailure};
use goal_prompts::safe::{for_display, for_display_block};
use goal_state::{
    AuditOutcome, DEAD_CALLS_MAX, ERRORED_RUNS_MAX, Goal, IDLE_TURNS_MAX, ModelErrorKind, ModelRef,
    Monotonic, NoVerdictWhy, OBJECTIVE_MAX_BYTES, Objective, ObjectiveError, PauseReason, Phase,
    Stop,
};

use crate::effect::{AuditRecord, Rung, WayOn};
use crate::engine::Engine;
use crate::event::{FileTrouble, Inspection, LastAudit};
use crate::status::Doing;

/// Columns of an objective inside a sentence.
const OBJECTIVE_COLUMNS: usize = 80;
/// Characters of a quote (a provider's message, a reply, a report) in a notice.
const QUOTE_MAX_CHARS: usize = 1_200;
/// Columns of one line of a quote.
const LINE_COLUMNS: usize = 300;

/// Who reads what can be done: editing and accepting need a person who can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Someone at a user interface.
    Person,
    /// A script.
    Script,
}

fn objective(goal: &Goal) -> String {
    for_display(goal.objective(), OBJECTIVE_COLUMNS)
}

fn model(model: &ModelRef) -> String {
    for_display(&model.to_string(), OBJECTIVE_COLUMNS)
}

fn quote(text: &str) -> String {
    for_display_block(text.trim(), QUOTE_MAX_CHARS)
}

fn line(text: &str) -> String {
    for_display(text, LINE_COLUMNS)
}

/// The text of a paused goal's stop; `None` while it is not paused.
pub(crate) fn stopped(goal: &Goal, last_audit: Option<&LastAudit>, asker: Asker) -> Option<String> {
    let Phase::Paused(stop) = goal.phase() else {
        return None;
    };
    let what = what_happened_in_words(stop, goal, last_audit, quote);
    let remedy = remedy(stop).map(|text| format!("{text}\n"));
    Some(format!(
        "{what}\n{}{}",
        remedy.unwrap_or_default(),
        ways_on(goal, asker)
    ))
}

fn what_happened_in_words(
    stop: &Stop,
    goal: &Goal,
    last_audit: Option<&LastAudit>,
    quote: fn(&str) -> String,
) -> String {
    let what = what_happened(stop, goal, last_audit);
    let quoted = stop
        .detail
        .as_deref()
        .filter(|_| quotes_detail(&stop.reason));
    let quoted = quoted.map(|text| format!("\n{}", quote(text)));
    format!("Goal paused: {what}{}", quoted.unwrap_or_default())
}

const fn quotes_detail(reason: &PauseReason) -> bool {
    match reason {
        PauseReason::NoProgress
        | PauseReason::Repetition
        | PauseReason::ModelErrors(_)
        | PauseReason::Rejections
        | PauseReason::AuditFailures(_)
        | PauseReason::AuditLimit => true,
        PauseReason::User
        | PauseReason::Aborted
        | PauseReason::ContinuationLimit
        | PauseReason::ToolsOff
        | PauseReason::CoreLost => false,
    }
}

fn what_happened(stop: &Stop, goal: &Goal, last_audit: Option<&LastAudit>) -> String {
    match &stop.reason {
        PauseReason::User => "you paused it.".to_owned(),
        PauseReason::Aborted => "you stopped the run (Esc or abort).".to_owned(),
        PauseReason::NoProgress => no_progress(stop, goal),
        PauseReason::Repetition => format!(
            "the agent ended {} runs in a row with the same words:",
            goal.totals.repeat_streak
        ),
        PauseReason::ModelErrors(kind) => model_errors(*kind, stop),
        PauseReason::Rejections => format!(
            "the auditor refused {}{}. Either the work is not done, or the auditor is too weak or \
             misconfigured for this objective.{}",
            times(goal.totals.rejection_streak.max(goal.totals.refusal_streak)),
            auditor_words(last_audit),
            heading(stop, " Its last objection:")
        ),
        PauseReason::AuditFailures(kind) => audit_failures(kind, stop, goal, last_audit),
        PauseReason::ContinuationLimit => format!(
            "it was continued {}, the limit ({}).",
            match goal.totals.continuations {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            },
            if goal.gate().own_limit {
                "yours for this goal, /goal limit"
            } else {
                "maxContinuations"
            }
        ),
        PauseReason::AuditLimit => format!(
            "{} brought no approval, the limit (maxAudits){}.{}",
            match goal.totals.audits {
                1 => "one audit".to_owned(),
                count => format!("{count} audits"),
            },
            auditor_words(last_audit),
            heading(stop, " The last report:")
        ),
        PauseReason::ToolsOff => "the tools get_goal and update_goal are not active, so the agent \
                                  could never finish it."
            .to_owned(),
        PauseReason::CoreLost => {
            "the goal-auditor core was lost twice within ten minutes.".to_owned()
        }
    }
}

fn heading(stop: &Stop, words: &str) -> String {
    stop.detail
        .as_ref()
        .map(|_| words.to_owned())
        .unwrap_or_default()
}

fn auditor_words(last: Option<&LastAudit>) -> String {
    last.map(|last| {
        format!(
            " (auditor: {})",
            for_display(&last.model, OBJECTIVE_COLUMNS)
        )
    })
    .unwrap_or_default()
}

fn no_progress(stop: &Stop, goal: &Goal) -> String {
    if goal.totals.empty_streak >= goal.gate().max_empty_continuations {
        let heading = if stop.detail.is_some() {
            " Its last reply:"
        } else {
            ""
        };
        let runs = match goal.totals.empty_streak {
            1 => "the last run".to_owned(),
            count => format!("{count} runs in a row"),
        };
        format!("{runs} did no work.{heading}")
    } else {
        format!("{IDLE_TURNS_MAX} turns in a row inside one run did no work.")
    }
}

fn model_errors(kind: ModelErrorKind, stop: &Stop) -> String {
    let what = match kind {
        ModelErrorKind::ContextOverflow => {
            "the conversation no longer fits into the model's context.".to_owned()
        }
        ModelErrorKind::Authentication => {
            "the provider does not accept the credentials.".to_owned()
        }
        ModelErrorKind::Quota => "the provider's quota or balance is used up.".to_owned(),
        ModelErrorKind::UnknownModel => "the provider does not know the model.".to_owned(),
        ModelErrorKind::Transient => {
            format!("{ERRORED_RUNS_MAX} runs in a row ended in an error of the model.")
        }
    };
    format!("{what}{}", heading(stop, " The provider says:"))
}

fn audit_failures(kind: &str, stop: &Stop, goal: &Goal, last_audit: Option<&LastAudit>) -> String {
    let (refused, failed) = (goal.totals.rejection_streak, goal.totals.failure_streak);
    let judged = match refused {
        0 => "the work itself was not judged".to_owned(),
        count => format!("{count} of them refused the work"),
    };
    let audits = match refused.saturating_add(failed) {
        1 => "the last audit ended without approval,".to_owned(),
        count => format!("{count} audits in a row brought no approval, the last one"),
    };
    format!(
        "{audits} {}{}. The auditor may be misconfigured or too weak, or its provider may be failing; \
         {judged}.{}",
        audit_failure_words(kind),
        auditor_words(last_audit),
        heading(stop, " The last one's own words:")
    )
}

fn audit_failure_words(kind: &str) -> &'static str {
    match kind {
        "provider_error" => "with an error of its provider",
        "missing_credentials" => "for want of credentials",
        "missing_model" => "because its model is not there",
        "idle_timeout" => "because it fell silent (idleTimeoutMs)",
        "timeout" => "because it took too long (timeoutMs)",
        "core_lost" => "because the core was lost",
        "session_error" => "because its session broke",
        "sandbox_unavailable" => "because it could not be sealed or the workspace not be looked at",
        "workspace_changed" | "workspace" => "because the workspace changed while it ran",
        "hollow_approval" => "with an approval that rests on no check",
        _ => "without a readable verdict",
    }
}

/// What has to be done, or should be, before a stopped goal goes on.
fn remedy(stop: &Stop) -> Option<&'static str> {
    Some(match &stop.reason {
        PauseReason::ModelErrors(ModelErrorKind::ContextOverflow) => "Run /compact first.",
        PauseReason::ModelErrors(ModelErrorKind::Authentication) => {
            "Log in with /login or choose another model with /model."
        }
        PauseReason::ModelErrors(ModelErrorKind::Quota | ModelErrorKind::UnknownModel) => {
            "Choose another model with /model, or settle it with the provider."
        }
        PauseReason::Rejections | PauseReason::AuditLimit => {
            "Look at the objections; tell the agent what it misses, or set another auditor in \
             goal-auditor.json."
        }
        PauseReason::AuditFailures(kind) => audit_failure_advice(kind),
        PauseReason::NoProgress | PauseReason::Repetition => {
            "Answer its question or say what to try next."
        }
        PauseReason::ToolsOff => {
            "Start pi without a --tools list that leaves them out, or turn off the extension that \
             deactivates them."
        }
        PauseReason::CoreLost => "If it happens again, run /reload.",
        PauseReason::ContinuationLimit => "Look at what it has done so far; resuming counts anew.",
        PauseReason::User
        | PauseReason::Aborted
        | PauseReason::ModelErrors(ModelErrorKind::Transient) => return None,
    })
}

/// The commands that fit a goal at rest as it stands, in one line.
fn ways_on(goal: &Goal, asker: Asker) -> String {
    let Fitting { change, why } = fitting(goal.phase());
    let person = change && asker == Asker::Person;
    let ways = [
        (true, "/goal resume goes on"),
        (person, "/goal edit changes the objective"),
        (person, "/goal accept takes the work as it is"),
        (true, "/goal clear drops the goal"),
        (why, "/goal why tells it all"),
    ];
    let fit = ways.iter().filter(|(fits, _)| *fits).map(|(_, way)| *way);
    format!("{}.", fit.collect::<Vec<_>>().join(", "))
}

/// Which commands are to the point besides going on and dropping the goal.
struct Fitting {
    /// Another objective, or the user's own judgement, may be the answer.
    change: bool,
    /// There is more to read than the stop's text shows.
    why: bool,
}

const fn fitting(phase: &Phase) -> Fitting {
    let (change, why) = match phase {
        Phase::Paused(stop) => match &stop.reason {
            PauseReason::Rejections | PauseReason::AuditFailures(_) | PauseReason::AuditLimit => {
                (true, true)
            }
            PauseReason::User
            | PauseReason::Aborted
            | PauseReason::NoProgress
            | PauseReason::Repetition
            | PauseReason::ContinuationLimit => (true, false),
            PauseReason::ModelErrors(_) | PauseReason::ToolsOff | PauseReason::CoreLost => {
                (false, false)
            }
        },
        Phase::Held | Phase::Pursuing => (true, false),
    };
    Fitting { change, why }
}

/// The title of a choice of ways on.
pub(crate) fn offer_title(goal: &Goal) -> String {
    format!(
        "The goal is {}. What next?",
        state_in_short(goal, Doing::Working)
    )
}

/// A line of that choice.
pub(crate) fn offered_way(way: WayOn) -> String {
    let words = match way {
        WayOn::Resume => "Resume the goal",
        WayOn::Edit => "Edit the objective",
        WayOn::Accept => "Accept the work as it is",
        WayOn::Clear => "Clear the goal",
        WayOn::NotNow => "Not now",
    };
    words.to_owned()
}

fn audit_failure_advice(kind: &str) -> &'static str {
    match kind {
        "timeout" | "idle_timeout" => {
            "Give it more time or choose a faster auditor (goal-auditor.json)."
        }
        "core_lost" => "If it happens again, run /reload.",
        _ => "Check the auditor's model and credentials (goal-auditor.json).",
    }
}

/// One line about a stop, for the end of a tool result.
pub(crate) fn stopped_in_short(goal: &Goal) -> String {
    match goal.phase() {
        Phase::Paused(stop) => format!("The goal is paused ({}).", stop.reason.name()),
        Phase::Pursuing | Phase::Held => "The goal does not go on by itself.".to_owned(),
    }
}

/// Why a run ends at a third dead call, for the model.
pub(crate) const DEAD_CALLS_END: &str =
    "The goal tools were called several times in a row although they could do nothing.";

/// The same for the user.
pub(crate) fn dead_calls_ended_the_run(goal: Option<&Goal>, asker: Asker) -> String {
    let way = match goal {
        None => "No goal is set; /goal and a text sets one.".to_owned(),
        Some(goal) if goal.is_pursuing() => "The goal as it is now starts by itself.".to_owned(),
        Some(goal) => ways_on(goal, asker),
    };
    format!(
        "The run was ended: the agent called the goal tools {DEAD_CALLS_MAX} times in a row although \
         no goal is pursued in it. {way}"
    )
}

/// A run ended in a model error, and starts again.
pub(crate) fn backs_off(ms: u64, error: &str) -> String {
    let error = if error.trim().is_empty() {
        "no message".to_owned()
    } else {
        line(error)
    };
    format!(
        "The model failed: {error}\nThe goal goes on in {} s. /goal resume goes on now, /goal \
         pause stops it.",
        ms / 1_000
    )
}

/// A goal that rests, when its session is opened or a run of the user's own ended.
pub(crate) fn still_resting(goal: &Goal, asker: Asker) -> String {
    format!(
        "The goal is {}: {}\n{}",
        state_in_short(goal, Doing::Working),
        objective(goal),
        ways_on(goal, asker)
    )
}

/// A goal found in a session that was left.
/// A headless command ends without approval, and nobody said why: the stop was that of a core that
/// was lost.
pub(crate) fn not_approved(goal: Option<&Goal>, last_audit: Option<&LastAudit>) -> String {
    match goal {
        Some(goal) => stopped(goal, last_audit, Asker::Script)
            .unwrap_or_else(|| still_resting(goal, Asker::Script)),
        None => "There is no goal any more, and none was approved. /goal and a text sets one."
            .to_owned(),
    }
}

pub(crate) fn held(goal: &Goal, asker: Asker) -> String {
    format!(
        "This session has a goal on hold: {}\nNothing runs until you say so.\n{}",
        objective(goal),
        ways_on(goal, asker)
    )
}

/// The session was left during an audit.
pub(crate) fn audit_lost() -> String {
    "The last audit was cut off when the session ended, so its result is lost. After /goal resume the \
     agent can claim completion again."
        .to_owned()
}

/// The core came back.
pub(crate) fn core_restarted() -> String {
    "The goal-auditor core was lost and has been started again; the goal goes on.".to_owned()
}

/// What an audit that was lost with the core says of itself.
pub(crate) fn core_lost_failure() -> String {
    "the goal-auditor core was lost while the audit ran".to_owned()
}

/// A headless process ended with the goal still open.
pub(crate) fn left() -> String {
    "The session ended while the goal was being pursued. Open it again and run /goal resume."
        .to_owned()
}

/// The settings file was changed while a goal is pursued.
pub(crate) fn settings_changed() -> String {
    "The settings of goal-auditor were changed. The goal that is being pursued is judged as it was \
     when you started it; the new settings count from your next /goal resume."
        .to_owned()
}

/// The executor's model was changed, the auditor's was not.
pub(crate) fn auditor_stays(auditor: &ModelRef) -> String {
    format!(
        "The goal's auditor stays {}; the new model audits from your next /goal resume.",
        model(auditor)
    )
}

/// A newer version wrote this branch.
pub(crate) fn newer_version() -> String {
    "This session's goal was saved by a newer version of goal-auditor. Update goal-auditor, or use \
     another session; nothing is written over it."
        .to_owned()
}

/// The goal starts when the host is done.
pub(crate) fn starts_later() -> String {
    "It starts as soon as pi has finished what it is doing.".to_owned()
}

/// The user started a goal.
pub(crate) fn started(engine: &Engine) -> String {
    let Some(goal) = &engine.goal else {
        return String::new();
    };
    let same = engine.host.model.as_ref() == Some(&goal.gate().model);
    let own = if same {
        ", the agent's own model in a session of its own"
    } else {
        ""
    };
    format!(
        "Goal set: {}\nAuditor: {}{own}. /goal pause stops it, /goal shows how it stands.",
        objective(goal),
        model(&goal.gate().model)
    )
}

/// The user resumed a goal.
pub(crate) fn resumed(goal: Option<&Goal>) -> String {
    goal.map(|goal| {
        format!(
            "Goal resumed: {}\nAuditor: {}.",
            objective(goal),
            model(&goal.gate().model)
        )
    })
    .unwrap_or_default()
}

/// `/goal pause` without a goal that is pursued.
pub(crate) fn nothing_to_pause(goal: Option<&Goal>, asker: Asker) -> String {
    match goal {
        None => "There is no goal to pause. /goal and a text sets one.".to_owned(),
        Some(goal) => format!(
            "The goal is {} already. {}",
            state_in_short(goal, Doing::Working),
            ways_on(goal, asker)
        ),
    }
}

/// `/goal clear` without a goal.
pub(crate) fn nothing_to_clear() -> String {
    "There is no goal to clear.".to_owned()
}

/// `/goal clear` with one.
pub(crate) fn cleared(goal: &Goal) -> String {
    format!("Goal cleared: {}", objective(goal))
}

/// `/goal resume` without a goal.
pub(crate) fn no_goal_to_resume() -> String {
    "There is no goal to resume. /goal and a text sets one.".to_owned()
}

/// `/goal resume` while the goal waits for pi.
pub(crate) fn starts_soon() -> String {
    "The goal starts as soon as pi has finished what it is doing.".to_owned()
}

/// `/goal resume` while it is pursued.
pub(crate) fn already_pursued() -> String {
    "The goal is being pursued already. /goal shows how it stands.".to_owned()
}

/// `/goal set` alone.
pub(crate) fn nothing_to_set() -> String {
    "Nothing to set: write the objective behind it, for example /goal set make the tests pass."
        .to_owned()
}

/// An objective that is none.
pub(crate) fn bad_objective(error: ObjectiveError) -> String {
    match error {
        ObjectiveError::Blank => nothing_to_set(),
        ObjectiveError::TooLong(bytes) => format!(
            "The objective is too long: {bytes} bytes, at most {OBJECTIVE_MAX_BYTES}. Put it into a \
             file and set a goal that names the file, for example /goal do what TASK.md says."
        ),
    }
}

/// A new goal over an old one, with nobody to ask.
pub(crate) fn goal_in_the_way(goal: &Goal) -> String {
    format!(
        "There is a goal already ({}): {}\nRun /goal clear first, then set the new one; or /goal \
         resume to go on with it.",
        state_in_short(goal, Doing::Working),
        objective(goal)
    )
}

/// More open questions than a person asks.
pub(crate) fn too_many_questions() -> String {
    "Too many questions about replacing the goal are open. Answer one first.".to_owned()
}

/// The question before a goal is replaced.
pub(crate) fn replace_question(goal: &Goal, new: &Objective) -> (String, String) {
    let title = "Replace the goal?".to_owned();
    let message = format!(
        "Old ({}): {}\nNew: {}",
        state_in_short(goal, Doing::Working),
        objective(goal),
        for_display(new.as_str(), OBJECTIVE_COLUMNS)
    );
    (title, message)
}

/// The question was answered with no, or not at all.
pub(crate) fn goal_kept() -> String {
    "The goal was kept as it is.".to_owned()
}

/// Another goal was set before the question was answered.
pub(crate) fn another_goal_meanwhile() -> String {
    "Another goal was set meanwhile, so this one was not. Your text is back in the editor."
        .to_owned()
}

/// Characters of a report, or of another's words, that `/goal why` shows.
const WHY_MAX_CHARS: usize = 8_000;

/// `/goal why`: the last stop or refusal in full, and the ways on.
pub(crate) fn why(engine: &Engine) -> String {
    let Some(goal) = &engine.goal else {
        return if engine.newer_version {
            newer_version()
        } else {
            "No goal is set, so nothing was stopped or refused. /goal and a text sets one."
                .to_owned()
        };
    };
    let mut parts = vec![why_it_stands(engine, goal)];
    parts.extend(why_refused(goal, engine.last_audit.as_ref()));
    if !goal.is_pursuing() {
        parts.push(all_ways_on(engine.asker()));
    }
    parts.join("\n\n")
}

/// Everything that can be done with a goal at rest.
fn all_ways_on(asker: Asker) -> String {
    let person = asker == Asker::Person;
    let ways = [
        (true, "/goal resume goes on"),
        (person, "/goal edit changes the objective"),
        (true, "/goal audit asks the auditor now"),
        (person, "/goal accept takes the work as it is"),
        (true, "/goal clear drops the goal"),
    ];
    let fit = ways.iter().filter(|(fits, _)| *fits).map(|(_, way)| *way);
    format!("Ways on: {}.", fit.collect::<Vec<_>>().join(" · "))
}

fn why_it_stands(engine: &Engine, goal: &Goal) -> String {
    match goal.phase() {
        Phase::Pursuing => format!(
            "The goal did not stop: {}.",
            state_in_short(goal, crate::status::doing(engine))
        ),
        Phase::Held => "The goal is on hold, because its session was left while it was pursued. \
                        Nothing runs until you say so."
            .to_owned(),
        Phase::Paused(stop) => {
            let last = engine.last_audit.as_ref();
            let what = what_happened_in_words(stop, goal, last, quote_in_full);
            let remedy = remedy(stop).map(|text| format!("\n{text}"));
            format!("{what}{}", remedy.unwrap_or_default())
        }
    }
}

/// The newest refusal or failed audit, or the objection that is still open.
fn why_refused(goal: &Goal, last: Option<&LastAudit>) -> Option<String> {
    let Some(last) = last.filter(|last| last.outcome != "approved") else {
        return goal.last_objection.as_deref().map(open_objection);
    };
    let failure = last
        .failure
        .as_deref()
        .map(|text| format!("\n{}", quote_in_full(text)));
    let report = if last.report.trim().is_empty() {
        goal.last_objection.as_deref().map(open_objection)
    } else {
        Some(format!(
            "The auditor's report:\n{}",
            quote_in_full(&last.report)
        ))
    };
    Some(format!(
        "{}{}{}",
        last_audit_line(last),
        failure.unwrap_or_default(),
        report.map(|text| format!("\n{text}")).unwrap_or_default()
    ))
}

fn open_objection(text: &str) -> String {
    format!("The auditor's last objection:\n{}", quote_in_full(text))
}

fn quote_in_full(text: &str) -> String {
    for_display_block(text.trim(), WHY_MAX_CHARS)
}

/// `/goal limit` without a goal.
pub(crate) fn nothing_to_limit() -> String {
    "There is no goal whose continuations could be limited. The limit of new goals is \
     maxContinuations in goal-auditor.json."
        .to_owned()
}

fn limit_words(limit: Option<u32>) -> String {
    match limit {
        None => "no limit".to_owned(),
        Some(1) => "1 continuation".to_owned(),
        Some(limit) => format!("{limit} continuations"),
    }
}

/// `/goal limit` alone.
pub(crate) fn limit(goal: &Goal) -> String {
    format!(
        "The limit of this goal: {}; {} used since start or resume. /goal limit and a number sets \
         another one, /goal limit 0 turns it off.",
        limit_words(goal.gate().max_continuations),
        goal.totals.continuations
    )
}

/// `/goal limit N`.
pub(crate) fn limit_set(goal: &Goal, old: Option<u32>) -> String {
    let new = goal.gate().max_continuations;
    let used = goal.totals.continuations;
    let reached = if new.is_some_and(|new| new <= used) && goal.is_pursuing() {
        " The goal pauses when the run that goes on ends."
    } else {
        ""
    };
    format!(
        "The limit of this goal is now {} (before: {}); {used} used since start or resume. It holds \
         for this goal only, also after /goal resume.{reached}",
        limit_words(new),
        limit_words(old)
    )
}

/// A limit no setting may have either.
pub(crate) fn limit_too_large(max: u32) -> String {
    format!("The limit was left as it is: a whole number from 1 to {max} sets it, 0 turns it off.")
}

/// `/goal accept` without a goal.
pub(crate) fn nothing_to_accept() -> String {
    "There is no goal to accept. /goal and a text sets one.".to_owned()
}

/// `/goal accept` while the goal is pursued.
pub(crate) fn pause_before_accepting() -> String {
    "The goal is being pursued. Stop it with /goal pause first, then /goal accept takes the work as it \
     is."
        .to_owned()
}

/// `/goal accept` with nobody to ask.
pub(crate) fn accepting_needs_a_person() -> String {
    "Only a person can accept a goal in place of the auditor: open this session in pi's terminal and \
     type /goal accept there. /goal clear drops the goal without accepting it."
        .to_owned()
}

/// The question before the user's own judgement ends a goal.
pub(crate) fn accept_question(goal: &Goal, last: Option<&LastAudit>) -> (String, String) {
    let verdict = last.map_or_else(
        || "It was never audited.".to_owned(),
        |last| format!("{}.", last_audit_line(last)),
    );
    let message = format!(
        "{}\n{verdict}\nIt ends as accepted by you, not as approved.",
        objective(goal)
    );
    ("Accept the goal as it is?".to_owned(), message)
}

/// The user said no.
pub(crate) fn not_accepted() -> String {
    "The goal was not accepted; it is as it was.".to_owned()
}

/// The goal the question was about is not as it was.
pub(crate) fn changed_before_accepted() -> String {
    "The goal changed before you answered, so nothing was accepted. /goal shows how it stands."
        .to_owned()
}

/// The user accepted the goal.
pub(crate) fn accepted(goal: &Goal) -> String {
    format!(
        "Goal accepted by you, without the auditor's approval: {}",
        objective(goal)
    )
}

/// `/goal edit` without a goal.
pub(crate) fn nothing_to_edit() -> String {
    "There is no goal to edit. /goal and a text sets one.".to_owned()
}

/// `/goal edit` with nobody to edit.
pub(crate) fn editing_needs_a_person() -> String {
    "Editing needs an editor, and this pi has none. Run /goal clear and set the goal anew, for example \
     from a file: /goal @TASK.md."
        .to_owned()
}

/// Above the editor.
pub(crate) fn edit_title() -> String {
    "Edit the goal's objective".to_owned()
}

/// The goal ended while its words were edited.
pub(crate) fn gone_before_edited() -> String {
    "The goal ended before you saved, so nothing was changed. Your text is back in the editor: Enter \
     sets it as a new goal."
        .to_owned()
}

/// The objective was edited.
pub(crate) fn edited(goal: &Goal) -> String {
    let way = if goal.is_pursuing() {
        "The agent starts anew with it; what was judged under the old words does not count."
    } else {
        "The goal still rests; /goal resume goes on with the new objective."
    };
    format!("Goal changed: {}\n{way}", objective(goal))
}

/// `/goal config`: every setting with its source, and how to change it.
pub(crate) fn config(engine: &Engine) -> String {
    let rows = &engine.settings.rows;
    let cell = |text: &str| for_display(text, OBJECTIVE_COLUMNS);
    let file = engine.host.config_path.as_deref();
    let rows: Vec<[String; 3]> = rows
        .iter()
        .map(|row| {
            [
                cell(&row.name),
                cell(&row.value),
                source_words(&row.source, file),
            ]
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let (names, values) = (width(0), width(1));
    let pad = |text: &str, width: usize| {
        format!(
            "{text}{}",
            " ".repeat(width.saturating_sub(text.chars().count()))
        )
    };
    let mut lines: Vec<String> = rows
        .iter()
        .map(|[name, value, source]| {
            format!("{}  {}  {source}", pad(name, names), pad(value, values))
        })
        .collect();
    let path = engine.host.config_path.as_deref();
    lines.push(path.map_or_else(
        || "No settings file is read, because pi's agent folder is not known.".to_owned(),
        |path| {
            format!(
                "To change one, write it into {} as {{ \"maxContinuations\": 50 }}; the file is yours, \
                 goal-auditor only reads it.",
                line(path)
            )
        },
    ));
    lines.push(
        "Or set its variable, which goes before the file: PI_GOAL_MAX_CONTINUATIONS=50. Those of \
         maxEmptyContinuations, maxConsecutiveAuditRejections, maxContinuations, maxAudits and trace \
         begin with PI_GOAL_, all others with PI_GOAL_AUDITOR_."
            .to_owned(),
    );
    lines.push(
        "A goal that is pursued keeps what it was started with; changes count from your next /goal \
         resume."
            .to_owned(),
    );
    lines.join("\n")
}

/// Where a setting comes from. The file is named once, below the table.
fn source_words(source: &str, file: Option<&str>) -> String {
    let place = file
        .and_then(|file| {
            source
                .strip_prefix("file:")?
                .strip_prefix(file)?
                .strip_prefix(':')
        })
        .and_then(|place| place.split_once(':'));
    match (place, source.strip_prefix("env:")) {
        (Some((at, _)), _) => format!("file, line {at}"),
        (None, Some(name)) => line(name),
        (None, None) => line(source),
    }
}

/// A file that was to give the objective does not.
pub(crate) fn bad_file(path: &str, trouble: &FileTrouble) -> String {
    let what = match trouble {
        FileTrouble::NotAFile => "is no file but a folder, a pipe or a device".to_owned(),
        FileTrouble::TooLarge(bytes) => format!(
            "is too large for an objective: {bytes} bytes, at most {OBJECTIVE_MAX_BYTES}. Set a goal that \
             names the file instead, for example /goal do what {} says",
            for_display(path, OBJECTIVE_COLUMNS)
        ),
        FileTrouble::NotText => "is no text (UTF-8)".to_owned(),
        FileTrouble::Blank => "is empty".to_owned(),
        FileTrouble::Unreadable(error) => format!("cannot be read: {}", line(error)),
    };
    format!(
        "No goal was set: {} {what}.",
        for_display(path, OBJECTIVE_COLUMNS)
    )
}

/// `/goal report`, done.
pub(crate) fn report_written(text: &str) -> String {
    quote(text)
}

/// `/goal report`, not done.
pub(crate) fn no_report(why: &str) -> String {
    format!("No report was written: {}", quote(why))
}

/// `/goal audit` without a goal.
pub(crate) fn nothing_to_audit() -> String {
    "There is no goal to audit. /goal and a text sets one.".to_owned()
}

/// An audit is under way when another is asked for, or the goal is to go on.
pub(crate) fn audit_is_running() -> String {
    "An audit is running. Wait for its verdict, or stop it with /goal pause.".to_owned()
}

/// `/goal audit`.
pub(crate) fn audit_asked(goal: &Goal, busy: bool) -> String {
    let when = if busy {
        "looks as soon as pi has finished what it is doing"
    } else {
        "is looking at the work now"
    };
    format!(
        "The auditor ({}) {when}. /goal pause stops it.",
        model(&goal.gate().model)
    )
}

/// An audit of a goal at rest was stopped by the user.
pub(crate) fn audit_stopped(goal: &Goal, asker: Asker) -> String {
    format!(
        "The audit was stopped. The goal is {}, as before.\n{}",
        state_in_short(goal, Doing::Working),
        ways_on(goal, asker)
    )
}

/// The goal changed while the user's audit ran.
pub(crate) fn users_audit_stale() -> String {
    "The goal changed while the auditor looked, so that audit does not count.".to_owned()
}

/// The user's audit was lost with the core.
pub(crate) fn users_audit_lost() -> String {
    "The goal-auditor core was lost during the audit and has been started again. /goal audit asks the \
     auditor anew."
        .to_owned()
}

/// The user's audit ended without an approval. A terminal shows the report by itself.
pub(crate) fn audit_told(
    goal: &Goal,
    record: &AuditRecord,
    asker: Asker,
    terminal: bool,
) -> String {
    let details = &record.details;
    let words = record
        .failure
        .clone()
        .or_else(|| no_verdict_words(&details.outcome));
    let words = words
        .map(|text| format!(": {}", line(&text)))
        .unwrap_or_default();
    let report = if terminal || details.report.trim().is_empty() {
        String::new()
    } else {
        format!("\n{}", quote(&details.report))
    };
    let way = if goal.is_pursuing() {
        "The agent goes on with this; /goal why shows it in full.".to_owned()
    } else {
        format!(
            "The goal is {}, as before; /goal why shows this in full.\n{}",
            state_in_short(goal, Doing::Working),
            ways_on(goal, asker)
        )
    };
    format!(
        "Audit {} by {}: {}{words}.{report}\n{way}",
        record.number,
        model(&details.model),
        details.outcome.name().replace('_', " "),
    )
}

/// `/goal help`.
pub(crate) fn help() -> String {
    "\
/goal <objective>    set a goal; the agent works until an independent auditor approves
/goal @<file>        the same, with the objective from a file
/goal                how the goal stands (also: status)
/goal pause          stop working on it (also: stop, off)
/goal resume         go on
/goal clear          drop the goal (also: cancel)
/goal why            the last stop or refusal in full, with the ways on
/goal audit          ask the auditor now, without the agent claiming to be done
/goal edit           change the objective in an editor
/goal limit <number> how often this goal may be continued (0: no limit)
/goal accept         take the work as it is, after a stop; not an approval
/goal config         the settings, where they come from and how to change them
/goal report [path]  write what happened into a file ending .html, .md or .json
/goal set <text>     set a goal even if the text looks like a command (also: -- <text>)
/goal help           this list"
        .to_owned()
}

/// Phase and reason in a few words.
pub(crate) fn state_in_short(goal: &Goal, doing: Doing) -> String {
    const AUDITING: &str = "audit running";
    let at_rest = |words: String| match doing {
        Doing::Auditing => format!("{words} · {AUDITING}"),
        Doing::Working | Doing::BackingOff | Doing::Waiting => words,
    };
    match goal.phase() {
        Phase::Held => at_rest("on hold".to_owned()),
        Phase::Paused(stop) => at_rest(format!("paused ({})", reason_words(&stop.reason))),
        Phase::Pursuing => {
            let limit = goal.gate().max_continuations;
            let limit = limit.map(|limit| format!("/{limit}")).unwrap_or_default();
            let run = format!("continuation {}{limit}", goal.totals.continuations);
            match doing {
                Doing::Working => format!("pursuing · {run}"),
                Doing::Auditing => AUDITING.to_owned(),
                Doing::BackingOff => format!("waiting after a model error · {run}"),
                Doing::Waiting => "waiting for pi".to_owned(),
            }
        }
    }
}

/// Phase and reason, without numbers.
pub(crate) fn phase_words(goal: &Goal, doing: Doing) -> String {
    match (goal.phase(), doing) {
        (Phase::Pursuing, Doing::Working) => "pursuing".to_owned(),
        (Phase::Pursuing, Doing::BackingOff) => "waiting after a model error".to_owned(),
        (_, Doing::Auditing) => "audit running".to_owned(),
        (Phase::Pursuing, Doing::Waiting) | (Phase::Held | Phase::Paused(_), _) => {
            state_in_short(goal, doing)
        }
    }
}

/// What a goal's widget counts, most important first.
pub(crate) fn counts(goal: &Goal, last: Option<&LastAudit>) -> Vec<String> {
    let totals = &goal.totals;
    let limit = goal.gate().max_continuations;
    let run = match totals.continuations {
        0 => "first run".to_owned(),
        count => format!("continuation {count}{}", of_limit(limit)),
    };
    let verdict = last.map(|last| format!("last audit {}", verdict_words(last)));
    let audits = (totals.audits > 0).then(|| format!("audits {}", totals.audits));
    [Some(run), verdict, audits].into_iter().flatten().collect()
}

fn verdict_words(last: &LastAudit) -> &'static str {
    match last.outcome.as_str() {
        "approved" => "approved",
        "disapproved" => "refused",
        "no_verdict" => "without a verdict",
        "aborted" => "broken off",
        "stale" => "out of date",
        _ => "failed",
    }
}

const fn reason_words(reason: &PauseReason) -> &'static str {
    match reason {
        PauseReason::User => "by you",
        PauseReason::Aborted => "stopped by you",
        PauseReason::NoProgress => "no progress",
        PauseReason::Repetition => "repetition",
        PauseReason::ModelErrors(_) => "model errors",
        PauseReason::Rejections => "auditor refused",
        PauseReason::AuditFailures(_) => "audits failed",
        PauseReason::ContinuationLimit => "continuation limit",
        PauseReason::AuditLimit => "audit limit",
        PauseReason::ToolsOff => "goal tools off",
        PauseReason::CoreLost => "core lost",
    }
}

/// `/goal` and `/goal status`.
pub(crate) fn status(engine: &Engine) -> String {
    let mut lines = Vec::new();
    match &engine.goal {
        None if engine.newer_version => lines.push(newer_version()),
        None => lines.push("No goal is set. /goal and a text sets one.".to_owned()),
        Some(goal) => push_goal_lines(engine, goal, &mut lines),
    }
    if !engine.settings.changed.is_empty() {
        lines.push(format!(
            "Settings: {}",
            line(&engine.settings.changed.join(", "))
        ));
    }
    let path = engine
        .host
        .config_path
        .as_deref()
        .unwrap_or("(no agent directory, so none is read)");
    lines.push(format!("Settings file: {}", line(path)));
    lines.join("\n")
}

fn push_goal_lines(engine: &Engine, goal: &Goal, lines: &mut Vec<String>) {
    let totals = &goal.totals;
    let doing = crate::status::doing(engine);
    lines.push(format!(
        "Goal {}: {}",
        goal.id(),
        state_in_short(goal, doing)
    ));
    lines.push(format!(
        "Objective: {}",
        for_display(goal.objective(), LINE_COLUMNS)
    ));
    lines.push(format!(
        "Active {} · continuations {}{} · audits {}{}",
        duration(goal.active_ms(engine.clocks.now)),
        totals.continuations,
        of_limit(goal.gate().max_continuations),
        totals.audits,
        of_limit(goal.gate().max_audits),
    ));
    let streaks: Vec<String> = [
        ("runs without work", totals.empty_streak),
        ("runs with an error", totals.errored_streak),
        (
            "equal replies",
            if totals.repeat_streak > 1 {
                totals.repeat_streak
            } else {
                0
            },
        ),
        ("refusals", totals.rejection_streak),
        ("failed audits", totals.failure_streak),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| format!("{name} {count}"))
    .collect();
    if !streaks.is_empty() {
        lines.push(format!("In a row: {}", streaks.join(", ")));
    }
    lines.push(auditor_line(engine, goal));
    if let Some((rung, _)) = &engine.sandbox {
        lines.push(format!("Audits: {}", rung_words(*rung)));
    }
    if let Some(last) = &engine.last_audit {
        lines.push(last_audit_line(last));
    }
    let asker = engine.asker();
    if let Some(text) = stopped(goal, engine.last_audit.as_ref(), asker) {
        lines.push(text);
    } else if *goal.phase() == Phase::Held {
        lines.push(ways_on(goal, asker));
    }
}

fn of_limit(limit: Option<u32>) -> String {
    limit
        .map(|limit| format!(" of {limit}"))
        .unwrap_or_default()
}

fn auditor_line(engine: &Engine, goal: &Goal) -> String {
    let gate = goal.gate();
    if gate.is_undecided() {
        return "Auditor: as the settings say at /goal resume or /goal audit".to_owned();
    }
    let own = engine.host.model.as_ref() == Some(&gate.model);
    let own = if own {
        " (the agent's own model, in a session of its own)"
    } else {
        ""
    };
    let level = gate
        .thinking_level
        .as_ref()
        .map(|level| format!(", thinking {level}"));
    format!(
        "Auditor: {}{}{own}",
        model(&gate.model),
        level.unwrap_or_default()
    )
}

fn last_audit_line(last: &LastAudit) -> String {
    let why = last
        .why
        .as_ref()
        .map(|why| format!(" ({why})"))
        .unwrap_or_default();
    format!(
        "Last audit: {}{why} by {}, {} successful check{}",
        last.outcome,
        for_display(&last.model, OBJECTIVE_COLUMNS),
        last.successes,
        if last.successes == 1 { "" } else { "s" },
    )
}

/// The auditor approved.
pub(crate) fn approved(goal: &Goal, record: &AuditRecord, now: Monotonic) -> String {
    let checks = record
        .details
        .checks
        .iter()
        .filter(|check| check.ok)
        .count();
    format!(
        "Goal complete: {}\nApproved by {} after {checks} successful check{} in {}; the goal was \
         active for {}.",
        objective(goal),
        model(&record.details.model),
        if checks == 1 { "" } else { "s" },
        duration(record.details.duration_ms),
        duration(goal.active_ms(now)),
    )
}

/// One line about an audit in flight.
pub(crate) fn audit_progress(auditor: &ModelRef, checks: u32, in_flight: Option<&str>) -> String {
    let running = in_flight.map(|call| format!(" · {}", for_display(call, OBJECTIVE_COLUMNS)));
    format!(
        "{} is auditing · {checks} check{} done{}",
        model(auditor),
        if checks == 1 { "" } else { "s" },
        running.unwrap_or_default()
    )
}

/// Why an audit could not be made, for the record and the texts.
pub(crate) fn audit_failure(failure: Failure) -> String {
    match failure {
        Failure::Open(OpenFailure::MissingCredentials, message) => {
            format!("no credentials for the auditor's provider: {message}")
        }
        Failure::Open(OpenFailure::MissingModel, message) => {
            format!("the auditor's model is not there: {message}")
        }
        Failure::Open(OpenFailure::Session, message) | Failure::Session(message) => {
            format!("the auditor's session broke: {message}")
        }
        Failure::Provider(message) => message,
        Failure::Expired {
            which,
            limit_ms,
            in_flight,
        } => {
            let what = match which {
                AuditDeadline::Absolute => "timed out: the audit was not finished within",
                AuditDeadline::Idle => {
                    "timed out: the auditor's model fell silent in mid-answer for"
                }
            };
            let setting = match which {
                AuditDeadline::Absolute => "timeoutMs",
                AuditDeadline::Idle => "idleTimeoutMs",
            };
            let call = in_flight.map(|call| format!("; running at that moment: {call}"));
            format!(
                "{what} {limit_ms} ms ({setting}){}",
                call.unwrap_or_default()
            )
        }
    }
}

/// Which seal audits have on this machine.
pub(crate) fn sandbox(rung: Rung, why: Option<&str>) -> String {
    let why = why.map(|why| format!(" A seal is not possible here: {}.", line(why)));
    match rung {
        Rung::Overlay => {
            "Audits are sealed: the auditor may run anything and changes nothing. Its \
                          commands work on throw-away copies."
                .to_owned()
        }
        Rung::Fingerprint => format!(
            "Audits are not sealed, but a changed workspace voids an approval.{}",
            why.unwrap_or_default()
        ),
        Rung::None => "Audits are neither sealed nor watched (sandbox: off).".to_owned(),
    }
}

/// The same in a few words, for status and tool results.
pub(crate) const fn rung_words(rung: Rung) -> &'static str {
    match rung {
        Rung::Overlay => "sealed",
        Rung::Fingerprint => "unsealed, workspace watched",
        Rung::None => "unsealed",
    }
}

/// The workspace was to be watched, and nobody looked.
pub(crate) fn workspace_not_seen() -> String {
    "the workspace could not be looked at before the audit".to_owned()
}

/// The workspace could not be read in time.
pub(crate) fn workspace_too_slow(limit_ms: u64) -> String {
    format!(
        "the workspace could not be looked at within {}",
        duration(limit_ms)
    )
}

/// A sealed audit approved, but the tree is not the one it saw.
pub(crate) fn workspace_changed_by_others(found: &Inspection) -> String {
    format!(
        "the workspace was changed by somebody else while the audit ran, so the approval is for a \
         tree that is gone: {}. Claim again when it is quiet",
        paths(found.changed.iter().chain(&found.forgiven))
    )
}

/// An unsealed audit approved, and the tree changed under it.
pub(crate) fn workspace_changed_by_audit(found: &Inspection) -> String {
    format!(
        "the workspace changed during the audit, by the auditor or by something else, so its \
         approval does not count: {}",
        paths(found.changed.iter())
    )
}

/// What changed during an audit, for the user.
pub(crate) fn workspace_notice(found: &Inspection) -> String {
    let mut text = "The workspace changed during the audit.".to_owned();
    if !found.changed.is_empty() {
        text.push_str(&format!("\nChanged: {}", paths(found.changed.iter())));
    }
    if !found.forgiven.is_empty() {
        text.push_str(&format!(
            "\nBy-products of tests or builds: {}",
            paths(found.forgiven.iter())
        ));
    }
    text
}

/// Paths of a notice, at most so many.
const PATHS_MAX: usize = 10;

fn paths<'a>(all: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<&String> = all.collect();
    let shown: Vec<String> = all.iter().take(PATHS_MAX).map(|path| line(path)).collect();
    let more = all.len().saturating_sub(PATHS_MAX);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("{}{more}", shown.join(", "))
}

/// What was wrong with an answer that is no verdict, in words.
pub(crate) fn no_verdict_words(outcome: &AuditOutcome) -> Option<String> {
    let AuditOutcome::NoVerdict(why) = outcome else {
        return None;
    };
    let words = match why {
        NoVerdictWhy::Empty => "the auditor's answer was empty",
        NoVerdictWhy::NoTag => "the last line of the auditor's answer was no verdict",
        NoVerdictWhy::ExtraText => {
            "the last line of the auditor's answer held more than the verdict"
        }
        NoVerdictWhy::UnfinishedReasoning => "the auditor's answer broke off inside its reasoning",
        NoVerdictWhy::Oversized => "the auditor's answer was too long to be read",
        NoVerdictWhy::Truncated => "output truncated: the auditor's answer hit its output limit",
        NoVerdictWhy::HollowApproval => "the auditor approved without one successful check",
    };
    Some(words.to_owned())
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice in a row".to_owned(),
        count => format!("{count} times in a row"),
    }
}

/// A duration in its two largest units.
fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) if seconds == 0 => format!("{ms} ms"),
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}
