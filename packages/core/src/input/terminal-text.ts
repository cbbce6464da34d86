// The room of terminal text: turns what a program wrote for a terminal into plain lines.
//
// It makes one pass over the text, without regular expressions. An unterminated sequence must not swallow what follows it,
// so every sequence ends at the end of its line at the latest.

const ESC = 0x1b;
const BEL = 0x07;
const ST = 0x9c;

/**
 * Terminal output as plain text. Removes escape sequences (CSI, OSC, DCS and the like) and control characters except
 * newline and tab. Of a line that was overwritten with carriage returns only the last text is kept, and backspaces are
 * applied.
 */
export function cleanOutput(text: string): string {
  const lines: string[] = [];
  let line = "";
  // The line before its last backspace, in pieces, so that each backspace costs only what it removes, not the whole line.
  const before: string[] = [];
  // The text of the line before a carriage return; it stays if nothing is written over it.
  let under = "";
  /** The line as far as it is written; the next text begins another. */
  const taken = (): string => {
    const whole = before.length === 0 ? line : before.splice(0).join("") + line;
    line = "";
    return whole;
  };
  const unended = { until: 0 };
  let plain = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 9 || (code >= 32 && (code < 127 || code > 159))) {
      at++;
      continue;
    }
    if (at > plain) line += text.slice(plain, at);
    if (code === 10) {
      lines.push(taken() || under);
      under = "";
      at++;
    } else if (code === 13) {
      under = taken() || under;
      at++;
    } else if (code === 8) {
      if (line !== "") before.push(line);
      line = "";
      dropLast(before);
      at++;
    } else at = afterControl(text, at, unended);
    plain = at;
  }
  if (at > plain) line += text.slice(plain, at);
  lines.push(taken() || under);
  return lines.join("\n");
}

/** Removes the last character of the last piece. No piece is empty. */
function dropLast(pieces: string[]): void {
  const last = pieces.pop() ?? "";
  const code = last.charCodeAt(last.length - 1);
  const kept = last.slice(0, code >= 0xdc00 && code <= 0xdfff ? -2 : -1);
  if (kept !== "") pieces.push(kept);
}

/** Up to where it is known that no string sequence is terminated. */
interface Unended {
  until: number;
}

/** Where the text continues after the control character at `at`, or after the sequence that it begins. */
function afterControl(text: string, at: number, unended: Unended): number {
  const code = text.charCodeAt(at);
  if (code === ESC) return afterEscape(text, at + 1);
  if (code === 0x9b) return afterCsi(text, at + 1);
  // DCS, SOS, OSC, PM, APC as single bytes.
  if (code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f)
    return at < unended.until ? at + 1 : afterByteString(text, at + 1, unended);
  return at + 1;
}

/** If it is not terminated, it is no sequence but a letter in a text that was read in a wrong encoding: what follows is text. */
function afterByteString(text: string, from: number, unended: Unended): number {
  const end = afterString(text, from);
  const last = text.charCodeAt(end - 1);
  if (end > from && (last === BEL || last === ST || text.slice(end - 2, end) === "\x1b\\")) return end;
  unended.until = end;
  return from;
}

function afterEscape(text: string, at: number): number {
  const char = text[at];
  if (char === "[") return afterCsi(text, at + 1);
  if (char === "]" || char === "P" || char === "X" || char === "^" || char === "_")
    return afterString(text, at + 1);
  let end = at;
  // Intermediate bytes, then one final byte: `ESC ( B`.
  while (text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x2f) end++;
  const final = text.charCodeAt(end);
  return final >= 0x30 && final <= 0x7e ? end + 1 : end;
}

function afterCsi(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) >= 0x20 && text.charCodeAt(at) <= 0x3f) at++;
  const final = text.charCodeAt(at);
  return final >= 0x40 && final <= 0x7e ? at + 1 : at;
}

/** After a string sequence: past BEL or ST; if it is not terminated, at the newline or the next escape. */
function afterString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BEL || code === ST) return at + 1;
    if (code === ESC) return text[at + 1] === "\\" ? at + 2 : at;
    if (code === 10 || code === 13) return at;
  }
  return text.length;
}
