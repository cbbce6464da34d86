// The room of the session as a journal: its object's state, read, appended to and leased by those who do not drive it.

import type * as restate from "@restatedev/restate-sdk";
import {
  afterDeleted,
  checkAppend,
  checkToken,
  checkUnheld,
  type LeaseState,
  messageOf,
  RondoError,
  releaseLease,
  renewLease,
  takeLease,
} from "@rondo/core";
import { shardOf } from "../names.ts";
import {
  type AppendRequest,
  type DeleteAsk,
  type LeaseAsk,
  linesOf,
  type Page,
  pageBytes,
  type Refusable,
} from "../wire.ts";
import type { WorkerParts } from "../worker-parts.ts";
import { jsonOf, kvOf } from "./kv.ts";
import { readLines } from "./page.ts";
import { lineOf } from "./pieces.ts";
import { RecordStore } from "./store.ts";

export const createdAt = (lines: readonly string[], now: number): number =>
  lines[0] === undefined ? now : (linesOf(lines[0].split("\n", 1)[0] ?? "")[0]?.at ?? now);

export async function readPage(ctx: restate.ObjectSharedContext, from: number): Promise<Page> {
  const kv = kvOf(ctx);
  const { seq, lines, next, driven } = await readLines(kv, await kv.keys(), from, pageBytes);
  return {
    seq,
    text: lines.join("\n"),
    ...(next === undefined ? {} : { next }),
    ...(driven ? { driven } : {}),
  };
}

export async function append(
  ctx: restate.ObjectContext,
  index: string,
  { expectedSeq, text, token }: AppendRequest,
): Promise<number> {
  const kv = kvOf(ctx);
  const keys = await kv.keys();
  const store = await RecordStore.open(kv, keys);
  const held = keys.includes("lease") ? await ctx.get<LeaseState>("lease") : null;
  const now = await ctx.date.now();
  checkToken(ctx.key, held ?? undefined, token, now);
  const records = linesOf(text);
  checkAppend(ctx.key, store.seq, expectedSeq, records);
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) return store.seq;
  store.append(records.map(lineOf), false);
  // Awaited, so that a later listing finds it.
  await ctx.genericCall({
    service: index,
    method: "note",
    key: shardOf(ctx.key),
    parameter: {
      id: ctx.key,
      length: store.seq,
      createdAt: first.at,
      updatedAt: last.at,
    },
    inputSerde: jsonOf(),
    outputSerde: jsonOf(),
  });
  return store.seq;
}

export async function lease(
  ctx: restate.ObjectContext,
  { what, token = 0, owner = "", ttlMs = 0, takeOver = false }: LeaseAsk,
): Promise<LeaseState | null> {
  const held = (await ctx.get<LeaseState>("lease")) ?? undefined;
  const now = await ctx.date.now();
  const state =
    what === "take"
      ? takeLease(ctx.key, held, { owner, ttlMs, takeOver }, now)
      : what === "renew"
        ? renewLease(ctx.key, held, token, now)
        : releaseLease(held, token);
  if (state !== undefined && state !== held) ctx.set("lease", state);
  return state ?? null;
}

/**
 * Deletes the session. Two numbers stay: the highest mail taken, as the inbox's count continues, and the last lease token.
 * @returns whether it had anything to delete
 */
export async function erase(
  ctx: restate.ObjectContext,
  { services: { index, inbox }, stores }: Pick<WorkerParts, "services" | "stores">,
  { what }: DeleteAsk,
): Promise<boolean> {
  const kv = kvOf(ctx);
  const keys = await kv.keys();
  const held = keys.includes("lease") ? await ctx.get<LeaseState>("lease") : null;
  checkUnheld(ctx.key, held ?? undefined, await ctx.date.now());
  const isThere = (await RecordStore.open(kv, keys)).seq > 0;
  if (what === "check") return isThere;
  const kept = await ctx.run("delete texts", async () => {
    try {
      for (const store of stores) await store.delete(ctx.key);
      return null;
    } catch (thrown) {
      return messageOf(thrown);
    }
  });
  if (kept !== null)
    throw new RondoError(
      "storage",
      `session ${JSON.stringify(ctx.key)} was not deleted: its whole texts cannot be: ${kept}; delete it again once they can`,
    );
  for (const key of keys) if (key !== "mail" && key !== "lease") ctx.clear(key);
  if (held !== null) ctx.set("lease", afterDeleted(held.token));
  ctx.genericSend({ service: inbox, method: "forget", key: ctx.key, parameter: null, inputSerde: jsonOf() });
  // Awaited, so that a later listing does not find it.
  await ctx.genericCall({
    service: index,
    method: "forget",
    key: shardOf(ctx.key),
    parameter: ctx.key,
    inputSerde: jsonOf(),
    outputSerde: jsonOf(),
  });
  return isThere;
}

/** Returns a refusal as an answer: an error would be retried by Restate forever. */
export async function refusable<T>(deed: () => Promise<T>): Promise<Refusable<T>> {
  try {
    return { ok: await deed() };
  } catch (thrown) {
    if (!(thrown instanceof RondoError)) throw thrown;
    return { error: thrown.toJSON() };
  }
}
