/** pi's events, as facts for the core. */
import type {
  AgentBeforeSettleEvent, ExtensionAPI, ExtensionContext, ToolExecutionEndEvent,
} from "@earendil-works/pi-coding-agent";
import { getKeybindings } from "@earendil-works/pi-tui";
import type { Core } from "./core.ts";
import { customMessage, type Effects } from "./effects.ts";
import { contextChanged, CUSTOM_TYPE, cut, fullMessagePresent, modelWire, type Session, textOf, TOOL_NAMES, toolsActive } from "./session.ts";
import { type EffectWire, type MessageDetailsWire, type OpenCauseWire, TEXTS } from "./wire.ts";

const SETTLE_MS = 2_000;
const COMPACTION_MS = 2_000;
const TURN_MS = 2_000;
const FINAL_TEXT_MAX = 64 * 1024;
const ERROR_MAX = 2_000;

export function registerEvents(
  pi: ExtensionAPI,
  session: Session,
  core: Core,
  effects: Effects,
  announce: (cause: OpenCauseWire) => void,
): void {
  /** Keeps pi's latest context, and pi from anything we throw. */
  function guard<E, R = undefined>(handle: (event: E, ctx: ExtensionContext) => Promise<R | void> | R | void) {
    return async (event: E, ctx: ExtensionContext): Promise<R | void> => {
      if (!session.alive) return undefined;
      session.ctx = ctx;
      try {
        return await handle(event, ctx);
      } catch (error) {
        effects.tell("error", `goal-auditor: ${String(error)}`);
        return undefined;
      }
    };
  }
  const present = (ctx: ExtensionContext) => fullMessagePresent(ctx, session);

  // The session

  pi.on("session_start", guard((_event, ctx) => {
    if (ctx.mode === "tui") ctx.ui.onTerminalInput((data) => keyPressed(data));
    announce({ type: "start" });
  }));
  pi.on("session_tree", guard(() => {
    contextChanged(session);
    announce({ type: "tree" });
  }));
  pi.on("session_shutdown", guard(() => {
    effects.letGo();
    effects.blank(); // What is shown outlives the session in a client that is not a terminal.
    core.close();
    effects.release({ approved: false, reason: "The session was left before the goal came to rest." });
    session.alive = false;
  }));
  pi.on("model_select", guard((event) => core.send({ type: "model_selected", model: modelWire(event.model) })));

  // The user

  pi.on("input", guard((event) => {
    if (event.source !== "extension" && event.streamingBehavior) core.send({ type: "user_message" });
  }));
  pi.on("ui_prompt_start", guard(() => void (session.prompting = true)));
  pi.on("ui_prompt_end", guard(() => void (session.prompting = false)));

  /** The interrupt key where pi itself would only cancel a retry or a compaction, or do nothing. Never consumed. */
  function keyPressed(data: string): undefined {
    const { alive, ctx, prompting, pursued, compaction } = session;
    try {
      effects.offers.key(data);
      if (!alive || !ctx || prompting || !(pursued || session.waiting) || !getKeybindings().matches(data, "app.interrupt")) return;
      if (ctx.isIdle()) {
        session.stopped = pursued !== null;
        core.send({ type: "interrupt" });
      } else if (pursued && (compaction || ctx.signal === undefined)) ctx.abort();
    } catch {
      // A key of ours is never more important than the terminal.
    }
  }

  // The run

  pi.on("before_agent_start", guard((event) => {
    if (!session.running) session.abortedByUs = false;
    if (event.messageType === "user") core.send({ type: "user_message" });
  }));
  pi.on("agent_start", guard(() => {
    if (session.running) return;
    session.running = true;
    session.answer = undefined;
    core.send({ type: "run_started" });
  }));
  // No handler of `turn_end`: for each one pi goes through the whole session several times a turn, to prepare entries
  // that we never add. What comes next tells as much: another turn, a compaction, or the end of the agent.
  pi.on("turn_start", guard(async (_event, ctx) => {
    await turnEnded(ctx);
    session.turn += 1;
    session.ending = session.batchRan = session.turnWorked = session.turnBroke = false;
    session.turnOpen = true;
    session.terminated.clear();
    session.results.clear();
  }));
  pi.on("agent_end", guard((_event, ctx) => turnEnded(ctx)));
  pi.on("message_end", guard(({ message }) => {
    if (message.role === "custom" && message.customType === CUSTOM_TYPE) arrived(message.details as MessageDetailsWire);
    if (message.role === "toolResult") session.results.add(message.toolCallId);
    if (message.role !== "assistant") return;
    session.turnBroke = message.stopReason === "aborted" || message.stopReason === "error";
    const error = message.errorMessage ? cut(message.errorMessage, ERROR_MAX) : null;
    session.answer = { text: textOf(message.content), error, aborted: message.stopReason === "aborted" };
  }));

  /** Whatever run is going works on its goal now. */
  function arrived({ goalId, generation }: MessageDetailsWire): void {
    session.starting = undefined;
    core.send({ type: "message_arrived", tag: { id: goalId, generation } });
  }

  pi.on("agent_before_settle", guard(settling));
  pi.on("agent_settled", guard(({ aborted }, ctx) => {
    session.stopped ||= aborted && !session.abortedByUs;
    const startPending = session.starting !== undefined;
    core.send({ type: "run_settled", aborted, byUs: session.abortedByUs, startPending, fullMessagePresent: present(ctx) });
    session.running = session.abortedByUs = session.ending = false;
    session.starting = undefined;
  }));

  /** Says that the turn that was open is over, before pi asks the model again. */
  async function turnEnded(ctx: ExtensionContext): Promise<undefined> {
    if (!session.turnOpen) return;
    session.turnOpen = false;
    const goesOn = [...session.results].some((call) => !session.terminated.has(call));
    if (session.ending && goesOn) effects.abortRun(ctx);
    const brokenOff = ctx.signal?.aborted === true || session.turnBroke;
    if (session.turnWorked || brokenOff) core.send({ type: "turn_ended", brokenOff });
    else await core.ask({ type: "turn_ended", brokenOff }, TURN_MS);
  }

  async function settling(event: AgentBeforeSettleEvent, ctx: ExtensionContext) {
    if (!core.live || ctx.hasPendingMessages()) return undefined;
    const { answer } = session;
    const answered = await core.ask({
      type: "settling",
      failed: event.outcome === "error",
      providerAborted: answer?.aborted === true,
      error: answer?.error ?? null,
      finalText: cut(answer?.text ?? "", FINAL_TEXT_MAX),
      toolsActive: toolsActive(pi),
      fullMessagePresent: present(ctx),
    }, SETTLE_MS);
    const proposed = answered?.find((effect) => effect.type === "propose");
    if (!proposed) return undefined;
    // From here to the return nothing is awaited, so that no message can be queued in between.
    return decide(proposed, event, ctx);
  }

  function decide(
    { proposal, message, effects: consequences }: Extract<EffectWire, { type: "propose" }>,
    event: AgentBeforeSettleEvent,
    ctx: ExtensionContext,
  ) {
    if (!session.alive || session.abortedByUs || ctx.hasPendingMessages()) {
      core.send({ type: "proposal_yielded", proposal });
      return undefined;
    }
    core.send({ type: "proposal_taken", proposal });
    effects.perform(consequences);
    if (!message) return undefined;
    session.stopped = false;
    session.answer = undefined;
    const entry = { type: "custom_message" as const, ...customMessage(message) };
    return { entries: [...event.entries, entry], continue: true };
  }

  // Tools

  pi.on("tool_call", guard((event) => {
    if (!session.ending) return undefined;
    session.terminated.add(event.toolCallId);
    return { block: true, reason: TEXTS.blockedCall, terminate: true };
  }));
  pi.on("tool_execution_end", guard((event: ToolExecutionEndEvent, ctx) => {
    const { toolName: tool, isError, parentToolCallId } = event;
    const ran = event.durationMs !== undefined;
    const aborted = ctx.signal?.aborted === true;
    if (ran && !isError && !aborted && !TOOL_NAMES.includes(tool)) session.turnWorked = true;
    if (parentToolCallId === undefined) session.batchRan = true;
    const error = isError ? cut(textOf((event.result as { content?: unknown } | undefined)?.content), ERROR_MAX) : null;
    core.send({ type: "tool_finished", tool, isError, ran, aborted, error });
  }));

  // Compaction

  pi.on("session_before_compact", guard(async ({ reason, signal }, ctx) => {
    await turnEnded(ctx);
    session.compaction = { manual: reason === "manual", signal };
    core.send({ type: "compaction_started" });
  }));
  pi.on("session_compact", guard((event, ctx) => compacted(ctx, false, followed(event, ctx))));
  pi.on("session_compact_failed", guard((event, ctx) => {
    // Another extension may have cancelled it, and so may we: that is no stop by the user.
    const byUser = event.aborted && session.compaction?.signal.aborted === true && !session.abortedByUs;
    session.stopped ||= byUser;
    return compacted(ctx, byUser, false);
  }));

  /** A request follows at once: inside a run, after an overflow, or because pi compacts before it starts a run. */
  function followed({ willRetry }: { willRetry: boolean }, ctx: ExtensionContext): boolean {
    const { running, compaction } = session;
    return ctx.signal !== undefined || willRetry || (!running && compaction?.manual !== true);
  }

  async function compacted(ctx: ExtensionContext, cancelled: boolean, runGoesOn: boolean): Promise<undefined> {
    const idle = ctx.isIdle() || (session.compaction?.manual === true && !session.running);
    session.compaction = undefined;
    contextChanged(session);
    const event = { type: "compaction_ended" as const, cancelled, runGoesOn, idle, fullMessagePresent: present(ctx) };
    if (runGoesOn) await core.ask(event, COMPACTION_MS);
    else core.send(event);
  }
}
