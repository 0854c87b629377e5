/** The auditor: a second agent session, in memory, with the host's models and credentials and nothing else of it. */
import {
  type AgentSession,
  type AgentSessionEvent,
  createAgentSession,
  createExtensionRuntime,
  type ExtensionAPI,
  type ExtensionContext,
  ModelRuntime,
  type ResourceLoader,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";
import { AUDITOR_TOOLS, auditorTools } from "./auditor-tools.ts";
import { CUSTOM_TYPE, cut, textOf } from "./session.ts";
import type { AuditorEventWire, EffectWire, StopWire, UsageWire } from "./wire.ts";

export type AuditOrder = Extract<EffectWire, { type: "open_auditor" }>;
type Settings = ReturnType<ExtensionAPI["getSettings"]>;
type Level = NonNullable<ExtensionContext["thinkingLevel"]>;
type AssistantMessage = Extract<Extract<AgentSessionEvent, { type: "message_end" }>["message"], { role: "assistant" }>;

const CONNECTION_SETTINGS = [
  "transport", "httpIdleTimeoutMs", "websocketConnectTimeoutMs", "thinkingBudgets", "images",
];
const OUTPUT_EVERY_MS = 250;
const ANSWER_MAX = 4 * 1024 * 1024 + 1;
const ERROR_MAX = 2_000;
const ARGS_MAX = 500;

/** What of the host an audit uses. */
export interface AuditorHost {
  cwd: string;
  /** The core's binary. */
  binary: string;
  registry: ExtensionContext["modelRegistry"];
  thinkingLevel: string;
  settings: Settings;
  /** Takes what the auditor is writing. */
  heard(text: string): void;
}

/** One audit's session. Reports facts; after `close` it is silent. */
export class Auditor {
  readonly #report: (event: AuditorEventWire) => void;
  /** The audit's first prompt, which holds the objective. */
  readonly #job: string;
  readonly #heard: AuditorHost["heard"];
  #session: AgentSession | undefined;
  #unsubscribe: (() => void) | undefined;
  #closed = false;
  #work: Promise<void>;
  #running = false;
  #streamed = "";
  #retrying = false;
  #lastOutput = 0;
  #trailing: NodeJS.Timeout | undefined;

  constructor(order: AuditOrder, host: AuditorHost, report: (event: AuditorEventWire) => void) {
    this.#report = (event) => {
      if (!this.#closed) report(event);
    };
    this.#job = order.prompt;
    this.#heard = host.heard;
    this.#work = this.#open(order, host).then((open) => (open ? this.#ask(order.prompt) : undefined));
  }

  /** Prompts again, after what is going on. */
  prompt(text: string): void {
    this.#work = this.#work.then(() => this.#ask(text));
  }

  /** Aborts and disposes. Waits for nothing, because an abort may never settle. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#trailing);
    dispose(this.#session, this.#unsubscribe);
    this.#session = undefined;
  }

  async #open(order: AuditOrder, host: AuditorHost): Promise<boolean> {
    const fail = (kind: "missing_model" | "missing_credentials" | "session", message: string) => {
      this.#report({ type: "open_failed", kind, message: cut(message, ERROR_MAX) });
      return false;
    };
    try {
      const { provider, id } = order.model;
      const runtime = await hostRuntime(host.registry, provider);
      const model = runtime.getModel(provider, id);
      if (!model) return fail("missing_model", `pi knows no model ${provider}/${id}`);
      if (!runtime.hasConfiguredAuth(provider) && !(await runtime.checkAuth(provider))) {
        return fail("missing_credentials", `pi has no credentials for ${provider}`);
      }
      const { session } = await createAgentSession({
        cwd: host.cwd,
        model,
        thinkingLevel: (order.thinkingLevel ?? host.thinkingLevel) as Level,
        modelRuntime: runtime,
        resourceLoader: emptyResources(order.systemPrompt),
        sessionManager: SessionManager.inMemory(host.cwd),
        settingsManager: SettingsManager.inMemory(sessionSettings(host.settings)),
        tools: AUDITOR_TOOLS,
        customTools: auditorTools({
          cwd: host.cwd,
          binary: host.binary,
          seal: order.seal,
          shellPath: host.settings.shellPath,
          shellCommandPrefix: host.settings.shellCommandPrefix,
        }),
      });
      if (this.#closed) {
        dispose(session, undefined);
        return false;
      }
      this.#session = session;
      this.#unsubscribe = session.subscribe((event) => this.#observe(event));
      this.#report({ type: "opened" });
      return true;
    } catch (error) {
      return fail("session", words(error));
    }
  }

  async #ask(text: string): Promise<void> {
    if (this.#closed || !this.#session) return;
    try {
      const again = text === this.#job || this.#hasJob(this.#session) ? text : `${this.#job}\n\n${text}`;
      await this.#session.prompt(again, { expandPromptTemplates: false });
      this.#report({ type: "rested" });
    } catch (error) {
      this.#report({ type: "broke", message: cut(words(error), ERROR_MAX) });
    }
  }

  #observe(event: AgentSessionEvent): void {
    if (this.#closed) return;
    switch (event.type) {
      case "agent_start":
      case "agent_end":
        this.#running = event.type === "agent_start";
        break;
      case "turn_start":
        this.#retryEnds();
        break;
      case "message_start":
        if (event.message.role === "assistant") this.#streamed = "";
        break;
      case "message_update":
        if (event.assistantMessageEvent.type === "text_delta" && this.#streamed.length < ANSWER_MAX) {
          this.#streamed += event.assistantMessageEvent.delta;
        }
        this.#output();
        break;
      case "message_end":
        if (event.message.role === "assistant") this.#answer(event.message);
        break;
      case "tool_execution_start":
        this.#report({
          type: "tool_started",
          callId: event.toolCallId,
          tool: event.toolName,
          args: cut(JSON.stringify(event.args) ?? "", ARGS_MAX),
        });
        break;
      case "tool_execution_end": {
        const ms = event.durationMs === undefined ? null : Math.max(0, Math.round(event.durationMs));
        this.#report({
          type: "tool_finished", callId: event.toolCallId, tool: event.toolName, ok: !event.isError, ms,
        });
        break;
      }
      case "compaction_start":
        this.#report({ type: "compaction_started" });
        break;
      case "compaction_end":
        this.#report({ type: "compaction_ended", usage: usageOf(event.result?.usage) });
        if (this.#running || event.willRetry) this.#repeatJob();
        break;
      case "auto_retry_start":
        this.#retrying = true;
        this.#report({ type: "retry_started" });
        break;
      case "auto_retry_end":
        this.#retryEnds();
        break;
      default:
        break;
    }
  }

  /** A compaction must not take the objective from the auditor: the very next request has it again. */
  #repeatJob(): void {
    const session = this.#session;
    if (!session || this.#hasJob(session)) return;
    // Not as a message of a user: pi would take it for a new beginning and recover from the same overflow for ever.
    session.agent.steer({
      role: "custom", customType: CUSTOM_TYPE, content: this.#job, display: false, timestamp: Date.now(),
    });
  }

  #hasJob(session: AgentSession): boolean {
    return session.messages.some((message) =>
      (message.role === "user" || message.role === "custom") && textOf(message.content).includes(this.#job));
  }

  /** The wait ends with the next request; pi announces its end only with that request's answer. */
  #retryEnds(): void {
    if (!this.#retrying) return;
    this.#retrying = false;
    this.#report({ type: "retry_ended" });
  }

  /** At most four a second; the last one is always told. */
  #output(): void {
    if (this.#trailing) return;
    const wait = this.#lastOutput + OUTPUT_EVERY_MS - performance.now();
    if (wait <= 0) this.#tellOutput();
    else this.#trailing = setTimeout(() => this.#tellOutput(), wait);
  }

  #tellOutput(): void {
    clearTimeout(this.#trailing);
    this.#trailing = undefined;
    this.#lastOutput = performance.now();
    this.#report({ type: "output" });
    this.#heard(this.#streamed);
  }

  #answer(message: AssistantMessage): void {
    if (this.#trailing) this.#tellOutput();
    this.#lastOutput = 0;
    const text = textOf(message.content);
    this.#report({
      type: "answer_ended",
      text: cut(text === "" ? this.#streamed : text, ANSWER_MAX),
      stop: stopOf(message.stopReason),
      error: message.errorMessage ? cut(message.errorMessage, ERROR_MAX) : null,
      usage: usageOf(message.usage),
    });
    this.#streamed = "";
  }
}

function dispose(session: AgentSession | undefined, unsubscribe: (() => void) | undefined): void {
  try {
    unsubscribe?.();
    session?.abort().catch(() => undefined);
    session?.dispose();
  } catch {
    // Nothing of it is used any more.
  }
}

/** The host's own runtime, which knows keys given on the command line and providers of extensions; else a copy. */
async function hostRuntime(registry: AuditorHost["registry"], provider: string): Promise<ModelRuntime> {
  const own = (registry as unknown as { runtime?: ModelRuntime }).runtime;
  if (typeof own?.getModel === "function" && typeof own.hasConfiguredAuth === "function") return own;
  const copy = await ModelRuntime.create({ refreshOnCreate: false });
  for (const id of registry.getRegisteredProviderIds()) {
    const native = registry.getRegisteredNativeProvider(id);
    const config = registry.getRegisteredProviderConfig(id);
    if (native) copy.registerNativeProvider(native);
    else if (config) copy.registerProvider(id, config);
  }
  const key = await registry.getApiKeyForProvider(provider);
  if (key) await copy.setRuntimeApiKey(provider, key);
  return copy;
}

/** How the user lets pi speak to providers holds for the auditor too; nothing else of the user's settings does. */
function sessionSettings(settings: Settings): Partial<Settings> {
  const kept = Object.entries(settings).filter(([name]) => CONNECTION_SETTINGS.includes(name));
  return {
    ...Object.fromEntries(kept),
    compaction: { ...settings.compaction, enabled: true },
    retry: { enabled: true, maxRetries: 2, ...settings.retry },
  };
}

function emptyResources(systemPrompt: string): ResourceLoader {
  return {
    getExtensions: () => ({ extensions: [], errors: [], runtime: createExtensionRuntime() }),
    getSkills: () => ({ skills: [], diagnostics: [] }),
    getPrompts: () => ({ prompts: [], diagnostics: [] }),
    getThemes: () => ({ themes: [], diagnostics: [] }),
    getAgentsFiles: () => ({ agentsFiles: [] }),
    getSystemPrompt: () => systemPrompt,
    getSystemPromptSource: () => undefined,
    getAppendSystemPrompt: () => [],
    getAppendSystemPromptSources: () => [],
    extendResources: () => undefined,
    reload: async () => undefined,
  };
}

function stopOf(reason: AssistantMessage["stopReason"]): StopWire {
  return reason === "stop" || reason === "toolUse" || reason === "length" || reason === "aborted" ? reason : "error";
}

/** Every field present and a number. */
function usageOf(usage: AssistantMessage["usage"] | undefined): UsageWire {
  const number = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);
  const { cost, ...tokens } = usage ?? {};
  const parts = (from: { input?: unknown; output?: unknown; cacheRead?: unknown; cacheWrite?: unknown } | undefined) => ({
    input: number(from?.input),
    output: number(from?.output),
    cacheRead: number(from?.cacheRead),
    cacheWrite: number(from?.cacheWrite),
  });
  return {
    ...parts(tokens),
    totalTokens: number(usage?.totalTokens),
    cost: { ...parts(cost), total: number(cost?.total) },
  };
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
