// The room of blobs: whole texts that were too large for a conversation, kept beside it under a short name.
//
// A store names what it keeps; the stores here name a text by its digest, so that the same text is kept once. Every
// store is bounded, and says why when it refuses: nothing is lost in silence. What a session kept goes with it.

import { checkGiven, from0, membersOf } from "../checks.ts";
import { messageOf } from "../errors.ts";
import { digest } from "../json/digest.ts";
import type { LogRecord } from "../loop/records.ts";
import { byteLength, lineCount } from "../text/size.ts";

/** Which result a text is of. */
export interface BlobOrigin {
  callId: string;
  tool: string;
  isError: boolean;
}

/** A kept text. `ref` is a safe file name: letters, digits, `_` and `-`. */
export interface BlobInfo {
  ref: string;
  /** Its size in UTF-8. */
  bytes: number;
  lines: number;
}

/** What came of keeping a text. `reason` says in words why it was refused. */
export type BlobPut = ({ ok: true } & BlobInfo) | { ok: false; reason: string };

/** Bounds of a store, in bytes of UTF-8. */
export interface BlobLimits {
  /** One text. Default: 16 MiB. */
  blobBytes?: number;
  /** All texts of a session together. Default: 256 MiB. */
  sessionBytes?: number;
}

/** Where whole texts are kept. Several processes may use one store unless it lives in memory. */
export interface BlobStore {
  /** Keeps a text, durably where the store is durable. Keeping it again costs nothing and gives the same ref. Half a surrogate pair has no UTF-8 and becomes U+FFFD. */
  put(session: string, text: string, origin: BlobOrigin): BlobPut | Promise<BlobPut>;
  /** The text of a ref; undefined when the session keeps none of that name. */
  get(session: string, ref: string): string | undefined | Promise<string | undefined>;
  /** Lets go of everything a session kept. */
  delete(session: string): void | Promise<void>;
}

/** The name of a text: the same for the same text, in every process. */
export function blobRef(text: string): string {
  return `out_${Number(digest(text)).toString(36)}`;
}

/** A ref as a model may have mangled it, as a safe file name. */
export function safeRef(ref: string): string {
  return ref.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

/** What a store says of a text. */
export function blobInfo(text: string, bytes: number): BlobInfo {
  return { ref: blobRef(text), bytes, lines: lineCount(text) };
}

const limitChecks = membersOf<BlobLimits>({ blobBytes: from0, sessionBytes: from0 });

/**
 * The bounds of a store, with their defaults.
 * @throws RondoError `invalid_request` naming the one that is no number
 */
export function blobLimits(limits: BlobLimits = {}): Required<BlobLimits> {
  checkGiven(limitChecks, limits, "a store of texts");
  return {
    blobBytes: limits.blobBytes ?? 16 * 1024 * 1024,
    sessionBytes: limits.sessionBytes ?? 256 * 1024 * 1024,
  };
}

/** Why a store must refuse a text; undefined when it need not. @param held bytes the session keeps already */
export function refusesBlob(bytes: number, held: number, limits: Required<BlobLimits>): string | undefined {
  if (bytes > limits.blobBytes) return `the text has ${bytes} bytes; one may have ${limits.blobBytes}`;
  if (held + bytes > limits.sessionBytes)
    return `the session keeps ${held} bytes already and this text has ${bytes}; together they may have ${limits.sessionBytes}`;
  return undefined;
}

/** Why a store must refuse a text whose ref another text has. */
export const refTaken = (ref: string): string => `another text is kept under ${ref} already`;

/** Texts in memory. They last as long as the object. */
export function memoryBlobs(limits?: BlobLimits): BlobStore {
  const bounds = blobLimits(limits);
  const sessions = new Map<string, { bytes: number; texts: Map<string, string> }>();
  return {
    put(session, given): BlobPut {
      const text = given.toWellFormed();
      const held = sessions.get(session) ?? { bytes: 0, texts: new Map<string, string>() };
      const bytes = byteLength(text);
      const info = blobInfo(text, bytes);
      const known = held.texts.get(info.ref);
      if (known === text) return { ok: true, ...info };
      const reason = known === undefined ? refusesBlob(bytes, held.bytes, bounds) : refTaken(info.ref);
      if (reason !== undefined) return { ok: false, reason };
      held.texts.set(info.ref, text);
      held.bytes += bytes;
      sessions.set(session, held);
      return { ok: true, ...info };
    },
    get: (session, ref) => sessions.get(session)?.texts.get(safeRef(ref)),
    delete(session): void {
      sessions.delete(session);
    },
  };
}

/**
 * Keeps for `to` what the records say that `from` kept: a fork reads what its first part speaks of. What cannot be
 * read is missing there as it is here.
 * @param warn hears of what is missing
 * @throws what the store throws that cannot keep one: that is the fork's own loss, and it can be made again
 */
export async function copyBlobs(
  store: BlobStore,
  from: string,
  to: string,
  records: readonly LogRecord[],
  warn: (message: string) => void,
): Promise<void> {
  const missing = new Map<string, string[]>();
  for (const [ref, origin] of refsIn(records)) {
    const read = await readBlob(store, from, ref);
    const put = read.ok ? await store.put(to, read.text, origin) : read;
    if (!put.ok) missing.set(put.reason, [...(missing.get(put.reason) ?? []), ref]);
  }
  for (const [why, refs] of missing) {
    const more = refs.length > 5 ? ` and ${refs.length - 5} more` : "";
    warn(`the fork ${to} lacks what session ${from} kept as ${refs.slice(0, 5).join(", ")}${more}: ${why}`);
  }
}

async function readBlob(
  store: BlobStore,
  session: string,
  ref: string,
): Promise<{ ok: true; text: string } | { ok: false; reason: string }> {
  try {
    const text = await store.get(session, ref);
    return text === undefined ? { ok: false, reason: "it is kept no more" } : { ok: true, text };
  } catch (thrown) {
    return { ok: false, reason: messageOf(thrown) };
  }
}

/** What the records say is kept, each text once, with the result that it is first of. */
function refsIn(records: readonly LogRecord[]): Map<string, BlobOrigin> {
  const refs = new Map<string, BlobOrigin>();
  for (const record of records) {
    // What a tool found out of a call that was cut off is kept before the call is answered with it.
    if (record.type !== "tool_finished" && record.type !== "hook_answered" && record.type !== "reconciled")
      continue;
    if (!("result" in record) || record.result?.ref === undefined) continue;
    const { ref, isError } = record.result;
    if (!refs.has(ref)) refs.set(ref, { callId: record.call, tool: "", isError });
  }
  return refs;
}
