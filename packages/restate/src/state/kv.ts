// The room of key-values: an object's state as texts, and values as JSON.

import {
  type ObjectContext,
  type ObjectSharedContext,
  RestatePromise,
  type Serde,
} from "@restatedev/restate-sdk";
import { parsedJson } from "@rondo/core";
import type { KeyValues } from "./pieces.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Text as it is. */
export const textSerde: Serde<string> = {
  contentType: "text/plain; charset=utf-8",
  serialize: (text) => encoder.encode(text),
  deserialize: (bytes) => decoder.decode(bytes),
};

/** JSON; nothing for undefined. */
export const jsonSerde: Serde<never> = {
  contentType: "application/json",
  serialize: (value) => (value === undefined ? new Uint8Array() : encoder.encode(JSON.stringify(value))),
  deserialize: (bytes) => (bytes.length === 0 ? undefined : parsedJson(decoder.decode(bytes))) as never,
};

/** The same, typed. */
export const jsonOf = <T>(): Serde<T> => jsonSerde as unknown as Serde<T>;

export function kvOf(ctx: ObjectContext | ObjectSharedContext): KeyValues {
  return {
    // Awaited together: an invocation can wait for only one thing at a time.
    get: (keys) =>
      keys.length === 0
        ? Promise.resolve([])
        : RestatePromise.all(
            keys.map((key) => ctx.get<string>(key, textSerde) as RestatePromise<string | null>),
          ),
    keys: () => ctx.stateKeys(),
    set: (key, value) => (ctx as ObjectContext).set(key, value, textSerde),
  };
}
