// Generated from crates/protocol by `cargo xtask codegen`. Do not edit.

export const PROTOCOL_VERSION = 2;
export const SAVED_VERSION = 1;
export const TEXTS = {
  getGoalDescription: "Show the goal of this session: its id and phase, the objective in full, how often it was continued and audited, and the auditor's last objections. Changes nothing. Without a goal it says so in one line.",
  getGoalSnippet: "Show the goal of this session in full",
  updateGoalDescription: "Claim that the goal of this session is complete. An independent auditor then inspects the workspace; only its approval completes the goal, and its report comes back as the result. Call this only when every requirement of the objective is met and you have checked each against real evidence. Do not call it to report progress, or because you are stopping or stuck: then keep working, or put your question to the user in plain words. Without a goal it says so in one line.",
  updateGoalSnippet: "Claim that the goal of this session is complete; an independent auditor checks the claim",
  statusDescription: "Always \"complete\"; no other value is accepted.",
  summaryDescription: "What was done for each requirement, and where the auditor can see it: files, commands to run. If the objective asks only for an answer in words, give the answer itself here. The auditor treats this as a claim to be checked, not as evidence.",
  blockedCall: "Not run: the work on the goal stops here, so the remaining calls of this message were skipped. Nothing is wrong with the call itself.",
  coreMissing: "The goal-auditor core is not running, so nothing was audited and the goal is not complete. Please do not call this tool again for now: say what you have done and what is open, and stop. The user can start the core again with /reload and then continue with /goal resume; if that does not help, the goal-auditor binary is missing or damaged and has to be installed again.",
} as const;

/**
 * One line to the core.
 */
export type LineIn = { 
/**
 * The token of the handshake; a line without it is refused.
 */
token: string, 
/**
 * Set when the shim waits for the answer, which carries the same number.
 */
id?: number, 
/**
 * What happened.
 */
event: EventWire, };

/**
 * What happened on the host.
 */
export type EventWire = { "type": "hello", 
/**
 * The shim's protocol version.
 */
protocol: number, 
/**
 * The shim's own version.
 */
shim: string, 
/**
 * pi's agent directory, where the settings file is.
 */
agentDir: string | null, } | { "type": "ping" } | { "type": "session_opened", 
/**
 * Why.
 */
cause: OpenCauseWire, 
/**
 * Our entries on the current branch, newest first, and at most the newest 20,000.
 */
records: Array<RecordWire>, 
/**
 * The newest `update_goal` call on the branch has no result and nothing follows it.
 */
auditLost: boolean, 
/**
 * The user can be asked.
 */
hasUi: boolean, 
/**
 * The user interface is pi's terminal.
 */
terminal: boolean, 
/**
 * The host's model.
 */
model: ModelWire | null, 
/**
 * The working directory.
 */
cwd: string | null, } | { "type": "auditor_closed", 
/**
 * The audit.
 */
audit: number, } | { "type": "session_left" } | { "type": "command", 
/**
 * What follows `/goal`.
 */
text: string, 
/**
 * The host at this moment.
 */
host: HostWire, } | { "type": "confirmed", 
/**
 * The question.
 */
ticket: number, 
/**
 * A clear yes.
 */
yes: boolean, 
/**
 * The host at the moment of the answer.
 */
host: HostWire, } | { "type": "edited", 
/**
 * The question.
 */
ticket: number, 
/**
 * The text; null if it was cancelled.
 */
text: string | null, 
/**
 * The host at that moment.
 */
host: HostWire, } | { "type": "chosen", 
/**
 * The offer.
 */
ticket: number, 
/**
 * The choice; `not_now` without one.
 */
way: WayOnWire, 
/**
 * The host at that moment.
 */
host: HostWire, } | { "type": "tools_checked", 
/**
 * Both tools are active now.
 */
active: boolean, } | { "type": "run_started" } | { "type": "message_arrived", 
/**
 * The goal it was sent for.
 */
tag: TagWire, } | { "type": "user_message" } | { "type": "turn_ended", 
/**
 * The abort signal is set, or the model's answer is an error.
 */
brokenOff: boolean, } | { "type": "tool_finished", 
/**
 * Its name.
 */
tool: string, 
/**
 * The result is an error.
 */
isError: boolean, 
/**
 * It has a `durationMs`.
 */
ran: boolean, 
/**
 * The abort signal is set.
 */
aborted: boolean, 
/**
 * The beginning of the error text.
 */
error: string | null, } | { "type": "tool_invoked", 
/**
 * pi's id of the call.
 */
callId: string, 
/**
 * Which tool.
 */
tool: GoalToolWire, 
/**
 * The status as the model gave it; null when missing.
 */
status: string | null, 
/**
 * The claim.
 */
summary: string | null, 
/**
 * Number of the model turn.
 */
turn: number, 
/**
 * The working directory.
 */
cwd: string, } | { "type": "tool_cancelled", 
/**
 * pi's id of the call.
 */
callId: string, } | { "type": "settling", 
/**
 * The outcome is `error`.
 */
failed: boolean, 
/**
 * The last assistant message has stop reason `aborted`.
 */
providerAborted: boolean, 
/**
 * Its error message.
 */
error: string | null, 
/**
 * The text of the last assistant message.
 */
finalText: string, 
/**
 * Our tools are active.
 */
toolsActive: boolean, 
/**
 * The full goal message of the pursued goal is in the context.
 */
fullMessagePresent: boolean, } | { "type": "proposal_taken", 
/**
 * Its number.
 */
proposal: number, } | { "type": "proposal_yielded", 
/**
 * Its number.
 */
proposal: number, } | { "type": "run_settled", 
/**
 * The run was aborted.
 */
aborted: boolean, 
/**
 * We aborted it.
 */
byUs: boolean, 
/**
 * The message of `start_run` was given to this run and is not in the conversation.
 */
startPending: boolean, 
/**
 * The full goal message is in the context.
 */
fullMessagePresent: boolean, } | { "type": "interrupt" } | { "type": "compaction_started" } | { "type": "compaction_ended", 
/**
 * Cancelled by the user.
 */
cancelled: boolean, 
/**
 * A request follows without a settle boundary.
 */
runGoesOn: boolean, 
/**
 * The host is idle.
 */
idle: boolean, 
/**
 * The full goal message is in the context.
 */
fullMessagePresent: boolean, } | { "type": "model_selected", 
/**
 * The host's model now.
 */
model: ModelWire | null, } | { "type": "auditor", 
/**
 * The audit.
 */
audit: number, 
/**
 * What happened.
 */
event: AuditorEventWire, };

/**
 * Why a session was opened.
 */
export type OpenCauseWire = { "type": "start" } | { "type": "tree" } | { "type": "core_restart", 
/**
 * The goal last named as pursued by `show_status`.
 */
pursued: TagWire | null, 
/**
 * Losses in the last ten minutes, this one included.
 */
recentLosses: number, 
/**
 * A call of `update_goal` was waiting.
 */
auditLost: boolean, 
/**
 * A run is going.
 */
running: boolean, 
/**
 * The full goal message is in the context.
 */
fullMessagePresent: boolean, 
/**
 * A headless command is waiting.
 */
headless: boolean, 
/**
 * The user stopped what was going on, and nothing has run since.
 */
stopped: boolean, };

/**
 * An entry of ours on the branch.
 */
export type RecordWire = { "type": "ours", 
/**
 * Its data, as found.
 */
data: unknown, } | { "type": "message", 
/**
 * Its details, as found.
 */
data: unknown, } | { "type": "predecessor", 
/**
 * Its data, as found.
 */
data: unknown, };

/**
 * The host at the moment of a command.
 */
export type HostWire = { 
/**
 * What the host is doing.
 */
activity: ActivityWire, 
/**
 * The user can be asked.
 */
hasUi: boolean, 
/**
 * The process ends when the command returns (print and JSON mode).
 */
headless: boolean, 
/**
 * The host's model.
 */
model: ModelWire | null, 
/**
 * The host's thinking level.
 */
thinkingLevel: string | null, 
/**
 * Models that are known and have credentials.
 */
models: Array<ModelWire>, 
/**
 * Both tools are active.
 */
toolsActive: boolean, 
/**
 * pi's file of the session, for a report; null where it keeps none.
 */
sessionFile: string | null, };

/**
 * What the host is doing.
 */
export type ActivityWire = "idle" | "running" | "compacting";

/**
 * A way on from a goal's stop.
 */
export type WayOnWire = "resume" | "edit" | "accept" | "clear" | "not_now";

/**
 * A model of the host.
 */
export type ModelWire = { 
/**
 * Its provider.
 */
provider: string, 
/**
 * The provider's id of it.
 */
id: string, 
/**
 * The name shown to people.
 */
name?: string, };

/**
 * Our tools.
 */
export type GoalToolWire = "get_goal" | "update_goal";

/**
 * Something in the auditor's session.
 */
export type AuditorEventWire = { "type": "opened" } | { "type": "open_failed", 
/**
 * Which part failed.
 */
kind: OpenFailureWire, 
/**
 * Why, in the host's words.
 */
message: string, } | { "type": "output" } | { "type": "answer_ended", 
/**
 * Its text parts joined, or what was streamed if it carries none.
 */
text: string, 
/**
 * How it ended.
 */
stop: StopWire, 
/**
 * The provider's error message.
 */
error: string | null, 
/**
 * Token use; zero where the host has none.
 */
usage: UsageWire, } | { "type": "tool_started", 
/**
 * The call's id.
 */
callId: string, 
/**
 * The tool.
 */
tool: string, 
/**
 * Its arguments as JSON, cut.
 */
args: string, } | { "type": "tool_finished", 
/**
 * The call's id.
 */
callId: string, 
/**
 * The tool.
 */
tool: string, 
/**
 * Not an error.
 */
ok: boolean, 
/**
 * `durationMs`; null when it did not run.
 */
ms: number | null, } | { "type": "compaction_started" } | { "type": "compaction_ended", 
/**
 * Token use of the summary.
 */
usage: UsageWire, } | { "type": "retry_started" } | { "type": "retry_ended" } | { "type": "rested" } | { "type": "broke", 
/**
 * Why, in the host's words.
 */
message: string, };

/**
 * Which part of opening an auditor session failed.
 */
export type OpenFailureWire = "missing_credentials" | "missing_model" | "session";

/**
 * How an answer ended.
 */
export type StopWire = "stop" | "toolUse" | "length" | "error" | "aborted";

/**
 * One line to the shim.
 */
export type LineOut = { 
/**
 * The token of the handshake.
 */
token: string, 
/**
 * The number of the line this answers, if the shim waits for it.
 */
id?: number, 
/**
 * To perform in order, synchronously.
 */
effects: Array<EffectWire>, };

/**
 * Something for the shim to do.
 */
export type EffectWire = { "type": "welcome", 
/**
 * The core's protocol version.
 */
protocol: number, 
/**
 * The core's own version.
 */
version: string, } | { "type": "refused", 
/**
 * What does not fit, and what to do.
 */
message: string, } | { "type": "diagnostic", 
/**
 * One line.
 */
message: string, } | { "type": "save_entry", 
/**
 * The entry's data.
 */
entry: EntryWire, } | { "type": "start_run", 
/**
 * The message.
 */
message: MessageWire, } | { "type": "propose", 
/**
 * Its number.
 */
proposal: number, 
/**
 * Continue with this message; null rests.
 */
message: MessageWire | null, 
/**
 * To perform if, and only if, the proposal is taken.
 */
effects: Array<EffectWire>, } | { "type": "send_in_run", 
/**
 * The message.
 */
message: MessageWire, } | { "type": "end_run" } | { "type": "activate_tools" } | { "type": "finish_tool", 
/**
 * pi's id of the call.
 */
callId: string, 
/**
 * What the model reads.
 */
text: string, 
/**
 * It is an error result.
 */
isError: boolean, 
/**
 * No request may follow: `terminate`, block later calls, abort if an earlier one ran.
 */
endsRun: boolean, 
/**
 * The audit as data.
 */
details: AuditDetailsWire | null, 
/**
 * The auditor's token use.
 */
usage: UsageWire | null, } | { "type": "progress", 
/**
 * pi's id of the call.
 */
callId: string | null, 
/**
 * One line, for those who show no more.
 */
text: string, 
/**
 * The audit as it stands.
 */
live: LiveAuditWire, } | { "type": "count_usage", 
/**
 * Whose tokens.
 */
model: ModelWire, 
/**
 * How many, and what they cost.
 */
usage: UsageWire, } | { "type": "open_auditor", 
/**
 * Names the audit.
 */
audit: number, 
/**
 * The waiting call; null when the user waits.
 */
callId: string | null, 
/**
 * The auditor's model.
 */
model: ModelWire, 
/**
 * Its thinking level; null takes the host's.
 */
thinkingLevel: string | null, 
/**
 * The session's system prompt.
 */
systemPrompt: string, 
/**
 * The first prompt.
 */
prompt: string, 
/**
 * Where the audit's seal is joined; null when it has none.
 */
seal: string | null, } | { "type": "prompt_auditor", 
/**
 * The audit.
 */
audit: number, 
/**
 * The text.
 */
text: string, } | { "type": "close_auditor", 
/**
 * The audit.
 */
audit: number, } | { "type": "notify", 
/**
 * How loud.
 */
level: LevelWire, 
/**
 * The text, already safe to display.
 */
text: string, } | { "type": "reply", 
/**
 * How loud.
 */
level: LevelWire, 
/**
 * The text, already safe to display.
 */
text: string, } | { "type": "show_status", 
/**
 * `setStatus`; null clears it.
 */
footer: string | null, 
/**
 * `setWidget` where only text is shown; empty removes it.
 */
widget: Array<string>, 
/**
 * The goal for a terminal; null removes its widget.
 */
goal: GoalFactsWire | null, 
/**
 * The goal that is pursued, for `core_restart`.
 */
pursued: TagWire | null, 
/**
 * A deadline is open: watch the core even while idle.
 */
waiting: boolean, } | { "type": "confirm", 
/**
 * Names the question.
 */
ticket: number, 
/**
 * Title.
 */
title: string, 
/**
 * Message.
 */
message: string, } | { "type": "edit", 
/**
 * Names the question.
 */
ticket: number, 
/**
 * Title.
 */
title: string, 
/**
 * The text to begin with.
 */
text: string, } | { "type": "offer", 
/**
 * Names the offer.
 */
ticket: number, 
/**
 * Title.
 */
title: string, 
/**
 * What can be chosen.
 */
options: Array<OfferedWayWire>, } | { "type": "withdraw", 
/**
 * The offer.
 */
ticket: number, } | { "type": "ring" } | { "type": "restore_input", 
/**
 * What was typed.
 */
text: string, } | { "type": "release", 
/**
 * Exit status 0 instead of 2.
 */
approved: boolean, 
/**
 * For stderr.
 */
reason: string | null, 
/**
 * A report is wanted as by `/goal report`, if the session is in a file.
 */
report: boolean, };

/**
 * One line of an offer.
 */
export type OfferedWayWire = { 
/**
 * What it does.
 */
way: WayOnWire, 
/**
 * Its words; no two of an offer are the same.
 */
label: string, };

/**
 * A message of ours in the conversation (`customType: "goal-auditor"`).
 */
export type MessageWire = { 
/**
 * What the model reads.
 */
content: string, 
/**
 * What the session keeps beside it.
 */
details: MessageDetailsWire, };

/**
 * An audit in flight. Its clock runs on from `elapsedMs` when the line arrives.
 */
export type LiveAuditWire = { 
/**
 * What it is at, in words.
 */
stage: string, 
/**
 * `provider/id`.
 */
model: string, 
/**
 * Milliseconds since it began.
 */
elapsedMs: number, 
/**
 * Milliseconds it may take; null is without a limit.
 */
limitMs: number | null, 
/**
 * Calls that ended without error.
 */
successes: number, 
/**
 * All calls that ended.
 */
checks: number, 
/**
 * The last of them, oldest first.
 */
recent: Array<CheckWire>, 
/**
 * The call that runs.
 */
inFlight: string | null, };

/**
 * A goal for a terminal. Its clock runs on from `activeMs` while it works, is audited or waits.
 */
export type GoalFactsWire = { 
/**
 * Symbol and colour.
 */
mood: MoodWire, 
/**
 * Phase and reason in words.
 */
state: string, 
/**
 * The objective, in one line already safe to display.
 */
objective: string, 
/**
 * What is counted; what does not fit is left out from the end.
 */
counts: Array<string>, 
/**
 * Milliseconds it was pursued.
 */
activeMs: number, };

/**
 * How a goal stands.
 */
export type MoodWire = "working" | "auditing" | "waiting" | "held" | "paused";

/**
 * How loud a notice is; pi's own names.
 */
export type LevelWire = "info" | "warning" | "error";

/**
 * The data of a `custom` entry of type `goal-auditor`.
 */
export type EntryWire = { "kind": "goal", 
/**
 * [`SAVED_VERSION`].
 */
v: number, 
/**
 * The goal, or null when it is gone.
 */
goal: GoalWire | null, 
/**
 * The goal that is gone.
 */
goalId?: string, 
/**
 * How it ended: `cleared`, `approved`, `replaced`, `accepted`.
 */
ended?: string, } | { "kind": "audit", 
/**
 * [`SAVED_VERSION`].
 */
v: number, 
/**
 * The goal it judged.
 */
goalId: string, 
/**
 * Its generation.
 */
generation: number, 
/**
 * Number over the goal's whole life.
 */
number: number, 
/**
 * The user asked for it, and no call of the agent has its result; missing means no.
 */
byUser?: boolean, 
/**
 * `approved`, `disapproved`, `no_verdict`, `failed`, `stale` or `aborted`.
 */
outcome: string, 
/**
 * Its reason.
 */
why?: string, 
/**
 * Why it failed, in the provider's or our words.
 */
failure?: string, 
/**
 * `provider/id`.
 */
model: string, 
/**
 * The auditor's thinking level, if set.
 */
thinkingLevel?: string, 
/**
 * Every tool call.
 */
checks: Array<CheckWire>, 
/**
 * Prompts the auditor was given, reminders included.
 */
attempts: number, 
/**
 * Token use and cost.
 */
usage: UsageWire, 
/**
 * Milliseconds since 1970, UTC.
 */
startedAt: number, 
/**
 * How long it took.
 */
durationMs: number, 
/**
 * Rung of the sandbox ladder: `overlay`, `fingerprint` or `none`.
 */
rung: string, 
/**
 * Fingerprint of the workspace before the first prompt.
 */
before?: FingerprintWire, 
/**
 * Fingerprint of the workspace after the verdict; an approval holds for this tree.
 */
after?: FingerprintWire, 
/**
 * What the goal was judged by.
 */
gate: GateWire, 
/**
 * The full report.
 */
report: string, };

/**
 * A goal at a generation.
 */
export type TagWire = { 
/**
 * The goal's id.
 */
id: string, 
/**
 * Its generation.
 */
generation: number, };

/**
 * A saved goal.
 */
export type GoalWire = { 
/**
 * Unique id.
 */
id: string, 
/**
 * Its generation.
 */
generation: number, 
/**
 * The objective as the user gave it.
 */
objective: string, 
/**
 * `pursuing`, `held` or `paused`.
 */
phase: string, 
/**
 * Name of the reason of a pause.
 */
pauseReason?: string, 
/**
 * The kind inside `model_errors` and `audit_failures`.
 */
pauseKind?: string, 
/**
 * What was said about it: a quote, a provider's message.
 */
pauseDetail?: string, 
/**
 * Milliseconds since 1970, UTC.
 */
createdAt: number, 
/**
 * Text of the last disapproval.
 */
lastObjection?: string, 
/**
 * What the goal is judged by.
 */
gate: GateWire, 
/**
 * Milliseconds spent pursuing.
 */
activeMs: number, 
/**
 * Since start or resume.
 */
continuations: number, 
/**
 * Since start or resume.
 */
audits: number, 
/**
 * Runs in a row without work.
 */
emptyStreak: number, 
/**
 * Runs in a row with a model error.
 */
erroredStreak: number, 
/**
 * Runs in a row with the same final text.
 */
repeatStreak: number, 
/**
 * Disapprovals in a row.
 */
rejectionStreak: number, 
/**
 * Audits in a row without a verdict.
 */
failureStreak: number, 
/**
 * The same claim met by the same objection, in a row.
 */
refusalStreak: number, 
/**
 * A run of the current repetition wrote a file.
 */
repeatWrote: boolean, 
/**
 * Hash of the last final text.
 */
lastText?: string, 
/**
 * Hash of the last refused claim with its objection.
 */
lastRefusal?: string, };

/**
 * What counts up while a goal is pursued; also saved with every continuation.
 */
export type TotalsWire = { 
/**
 * Milliseconds spent pursuing.
 */
activeMs: number, 
/**
 * Since start or resume.
 */
continuations: number, 
/**
 * Since start or resume.
 */
audits: number, 
/**
 * Runs in a row without work.
 */
emptyStreak: number, 
/**
 * Runs in a row with a model error.
 */
erroredStreak: number, 
/**
 * Runs in a row with the same final text.
 */
repeatStreak: number, 
/**
 * Disapprovals in a row.
 */
rejectionStreak: number, 
/**
 * Audits in a row without a verdict.
 */
failureStreak: number, 
/**
 * The same claim met by the same objection, in a row.
 */
refusalStreak: number, 
/**
 * A run of the current repetition wrote a file.
 */
repeatWrote: boolean, 
/**
 * Hash of the last final text.
 */
lastText?: string, 
/**
 * Hash of the last refused claim with its objection.
 */
lastRefusal?: string, };

/**
 * A saved gate. `0` of a limit is off, as in the settings.
 */
export type GateWire = { 
/**
 * The auditor's provider.
 */
provider: string, 
/**
 * The auditor's model.
 */
model: string, 
/**
 * Its thinking level, if set.
 */
thinkingLevel?: string, 
/**
 * Absolute limit in milliseconds.
 */
timeoutMs: number, 
/**
 * Idle limit in milliseconds.
 */
idleTimeoutMs: number, 
/**
 * Runs without work before a pause.
 */
maxEmptyContinuations: number, 
/**
 * Refusals and failures before a pause.
 */
maxConsecutiveAuditRejections: number, 
/**
 * Continuations before a pause.
 */
maxContinuations: number, 
/**
 * The user set that limit for this goal; missing means no.
 */
ownLimit?: boolean, 
/**
 * Audits before a pause.
 */
maxAudits: number, 
/**
 * `require`, `prefer` or `off`.
 */
sandbox: string, 
/**
 * `loopback`, `host` or `off`.
 */
sandboxNetwork: string, 
/**
 * Further hidden paths.
 */
sandboxHide: Array<string>, 
/**
 * Size of the throw-away layer in MiB.
 */
sandboxScratchMb?: number, };

/**
 * Details of a continuation message.
 */
export type MessageDetailsWire = { 
/**
 * [`SAVED_VERSION`].
 */
v: number, 
/**
 * Always `continuation`.
 */
kind: string, 
/**
 * The goal.
 */
goalId: string, 
/**
 * Its generation.
 */
generation: number, 
/**
 * Number since start or resume; 0 is the first message.
 */
seq: number, 
/**
 * The full goal message, not a marker.
 */
full: boolean, 
/**
 * Counters at this moment.
 */
totals: TotalsWire, };

/**
 * A saved audit.
 */
export type AuditWire = { 
/**
 * The goal it judged.
 */
goalId: string, 
/**
 * Its generation.
 */
generation: number, 
/**
 * Number over the goal's whole life.
 */
number: number, 
/**
 * The user asked for it, and no call of the agent has its result; missing means no.
 */
byUser?: boolean, 
/**
 * `approved`, `disapproved`, `no_verdict`, `failed`, `stale` or `aborted`.
 */
outcome: string, 
/**
 * Its reason.
 */
why?: string, 
/**
 * Why it failed, in the provider's or our words.
 */
failure?: string, 
/**
 * `provider/id`.
 */
model: string, 
/**
 * The auditor's thinking level, if set.
 */
thinkingLevel?: string, 
/**
 * Every tool call.
 */
checks: Array<CheckWire>, 
/**
 * Prompts the auditor was given, reminders included.
 */
attempts: number, 
/**
 * Token use and cost.
 */
usage: UsageWire, 
/**
 * Milliseconds since 1970, UTC.
 */
startedAt: number, 
/**
 * How long it took.
 */
durationMs: number, 
/**
 * Rung of the sandbox ladder: `overlay`, `fingerprint` or `none`.
 */
rung: string, 
/**
 * Fingerprint of the workspace before the first prompt.
 */
before?: FingerprintWire, 
/**
 * Fingerprint of the workspace after the verdict; an approval holds for this tree.
 */
after?: FingerprintWire, 
/**
 * What the goal was judged by.
 */
gate: GateWire, 
/**
 * The full report.
 */
report: string, };

/**
 * A workspace at one moment, in few words. Equal digests are equal trees, content included.
 */
export type FingerprintWire = { 
/**
 * `blake3:` and 64 hexadecimal digits, over everything below.
 */
digest: string, 
/**
 * Files.
 */
files: number, 
/**
 * Their bytes.
 */
bytes: number, 
/**
 * Commit of the workspace's own repository.
 */
commit?: string, 
/**
 * Digest of the repositories' HEADs and indexes.
 */
repositories: string, 
/**
 * Digest of the ignore rules in force.
 */
rules: string, 
/**
 * Digests of the tree's parts, by path: they tell where a tree differs.
 */
parts: { [key in string]: string }, };

/**
 * A tool call of the auditor.
 */
export type CheckWire = { 
/**
 * The tool.
 */
tool: string, 
/**
 * Its arguments, cut.
 */
args: string, 
/**
 * It ended without error.
 */
ok: boolean, 
/**
 * How long it ran, in milliseconds.
 */
ms: number, };

/**
 * Details of an `update_goal` result.
 */
export type AuditDetailsWire = { 
/**
 * As in [`AuditWire`].
 */
outcome: string, 
/**
 * As in [`AuditWire`].
 */
why?: string, 
/**
 * `provider/id`.
 */
model: string, 
/**
 * Every tool call.
 */
checks: Array<CheckWire>, 
/**
 * How long it took.
 */
durationMs: number, 
/**
 * The report, cut.
 */
report: string, 
/**
 * As in [`AuditWire`].
 */
rung: string, 
/**
 * The reason of the pause the audit caused.
 */
paused?: string, };

/**
 * Token use in pi's shape, every field present: a usage without cost breaks pi's terminal.
 */
export type UsageWire = { 
/**
 * Prompt tokens.
 */
input: number, 
/**
 * Generated tokens.
 */
output: number, 
/**
 * Read from a cache.
 */
cacheRead: number, 
/**
 * Written to a cache.
 */
cacheWrite: number, 
/**
 * All tokens.
 */
totalTokens: number, 
/**
 * Cost of the parts.
 */
cost: CostWire, };

/**
 * Cost in the provider's currency unit.
 */
export type CostWire = { 
/**
 * Prompt tokens.
 */
input: number, 
/**
 * Generated tokens.
 */
output: number, 
/**
 * Read from a cache.
 */
cacheRead: number, 
/**
 * Written to a cache.
 */
cacheWrite: number, 
/**
 * In all.
 */
total: number, };
