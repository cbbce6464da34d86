// The room of the container in which the provider's code runs, as an answer names it.
//
// It is not a block, and is sent as a member of the request. It is kept as a part of the answer, so that it is found
// wherever the history is read.

import type { Json, NativePart } from "@rondo/core";
import { objectIn, textIn } from "../../json-values.ts";

/** The container as a part of its answer. Undefined if there is none. */
export function containerPart(container: Json | undefined): NativePart | undefined {
  const told = objectIn(container);
  return textIn(told?.id) ? { type: "native", kind: "container", opaque: told ?? {} } : undefined;
}

/** A block on the wire always has a type; this part has none. */
export const isContainer = ({ kind, opaque }: NativePart): boolean =>
  kind === "container" && opaque.type === undefined;
