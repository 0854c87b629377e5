/** The verdict grammar as one writes it at first: split into lines, trim, drop the empty ones, take the last. */

const MAX_BYTES = 4 * 1024 * 1024;
const BLANK = "[\\s\\u0085\\uFEFF]";
const OPENERS = /<(think|thinking)>/gi;
const BLOCK = new RegExp(`(^|[\\r\\n])(${BLANK}*)<(think|thinking)>[\\s\\S]*?</\\3>`, "i");
const TRIM = new RegExp(`^${BLANK}+|${BLANK}+$`, "g");
const TAG = /^<[\s\u0085]*(approved|disapproved)[\s\u0085]*\/?>$/;
const EMPHASIS = [["`", 2], ["*", 3], ["_", 3], ["~", 2]];

export function verdict(text) {
  if (Buffer.byteLength(text) > MAX_BYTES) return "oversized";
  for (const opener of text.matchAll(OPENERS)) {
    const rest = text.slice(opener.index + opener[0].length).toLowerCase();
    if (!rest.includes(`</${opener[1].toLowerCase()}>`)) return "unfinished_reasoning";
  }
  let kept = text;
  // What follows a block is the start of a line.
  for (let before; before !== kept;) {
    before = kept;
    kept = kept.replace(BLOCK, "$1$2\n");
  }
  const lines = kept.split(/\r\n|\r|\n/).map((line) => line.replace(TRIM, "")).filter((line) => line !== "");
  const last = lines.at(-1);
  if (last === undefined) return "empty";
  const tag = TAG.exec(withoutEmphasis(last));
  if (tag && !tag[0].includes("\uFEFF")) return tag[1];
  return /<(dis)?approved/.test(last) ? "extra_text" : "no_tag";
}

function withoutEmphasis(line) {
  for (;;) {
    const found = EMPHASIS.find(([mark]) => line.startsWith(mark));
    if (!found) return line;
    const [mark, max] = found;
    let head = 0;
    while (line[head] === mark) head += 1;
    let tail = 0;
    while (line[line.length - 1 - tail] === mark) tail += 1;
    if (head !== tail || head > max || head === line.length) return line;
    line = line.slice(head, line.length - tail).replace(TRIM, "");
  }
}
