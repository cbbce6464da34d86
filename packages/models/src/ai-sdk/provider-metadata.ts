// The room of provider metadata: our opaque data inside the AI SDK's, and theirs inside ours.
//
// A part from `toAiSdk` carries its origin and opaque data under `rondo` in its provider metadata; the AI SDK keeps that
// and sends it back with the prompt. In the other direction a part's provider metadata is its opaque data.

import { type JsonObject, type Opaque, type Origin, parsedJson } from "@rondo/core";
import { objectIn } from "../json-values.ts";
import { asRecord } from "./finish-and-usage.ts";
import type { ByProvider } from "./spec.ts";

export interface Carried {
  origin?: Origin;
  opaque?: Opaque;
  /** What our part is, if the AI SDK has no such part. */
  part?: "refusal" | "native";
  kind?: string;
  /** Its position in the answer, if the AI SDK will hold the parts in another order. */
  at?: number;
}

/** What is sent along with a part, to come back with it; undefined if there is nothing. */
export function carry(origin: Origin, told: Omit<Carried, "origin">): ByProvider | undefined {
  if (told.opaque === undefined && told.part === undefined && told.at === undefined) return undefined;
  const { api, provider, model } = origin;
  return { rondo: { origin: { api, provider, model }, ...told } };
}

/** What came back with a part. */
export function carried(options: unknown): Carried {
  const { origin, opaque, part, kind, at } = asRecord(asRecord(options).rondo);
  const { api, provider, model } = asRecord(origin);
  return {
    ...(typeof api === "string" && typeof provider === "string" && typeof model === "string"
      ? { origin: { api, provider, model } }
      : {}),
    ...(objectIn(opaque) === undefined ? {} : { opaque: opaque as Opaque }),
    ...(part === "refusal" || part === "native" ? { part } : {}),
    ...(typeof kind === "string" ? { kind } : {}),
    ...(typeof at === "number" ? { at } : {}),
  };
}

/** Provider metadata as opaque data: a copy in plain JSON. Undefined if there is none. */
export function opaqueOf(metadata: unknown): Opaque | undefined {
  if (Object.keys(objectIn(metadata) ?? {}).length === 0) return undefined;
  return parsedJson<JsonObject>(JSON.stringify(metadata));
}

/** Opaque data as provider options again: only what is under a provider's name. */
export function optionsOf(opaque: Opaque | undefined): ByProvider | undefined {
  if (opaque === undefined) return undefined;
  const entries = Object.entries(opaque).filter(([, options]) => objectIn(options) !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as ByProvider);
}
