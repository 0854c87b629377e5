/** What the shim asks pi's session, and how often. Run by `cargo xtask test`. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextChanged, CUSTOM_TYPE, fullMessagePresent, newSession } from "./session.ts";

const TAG = { id: "g-1", generation: 2 };
const FULL = { type: "custom_message", customType: CUSTOM_TYPE, details: { full: true, goalId: TAG.id, generation: TAG.generation } };

/** A context with these entries that counts how often all of them are read. */
function context(entries: unknown[]) {
  const seen = { reads: 0, entries };
  const sessionManager = {
    buildContextEntries: () => {
      seen.reads += 1;
      return seen.entries;
    },
  };
  return { seen, ctx: { sessionManager } as unknown as ExtensionContext };
}

const pursuing = (tag = TAG) => ({ ...newSession(), pursued: tag });

test("a full message that was found is not looked for again at the end of every run", () => {
  const { seen, ctx } = context([FULL]);
  const session = pursuing();
  for (let run = 0; run < 3; run += 1) assert.equal(fullMessagePresent(ctx, session), true);
  assert.equal(seen.reads, 1);
});

test("what a compaction or a move in the tree took away is missed", () => {
  const { seen, ctx } = context([FULL]);
  const session = pursuing();
  assert.equal(fullMessagePresent(ctx, session), true);
  seen.entries = [];
  contextChanged(session);
  assert.equal(fullMessagePresent(ctx, session), false);
  seen.entries = [FULL];
  assert.equal(fullMessagePresent(ctx, session), true);
});

test("the full message of another goal, or of the same one before an edit, is not taken for it", () => {
  const { ctx } = context([FULL]);
  const session = pursuing();
  assert.equal(fullMessagePresent(ctx, session), true);
  for (const other of [{ ...TAG, id: "g-2" }, { ...TAG, generation: 3 }]) {
    session.pursued = other;
    assert.equal(fullMessagePresent(ctx, session), false);
  }
  session.pursued = TAG;
  assert.equal(fullMessagePresent(ctx, session), true);
});
