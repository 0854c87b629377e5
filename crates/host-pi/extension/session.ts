/** What the shim knows of the session it lives in, and how it reads the session's branch. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { HostWire, MessageDetailsWire, ModelWire, RecordWire, TagWire } from "./wire.ts";

export const CUSTOM_TYPE = "goal-auditor";
export const TOOL_NAMES: readonly string[] = ["get_goal", "update_goal"];
const PREDECESSOR_TYPE = "pi-goal";
const RECORDS_MAX = 20_000;
/** Only the newest readable continuation counts; older ones need not be sent. */
const MESSAGES_MAX = 200;
/** Of the newest audit's report. */
const REPORT_MAX = 8_000;

/** One per factory call; nothing of this is at module level, which outlives a session. */
export interface Session {
  /** False from `session_shutdown` on; then nothing may touch pi any more. */
  alive: boolean;
  ctx: ExtensionContext | undefined;
  /** The goal named as pursued by the last `show_status`. */
  pursued: TagWire | null;
  /** The core has a deadline or an audit open. */
  waiting: boolean;
  /** Between the first `agent_start` since rest and `agent_settled`. */
  running: boolean;
  /** Details of the message that a run was asked for with and that is not in the context yet. */
  starting: MessageDetailsWire | undefined;
  /** The goal whose full message was found in the context; undefined once that may have changed. */
  fullSeen: TagWire | undefined;
  /** The run was aborted by us. */
  abortedByUs: boolean;
  /** The user stopped what was going on; the core has not answered to it, and nothing of the goal was started since. */
  stopped: boolean;
  /** The command that was typed and is not answered yet. */
  asking: boolean;
  /** Changes of the place in the session's tree that the core has not answered to: what it asks for is of another branch. */
  moves: number;
  /** The run is being ended: what is left of the batch is blocked. */
  ending: boolean;
  /** Calls of this turn that terminate it. */
  terminated: Set<string>;
  /** A call of this batch has finished. */
  batchRan: boolean;
  /** A call of this turn did work. */
  turnWorked: boolean;
  turn: number;
  /** The turn is going, or nobody has said yet that it is over. */
  turnOpen: boolean;
  /** The answer of this turn was broken off, by an error or an abort. */
  turnBroke: boolean;
  /** Calls of this turn that have their result. */
  results: Set<string>;
  /** The compaction that is going on. */
  compaction: { manual: boolean; signal: AbortSignal } | undefined;
  /** A dialog of some extension is open. */
  prompting: boolean;
  /** The last answer of the run. */
  answer: { text: string; error: string | null; aborted: boolean } | undefined;
}

export function newSession(): Session {
  return {
    alive: true, ctx: undefined, pursued: null, waiting: false, running: false, starting: undefined, fullSeen: undefined,
    abortedByUs: false, stopped: false, asking: false, moves: 0, ending: false,
    terminated: new Set(), batchRan: false, turnWorked: false, turn: 0,
    turnOpen: false, turnBroke: false, results: new Set(), compaction: undefined, prompting: false,
    answer: undefined,
  };
}

/** Our entries on the current branch, newest first. What was read is never changed. */
export function readRecords(ctx: ExtensionContext): RecordWire[] {
  const branch = ctx.sessionManager.getBranch();
  const records: RecordWire[] = [];
  let messages = 0;
  let reports = REPORT_MAX;
  for (let at = branch.length - 1; at >= 0 && records.length < RECORDS_MAX; at -= 1) {
    const entry = branch[at];
    if (entry?.type === "custom" && entry.customType === CUSTOM_TYPE) {
      records.push({ type: "ours", data: withoutBulk(entry.data, reports) });
      if (isAudit(entry.data)) reports = 0;
    } else if (entry?.type === "custom" && entry.customType === PREDECESSOR_TYPE) {
      records.push({ type: "predecessor", data: entry.data ?? null });
    } else if (entry?.type === "custom_message" && entry.customType === CUSTOM_TYPE && messages < MESSAGES_MAX) {
      messages += 1;
      records.push({ type: "message", data: entry.details ?? null });
    }
  }
  return records;
}

function isAudit(data: unknown): data is Record<string, unknown> {
  return typeof data === "object" && data !== null && (data as { kind?: unknown }).kind === "audit";
}

/** An audit without what no decision, status or `/goal why` needs: of its report, the beginning or nothing. */
function withoutBulk(data: unknown, reportMax: number): unknown {
  if (!isAudit(data)) return data ?? null;
  const { report, checks, gate: _gate, ...rest } = data;
  const slim = typeof report === "string" && reportMax > 0 ? { ...rest, report: cut(report, reportMax) } : rest;
  const ok = (check: { ok?: unknown } | null) => ({ ok: check?.ok === true });
  return Array.isArray(checks) ? { ...slim, checks: checks.map(ok) } : slim;
}

/** The newest `update_goal` call on the branch has no result and nothing follows it. */
export function auditWasLost(ctx: ExtensionContext): boolean {
  const branch = ctx.sessionManager.getBranch();
  const answered = new Set<string>();
  for (let at = branch.length - 1; at >= 0; at -= 1) {
    const entry = branch[at];
    if (entry?.type === "custom_message") return false;
    if (entry?.type !== "message") continue;
    if (entry.message.role === "toolResult") answered.add(entry.message.toolCallId);
    else if (entry.message.role !== "assistant") return false;
    else {
      return entry.message.content.some(
        (part) => part.type === "toolCall" && part.name === "update_goal" && !answered.has(part.id),
      );
    }
  }
  return false;
}

/** The full message of the pursued goal is among what the model is sent (not compacted away), or starts the next run. */
export function fullMessagePresent(ctx: ExtensionContext, session: Session): boolean {
  const { pursued, starting, fullSeen } = session;
  if (!pursued) return false;
  const full = (details: unknown) => {
    const { full, goalId, generation } = (details ?? {}) as { full?: unknown; goalId?: unknown; generation?: unknown };
    return full === true && goalId === pursued.id && generation === pursued.generation;
  };
  if (full(starting)) return true;
  // pi goes through the whole session for this, which may be long, and every run ends with this question.
  if (fullSeen?.id === pursued.id && fullSeen.generation === pursued.generation) return true;
  const found = ctx.sessionManager.buildContextEntries().some(
    (entry) => entry.type === "custom_message" && entry.customType === CUSTOM_TYPE && full(entry.details),
  );
  session.fullSeen = found ? pursued : undefined;
  return found;
}

/** A compaction or a move in the session's tree: what was in the context may be gone. */
export function contextChanged(session: Session): void {
  session.fullSeen = undefined;
}

/** The host at this moment, for a command. */
export function hostFacts(pi: ExtensionAPI, session: Session, ctx: ExtensionContext): HostWire {
  const resting = ctx.isIdle() ? "idle" : "compacting";
  return {
    activity: busy(session, ctx) ? "running" : resting,
    hasUi: ctx.hasUI,
    headless: headless(ctx),
    model: hostModel(ctx),
    thinkingLevel: pi.getThinkingLevel(),
    models: ctx.modelRegistry.getAvailable().map((model) => modelWire(model) as ModelWire),
    toolsActive: toolsActive(pi),
    sessionFile: ctx.sessionManager.getSessionFile() ?? null,
  };
}

/** A run is going or about to start; a manual compaction is none. */
export function busy(session: Session, ctx: ExtensionContext): boolean {
  return session.running || (!ctx.isIdle() && session.compaction?.manual !== true);
}

export function headless(ctx: ExtensionContext): boolean {
  return ctx.mode === "print" || ctx.mode === "json";
}

export function toolsActive(pi: ExtensionAPI): boolean {
  const active = pi.getActiveTools();
  return TOOL_NAMES.every((name) => active.includes(name));
}

/** The host's model; none where pi, for want of one, names a placeholder that it does not know itself. */
export function hostModel(ctx: ExtensionContext): ModelWire | null {
  const { model } = ctx;
  return model && ctx.modelRegistry.find(model.provider, model.id) ? modelWire(model) : null;
}

export function modelWire(model: ExtensionContext["model"]): ModelWire | null {
  return model ? { provider: model.provider, id: model.id, name: model.name } : null;
}

/** At most `max` UTF-16 units, without half a character at the end. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** The text parts of a message or a tool result. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { type?: unknown; text?: unknown } | null) =>
    part?.type === "text" && typeof part.text === "string" ? part.text : "").join("");
}
