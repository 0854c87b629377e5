/** When the shim says that a turn is over. Run by `cargo xtask test`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { registerEvents } from "./events.ts";
import { newSession } from "./session.ts";

type Said = { type: string; brokenOff?: boolean };

/** A pi that can be told what happens, and what the core hears of it. */
function host() {
  const handlers = new Map<string, (event: unknown, ctx: unknown) => unknown>();
  const heard: Said[] = [];
  const pi = { on: (name: string, handle: (event: unknown, ctx: unknown) => unknown) => handlers.set(name, handle) };
  const core = { live: true, send: (event: Said) => heard.push(event), ask: async (event: Said) => void heard.push(event) };
  registerEvents(pi as never, newSession(), core as never, {} as never, () => {});
  const happens = (name: string, event: object = {}) => handlers.get(name)?.(event, { signal: undefined });
  return { handlers, heard, happens };
}

const answer = (stopReason: string) => ({ message: { role: "assistant", stopReason, content: [] } });
const ends = (heard: Said[]) => heard.filter(({ type }) => type === "turn_ended");

test("no event is listened to for which pi goes through the whole session in every turn", () => {
  const { handlers } = host();
  assert.ok(handlers.has("turn_start"));
  assert.ok(!handlers.has("turn_end"));
});

test("a turn is over when the next one begins, and the last one when the agent ends", async () => {
  const { heard, happens } = host();
  await happens("turn_start");
  await happens("message_end", answer("toolUse"));
  assert.deepEqual(ends(heard), []);
  await happens("turn_start");
  assert.deepEqual(ends(heard), [{ type: "turn_ended", brokenOff: false }]);
  await happens("message_end", answer("stop"));
  await happens("agent_end");
  assert.equal(ends(heard).length, 2);
  await happens("turn_start");
  assert.equal(ends(heard).length, 2);
});

test("a turn before a compaction is over before that begins, and only once", async () => {
  const { heard, happens } = host();
  await happens("turn_start");
  await happens("message_end", answer("toolUse"));
  await happens("session_before_compact", { reason: "threshold", signal: new AbortController().signal });
  await happens("turn_start");
  assert.deepEqual(heard.map(({ type }) => type), ["turn_ended", "compaction_started"]);
});

test("a turn whose answer failed was broken off, and the one after it was not", async () => {
  const { heard, happens } = host();
  await happens("turn_start");
  await happens("message_end", answer("error"));
  await happens("agent_end");
  await happens("turn_start");
  await happens("message_end", answer("stop"));
  await happens("agent_end");
  assert.deepEqual(ends(heard).map(({ brokenOff }) => brokenOff), [true, false]);
});
