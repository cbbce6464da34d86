// The room of the cap: no single result may fill a window.
//
// Two pure questions about a result that has just arrived: which text of it must be kept whole elsewhere, and what the
// conversation gets in its place. A result that fits is the same object.

import type { CallResult } from "../loop/records.ts";
import type { ContentPart } from "../message.ts";
import { byteLength, exceedsBytes, lineCount } from "../text/size.ts";
import { type CapFacts, maxBytes } from "./cap/cap-options.ts";
import { cutContent, joinedText, projection, textLength, withOneText } from "./cap/content.ts";
import { maxResultChars } from "./cap/head-tail.ts";
import { firstLines, linesNote } from "./cap/lines.ts";

/** The call a result is of, and the window (in tokens) it must fit into. */
export interface CapPlace {
  tool: string;
  callId: string;
  /** Undefined: unknown. */
  window?: number | undefined;
}

/** The text of a result that is to be kept whole in the blob store; undefined when none is. */
export function textToKeep(result: CallResult, cap: CapFacts, place: CapPlace): string | undefined {
  if (cap.keep === "cut" && !isTooLarge(result, cap, place)) return undefined;
  return projection(result.content);
}

/** The result as the conversation gets it; the same result when it fits and nothing of it was kept. @param ref where its whole text is kept */
export function capResult(
  whole: CallResult,
  cap: CapFacts,
  place: CapPlace,
  ref: string | undefined,
): CallResult {
  const result = ref === undefined ? whole : { ...whole, ref };
  if (!isTooLarge(whole, cap, place)) return result;
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
  // With its line ends made LF it may fit after all.
  return kept.cut ? { ...result, content, capped: cappedFrom(whole, kept.text) } : { ...result, content };
}

function cappedFrom(whole: CallResult, kept: string): NonNullable<CallResult["capped"]> {
  const text = joinedText(whole.content);
  return { bytes: byteLength(text), lines: lineCount(text), keptBytes: byteLength(kept) };
}

/** Whether a result must be cut. @param beyond texts that it may be longer than by as much as a result may have */
export function isTooLarge(
  result: CallResult,
  cap: CapFacts,
  place: CapPlace,
  beyond: readonly ContentPart[] = [],
): boolean {
  if (cap.exempt.includes(place.tool)) return false;
  if (cap.withFiles === "leave" && result.content.some((part) => part.type !== "text")) return false;
  if (cap.mode === "head_tail")
    return textLength(result.content) > maxResultChars(place.window, cap) + textLength(beyond);
  const [only] = result.content;
  const text = result.content.length === 1 && only?.type === "text" ? only.text : joinedText(result.content);
  return exceedsBytes(text, maxBytes(cap, place.window) + byteLength(joinedText(beyond)));
}
