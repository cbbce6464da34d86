// The room of keeping a result whole: its full text is stored before anything is cut from it.
//
// This is the only part of the cap with I/O. If a store refuses or fails, the ref is lost, never the result.

import { isPromise } from "../../checks.ts";
import { messageOf } from "../../errors.ts";
import type { BlobStore } from "../../journal/blobs.ts";
import type { CallResult } from "../../loop/records.ts";
import { type CapPlace, capResult, isTooLarge } from "../cap.ts";
import type { CapFacts } from "./cap-options.ts";
import { projection } from "./content.ts";

/** Where full texts go, and who is told if they cannot be stored. */
export interface Keeping {
  session: string;
  blobs: BlobStore | undefined;
  warn(code: string, message: string): void;
}

/** The result as it enters the history. A promise only if a store returns one. */
export function keepWhole(
  whole: CallResult,
  cap: CapFacts | undefined,
  place: CapPlace,
  keeping: Keeping,
): CallResult | Promise<CallResult> {
  if (cap === undefined || whole.capped !== undefined) return whole;
  if (cap.keep === "cut" && !isTooLarge(whole, cap, place)) return whole;
  const text = projection(whole.content);
  const { session, blobs, warn } = keeping;
  const lost = (why: string): undefined =>
    warn(
      "blob_store",
      `the whole output of ${place.tool} (call ${place.callId}) could not be kept: ${why}`,
    ) as undefined;
  const refOf = (put: Awaited<ReturnType<BlobStore["put"]>>): string | undefined =>
    put.ok ? put.ref : lost(put.reason);
  const finish = (ref: string | undefined): CallResult => capResult(whole, cap, place, ref);
  try {
    const origin = { callId: place.callId, tool: place.tool, isError: whole.isError };
    const put = blobs?.put(session, text, origin);
    if (put === undefined) return finish(undefined);
    if (!isPromise(put)) return finish(refOf(put as Awaited<typeof put>));
    return Promise.resolve(put)
      .then(refOf, (thrown: unknown) => lost(messageOf(thrown)))
      .then(finish);
  } catch (thrown) {
    return finish(lost(messageOf(thrown)));
  }
}

/**
 * The same for a result that a hook gave. What the hook started from may have been cut already. Then only the text that
 * the hook added is measured: otherwise one added word after a result of full length would cut off the note that says
 * where the rest is.
 * @param made the result that the hook replaced, if there was one
 */
export function capGiven(
  given: CallResult,
  made: CallResult | undefined,
  cap: CapFacts | undefined,
  place: CapPlace,
  keeping: Keeping,
): CallResult | Promise<CallResult> {
  if (cap === undefined) return given;
  if (made?.capped !== undefined && !isTooLarge(given, cap, place, made.content)) return given;
  const { ref: _ref, capped: _capped, ...own } = given;
  return keepWhole(own, cap, place, keeping);
}
