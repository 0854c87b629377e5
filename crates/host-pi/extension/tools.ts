/** The two tools, and how they and our messages look. What a call means is the core's affair. */
import type { AgentToolUpdateCallback, ExtensionAPI, ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { Type } from "typebox";
import { visible } from "./core.ts";
import type { ToolResult } from "./effects.ts";
import { CUSTOM_TYPE, cut, textOf } from "./session.ts";
import { type AuditDetailsWire, type GoalToolWire, type MessageDetailsWire, TEXTS } from "./wire.ts";

const STATUS_MAX = 500;
const SUMMARY_MAX = 256 * 1024;
const REPORT_LINES = 3;
const LINE_MAX = 160;

/** A call of one of our tools. */
export interface Invocation {
  tool: GoalToolWire;
  callId: string;
  status: string | null;
  summary: string | null;
  signal: AbortSignal | undefined;
  onUpdate: AgentToolUpdateCallback<AuditDetailsWire | undefined> | undefined;
  ctx: ExtensionContext;
}

const claim = Type.Object({
  status: Type.Unsafe<"complete">({ type: "string", enum: ["complete"], description: TEXTS.statusDescription }),
  completionSummary: Type.Optional(Type.String({ description: TEXTS.summaryDescription })),
});

export function registerTools(pi: ExtensionAPI, invoke: (invocation: Invocation) => Promise<ToolResult>): void {
  pi.registerTool({
    name: "get_goal",
    label: "Goal",
    description: TEXTS.getGoalDescription,
    promptSnippet: TEXTS.getGoalSnippet,
    parameters: Type.Object({}),
    executionMode: "sequential",
    exposure: "model-only",
    execute: (callId, _params, signal, onUpdate, ctx) =>
      invoke({ tool: "get_goal", callId, status: null, summary: null, signal, onUpdate, ctx }),
  });
  pi.registerTool({
    name: "update_goal",
    label: "Goal",
    description: TEXTS.updateGoalDescription,
    promptSnippet: TEXTS.updateGoalSnippet,
    parameters: claim,
    executionMode: "sequential",
    exposure: "model-only",
    prepareArguments,
    execute: (callId, params, signal, onUpdate, ctx) => {
      const { given, completionSummary } = params as { given?: string | null; completionSummary?: string };
      const summary = completionSummary === undefined ? null : cut(completionSummary, SUMMARY_MAX);
      return invoke({ tool: "update_goal", callId, status: given ?? null, summary, signal, onUpdate, ctx });
    },
    renderResult: (result, { expanded }, theme, context) => {
      const text = textOf(result.content);
      const badge = context.isPartial ? theme.fg("dim", firstLine(text)) : verdictLine(result.details as AuditDetailsWire | undefined, text, theme);
      return new Text(expanded && !context.isPartial ? `${badge}\n${text}` : badge, 0, 0);
    },
  });
  pi.registerMessageRenderer<MessageDetailsWire>(CUSTOM_TYPE, (message, { expanded, outputPad }, theme) => {
    const text = textOf(message.content);
    return new Text(theme.fg("dim", `[goal] ${expanded ? text : firstLine(text)}`), outputPad, 0);
  });
}

/** Lets every call reach the core, whatever the model wrote: the schema offers one value, `given` keeps the real one. */
function prepareArguments(raw: unknown): { status: "complete"; completionSummary?: string } {
  const given = typeof raw === "object" && raw !== null ? (raw as Record<string, unknown>) : {};
  const { status } = given;
  const word = typeof status === "object" && status !== null ? JSON.stringify(status) : String(status);
  const prepared = { status: "complete" as const, given: status == null ? null : cut(word, STATUS_MAX) };
  const summary = given.completionSummary;
  return typeof summary === "string" ? { ...prepared, completionSummary: summary } : prepared;
}

function verdictLine(details: AuditDetailsWire | undefined, text: string, theme: Theme): string {
  if (!details) return theme.fg("dim", firstLine(text));
  const approved = details.outcome === "approved";
  const seconds = `${Math.round(details.durationMs / 1000)} s`;
  const why = details.why ? ` (${details.why.replaceAll("_", " ")})` : "";
  const checks = details.checks.filter((check) => check.ok).length;
  const outcome = `${approved ? "✓" : "✗"} ${details.outcome.replaceAll("_", " ")}${why}`;
  const line = `${outcome} · ${details.model} · ${checks} ok of ${details.checks.length} checks · ${seconds}`;
  const badge = theme.fg(approved ? "success" : details.outcome === "failed" ? "error" : "warning", visible(line));
  const quoted = approved ? [] : reportLines(details.report).map((text) => theme.fg("dim", `  │ ${text}`));
  return [badge, ...quoted].join("\n");
}

/** The first lines of a refusal, so that nobody has to open it to see why. */
function reportLines(report: string): string[] {
  const lines = report.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(0, REPORT_LINES).map((line) => firstLine(line));
}

function firstLine(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  const shown = visible(line);
  return shown.length > LINE_MAX ? `${cut(shown, LINE_MAX)}…` : shown;
}
