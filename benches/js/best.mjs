/**
 * The verdict grammar as fast as we can write it in JavaScript: no array of lines, no copy of the text, no regular
 * expression over all of it. The engine's own `indexOf` finds the brackets; whatever it finds is looked at once.
 */

const MAX_BYTES = 4 * 1024 * 1024;
const LT = 0x3c, GT = 0x3e, SLASH = 0x2f, LF = 0x0a, CR = 0x0d, FEFF = 0xfeff;
const MARKS = new Map([[0x60, 2], [0x2a, 3], [0x5f, 3], [0x7e, 2]]);

export function verdict(text) {
  // A UTF-16 unit has at most three bytes in UTF-8, so most texts need no counting.
  if (text.length * 3 > MAX_BYTES && Buffer.byteLength(text) > MAX_BYTES) return "oversized";
  const last = lastLine(text);
  if (last === undefined) return "unfinished_reasoning";
  if (last === "") return "empty";
  return verdictOf(withoutEmphasis(last)) ?? (/<(?:dis)?approved/.test(last) ? "extra_text" : "no_tag");
}

/** The last line outside of reasoning, trimmed; empty without one, undefined if some reasoning is not closed. */
function lastLine(text) {
  let thinkOpen = false, thinkingOpen = false;
  let block = 0;        // The name of the block that is open: 1 think, 2 thinking.
  let start = 0;        // Where the stretch of kept text begins, which is the start of a line.
  let seen = 0;         // Up to here the line is known to be blank or not.
  let blank = true;
  let best = "";
  for (let at = text.indexOf("<"); at !== -1;) {
    const mark = markAt(text, at);
    if (mark === 0) {
      at = text.indexOf("<", at + 1);
      continue;
    }
    const opens = mark > 0;
    const name = opens ? mark : -mark;
    if (name === 1) thinkOpen = opens;
    else thinkingOpen = opens;
    const end = at + (name === 1 ? 7 : 10) + (opens ? 0 : 1);
    if (block !== 0) {
      if (!opens && name === block) {
        block = 0;
        start = seen = end;
        blank = true;
      }
    } else {
      blank = staysBlank(text, seen, at, blank);
      seen = end;
      if (opens && blank) {
        best = lastLineWithin(text, start, at) || best;
        block = name;
      } else {
        blank = false;
      }
    }
    at = text.indexOf("<", end);
  }
  if (thinkOpen || thinkingOpen) return undefined;
  return lastLineWithin(text, start, text.length) || best;
}

/** 1 and 2 for the openers, -1 and -2 for the closers, 0 for anything else. */
function markAt(text, at) {
  const closes = text.charCodeAt(at + 1) === SLASH;
  const from = closes ? at + 2 : at + 1;
  if ((text.charCodeAt(from) | 0x20) !== 0x74 || !spells(text, from, "think")) return 0;
  if (text.charCodeAt(from + 5) === GT) return closes ? -1 : 1;
  if (spells(text, from + 5, "ing") && text.charCodeAt(from + 8) === GT) return closes ? -2 : 2;
  return 0;
}

/** ASCII letters in either case; lower case is one bit more. */
function spells(text, from, word) {
  for (let at = 0; at < word.length; at += 1) {
    const code = text.charCodeAt(from + at);
    if (code > 0x7f || (code | 0x20) !== word.charCodeAt(at)) return false;
  }
  return true;
}

function staysBlank(text, from, to, blankBefore) {
  for (let at = to - 1; at >= from; at -= 1) {
    const code = text.charCodeAt(at);
    if (code === LF || code === CR) return true;
    if (!isBlank(code)) return false;
  }
  return blankBefore;
}

function lastLineWithin(text, from, to) {
  let end = to;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end -= 1;
  let start = end;
  while (start > from && !isLineEnd(text.charCodeAt(start - 1))) start -= 1;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  return text.slice(start, end);
}

function withoutEmphasis(line) {
  let from = 0, to = line.length;
  for (;;) {
    const mark = line.charCodeAt(from);
    const max = MARKS.get(mark);
    if (max === undefined || from === to) break;
    let head = 0, tail = 0;
    while (head <= max && from + head < to && line.charCodeAt(from + head) === mark) head += 1;
    while (tail <= max && to - tail > from && line.charCodeAt(to - 1 - tail) === mark) tail += 1;
    if (head !== tail || head > max || head === to - from) break;
    from += head;
    to -= tail;
    while (from < to && isBlank(line.charCodeAt(from))) from += 1;
    while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1;
  }
  return line.slice(from, to);
}

function verdictOf(line) {
  let from = 1, to = line.length - 1;
  if (line.charCodeAt(0) !== LT || to < from || line.charCodeAt(to) !== GT) return undefined;
  if (to > from && line.charCodeAt(to - 1) === SLASH) to -= 1;
  while (from < to && isSpace(line.charCodeAt(from))) from += 1;
  while (to > from && isSpace(line.charCodeAt(to - 1))) to -= 1;
  const word = line.slice(from, to);
  return word === "approved" || word === "disapproved" ? word : undefined;
}

function isLineEnd(code) {
  return code === LF || code === CR;
}

/** Unicode White_Space and U+FEFF. */
function isBlank(code) {
  return isSpace(code) || code === FEFF;
}

function isSpace(code) {
  if (code <= 0x20) return code === 0x20 || (code >= 9 && code <= 13);
  if (code < 0x85) return false;
  return code === 0x85 || code === 0xa0 || code === 0x1680 || (code >= 0x2000 && code <= 0x200a)
    || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000;
}
