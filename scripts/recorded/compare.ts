// The room of verdicts: compares our reading of one file with the official client's.

import { isDeepStrictEqual } from "node:util";
import type { AssistantMessage } from "@rondo/core";
import { messageOf, RondoError } from "@rondo/core";
import type { Found, Recording } from "./corpus.ts";
import { type Oracle, oracleFor } from "./oracles.ts";
import { decode, type Feeding, said, type Theirs } from "./said.ts";

export interface Verdict {
  file: string;
  verdict: "same" | "differs" | "not applicable";
  /** Why the two differ and are both right, or why there is nothing to compare. */
  reason?: string;
  /** Differences without an explanation. */
  unexplained?: string;
}

/** Reads a file with our codec and with the official client (or the given oracle). */
export async function compare(found: Found, oracle?: Oracle): Promise<Verdict> {
  const { file } = found;
  if ("reason" in found) return { file, verdict: "not applicable", reason: found.reason };
  let theirs: Theirs;
  try {
    theirs = await (oracle ?? (await oracleFor(found.recording.protocol)))(found.recording);
  } catch (thrown) {
    const words = messageOf(thrown).replaceAll(/\s+/g, " ").slice(0, 160);
    return { file, verdict: "not applicable", reason: `the official client cannot read it: ${words}` };
  }
  let ours: AssistantMessage;
  try {
    ours = decode(found.recording, "frames");
    const other = feedings.find((feeding) => !sameAnswer(ours, found.recording, feeding));
    if (other !== undefined)
      return { file, verdict: "differs", unexplained: `fed ${other}, it reads otherwise` };
  } catch (thrown) {
    // A client that does not require a finish signal accepts a truncated recording.
    if (thrown instanceof RondoError && thrown.kind === "stream_truncated" && theirs.stop === undefined)
      return { file, verdict: "not applicable", reason: "the stream ends without its finish signal" };
    return { file, verdict: "differs", unexplained: `we cannot read it: ${messageOf(thrown)}` };
  }
  const mine = said(ours);
  const { helper, ...plainly } = theirs;
  const wrong = differences(mine, plainly);
  if (wrong !== "") return { file, verdict: "differs", unexplained: wrong };
  if (helper === undefined) return { file, verdict: "same" };
  const { text, calls, stop } = mine;
  const helped = differences({ text, calls, stop }, helper.said);
  if (helped === "") return { file, verdict: "same" };
  // The client's chunks agree with us, its helper does not: only a known quirk explains that.
  if (helper.quirks.length === 0)
    return { file, verdict: "differs", unexplained: `by its helper, ${helped}` };
  return { file, verdict: "differs", reason: helper.quirks.join("; ") };
}

function differences<T extends object>(ours: T, theirs: T): string {
  return (Object.keys(ours) as (keyof T)[])
    .filter((field) => !isDeepStrictEqual(plain(ours[field]), plain(theirs[field])))
    .map((field) => `${String(field)}: ours ${show(ours[field])}, theirs ${show(theirs[field])}`)
    .join("; ");
}

const feedings: readonly Feeding[] = ["bytes", "at once"];

function sameAnswer(first: AssistantMessage, recording: Recording, feeding: Feeding): boolean {
  return recording.whole || isDeepStrictEqual(stable(decode(recording, feeding)), stable(first));
}

/** Replaces the random ids of calls that came without one. */
function stable(message: AssistantMessage): AssistantMessage {
  return {
    ...message,
    content: message.content.map((part) => (part.type === "tool_call" ? { ...part, id: "" } : part)),
  };
}

/** As JSON: prototypes and undefined members do not count. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length})`;
}
