/**
 * The auditor's five tools. All look through one view: the audit's seal if it has one, else the real tree. `bash` is
 * pi's own with the command carried into the seal; the others are served by the core's binary, so that they see what
 * the shell built and need no downloaded `rg` or `fd`.
 */
import {
  createBashToolDefinition, createFindToolDefinition, createGrepToolDefinition, createLsToolDefinition,
  createReadToolDefinition, type ToolDefinition,
} from "@earendil-works/pi-coding-agent";
import { spawn } from "node:child_process";

export const AUDITOR_TOOLS = ["read", "grep", "find", "ls", "bash"];

/** How the client of a seal says that it is gone, or not to be joined any more. */
const SEAL_GONE = /the seal went away|exited with code (125|137)|status (125|137)/;
/** Longest wait for the end that follows. */
const SEAL_GRACE_MS = 2_000;
/** Largest output of a served tool; the binary cuts far below it. */
const OUTPUT_MAX = 4 * 1024 * 1024;

/**
 * Environment variables the auditor's shell does not get, by name: keys, tokens, secrets, passwords, credentials,
 * authentication (sockets too, but not `XAUTHORITY` or `GIT_AUTHOR_NAME`), cookies, and addresses of databases.
 */
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH(?!OR)|BEARER|COOKIE|PRIVATE|_PAT$|_PWD$|_DSN$|DATABASE_URL|CONNECTION_STRING/i;
/** And, by value, addresses that carry a password. */
const SECRET_VALUE = /:\/\/[^/\s:@]*:[^/\s@]+@/;

/** What the tools of one audit work with. */
export interface View {
  cwd: string;
  /** The core's binary. */
  binary: string;
  /** Where the audit's seal is joined; null when it has none. */
  seal: string | null;
  shellPath: string | undefined;
  shellCommandPrefix: string | undefined;
}

type AnyTool = ToolDefinition<any, any, any>;

export function auditorTools(view: View): AnyTool[] {
  return [
    shell(view),
    served(createReadToolDefinition(view.cwd), view),
    served(createGrepToolDefinition(view.cwd), view),
    served(createFindToolDefinition(view.cwd), view),
    served(createLsToolDefinition(view.cwd), view),
  ];
}

/** pi's shell tool without the host's secrets, without git writing on the side, and inside the seal. */
function shell({ cwd, binary, seal, shellPath, shellCommandPrefix }: View): AnyTool {
  const sealed = (command: string) =>
    seal === null ? command : `exec ${[binary, "audit-exec", "--join", seal, "--", "bash", "-c", command].map(quoted).join(" ")}`;
  const tool: AnyTool = createBashToolDefinition(cwd, {
    ...(shellPath === undefined ? {} : { shellPath }),
    ...(shellCommandPrefix === undefined ? {} : { commandPrefix: shellCommandPrefix }),
    exposeSessionEnvironment: false,
    spawnHook: ({ command, cwd: place, env }) => ({ command: sealed(command), cwd: place, env: scrubbed(env) }),
  });
  return {
    ...tool,
    execute: (callId, params, signal, onUpdate, ctx) =>
      withSeal(seal, signal, () => tool.execute(callId, params, signal, onUpdate, ctx)),
  };
}

/**
 * A seal goes away only when its auditor's session is closed, or because the core is lost. The auditor is about to be
 * stopped then: its call waits for that, so that it never asks its model once more in between.
 */
async function withSeal<T>(seal: string | null, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const wait = async (failure: string) => {
    if (seal !== null && !signal?.aborted && SEAL_GONE.test(failure)) await stopped(signal);
  };
  try {
    const result = await work();
    // pi's shell returns the failure of a command; the other tools throw theirs.
    if ((result as { isError?: boolean }).isError) await wait(JSON.stringify(result));
    return result;
  } catch (error) {
    await wait(String(error));
    throw error;
  }
}

function stopped(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SEAL_GRACE_MS);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A tool of pi's by name, description and parameters, carried out by the binary. */
function served(tool: AnyTool, { cwd, binary, seal }: View): AnyTool {
  const through = seal === null ? [] : ["audit-exec", "--join", seal, "--", binary];
  const program = [...through, "audit-tool", tool.name];
  return {
    ...tool,
    execute: async (_callId, params, signal) => {
      const text = await withSeal(seal, signal, () => run(binary, program, JSON.stringify(params), cwd, signal));
      return { content: [{ type: "text", text }], details: undefined };
    },
  };
}

/** Runs the binary; what it prints is the result, a status other than 0 an error with what it said. */
function run(binary: string, args: string[], input: string, cwd: string, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, args, { cwd, env: scrubbed(process.env), stdio: ["pipe", "pipe", "pipe"], signal });
    const output: Buffer[] = [];
    const complaint: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= OUTPUT_MAX) output.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => complaint.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString("utf8"));
      else reject(new Error(Buffer.concat([...output, ...complaint]).toString("utf8").trim() || `status ${code}`));
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

function scrubbed(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name, value]) => !SECRET_NAME.test(name) && !SECRET_VALUE.test(value ?? ""));
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: "0" };
}

/** One word of a shell, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
