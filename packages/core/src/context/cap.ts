// The room of the cap: no single result may fill the window.
//
// Pure functions of a result that has just arrived: whether it is too large, and what enters the history in its place. A
// result that fits is returned as the same object.

import type { CallResult } from "../loop/records.ts";
import type { ContentPart } from "../message.ts";
import { byteLength, exceedsBytes, lineCount } from "../text/size.ts";
import { type CapFacts, maxBytes } from "./cap/cap-options.ts";
import { cutContent, joinedText, textLength, withOneText } from "./cap/content.ts";
import { maxResultChars } from "./cap/head-tail.ts";
import { firstLines, linesNote } from "./cap/lines.ts";

/** The call of the result, and the window (in tokens) that it must fit into. */
export interface CapPlace {
  tool: string;
  callId: string;
  /** Undefined: unknown. */
  window?: number | undefined;
}

/**
 * The result as it enters the history; the same object if it fits and no text was kept. In mode `lines` with every text
 * kept, its lines end with LF. @param ref the ref of its full text
 */
export function capResult(
  whole: CallResult,
  cap: CapFacts,
  place: CapPlace,
  ref: string | undefined,
): CallResult {
  const result = ref === undefined ? whole : { ...whole, ref };
  if (!isTooLarge(whole, cap, place))
    return cap.mode === "lines" && cap.keep === "every" && !isLeft(whole, cap, place)
      ? withLf(result)
      : result;
  if (cap.mode === "head_tail") {
    const content = cutContent(whole.content, maxResultChars(place.window, cap), cap, {
      tool: place.tool,
      callId: place.callId,
      isError: whole.isError,
      ...(whole.code === undefined ? {} : { status: whole.code }),
      ...(ref === undefined ? {} : { ref }),
    });
    return { ...result, content: [...content], capped: cappedFrom(whole, joinedText(content)) };
  }
  const kept = firstLines(joinedText(whole.content), maxBytes(cap, place.window), cap.longLine ?? "cut");
  const text = kept.cut ? kept.text + linesNote(ref) : kept.text;
  const content = withOneText(whole.content, text);
  // With LF line ends it may fit after all.
  return kept.cut ? { ...result, content, capped: cappedFrom(whole, kept.text) } : { ...result, content };
}

/** The result with LF line ends; the same object if it has no others. */
function withLf(result: CallResult): CallResult {
  const ended = (part: ContentPart): boolean => part.type === "text" && part.text.includes("\r\n");
  if (!result.content.some(ended)) return result;
  const content = result.content.map((part) =>
    part.type === "text" ? { ...part, text: part.text.replaceAll("\r\n", "\n") } : part,
  );
  return { ...result, content };
}

function cappedFrom(whole: CallResult, kept: string): NonNullable<CallResult["capped"]> {
  const text = joinedText(whole.content);
  return { bytes: byteLength(text), lines: lineCount(text), keptBytes: byteLength(kept) };
}

/** Whether a result must be cut. @param beyond texts whose length is added to the limit */
export function isTooLarge(
  result: CallResult,
  cap: CapFacts,
  place: CapPlace,
  beyond: readonly ContentPart[] = [],
): boolean {
  if (isLeft(result, cap, place)) return false;
  if (cap.mode === "head_tail")
    return textLength(result.content) > maxResultChars(place.window, cap) + textLength(beyond);
  const [only] = result.content;
  const text = result.content.length === 1 && only?.type === "text" ? only.text : joinedText(result.content);
  return exceedsBytes(text, maxBytes(cap, place.window) + byteLength(joinedText(beyond)));
}

/** Whether the cap ignores a result, however large it is. */
const isLeft = ({ content }: CallResult, cap: CapFacts, { tool }: CapPlace): boolean =>
  cap.exempt.includes(tool) || (cap.withFiles === "leave" && content.some((part) => part.type !== "text"));
