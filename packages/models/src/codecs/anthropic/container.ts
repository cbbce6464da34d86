// The room of the container that the provider's code runs in, as an answer tells of it.
//
// It is no block, and goes out as a member of a request. It is kept as a part of the answer: whoever reads a history finds
// it there.

import type { Json, NativePart } from "@rondo/core";
import { objectIn, textIn } from "../../json-values.ts";

/** A container as a part of the answer that told of it. Undefined where there is none. */
export function containerPart(container: Json | undefined): NativePart | undefined {
  const told = objectIn(container);
  return textIn(told?.id) ? { type: "native", kind: "container", opaque: told ?? {} } : undefined;
}

/** A block of the wire's has a type, whatever its kind is called. */
export const isContainer = ({ kind, opaque }: NativePart): boolean =>
  kind === "container" && opaque.type === undefined;
