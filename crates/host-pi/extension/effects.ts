/** Performs what the core asks for: in order, at once, and never throwing. */
import type { AgentToolResult, ExtensionAPI, ExtensionContext, SessionManager } from "@earendil-works/pi-coding-agent";
import { Auditor, type AuditOrder } from "./auditor.ts";
import type { Core } from "./core.ts";
import { type Offer, Offers } from "./offer.ts";
import { busy, CUSTOM_TYPE, fullMessagePresent, headless, hostFacts, type Session, TOOL_NAMES, toolsActive } from "./session.ts";
import { Screen } from "./ui.ts";
import { type AuditDetailsWire, type EffectWire, type LevelWire, type MessageWire, TEXTS } from "./wire.ts";

const START_RETRY_MS = 20;
const USAGE_KIND = "goal_audit";
const USAGE_NOTE = "audit of a goal";
/** Effects that write into the session's branch, or work for its goal. */
const BRANCH_EFFECTS: readonly EffectWire["type"][] = ["save_entry", "start_run", "send_in_run"];

export type ToolResult = AgentToolResult<AuditDetailsWire | undefined>;

/** A call of ours that waits for `finish_tool`. */
export interface Call {
  /** It may have an audit. */
  audits: boolean;
  finish(result: ToolResult): void;
  progress(text: string): void;
}

/** How a headless command ended. */
export interface Release {
  approved: boolean;
  reason: string | null;
  /** The user gets a report of what happened. */
  report?: boolean;
}

/** A message of ours as pi takes it. */
export function customMessage(message: MessageWire) {
  return { customType: CUSTOM_TYPE, content: message.content, display: true, details: message.details };
}

/** The result of a call that no core answers. */
export function withoutCore(why: "core_lost" | "core_missing"): ToolResult {
  const details = { outcome: "failed", why, model: "", checks: [], durationMs: 0, report: "", rung: "none" };
  // Where there is no core, no call of ours can do anything, and nobody else ends a run that makes no other.
  const end = why === "core_missing" ? { terminate: true } : {};
  return { content: [{ type: "text", text: TEXTS.coreMissing }], details, isError: true, ...end };
}

export class Effects {
  /** Calls of ours that wait, by pi's id. */
  readonly calls = new Map<string, Call>();
  /** The headless command that waits. */
  waiter: ((release: Release) => void) | undefined;
  readonly screen = new Screen();
  readonly offers: Offers;
  readonly #pi: ExtensionAPI;
  readonly #session: Session;
  readonly #core: () => Core;
  #auditor: { audit: number; session: Auditor } | undefined;
  #start: NodeJS.Timeout | undefined;
  #footer: string | null = null;
  #widget = "";

  constructor(pi: ExtensionAPI, session: Session, core: () => Core) {
    this.#pi = pi;
    this.#session = session;
    this.#core = core;
    this.offers = new Offers({
      editorHasFocus: () => this.screen.editorHasFocus(),
      prompting: () => this.#session.prompting,
    });
  }

  perform(effects: readonly EffectWire[]): void {
    // pi's terminal shows the later of two texts of information in the place of the earlier, so one line makes one text.
    const informed: string[] = [];
    for (const effect of effects) {
      const ctx = this.#session.ctx;
      if (!this.#session.alive || !ctx) return;
      try {
        if ((effect.type === "notify" || effect.type === "reply") && effect.level === "info") informed.push(effect.text);
        else if (this.#session.moves === 0 || !BRANCH_EFFECTS.includes(effect.type)) this.#one(effect, ctx);
      } catch (error) {
        this.tell("error", `goal-auditor: ${String((effect as EffectWire | null)?.type)} failed: ${String(error)}`);
      }
    }
    if (informed.length > 0) this.tell("info", informed.join("\n"));
  }

  /** To the user; stdout stays pi's. */
  tell(level: LevelWire, text: string): void {
    const ctx = this.#session.ctx;
    if (!this.#session.alive || !ctx) return;
    try {
      if (headless(ctx)) process.stderr.write(`${text}\n`);
      else ctx.ui.notify(text, level);
    } catch {
      // Nobody to tell.
    }
  }

  /** Typed text back into the editor, after what the user has written there meanwhile. */
  giveBack(text: string): void {
    const { alive, ctx } = this.#session;
    if (!alive || !ctx?.hasUI) return;
    const written = ctx.ui.getEditorText();
    ctx.ui.setEditorText(written.trim() === "" || written === text ? text : `${written}\n${text}`);
  }

  /** The end of the headless command that starts now. */
  waitForRelease(): Promise<Release> {
    return new Promise((resolve) => {
      this.waiter = resolve;
    });
  }

  /** Lets the headless command return; false if none waits. */
  release(release: Release): boolean {
    const { waiter } = this;
    this.waiter = undefined;
    waiter?.(release);
    return waiter !== undefined;
  }

  /** Without a core nothing is pursued or shown. */
  blank(): void {
    this.perform([{ type: "show_status", footer: null, widget: [], goal: null, pursued: null, waiting: false }]);
  }

  /** Answers every waiting call and closes the auditor: nobody else will. True if an audit was waiting. */
  letGo(): boolean {
    const audit = this.#auditor !== undefined || [...this.calls.values()].some((call) => call.audits);
    for (const call of this.calls.values()) call.finish(withoutCore("core_lost"));
    this.calls.clear();
    this.#auditor?.session.close();
    this.#auditor = undefined;
    this.#cancelStart();
    this.offers.close();
    return audit;
  }

  /** Aborts the run as ours. A user's abort that came first stays the user's; a manual compaction is left alone. */
  abortRun(ctx: ExtensionContext): void {
    const { running, compaction } = this.#session;
    if (ctx.isIdle() || ctx.signal?.aborted || (!running && compaction?.manual)) return;
    this.#session.abortedByUs = true;
    ctx.abort();
  }

  #one(effect: EffectWire, ctx: ExtensionContext): void {
    switch (effect.type) {
      case "welcome":
      case "refused":
      case "propose": // Its caller waits for it.
        return;
      case "diagnostic":
        return this.tell("warning", effect.message);
      case "save_entry":
        return this.#pi.appendEntry(CUSTOM_TYPE, effect.entry);
      case "start_run":
        return this.#startRun(effect.message, false);
      case "send_in_run":
        // Into the next request; of a run that is being prepared that is its first.
        return this.#pi.sendMessage(
          customMessage(effect.message),
          this.#session.running ? { triggerTurn: true } : { deliverAs: "nextTurn" },
        );
      case "end_run":
        return this.#endRun(ctx);
      case "activate_tools":
        if (!toolsActive(this.#pi)) {
          this.#pi.setActiveTools([...new Set([...this.#pi.getActiveTools(), ...TOOL_NAMES])]);
        }
        return this.#core().send({ type: "tools_checked", active: toolsActive(this.#pi) });
      case "finish_tool":
        return this.#finish(effect, ctx);
      case "progress":
        this.screen.audit(effect.live);
        return void (effect.callId !== null && this.calls.get(effect.callId)?.progress(effect.text));
      case "open_auditor":
        return this.#open(effect, ctx);
      case "prompt_auditor":
        if (this.#auditor?.audit === effect.audit) this.#auditor.session.prompt(effect.text);
        return;
      case "close_auditor":
        if (this.#auditor?.audit === effect.audit) {
          this.#auditor.session.close();
          this.#auditor = undefined;
        }
        return this.#core().send({ type: "auditor_closed", audit: effect.audit });
      case "notify":
      case "reply":
        return this.tell(effect.level, effect.text);
      case "show_status":
        return this.#show(effect, ctx);
      case "confirm":
        return this.#confirm(effect, ctx);
      case "edit":
        return this.#edit(effect, ctx);
      case "offer":
        return this.#offer(effect, ctx);
      case "withdraw":
        return this.offers.withdraw(effect.ticket);
      case "count_usage":
        return this.#countUsage(effect, ctx);
      case "ring":
        return this.screen.ring();
      case "restore_input":
        return this.giveBack(effect.text);
      case "release":
        this.release({ approved: effect.approved, reason: effect.reason, report: effect.report });
        return;
      default:
        return effect satisfies never;
    }
  }

  #endRun(ctx: ExtensionContext): void {
    const heldBack = this.#start !== undefined;
    this.#cancelStart();
    this.#session.ending = true;
    this.abortRun(ctx);
    // A start that was held back is over before it began; nobody else will say so.
    if (heldBack && !busy(this.#session, ctx)) {
      this.#core().send({
        type: "run_settled", aborted: true, byUs: true, startPending: false,
        fullMessagePresent: fullMessagePresent(ctx, this.#session),
      });
    }
  }

  #cancelStart(): void {
    clearTimeout(this.#start);
    this.#start = undefined;
  }

  /** While a manual compaction ends, pi is not idle yet: a little later, if the goal is still the one pursued. */
  #startRun(message: MessageWire, deferred: boolean): void {
    const { ctx, alive, pursued, running } = this.#session;
    if (!alive || !ctx) return;
    const { goalId, generation } = message.details;
    if (deferred && (pursued?.id !== goalId || pursued.generation !== generation)) return;
    this.#cancelStart();
    this.#session.stopped = false;
    if (running || ctx.isIdle()) {
      this.#session.starting = message.details;
      this.#pi.sendMessage(customMessage(message), { triggerTurn: true });
    } else this.#start = setTimeout(() => this.#guarded(() => this.#startAgain(message)), START_RETRY_MS);
  }

  #startAgain(message: MessageWire): void {
    this.#start = undefined;
    this.#startRun(message, true);
  }

  #finish(effect: Extract<EffectWire, { type: "finish_tool" }>, ctx: ExtensionContext): void {
    const call = this.calls.get(effect.callId);
    if (!call) return;
    this.calls.delete(effect.callId);
    if (effect.endsRun) {
      this.#session.ending = true;
      this.#session.terminated.add(effect.callId);
    }
    call.finish({
      content: [{ type: "text", text: effect.text }],
      details: effect.details ?? undefined,
      isError: effect.isError,
      ...(effect.usage ? { usage: effect.usage } : {}),
      ...(effect.endsRun ? { terminate: true } : {}),
    });
    // A message of ours that waits in pi's queue would make one more request.
    if (effect.endsRun && (this.#session.batchRan || this.#session.starting)) this.abortRun(ctx);
  }

  #open(order: AuditOrder, ctx: ExtensionContext): void {
    this.#auditor?.session.close();
    const host = {
      cwd: ctx.cwd,
      binary: this.#core().binary,
      registry: ctx.modelRegistry,
      thinkingLevel: this.#pi.getThinkingLevel(),
      settings: this.#pi.getSettings(),
      heard: (tail: string) => this.screen.heard(tail),
    };
    const { audit } = order;
    const session = new Auditor(order, host, (event) => this.#core().send({ type: "auditor", audit, event }));
    this.#auditor = { audit, session };
  }

  #show(effect: Extract<EffectWire, { type: "show_status" }>, ctx: ExtensionContext): void {
    const { pursued } = this.#session;
    const same = pursued?.id === effect.pursued?.id && pursued?.generation === effect.pursued?.generation;
    this.#session.stopped &&= same; // Another goal, or none: the core has heard of the stop.
    this.#session.pursued = effect.pursued;
    this.#session.waiting = effect.waiting;
    this.#core().waiting = effect.waiting;
    if (effect.footer !== this.#footer) ctx.ui.setStatus("goal", effect.footer ?? undefined);
    this.#footer = effect.footer;
    const terminal = ctx.mode === "tui";
    if (terminal) this.screen.show(effect.goal);
    const widget = terminal && effect.goal ? "drawn" : effect.widget.join("\n");
    if (widget === this.#widget) return;
    this.#widget = widget;
    if (widget === "") ctx.ui.setWidget("goal", undefined);
    else if (!terminal) ctx.ui.setWidget("goal", effect.widget);
    else ctx.ui.setWidget("goal", (tui, theme) => this.screen.widget(tui, theme));
  }

  #edit({ ticket, title, text }: Extract<EffectWire, { type: "edit" }>, ctx: ExtensionContext): void {
    const answer = (edited: string | undefined) => this.#guarded(() => {
      const { ctx: now } = this.#session;
      const host = now && hostFacts(this.#pi, this.#session, now);
      if (host) this.#core().send({ type: "edited", ticket, text: typeof edited === "string" ? edited : null, host });
    });
    ctx.ui.editor(title, text).then(answer, () => answer(undefined));
  }

  #confirm({ ticket, title, message }: Extract<EffectWire, { type: "confirm" }>, ctx: ExtensionContext): void {
    const answer = (yes: boolean) => this.#guarded(() => {
      const { ctx: now } = this.#session;
      if (now) this.#core().send({ type: "confirmed", ticket, yes, host: hostFacts(this.#pi, this.#session, now) });
    });
    ctx.ui.confirm(title, message).then((yes) => answer(yes === true), () => answer(false));
  }

  #offer(offer: Offer, ctx: ExtensionContext): void {
    this.offers.make(offer, ctx, (way) => this.#guarded(() => {
      const { ctx: now } = this.#session;
      const { ticket } = offer;
      if (now) this.#core().send({ type: "chosen", ticket, way, host: hostFacts(this.#pi, this.#session, now) });
    }));
  }

  /** pi documents the entry, but the method that writes it is not among those it types for extensions. */
  #countUsage({ model, usage }: Extract<EffectWire, { type: "count_usage" }>, ctx: ExtensionContext): void {
    const { sessionManager } = ctx as { sessionManager: Partial<SessionManager> };
    sessionManager.appendUsage?.(USAGE_KIND, model.provider, model.id, usage, USAGE_NOTE);
  }

  #guarded(later: () => void): void {
    if (!this.#session.alive) return;
    try {
      later();
    } catch {
      // The session is being left.
    }
  }
}
