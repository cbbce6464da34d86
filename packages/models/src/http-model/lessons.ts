// The room of lessons: what the refusals of one call teach about its server, and whether a lesson was right.
//
// A lesson is a guess from the words of a refusal. Only the answer to the changed request shows whether it was right.

import type { RondoError } from "@rondo/core";
import type { WireRequest } from "../codec.ts";
import { unrepaired } from "../refusals/for-request.ts";
import type { Other } from "./known-server.ts";

/** What one refusal taught. */
export interface Lesson {
  refused: RondoError;
  /** The request as it is sent because of it. */
  made: Other;
  /** The names of the quirks that it shows. */
  quirks: readonly string[];
}

/** How many refusals of one call may each show a quirk. */
const most = 6;

/** Whether the quirks may be learned in this call: none is learned twice. */
export const isNews = (quirks: readonly string[], before: readonly Lesson[]): boolean =>
  before.length < most && !before.some((lesson) => quirks.some((quirk) => lesson.quirks.includes(quirk)));

/**
 * Judges a lesson by the refusal of the request that was changed because of it. What was wrong is forgotten, and so is what a
 * server that is down seemed to teach.
 * @throws RondoError the refusal that taught it, if the loop can leave what was refused out of the original request
 */
export function judgeLesson({ refused, made }: Lesson, again: RondoError): void {
  const isReasoning = refused.repair === "reasoning" && again.kind === "invalid_request";
  // The refusal may have been about the output's schema, and was taken to be about the tools'.
  const isOutput = refused.repair === "schema" && again.repair === "schema";
  const isForLoop = isReasoning || isOutput;
  if (isForLoop || refused.kind === "server_error") made.forget();
  if (isForLoop) throw refused;
}

/**
 * Judges a lesson by a refusal that teaches nothing new.
 * @throws RondoError that refusal, if it has the words of the one before it: these were about something else, and leaving more
 *   out of the request will not help
 */
export function demandOtherWords({ refused, made }: Lesson, again: RondoError): void {
  if (again.message !== refused.message) return;
  made.forget();
  throw unrepaired(again);
}

/** What a request leaves out that the one before it contained. */
export const newsIn = ({ warnings }: WireRequest, before: WireRequest): WireRequest["warnings"] =>
  warnings.filter(({ message }) => !before.warnings.some((told) => told.message === message));
