// The room of blobs: full texts that were too large for the history, stored elsewhere under a short name.
//
// A store chooses the names. The stores here use a text's digest, so that equal texts are stored once. Every store has a
// size limit, and says why it refuses a text, so nothing is lost silently. Deleting a session deletes its texts.

import { checkGiven, from0, membersOf } from "../checks.ts";
import { messageOf } from "../errors.ts";
import { digest } from "../json/digest.ts";
import type { LogRecord } from "../loop/records.ts";
import { byteLength, lineCount } from "../text/size.ts";

/** The result to which a text belongs. */
export interface BlobOrigin {
  callId: string;
  tool: string;
  isError: boolean;
}

/** A stored text. `ref` is a safe file name: letters, digits, `_` and `-`. */
export interface BlobInfo {
  ref: string;
  /** Its size in UTF-8. */
  bytes: number;
  lines: number;
}

/** The outcome of storing a text. `reason` says why it was refused. */
export type BlobPut = ({ ok: true } & BlobInfo) | { ok: false; reason: string };

/** Size limits of a store, in bytes of UTF-8. */
export interface BlobLimits {
  /** One text. Default: 16 MiB. */
  blobBytes?: number;
  /** All texts of a session together. Default: 256 MiB. */
  sessionBytes?: number;
}

/** Where full texts are kept. Several processes may share a store unless it is in memory. */
export interface BlobStore {
  /**
   * Stores a text, durably if the store is durable. Storing it again costs nothing and returns the same ref. Half a
   * surrogate pair has no UTF-8 and becomes U+FFFD.
   */
  put(session: string, text: string, origin: BlobOrigin): BlobPut | Promise<BlobPut>;
  /** The text of a ref; undefined if the session has no text under it. */
  get(session: string, ref: string): string | undefined | Promise<string | undefined>;
  /** Deletes all texts of a session. */
  delete(session: string): void | Promise<void>;
}

/** The name of a text: the same in every process. */
export function blobRef(text: string): string {
  return `out_${Number(digest(text)).toString(36)}`;
}

/** A ref that a model may have mangled, as a safe file name. */
export function safeRef(ref: string): string {
  return ref.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

/** What a store returns about a text. */
export function blobInfo(text: string, bytes: number): BlobInfo {
  return { ref: blobRef(text), bytes, lines: lineCount(text) };
}

const limitChecks = membersOf<BlobLimits>({ blobBytes: from0, sessionBytes: from0 });

/**
 * The limits of a store, with their defaults.
 * @throws RondoError `invalid_request` naming the one that is not a number
 */
export function blobLimits(limits: BlobLimits = {}): Required<BlobLimits> {
  checkGiven(limitChecks, limits, "a store of texts");
  return {
    blobBytes: limits.blobBytes ?? 16 * 1024 * 1024,
    sessionBytes: limits.sessionBytes ?? 256 * 1024 * 1024,
  };
}

/** Why a store must refuse a text; undefined if it need not. @param held bytes that the session has stored already */
export function refusesBlob(bytes: number, held: number, limits: Required<BlobLimits>): string | undefined {
  if (bytes > limits.blobBytes) return `the text has ${bytes} bytes; one may have ${limits.blobBytes}`;
  if (held + bytes > limits.sessionBytes)
    return `the session keeps ${held} bytes already and this text has ${bytes}; together they may have ${limits.sessionBytes}`;
  return undefined;
}

/** Why a store must refuse a text whose ref belongs to another text. */
export const refTaken = (ref: string): string => `another text is kept under ${ref} already`;

/** Texts in memory. They live as long as the object. */
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
 * Copies to session `to` the texts that `from` has stored according to its records, because a fork must be able to read
 * the refs in its first part. A text that cannot be read is missing in the fork too.
 * @param warn is told what is missing
 * @throws what the store throws if it cannot store a text: then the fork failed, and can be made again
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
    return text === undefined ? { ok: false, reason: "it is no longer stored" } : { ok: true, text };
  } catch (thrown) {
    return { ok: false, reason: messageOf(thrown) };
  }
}

/** The texts that the records refer to, each once, with the first result it belongs to. */
function refsIn(records: readonly LogRecord[]): Map<string, BlobOrigin> {
  const refs = new Map<string, BlobOrigin>();
  for (const record of records) {
    // A tool's `reconcile` result for an interrupted call is stored before the call gets it.
    if (record.type !== "tool_finished" && record.type !== "hook_answered" && record.type !== "reconciled")
      continue;
    if (!("result" in record) || record.result?.ref === undefined) continue;
    const { ref, isError } = record.result;
    if (!refs.has(ref)) refs.set(ref, { callId: record.call, tool: "", isError });
  }
  return refs;
}
