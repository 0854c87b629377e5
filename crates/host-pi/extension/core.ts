/**
 * The sidecar: found from the shim's own place, started when it is needed, spoken to in JSON lines, watched while
 * somebody depends on it, and started again when it is lost. Knows nothing of pi.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EffectWire, type EventWire, type LineIn, type LineOut, PROTOCOL_VERSION } from "./wire.ts";

const SHIM_VERSION = "0.1.0";
const PACKAGE = "pi-goal-auditor";
const HANDSHAKE_MS = 5_000;
const PING_EVERY_MS = 2_000;
const PING_MS = 5_000;
const LOSSES_WINDOW_MS = 600_000;
const LOSSES_MAX = 3;
const GRACE_MS = 3_000;
const LINE_MAX = 32 * 1024 * 1024;
const STDERR_MAX = 4_096;

/** What the owner of a core is asked and told. */
export interface CoreHooks {
  /** pi's agent directory. */
  agentDir(): string | null;
  /** Performs the effects of one line, in order and at once. */
  perform(effects: EffectWire[]): void;
  /** The core died or hangs: lets go of all that waits for it; returns what its successor is told first, if any. */
  lost(recentLosses: number): EventWire | undefined;
  /** There is no core, and none is started until the user asks. */
  gone(reason: string): void;
}

interface Pending {
  resolve(effects: EffectWire[] | undefined): void;
  timer: NodeJS.Timeout;
  keepsAlive: boolean;
  /** Told before the effects of the answer are performed. */
  answered?: (() => void) | undefined;
}

/** One process. */
interface Link {
  path: string;
  child: ChildProcessWithoutNullStreams;
  token: string;
  hello: number;
  welcomed: boolean;
  pinging: boolean;
  pending: Map<number, Pending>;
  parts: Buffer[];
  size: number;
  stderr: string;
}

export class Core {
  readonly #hooks: CoreHooks;
  #link: Link | undefined;
  #missing: string | undefined;
  #closed = false;
  #nextId = 1;
  #losses: number[] = [];
  #holds = 0;
  #watches = 0;
  #waiting = false;
  #beat: NodeJS.Timeout | undefined;

  constructor(hooks: CoreHooks) {
    this.#hooks = hooks;
  }

  /** A process is there, or being started. */
  get live(): boolean {
    return this.#link !== undefined;
  }

  /** The program that is running; it also serves the auditor's tools. */
  get binary(): string {
    return this.#link?.path ?? "";
  }

  /** Why there is no core, if one was tried. */
  get missing(): string | undefined {
    return this.#missing;
  }

  /** Starts a process; `opened` is the first it is told. Lines sent meanwhile wait in the pipe behind the handshake. */
  start(opened: EventWire): void {
    if (this.#link || this.#closed) return;
    this.#missing = undefined;
    const found = findBinary();
    if (!("path" in found)) return this.#give(found.problem);
    const agentDir = this.#hooks.agentDir();
    const cwd = agentDir && existsSync(agentDir) ? agentDir : "/";
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(found.path, ["serve"], { cwd, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    } catch (error) {
      return this.#give(`${found.path} cannot be started (${String(error)})`);
    }
    const token = randomBytes(32).toString("hex");
    const link: Link = {
      path: found.path, child, token, hello: 0, welcomed: false, pinging: false, pending: new Map(), parts: [], size: 0, stderr: "",
    };
    this.#link = link;
    child.on("error", (error) => this.#lose(link, `${found.path} cannot be started (${error.message})`));
    child.on("close", (code, signal) => this.#lose(link, `it ended (${signal ?? `status ${code}`})`));
    child.stdin.on("error", () => undefined);
    child.stdout.on("error", () => undefined);
    child.stderr.on("error", () => undefined);
    child.stdout.on("data", (chunk: Buffer) => {
      try {
        this.#read(link, chunk);
      } catch (error) {
        this.#lose(link, `it makes no sense (${String(error)})`);
      }
    });
    child.stderr.on("data", (chunk: Buffer) => {
      link.stderr = (link.stderr + chunk.toString("utf8")).slice(-STDERR_MAX);
    });
    const hello: EventWire = { type: "hello", protocol: PROTOCOL_VERSION, shim: SHIM_VERSION, agentDir };
    link.hello = this.#nextId;
    void this.ask(hello, 0);
    this.send(opened);
    this.#beat ??= setInterval(() => this.#ping(), PING_EVERY_MS).unref();
  }

  /** Tells the core something; nothing waits. */
  send(event: EventWire): void {
    if (this.#link) this.#write(this.#link, { token: this.#link.token, event });
  }

  /** Asks and waits: the effects, already performed; undefined when there is no core or it was lost meanwhile. */
  ask(event: EventWire, limitMs: number, keepsAlive = true, answered?: () => void): Promise<EffectWire[] | undefined> {
    const link = this.#link;
    if (!link) return Promise.resolve(undefined);
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const limit = limitMs + (link.welcomed ? 0 : HANDSHAKE_MS);
      // One more turn of the event loop: the answer may lie in the pipe behind a pi that was busy itself.
      const late = () => setImmediate(() => link.pending.has(id) && this.#lose(link, "it does not answer"));
      const timer = setTimeout(late, limit);
      if (!keepsAlive) timer.unref();
      link.pending.set(id, { resolve, timer, keepsAlive, answered });
      this.#write(link, { token: link.token, id, event });
      this.#reference();
    });
  }

  /** Keeps pi's process alive for the core, and watches the core if asked; the returned function lets go. */
  hold(watched: boolean): () => void {
    let held = true;
    this.#holds += 1;
    if (watched) this.#watches += 1;
    this.#reference();
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      if (watched) this.#watches -= 1;
      this.#reference();
    };
  }

  /** A deadline of the core is open: watch it. */
  set waiting(waiting: boolean) {
    this.#waiting = waiting;
  }

  /** Says goodbye and lets go of everything. For good. */
  close(): void {
    const link = this.#link;
    this.send({ type: "session_left" });
    this.#closed = true;
    this.#link = undefined;
    clearInterval(this.#beat);
    if (!link) return;
    settle(link);
    link.child.stdin.end();
    refer(link.child, false);
    const grace = setTimeout(() => link.child.kill("SIGKILL"), GRACE_MS).unref();
    link.child.once("exit", () => clearTimeout(grace));
  }

  #ping(): void {
    const link = this.#link;
    if (!link?.welcomed || link.pinging || !(this.#waiting || this.#watches > 0)) return;
    link.pinging = true;
    void this.ask({ type: "ping" }, PING_MS, false).then(() => {
      link.pinging = false;
    });
  }

  #write(link: Link, line: LineIn): void {
    try {
      link.child.stdin.write(`${wellFormed(JSON.stringify(line))}\n`);
      if (link.child.stdin.writableLength > LINE_MAX) this.#lose(link, "it does not read");
    } catch {
      // A line that cannot be written is answered by nobody; the limit of the caller decides.
    }
  }

  #read(link: Link, chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && this.#link === link; end = rest.indexOf(10)) {
      link.parts.push(rest.subarray(0, end));
      const line = Buffer.concat(link.parts).toString("utf8");
      link.parts = [];
      link.size = 0;
      rest = rest.subarray(end + 1);
      this.#receive(link, line);
    }
    link.parts.push(rest);
    link.size += rest.length;
    if (link.size > LINE_MAX) this.#lose(link, "it sent an endless line");
  }

  #receive(link: Link, text: string): void {
    let line: LineOut;
    try {
      line = JSON.parse(text) as LineOut;
    } catch {
      return;
    }
    if (line?.token !== link.token || !Array.isArray(line.effects)) return;
    if (line.id === link.hello) {
      const refused = line.effects.find((effect) => effect.type === "refused");
      const welcome = line.effects.find((effect) => effect.type === "welcome");
      if (refused) return this.#lose(link, refused.message, true);
      if (welcome?.protocol !== PROTOCOL_VERSION) return this.#lose(link, "it speaks another version");
      link.welcomed = true;
    }
    if (!link.welcomed) return;
    const pending = line.id === undefined ? undefined : link.pending.get(line.id);
    pending?.answered?.();
    this.#hooks.perform(line.effects);
    if (!pending) return;
    link.pending.delete(line.id as number);
    clearTimeout(pending.timer);
    pending.resolve(line.effects);
    this.#reference();
  }

  /** Ends a process that is of no use any more, and starts the next unless this happens too often. */
  #lose(link: Link, why: string, refused = false): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    link.child.kill("SIGKILL");
    refer(link.child, false);
    settle(link);
    const now = performance.now();
    this.#losses = [...this.#losses.filter((moment) => now - moment < LOSSES_WINDOW_MS), now];
    const opened = this.#hooks.lost(this.#losses.length);
    const said = refused ? "" : link.stderr.trim().split("\n").at(-1);
    const reason = visible(said ? `${why}; its last words: ${said}` : why);
    if (!link.welcomed) this.#give(reason);
    else if (this.#losses.length >= LOSSES_MAX) this.#give(`${reason}; it was lost ${this.#losses.length} times`);
    else if (opened) this.start(opened);
    else this.#give(reason);
  }

  #give(reason: string): void {
    this.#missing = reason;
    this.#hooks.gone(reason);
  }

  #reference(): void {
    const link = this.#link;
    if (!link) return;
    refer(link.child, this.#holds > 0 || [...link.pending.values()].some((pending) => pending.keepsAlive));
  }
}

/** Nothing of this process is awaited any more. */
function settle(link: Link): void {
  for (const pending of link.pending.values()) {
    clearTimeout(pending.timer);
    pending.resolve(undefined);
  }
  link.pending.clear();
}

/** Whether pi's process stays for the sake of this one. */
function refer(child: ChildProcessWithoutNullStreams, needed: boolean): void {
  for (const handle of [child, child.stdin, child.stdout, child.stderr] as Array<{ ref?(): void; unref?(): void }>) {
    if (needed) handle.ref?.();
    else handle.unref?.();
  }
}

/** JSON text without unpaired surrogates, which `JSON.stringify` leaves as escapes. */
function wellFormed(json: string): string {
  if (!/\\ud[89a-f]/i.test(json)) return json;
  return json.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/gi, (found) => (found === "\\\\" ? found : "\ufffd"));
}

/** One line without control characters. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").slice(0, 500);
}

/**
 * The binary, from the first of these places that has one: what the user names in `GOAL_AUDITOR_BIN`; beside this very
 * file; the package of this platform, resolved as Node resolves it from this file (npm puts it beside ours); the build
 * of the checkout that this file is in. Never the working directory.
 */
function findBinary(): { path: string } | { problem: string } {
  const named = process.env.GOAL_AUDITOR_BIN;
  if (named) {
    if (!isAbsolute(named)) return { problem: "GOAL_AUDITOR_BIN is not an absolute path" };
    return existsSync(named) ? { path: named } : { problem: `GOAL_AUDITOR_BIN names ${visible(named)}, which is missing` };
  }
  const self = realpathSync(fileURLToPath(import.meta.url));
  const here = dirname(self);
  const name = process.platform === "win32" ? "goal-auditor.exe" : "goal-auditor";
  const builds = ["release", "debug"].map((profile) => join(here, "../../../target", profile, name));
  const places = [join(here, name), ...inPackages(self, name), ...builds];
  const path = places.find((place) => existsSync(place));
  return path ? { path } : { problem: missing(here, name) };
}

/** The binary in each package for this system that is installed: one, unless npm was forced. */
function inPackages(self: string, name: string): string[] {
  const require = createRequire(self);
  const installed = platforms().flatMap((platform) => {
    try {
      return [dirname(require.resolve(`${PACKAGE}-${platform}/package.json`))];
    } catch {
      return [];
    }
  });
  return installed.map((folder) => join(folder, name));
}

/**
 * The names of this system among those of our packages. On Linux the C library decides which of two npm installs; both
 * binaries run anywhere, because they bring their own.
 */
function platforms(): string[] {
  const system = `${process.platform}-${process.arch}`;
  return process.platform === "linux" ? [`${system}-gnu`, `${system}-musl`] : [system];
}

/** Node's report names the glibc that it runs on, and nothing where it runs on musl. */
function usesGlibc(): boolean {
  // Else it looks up the names of all peers, and waits for them. The types do not know of it yet.
  (process.report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

function missing(here: string, name: string): string {
  const [gnu, musl] = platforms();
  const needed = `${PACKAGE}-${musl === undefined || usesGlibc() ? gnu : musl}`;
  return `there is no ${name} in ${here}, and the package with it for this machine, ${needed}, is not installed ` +
    `(pi install npm:${PACKAGE} brings it, unless npm leaves optional packages out)`;
}
