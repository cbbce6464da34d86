// The room of looking into JSON that may be anything: each value is asked for by its type.

import type { Json, JsonObject } from "@rondo/core";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const objectIn = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The members of an object; of anything else, none. */
export const membersIn = (value: unknown): JsonObject => objectIn(value) ?? {};

/** The items of a list; of anything else, none. */
export const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value : []);

/** The objects in a list. */
export const objectsIn = (value: unknown): JsonObject[] => listIn(value).filter(isObject);
