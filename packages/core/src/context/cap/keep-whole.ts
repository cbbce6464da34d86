// The room of keeping a result whole: its text is kept before anything is cut from it.
//
// The one place where the cap meets the world. A store that refuses or fails costs the ref, never the result.

import { messageOf } from "../../errors.ts";
import type { BlobStore } from "../../journal/blobs.ts";
import type { CallResult } from "../../loop/records.ts";
import { type CapPlace, capResult, isTooLarge } from "../cap.ts";
import type { CapFacts } from "./cap-options.ts";
import { projection } from "./content.ts";

/** Where whole texts go, and who is told when they cannot. */
export interface Keeping {
  session: string;
  blobs: BlobStore | undefined;
  warn(code: string, message: string): void;
}

/** The result as the conversation gets it. Not a promise unless a store must be waited for. */
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
    if (!(put instanceof Promise)) return finish(refOf(put));
    return put.then(refOf, (thrown: unknown) => lost(messageOf(thrown))).then(finish);
  } catch (thrown) {
    return finish(lost(messageOf(thrown)));
  }
}

/**
 * The same for a result that a hook gave. What it was made of may have been cut already: then only what the hook adds
 * is measured, or its word under a result of full length would cost the note that says where the rest is.
 * @param made the result that it stands in place of, where there was one
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
