/** What the user sees. Pure functions make lines; the core decides what there is to say. */
import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, getKeybindings, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { AuditDetailsWire, CheckWire, GoalFactsWire, LiveAuditWire, MessageDetailsWire, MoodWire } from "./wire.ts";

export type Paint = Pick<Theme, "fg" | "bold">;
type Colour = Parameters<Theme["fg"]>[0];

const TICK_MS = 1_000;
const REDRAW_MS = 250;
const SILENCE_MS = 10_000;
/** Nothing longer is looked at; it would not fit on a screen anyway. */
const LINE_MAX = 2_000;
const BLOCK_MAX = 64 * 1024;
const REPORT_LINES = 3;
const TAIL_LINES = 3;
const MOODS: Record<MoodWire, { symbol: string; colour: Colour; runs: boolean }> = {
  working: { symbol: "●", colour: "success", runs: true },
  auditing: { symbol: "◆", colour: "accent", runs: true },
  waiting: { symbol: "◌", colour: "warning", runs: true },
  held: { symbol: "○", colour: "muted", runs: false },
  paused: { symbol: "■", colour: "warning", runs: false },
};
const OUTCOMES: Record<string, { symbol: string; words: string; colour: Colour }> = {
  approved: { symbol: "✓", words: "approved", colour: "success" },
  disapproved: { symbol: "✗", words: "refused", colour: "warning" },
  no_verdict: { symbol: "?", words: "no verdict", colour: "warning" },
  failed: { symbol: "!", words: "audit failed", colour: "error" },
  stale: { symbol: "–", words: "out of date", colour: "muted" },
  aborted: { symbol: "–", words: "broken off", colour: "muted" },
};
const RUNGS: Record<string, string> = { overlay: "sealed", fingerprint: "unsealed, watched", none: "unsealed" };

/** What of pi's terminal is used. */
export interface Terminal {
  requestRender(): void;
  /** Of pi's terminal, though not of its published type; without it nothing takes the editor's place. */
  getFocusedComponent?(): Component | null;
  terminal: { write(data: string): void };
}

/** An audit as the terminal follows it. */
export interface Live {
  facts: LiveAuditWire;
  /** When the facts came, on `performance.now`. */
  at: number;
  /** When the auditor last gave a sign of life. */
  sign: number;
  /** What the auditor is writing. */
  tail: string;
}

/** One line without anything that could move a cursor, reorder or hide text. */
export function line(text: string): string {
  return text.slice(0, LINE_MAX).replace(/\s+/g, " ").replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, " ").trim();
}

/** The lines of a text that say something. */
export function lines(text: string): string[] {
  return text.slice(0, BLOCK_MAX).split(/\r\n|[\n\r\u2028\u2029]/).map(line).filter((one) => one !== "");
}

/** What an auditor wrote, without its verdict: that is shown by the badge. */
function report(text: string): string[] {
  return lines(text).filter((one) => !/^<(?:dis)?approved\/>$/.test(one));
}

/** Cut by columns. Of a plain text the cut stays plain: a reset in it would take the colour of what is around it. */
export function cutTo(text: string, width: number): string {
  if (width <= 0) return "";
  if (visibleWidth(text) <= width) return text;
  const short = truncateToWidth(text, width - 1, "");
  return `${text.includes("\u001b") ? short : short.replaceAll("\u001b[0m", "")}…`;
}

/** The first part cut to the width, and of the others as many as fit whole. */
export function fit(parts: string[], width: number): string {
  const [first = "", ...others] = parts;
  let shown = cutTo(first, width);
  for (const part of others) {
    const longer = `${shown} · ${part}`;
    if (visibleWidth(longer) > width) break;
    shown = longer;
  }
  return shown;
}

/** A duration in its two largest units. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const [large, small] = seconds < 3_600
    ? [`${minutes} min`, seconds % 60 > 0 ? ` ${seconds % 60} s` : ""]
    : [`${Math.floor(minutes / 60)} h`, minutes % 60 > 0 ? ` ${minutes % 60} min` : ""];
  return large + small;
}

export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

/** The two lines above the editor. */
export function widgetLines(goal: GoalFactsWire, live: Live | undefined, activeMs: number, now: number, width: number, paint: Paint): string[] {
  const { symbol, colour } = MOODS[goal.mood];
  const room = width - 1;
  const auditing = goal.mood === "auditing" && live !== undefined;
  const parts = auditing
    ? [`${symbol} goal audit`, live.facts.stage, elapsed(live, now), count(live.facts.checks, "check"), stopHint()]
    : [`${symbol} goal ${goal.state}`, ...(activeMs >= TICK_MS ? [`active ${duration(activeMs)}`] : []), ...goal.counts];
  const [head = "", ...rest] = fit(parts.filter((part) => part !== ""), room).split(" · ");
  const counted = rest.length > 0 ? paint.fg("muted", ` · ${rest.join(" · ")}`) : "";
  return [` ${paint.fg(colour, head)}${counted}`, `   ${paint.fg("dim", cutTo(goal.objective, room - 2))}`].map((one) => cutTo(one, width));
}

/** An audit that goes on, inside the call that waits for it. */
export function liveLines(live: Live, now: number, width: number, paint: Paint): string[] {
  const { facts } = live;
  const head = [`◆ ${line(facts.model)} is auditing`, facts.stage, elapsed(live, now), stopHint()];
  const silent = now - live.sign;
  const quiet = silent >= SILENCE_MS && facts.inFlight === null ? [paint.fg("muted", cutTo(`  silent for ${duration(silent)}`, width))] : [];
  const running = facts.inFlight === null ? [] : [paint.fg("muted", cutTo(`  … ${shortCall(facts.inFlight)}`, width))];
  const tail = report(live.tail.slice(-LINE_MAX)).slice(-TAIL_LINES).map((one) => paint.fg("dim", cutTo(`  │ ${one}`, width)));
  const hidden = facts.checks - facts.recent.length;
  const earlier = hidden > 0 ? [paint.fg("dim", cutTo(`  ${count(hidden, "earlier check")}`, width))] : [];
  return [
    paint.fg("accent", fit(head.filter((part) => part !== ""), width)), ...earlier,
    ...facts.recent.map((check) => checkLine(check, width, paint)), ...running, ...tail, ...quiet,
  ];
}

/** How an audit ended, in as many lines as one glance takes; expanded with all checks and the whole report. */
export function verdictLines(details: AuditDetailsWire, expanded: boolean, hint: string, width: number, paint: Paint): string[] {
  const { symbol, words, colour } = OUTCOMES[details.outcome] ?? { symbol: "!", words: line(details.outcome), colour: "error" as const };
  const ok = details.checks.filter((check) => check.ok).length;
  const checks = ok === details.checks.length ? count(ok, "check") : `${ok} of ${count(details.checks.length, "check")} ok`;
  const why = details.why && words !== line(details.why) ? `: ${line(details.why.replaceAll("_", " "))}` : "";
  const parts = [line(details.model), checks, details.durationMs < 1_000 ? `${details.durationMs} ms` : duration(details.durationMs), RUNGS[details.rung] ?? ""].filter((part) => part !== "");
  const [head = "", ...rest] = fit([`${symbol} ${words}${why}`, ...parts], width).split(" · ");
  const badge = paint.fg(colour, paint.bold(head)) + (rest.length > 0 ? paint.fg("muted", ` · ${rest.join(" · ")}`) : "");
  const said = report(details.report);
  if (expanded) {
    const all = said.flatMap((one) => wrapTextWithAnsi(one, Math.max(1, width - 4)));
    return [badge, ...details.checks.map((check) => checkLine(check, width, paint)), ...all.map((one) => cutTo(`  │ ${one}`, width))];
  }
  const shown = details.outcome === "approved" ? [] : said.slice(0, REPORT_LINES);
  const more = said.length > shown.length || details.checks.length > 0 ? [paint.fg("dim", cutTo(`  ${hint}`, width))] : [];
  return [badge, ...shown.map((one) => paint.fg("dim", cutTo(`  │ ${one}`, width))), ...(hint === "" ? [] : more)];
}

/** An audit the user asked for, in the conversation. */
export function auditLines(details: AuditDetailsWire, expanded: boolean, hint: string, width: number, paint: Paint): string[] {
  const title = cutTo("Goal: you asked the auditor", width);
  return [paint.fg("toolTitle", paint.bold(title)), ...verdictLines(details, expanded, hint, width, paint)];
}

/** The agent's claim. */
export function claimLines(summary: unknown, width: number, paint: Paint): string[] {
  const said = typeof summary === "string" ? line(summary) : "";
  const title = cutTo("Goal: the agent claims it is complete", width);
  return [paint.fg("toolTitle", paint.bold(title)), ...(said === "" ? [] : [paint.fg("muted", cutTo(`  ${said}`, width))])];
}

/** A message of ours: one line, or all of it. */
export function messageLines(details: MessageDetailsWire | undefined, text: string, expanded: boolean, hint: string, width: number, paint: Paint): string[] {
  const seq = typeof details?.seq === "number" ? details.seq : 0;
  const what = seq === 0 ? "starting" : `continuation ${seq}`;
  const head = paint.fg("dim", fit([`[goal] ${what}`, ...(details?.full && seq > 0 ? ["in full"] : []), hint].filter((part) => part !== ""), width));
  if (!expanded) return [head];
  return [head, ...lines(text).flatMap((one) => wrapTextWithAnsi(one, Math.max(1, width))).map((one) => paint.fg("dim", cutTo(one, width)))];
}

function checkLine(check: CheckWire, width: number, paint: Paint): string {
  const mark = check.ok ? paint.fg("success", "✓") : paint.fg("error", "✗");
  return cutTo(`  ${mark} ${paint.fg("muted", cutTo(shortCall(`${check.tool} ${check.args}`), width - 4))}`, width);
}

/** `read {"path":"a.txt"}` as `read a.txt`. */
export function shortCall(call: string): string {
  const [, tool = "", args = ""] = /^(\S*)\s*([^]*)$/.exec(call) ?? [];
  const first = /^\{"(?:path|command|pattern)":"((?:[^"\\]|\\.)*)/.exec(args)?.[1];
  return line(`${tool} ${first?.replace(/\\n/g, " ").replace(/\\(["\\])/g, "$1") ?? args}`);
}

function elapsed({ facts, at }: Live, now: number): string {
  const spent = duration(facts.elapsedMs + now - at);
  return facts.limitMs === null ? spent : `${spent} of ${duration(facts.limitMs)}`;
}

function stopHint(): string {
  const key = getKeybindings().getKeys("app.interrupt" as never)[0];
  return key ? `${key === "escape" ? "Esc" : line(key)} stops it` : "";
}

/** Lines for a width: made once, or at each drawing if they move. Never throws, never wider than asked. */
export class Lines implements Component {
  readonly #make: (width: number) => string[];
  readonly #pad: number;
  readonly #moves: boolean;
  #kept: { width: number; drawn: string[] } | undefined;

  constructor(make: (width: number) => string[], pad = 0, moves = false) {
    this.#make = make;
    this.#pad = pad;
    this.#moves = moves;
  }

  render(width: number): string[] {
    if (this.#kept?.width === width) return this.#kept.drawn;
    let drawn: string[] = [];
    try {
      const room = Math.max(1, width - 2 * this.#pad);
      const made = this.#make(room);
      drawn = made.map((one) => cutTo(" ".repeat(Math.max(0, Math.min(this.#pad, width - 1))) + cutTo(one, room), width));
    } catch {
      // Nothing of ours is worth a broken terminal.
    }
    this.#kept = this.#moves ? undefined : { width, drawn };
    return drawn;
  }

  invalidate(): void {
    this.#kept = undefined;
  }
}

/** What the terminal shows of the goal, and its clock: at most one tick a second, and none at rest. */
export class Screen {
  #goal: GoalFactsWire | null = null;
  #at = 0;
  #live: Live | undefined;
  #terminal: Terminal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #drawn = 0;

  /** The audit that goes on. */
  get live(): Live | undefined {
    return this.#live;
  }

  show(goal: GoalFactsWire | null): void {
    this.#goal = goal;
    this.#at = performance.now();
    if (goal?.mood !== "auditing") this.#live = undefined;
    const runs = goal !== null && MOODS[goal.mood].runs;
    if (!runs) this.stop();
    else this.#timer ??= setInterval(() => this.draw(), TICK_MS).unref();
    this.draw();
  }

  audit(facts: LiveAuditWire): void {
    const now = performance.now();
    this.#live = { facts, at: now, sign: now, tail: this.#live?.tail ?? "" };
    this.draw();
  }

  /** What the auditor writes; drawn at most four times a second. */
  heard(tail: string): void {
    if (!this.#live) return;
    this.#live.tail = tail;
    this.#live.sign = performance.now();
    if (performance.now() - this.#drawn >= REDRAW_MS) this.draw();
  }

  widget(terminal: Terminal, paint: Paint): Component {
    this.#terminal = terminal;
    return new Lines((width) => {
      const goal = this.#goal;
      if (!goal) return [];
      const now = performance.now();
      const active = goal.activeMs + (MOODS[goal.mood].runs ? now - this.#at : 0);
      return widgetLines(goal, this.#live, active, now, width, paint);
    }, 0, true);
  }

  /** Keys go into pi's editor: no dialog and no menu has taken its place. */
  editorHasFocus(): boolean {
    const focused = this.#terminal?.getFocusedComponent?.() ?? {};
    return "getText" in focused;
  }

  draw(): void {
    this.#drawn = performance.now();
    this.#terminal?.requestRender();
  }

  /** Calls the user. A bell moves nothing on the screen, and every terminal tells it as its user likes. */
  ring(): void {
    this.#terminal?.terminal.write("\u0007");
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
