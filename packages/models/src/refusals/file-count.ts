// The room of refusals about the number of files in a request.
//
// An agent that looks at the screen with every step gets there sooner or later, and needs the last files most. So the
// oldest are left out: down to the number that the refusal allows, or to half of them if it names none. A number that the
// request already keeps to counts something else: then nobody knows how many are too many, and all are left out.

import type { MessageList, Repair } from "@rondo/core";
import { complaintOf } from "./complaint.ts";

const things = String.raw`(?:images?|documents?|files?|pdfs?(?! pages)|attachments?|audios?|videos?)\b`;
/** A phrase about a number of files, and the rest of its text. */
const counting: RegExp = new RegExp(
  String.raw`(?:\btoo (?:many|much) (?:\w+ )?(?:media|${things})|\bnumber of (?:\w+ )?${things}|\b(?:image|file|document)s? count\b|\b(?:at most|up to|(?:maximum|max|limit) (?:of|is)|more than|only|contains) \d+ (?:\w+ )?${things}|\b\d+[- ]images? (?:limit|maximum))[^"{}]{0,120}`,
  "i",
);
/** Numbers, except those of sizes. */
const numbers: RegExp = /\b[1-9]\d*\b(?! ?(?:px|pixels?|bytes?|[kmg]i?b|pages?|tokens?)\b)/gi;

/** No file of that kind is accepted at all: vLLM, started with a limit of zero. */
const none: RegExp = /^(?:at most|up to|maximum (?:of|is)) 0 /i;

/** Claude accepts only smaller images if there are more than some number, and all of them may be too large (F118). */
const many: RegExp = /\bmany-image requests\b/i;
const fewImages = 20;

/** The repair that leaves out the oldest files, if the refusal complains about their number. */
export function fewerFiles(words: string, messages: MessageList): Repair | undefined {
  const complaint = complaintOf(words);
  let count = 0;
  for (const { content } of messages) for (const { type } of content) if (type === "file") count += 1;
  if (many.test(complaint)) return count > fewImages ? `files.last.${fewImages}` : undefined;
  const [said] = counting.exec(complaint) ?? [];
  if (said === undefined || none.test(said)) return undefined;
  const allowed = Number(/> (\d+)/.exec(said)?.[1] ?? Math.min(...(said.match(numbers) ?? []).map(Number)));
  const kept = allowed < count ? allowed : Number.isFinite(allowed) ? 0 : Math.floor(count / 2);
  return kept > 0 ? `files.last.${kept}` : "files";
}
