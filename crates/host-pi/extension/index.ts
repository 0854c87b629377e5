/**
 * goal-auditor for pi: forwards pi's events to the core and performs what the core answers. Decides nothing.
 * No handler throws, and none blocks or alters another tool, except to end a run the core has ended.
 * All state lives in this factory's closure, because pi evaluates the module once for many sessions.
 */
import { type ExtensionAPI, type ExtensionCommandContext, type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { Core } from "./core.ts";
import { Effects, type Release, type ToolResult, withoutCore } from "./effects.ts";
import { registerEvents } from "./events.ts";
import { auditWasLost, busy, fullMessagePresent, headless, hostFacts, hostModel, newSession, readRecords } from "./session.ts";
import { type Invocation, registerTools } from "./tools.ts";
import type { EventWire, OpenCauseWire } from "./wire.ts";

const COMMAND_MS = 5_000;
const CANCEL_MS = 2_000;
const NOT_A_COMMAND =
  "No goal was set: without a terminal, /goal must begin the text and a space must follow it; then come the lines.";
const SETTINGS_FILE = "goal-auditor.json";
const SETTINGS_PREFIX = "PI_GOAL_";
/** A trace is no reason to start a core: where nothing happens there is nothing to write down. */
const TRACE_VARIABLE = "PI_GOAL_TRACE";
const SUBCOMMANDS: Readonly<Record<string, string>> = {
  status: "how the goal stands",
  pause: "stop working on it",
  resume: "go on, also after a stop",
  edit: "change the objective in an editor",
  audit: "ask the auditor now",
  why: "the last stop or refusal in full, with the ways on",
  limit: "how often this goal may be continued: limit <number>",
  accept: "take the work as it is, after a stop",
  config: "the settings, and where they come from",
  report: "write what happened into a file: report [path]",
  clear: "drop the goal",
  set: "set a goal even if the text looks like a command: set <text>",
  help: "all commands",
};

export default function goalAuditor(pi: ExtensionAPI): void {
  const session = newSession();
  const core: Core = new Core({ agentDir, perform: (list) => effects.perform(list), lost, gone });
  const effects: Effects = new Effects(pi, session, () => core);
  let goneIsTold = false;
  let exitStatus: 0 | 2 | undefined;

  function opened(cause: OpenCauseWire): Extract<EventWire, { type: "session_opened" }> {
    const { ctx } = session;
    return {
      type: "session_opened",
      cause,
      records: ctx ? readRecords(ctx) : [],
      auditLost: ctx !== undefined && cause.type !== "core_restart" && auditWasLost(ctx),
      hasUi: ctx?.hasUI === true,
      terminal: ctx?.mode === "tui",
      model: ctx ? hostModel(ctx) : null,
      cwd: ctx?.cwd ?? null,
    };
  }

  /** Starts a core because it is asked for something, maybe in the middle of a run. */
  function wake(): void {
    core.start(opened({ type: "start" }));
    if (session.running) core.send({ type: "run_started" });
  }

  /** The session as it is now: to a core that lives, or to one started because there is something for it to say. */
  function announce(cause: OpenCauseWire): void {
    const event = opened(cause);
    if (core.live && cause.type === "tree") move(event);
    else if (core.live) core.send(event);
    else if (event.records.length > 0 || settingsExist()) core.start(event);
  }

  /** Until the core answers, what it asks for is of the branch that was left. */
  function move(event: EventWire): void {
    session.moves += 1;
    void core.ask(event, COMMAND_MS, true, () => void (session.moves -= 1));
  }

  function lost(recentLosses: number): EventWire | undefined {
    const auditLost = effects.letGo();
    const { ctx, pursued } = session;
    session.moves = 0;
    try {
      const running = ctx !== undefined && busy(session, ctx);
      return opened({
        type: "core_restart", pursued, recentLosses, auditLost, running, headless: effects.waiter !== undefined && !session.asking,
        fullMessagePresent: ctx !== undefined && fullMessagePresent(ctx, session), stopped: session.stopped,
      });
    } catch {
      return undefined;
    }
  }

  /** No core: whoever waits is told, the user otherwise, and once. */
  function gone(problem: string): void {
    const text = goneText(problem);
    if (session.pursued && session.alive && session.ctx) effects.abortRun(session.ctx); // No goal is worked on without a core.
    effects.blank();
    if (!effects.release({ approved: false, reason: text }) && !goneIsTold) effects.tell("error", text);
    goneIsTold = true;
  }

  async function invoke(call: Invocation): Promise<ToolResult> {
    session.ctx = call.ctx;
    if (!core.live && core.missing === undefined) wake();
    if (!core.live || !session.alive) return withoutCore("core_missing");
    const { callId, tool, status, summary, signal, onUpdate, ctx } = call;
    const letGo = core.hold(true);
    const cancel = () => {
      if (effects.calls.has(callId)) void core.ask({ type: "tool_cancelled", callId }, CANCEL_MS);
    };
    try {
      return await new Promise<ToolResult>((finish) => {
        const progress = (text: string) => onUpdate?.({ content: [{ type: "text", text }], details: undefined });
        effects.calls.set(callId, { audits: tool === "update_goal", finish, progress });
        core.send({ type: "tool_invoked", callId, tool, status, summary, turn: session.turn, cwd: ctx.cwd });
        if (signal?.aborted) cancel();
        else signal?.addEventListener("abort", cancel, { once: true });
      });
    } finally {
      signal?.removeEventListener("abort", cancel);
      letGo();
    }
  }

  /** Never throws. */
  async function command(text: string, ctx: ExtensionContext): Promise<void> {
    session.ctx = ctx;
    goneIsTold = false; // A command is a question: its answer may be told again.
    try {
      if (!core.live) wake();
      // Until it is answered, a core that is started anew knows nothing of it, and lets nobody go for it.
      session.asking = true;
      const answered = () => void (session.asking = false);
      const ask = () => core.ask({ type: "command", text, host: hostFacts(pi, session, ctx) }, COMMAND_MS, true, answered);
      // A command that was not answered did nothing: what it does comes in the line that answers it.
      const answer = (await ask()) ?? (core.live ? await ask() : undefined);
      session.asking = false;
      if (!answer && session.alive) unanswered(text);
    } catch (error) {
      const reason = `goal-auditor: ${String(error)}`;
      if (!effects.release({ approved: false, reason })) effects.tell("error", reason);
    }
  }

  /** The core was lost during a command (a core that is gone has been told). Nothing typed is lost. */
  function unanswered(text: string): void {
    const reason = "The goal-auditor core was lost during this command and started again. Please repeat the command.";
    if (core.live && !effects.release({ approved: false, reason })) effects.tell("error", reason);
    if (text.trim() !== "") effects.giveBack(`/goal ${text.trim()}`);
  }

  /** A headless command ends when the loop rests, and its outcome becomes pi's exit status. */
  async function headlessCommand(text: string, ctx: ExtensionCommandContext): Promise<void> {
    const letGo = core.hold(false);
    const released = effects.waitForRelease();
    try {
      await command(text, ctx);
      await rest(await released, ctx);
    } finally {
      letGo();
    }
  }

  async function rest(release: Release, ctx: ExtensionCommandContext): Promise<void> {
    conclude(release);
    if (session.alive && release.report) await report(ctx);
    if (session.alive) await ctx.waitForIdle();
  }

  /** Where the report is goes to stderr, like any answer. */
  async function report(ctx: ExtensionContext): Promise<void> {
    const file = ctx.sessionManager.getSessionFile();
    if (file === undefined || !existsSync(file)) return;
    const host = { ...hostFacts(pi, session, ctx), headless: false }; // Nobody waits for the goal any more.
    await core.ask({ type: "command", text: "report", host }, COMMAND_MS);
  }

  function conclude({ approved, reason }: Release): void {
    if (reason !== null) process.stderr.write(`${reason}\n`);
    if (exitStatus === undefined) {
      process.once("exit", (code) => {
        if (code < 128) process.exitCode = exitStatus; // A death by signal keeps its own status.
      });
    }
    exitStatus = approved && exitStatus !== 2 ? 0 : 2;
  }

  // pi knows a command by the space behind its name; a line break there, or blank lines before it, come here.
  pi.on("input", (event, ctx) => {
    const typed = event.source === "extension" ? null : /^\s*\/goal(?=\s)([^]*)$/.exec(event.text);
    if (!typed) return undefined;
    // pi is not idle inside this hook, and a headless one would not wait for what comes later.
    if (headless(ctx)) conclude({ approved: false, reason: NOT_A_COMMAND });
    else setImmediate(() => session.alive && void command(typed[1] ?? "", ctx));
    return { action: "handled" };
  });
  registerEvents(pi, session, core, effects, announce);
  registerTools(pi, effects.screen, invoke);
  pi.registerCommand("goal", {
    description: "Work on an objective until an independent auditor agrees that it is done",
    getArgumentCompletions: (prefix) => {
      const typed = prefix.toLowerCase();
      if (Object.hasOwn(SUBCOMMANDS, typed)) return null; // While a menu is open, Enter picks from it and sends nothing.
      const found = Object.entries(SUBCOMMANDS).filter(([word]) => word.startsWith(typed));
      return found.length > 0 ? found.map(([word, description]) => ({ value: word, label: word, description })) : null;
    },
    handler: (text, ctx) => (headless(ctx) ? headlessCommand(text, ctx) : command(text, ctx)),
  });
}

function agentDir(): string | null {
  try {
    return getAgentDir();
  } catch {
    return null;
  }
}

/** Somebody set something: the core says at once what is wrong with it, not only when a goal is set. */
function settingsExist(): boolean {
  const dir = agentDir();
  const inFile = dir !== null && lstatSync(join(dir, SETTINGS_FILE), { throwIfNoEntry: false }) !== undefined;
  return inFile || Object.keys(process.env).some((name) => name.startsWith(SETTINGS_PREFIX) && name !== TRACE_VARIABLE);
}

function goneText(problem: string): string {
  return `The goal-auditor core is not running: ${problem}. No goal is worked on or audited until it runs. `
    + "Install the extension again, or set GOAL_AUDITOR_BIN to the binary; then type /goal resume.";
}
