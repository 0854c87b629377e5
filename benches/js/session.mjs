/**
 * Takes the time of what the extension reads of a session: `node session.mjs pi's-session-manager.js session.ts`.
 *
 * The session is pi's own, in memory; the functions are the extension's own.
 */

import { pathToFileURL } from "node:url";
import { perCall, serve } from "./clock.mjs";

const [manager, shim] = process.argv.slice(2).map((path) => pathToFileURL(path).href);
const { SessionManager } = await import(manager);
const { CUSTOM_TYPE, auditWasLost, fullMessagePresent, newSession, readRecords } = await import(shim);

const TAG = { id: "g-1", generation: 1 };
const sessions = new Map();
const branches = new Map();

/** A session with the goal's message and one saved goal, and so many entries of other kinds after them. */
function sessionWith(entries) {
  const session = SessionManager.inMemory("/work");
  session.appendCustomEntry(CUSTOM_TYPE, { v: 1, kind: "goal", goal: { id: TAG.id, generation: TAG.generation } });
  const details = { v: 1, full: true, goalId: TAG.id, generation: TAG.generation };
  session.appendCustomMessageEntry(CUSTOM_TYPE, "work on it", true, details);
  for (let at = 0; at < entries; at += 1) {
    const role = at % 2 === 0 ? "assistant" : "user";
    session.appendMessage({ role, content: [{ type: "text", text: `entry ${at}` }], timestamp: at });
  }
  return session;
}

/** What is timed, each with the answer it must give. */
const READS = {
  branch: (ctx, entries) => ctx.sessionManager.getBranch().length === entries + 2,
  records: (ctx) => readRecords(ctx).length === 2,
  // Without pi's walk: the branch is there already.
  own: (_ctx, entries) => readRecords({ sessionManager: { getBranch: () => branches.get(entries) } }).length === 2,
  lost: (ctx) => auditWasLost(ctx) === false,
  context: (ctx) => ctx.sessionManager.buildContextEntries().length > 0,
  present: (ctx, _entries, session) => fullMessagePresent(ctx, session) === true,
};

serve(({ read, entries, ms }) => {
  if (!sessions.has(entries)) {
    sessions.set(entries, sessionWith(entries));
    branches.set(entries, sessions.get(entries).getBranch());
  }
  const ctx = { sessionManager: sessions.get(entries) };
  const session = { ...newSession(), pursued: TAG };
  if (!READS[read](ctx, entries, session)) throw new Error(`${read} of ${entries} entries is wrong`);
  return perCall(() => READS[read](ctx, entries, session), ms);
});
