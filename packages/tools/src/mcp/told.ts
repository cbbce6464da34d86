// The room of what is told twice: whether a server's text says all that its structured content holds.

import type { Json } from "@rondo/core";

/** How many values of structured content are looked for in the text: if so many are there, so are the others. */
const mostLooked = 1_000;

/** Whether a text says all that structured content holds, in whatever form: each of its values occurs in it. */
export function isTold(structured: Json, text: string): boolean {
  const left: Json[] = [structured];
  const seen = new Set<object>();
  let looked = 0;
  for (let one = left.pop(); one !== undefined && looked < mostLooked; one = left.pop()) {
    if (typeof one === "object" && one !== null) {
      // A client in this process may give an object that holds itself.
      if (seen.has(one)) continue;
      seen.add(one);
      // One by one: a long list has more values than a call takes as arguments.
      for (const value of Object.values(one)) left.push(value);
    } else if (one !== null) {
      looked += 1;
      if (!spellings(String(one)).some((spelling) => occurs(spelling, text))) return false;
    }
  }
  return true;
}

/** A text as it is, and as it may stand in JSON. */
function spellings(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const inAscii = escaped.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [value, escaped, inAscii];
}

/** Whether a value stands in a text, and not only within another word or number: the 3 of "34 issues" is no count of votes. */
function occurs(value: string, text: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    if (!(inWord(text, at - 1) && inWord(text, at)) && !(inWord(text, end - 1) && inWord(text, end)))
      return true;
  }
  return false;
}

/** Whether a digit or a letter of a Latin alphabet is there. Other scripts may write words without anything between them. */
function inWord(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (
    (unit >= 48 && unit <= 57) ||
    (unit >= 65 && unit <= 90) ||
    (unit >= 97 && unit <= 122) ||
    (unit >= 192 && unit < 592)
  );
}
