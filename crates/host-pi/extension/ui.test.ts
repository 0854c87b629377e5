/** What is drawn fits its frame, whatever is in it. Run by `cargo xtask test`. */
import { visibleWidth } from "@earendil-works/pi-tui";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  auditLines, claimLines, duration, fit, type Live, line, Lines, lines, liveLines, messageLines, type Paint, Screen, shortCall,
  verdictLines, widgetLines,
} from "./ui.ts";
import type { AuditDetailsWire, GoalFactsWire, LiveAuditWire, MessageDetailsWire } from "./wire.ts";

const WIDTHS = [1, 2, 5, 20, 50, 80, 140];
const PLAIN: Paint = { fg: (_colour, text) => text, bold: (text) => text };
const COLOURED = { fg: (_colour, text) => `\u001b[31m${text}\u001b[39m`, bold: (text) => `\u001b[1m${text}\u001b[22m` } as Paint;
const HOSTILE: Record<string, string> = {
  ansi: "\u001b[2J\u001b[31;5mred\u001b[H\u001b]0;owned\u0007\u009b2J",
  newlines: "one\ntwo\r\nthree\u2028four\u0085five\vsix",
  bidi: "a\u202ecba\u2066x\u2069\u200f",
  cjk: "東京特許許可局".repeat(60),
  emoji: "👩‍💻🏳️‍🌈👍🏽🇪🇺".repeat(40),
  marks: `e${"\u0301".repeat(3_000)}`,
  long: "x".repeat(10_000),
  halves: "\ud83d and \udc00",
  tabs: "\t\t\ta\tb",
  empty: "",
};

const check = (text: string, ok = true) => ({ tool: text, args: JSON.stringify({ path: text }), ok, ms: 5 });
const facts = (text: string): LiveAuditWire => ({
  stage: "checking", model: text, elapsedMs: 42_000, limitMs: 600_000, successes: 1, checks: 7,
  recent: [check(text), check(text, false)], inFlight: `bash {"command":${JSON.stringify(text)}}`,
});
const live = (text: string): Live => ({ facts: facts(text), at: 0, sign: 0, tail: text });
// The core has made state, objective and counts safe to display; only their width is the shim's affair.
const goal = (text: string, mood: GoalFactsWire["mood"] = "working"): GoalFactsWire => ({
  mood, state: "pursuing", objective: line(text), counts: ["continuation 3 of 100", "last audit refused", "audits 2"], activeMs: 0,
});
const details = (text: string, outcome = "disapproved"): AuditDetailsWire => ({
  outcome, why: text, model: text, checks: [check(text), check(text, false)], durationMs: 61_000, report: text, rung: "overlay",
});
const message = { seq: 3, full: true } as MessageDetailsWire;

/** Everything that is drawn, by name. */
function drawings(text: string, width: number, paint: Paint): Record<string, string[]> {
  return {
    widget: widgetLines(goal(text), undefined, 754_000, 0, width, paint),
    audited: widgetLines(goal(text, "auditing"), live(text), 0, 5_000, width, paint),
    live: liveLines(live(text), 30_000, width, paint),
    verdict: verdictLines(details(text), false, "ctrl+o for more", width, paint),
    unknown: verdictLines(details(text, text), false, "", width, paint),
    report: verdictLines(details(text, "approved"), true, "", width, paint),
    asked: auditLines(details(text), false, "ctrl+o for more", width, paint),
    account: auditLines(details(text, "failed"), true, "", width, paint),
    claim: claimLines(text, width, paint),
    message: messageLines(message, text, false, "ctrl+o for the text", width, paint),
    text: messageLines(message, text, true, "", width, paint),
  };
}

for (const [kind, text] of Object.entries(HOSTILE)) {
  test(`${kind} breaks no line and no frame`, () => {
    for (const width of WIDTHS) {
      for (const paint of [PLAIN, COLOURED]) {
        for (const [name, drawn] of Object.entries(drawings(text, width, paint))) {
          const framed = new Lines(() => drawn, 1).render(width);
          for (const one of [...(width >= 5 ? drawn : []), ...framed]) {
            assert.ok(visibleWidth(one) <= width, `${name} at ${width}: ${visibleWidth(one)} columns in ${JSON.stringify(one)}`);
            const bare = one.replace(/\u001b\[[0-9;]*m/g, (code) => (paint === COLOURED || code === "\u001b[0m" ? "" : code));
            assert.doesNotMatch(bare, /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u, `${name} at ${width}`);
          }
        }
      }
    }
  });
}

test("the widget is two lines, a message one, a verdict at a glance five", () => {
  for (const text of Object.values(HOSTILE)) {
    for (const width of [20, 50, 80, 140]) {
      const drawn = drawings(text, width, PLAIN);
      assert.equal(drawn.widget?.length, 2);
      assert.equal(drawn.audited?.length, 2);
      assert.equal(drawn.message?.length, 1);
      assert.ok((drawn.verdict?.length ?? 9) <= 5);
      assert.ok((drawn.live?.length ?? 99) <= 9);
    }
  }
});

test("what does not fit is left out whole, from the end", () => {
  assert.equal(fit(["one", "two", "three"], 9), "one · two");
  assert.equal(fit(["one", "two", "three"], 40), "one · two · three");
  assert.equal(fit(["much too long"], 5), "much…");
  const [wide] = widgetLines(goal("x"), undefined, 754_000, 0, 140, PLAIN);
  assert.equal(wide, " ● goal pursuing · active 12 min 34 s · continuation 3 of 100 · last audit refused · audits 2");
  const [narrow] = widgetLines(goal("x"), undefined, 754_000, 0, 40, PLAIN);
  assert.equal(narrow, " ● goal pursuing · active 12 min 34 s");
});

test("a live audit tells its stage, its clock, its checks and its words", () => {
  const told = liveLines({ ...live("a.txt"), facts: { ...facts("a.txt"), inFlight: null }, tail: "It\n\nlooks\nfine\nso far" }, 30_000, 80, PLAIN);
  assert.match(told[0] ?? "", /^◆ a.txt is auditing · checking · 1 min 12 s of 10 min/);
  assert.deepEqual(told.slice(1), [
    "  5 earlier checks", "  ✓ a.txt a.txt", "  ✗ a.txt a.txt", "  │ looks", "  │ fine", "  │ so far", "  silent for 30 s",
  ]);
});

test("a refusal shows its objections, an approval its checks", () => {
  const refused = verdictLines({ ...details("a"), report: "1\n2\n3\n4\n<disapproved/>", why: "" }, false, "ctrl+o", 80, PLAIN);
  assert.deepEqual(refused, ["✗ refused · a · 1 of 2 checks ok · 1 min 1 s · sealed", "  │ 1", "  │ 2", "  │ 3", "  ctrl+o"]);
  const approved = verdictLines({ ...details("a", "approved"), why: "" }, true, "", 80, PLAIN);
  assert.deepEqual(approved.slice(1), ["  ✓ a a", "  ✗ a a", "  │ a"]);
});

test("calls and durations are short", () => {
  assert.equal(shortCall('read {"path":"a.txt"}'), "read a.txt");
  assert.equal(shortCall('bash {"command":"cargo test\\n  -q \\"x\\""}'), 'bash cargo test -q "x"');
  assert.equal(shortCall("ls {}"), "ls {}");
  assert.deepEqual([0, 59_999, 61_000, 900_000, 3_700_000].map(duration), ["0 s", "59 s", "1 min 1 s", "15 min", "1 h 1 min"]);
  assert.deepEqual(lines("a\n\n b\r\nc"), ["a", "b", "c"]);
});

test("a drawing that fails leaves its place empty", () => {
  const broken = new Lines(() => {
    throw new Error("no");
  });
  assert.deepEqual(broken.render(80), []);
});

test("the clock ticks once a second while a goal is pursued, and never at rest", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const screen = new Screen();
  let drawn = 0;
  screen.widget({ requestRender: () => void (drawn += 1), terminal: { write: () => undefined } }, PLAIN);
  const draws = (mood: GoalFactsWire["mood"] | null, ms: number) => {
    screen.show(mood && goal("x", mood));
    drawn = 0;
    t.mock.timers.tick(ms);
    return drawn;
  };
  for (const mood of ["working", "auditing", "waiting"] as const) assert.equal(draws(mood, 10_000), 10, mood);
  for (const mood of ["paused", "held", null] as const) assert.equal(draws(mood, 60_000), 0, String(mood));
});

test("an auditor that writes without end is drawn at most four times a second", () => {
  const screen = new Screen();
  let drawn = 0;
  screen.widget({ requestRender: () => void (drawn += 1), terminal: { write: () => undefined } }, PLAIN);
  screen.show(goal("x", "auditing"));
  screen.audit(facts("x"));
  drawn = 0;
  for (let token = 0; token < 1_000; token += 1) screen.heard("word ".repeat(token));
  assert.ok(drawn <= 1, `${drawn}`);
  assert.match(screen.live?.tail ?? "", /word/);
  screen.show(null);
});
