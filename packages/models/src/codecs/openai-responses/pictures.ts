// The room of items that are the provider's own, such as a tool that it ran. A picture that it drew is a file of the answer,
// which goes back as the item that it came as.

import type { FilePart, JsonObject, NativePart } from "@rondo/core";
import { objectIn, textIn } from "../../json-values.ts";
import { typeOfFile } from "../media-types.ts";

/** @param led says which reasoning the item belongs to */
export function partOf(kind: string, given: JsonObject, led: JsonObject): FilePart | NativePart {
  const { result, ...item } = given;
  const data = kind === "image_generation_call" ? textIn(result) : undefined;
  if (!data) return { type: "native", kind, opaque: { item: given, ...led } };
  const mediaType = typeOfFile({ mediaType: `image/${textIn(item.output_format) ?? "png"}`, data });
  // Azure leaves the item of a finished picture at "generating", as which it would not be taken back.
  return { type: "file", mediaType, data, opaque: { item: { ...item, status: "completed" }, ...led } };
}

/** What the item of a picture is sent back as; undefined for other files. */
export function itemOfPicture({ data, opaque }: FilePart): JsonObject | undefined {
  const item = objectIn(opaque?.item);
  if (item === undefined || typeof data !== "string") return undefined;
  return { ...opaque, item: { ...item, result: data } };
}
