// The room of refusals that count files: there are too many of them in a request.
//
// An agent that looks at the screen at every step comes there by and by, and the last ones are those it needs. So the
// oldest go: down to what the refusal says is allowed, or to half of them where it says no number.

import type { MessageList, Repair } from "@rondo/core";
import { complaintOf } from "./complaint.ts";

const things = String.raw`(?:images?|documents?|files?|pdfs?(?! pages)|attachments?|audios?|videos?)\b`;
/** Words that are about a number of files, and up to the end of their text what they say of it. */
const counting: RegExp = new RegExp(
  String.raw`(?:\btoo (?:many|much) (?:\w+ )?(?:media|${things})|\bnumber of (?:\w+ )?${things}|\b(?:image|file|document)s? count\b|\b(?:at most|up to|(?:maximum|max|limit) (?:of|is)|no more than|only|contains) \d+ (?:\w+ )?${things}|\b\d+[- ]images? (?:limit|maximum))[^"{}]{0,120}`,
  "i",
);
/** Numbers of sizes are not meant. */
const numbers: RegExp = /\b[1-9]\d*\b(?! ?(?:px|pixels?|bytes?|[kmg]i?b|pages?|tokens?)\b)/gi;

/** Claude takes smaller images where there are more than so many, and the large ones may be all of them (F118). */
const many: RegExp = /\bmany-image requests\b/i;
const fewImages = 20;

/** The repair that leaves out the oldest files, where the words of a refusal complain of how many there are. */
export function fewerFiles(words: string, messages: MessageList): Repair | undefined {
  const complaint = complaintOf(words);
  let count = 0;
  for (const { content } of messages) for (const { type } of content) if (type === "file") count += 1;
  if (many.test(complaint)) return count > fewImages ? `files.last.${fewImages}` : undefined;
  const [said] = counting.exec(complaint) ?? [];
  if (said === undefined) return undefined;
  const allowed = Number(/> (\d+)/.exec(said)?.[1] ?? Math.min(...(said.match(numbers) ?? []).map(Number)));
  const kept = allowed < count ? allowed : Math.floor(count / 2);
  return kept > 0 ? `files.last.${kept}` : "files";
}
