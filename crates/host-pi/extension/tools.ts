/** The two tools, and how they and our messages look. What a call means is the core's affair. */
import type { AgentToolUpdateCallback, ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import type { ToolResult } from "./effects.ts";
import { CUSTOM_TYPE, cut, textOf } from "./session.ts";
import { auditLines, claimLines, Lines, lines, liveLines, messageLines, type Screen, verdictLines } from "./ui.ts";
import { type AuditDetailsWire, type GoalToolWire, type MessageDetailsWire, TEXTS } from "./wire.ts";

const STATUS_MAX = 500;
const SUMMARY_MAX = 256 * 1024;

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

export function registerTools(
  pi: ExtensionAPI,
  screen: Screen,
  invoke: (invocation: Invocation) => Promise<ToolResult>,
): void {
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
    renderCall: (args, theme) =>
      new Lines((width) => claimLines((args as { completionSummary?: unknown } | undefined)?.completionSummary, width, theme)),
    renderResult: (result, { expanded }, theme, context) => {
      const details = result.details as AuditDetailsWire | undefined;
      const hint = expanded ? "" : context.keyHint("app.tools.expand", "for checks and report");
      return new Lines((width) => {
        const live = context.isPartial ? screen.live : undefined;
        if (live) return liveLines(live, performance.now(), width, theme);
        if (details && !context.isPartial) return verdictLines(details, expanded, hint, width, theme);
        return lines(textOf(result.content)).slice(0, expanded ? undefined : 1).map((one) => theme.fg("dim", one));
      }, 0, context.isPartial);
    },
  });
  pi.registerMessageRenderer<MessageDetailsWire>(CUSTOM_TYPE, (message, { expanded, outputPad, keyHint }, theme) => {
    const hint = expanded ? "" : keyHint("app.tools.expand", "for the text");
    return new Lines((width) => messageLines(message.details, textOf(message.content), expanded, hint, width, theme), outputPad);
  });
  pi.registerEntryRenderer(CUSTOM_TYPE, ({ data }, { expanded, keyHint }, theme) => {
    const audit = usersAudit(data);
    const hint = expanded ? "" : keyHint("app.tools.expand", "for checks and report");
    return audit && new Lines((width) => auditLines(audit, expanded, hint, width, theme), 1);
  });
}

/** An audit the user asked for: no call of the agent shows its result. */
function usersAudit(data: unknown): AuditDetailsWire | undefined {
  const { kind, byUser, failure } = (data ?? {}) as { kind?: unknown; byUser?: unknown; failure?: unknown };
  if (kind !== "audit" || byUser !== true) return undefined;
  const audit = data as AuditDetailsWire;
  return audit.report === "" && typeof failure === "string" ? { ...audit, report: failure } : audit;
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
