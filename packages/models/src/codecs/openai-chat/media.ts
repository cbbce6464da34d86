// The room of what an answer holds beside words: images by their address or as data, and sound that comes in pieces.

import type { JsonObject, Part } from "@rondo/core";
import { textIn } from "../../json-values.ts";

/** The image at an address, which may hold all of it. */
export function imageAt(url: string): Part {
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return data === null
    ? { type: "file", mediaType: "image/*", url }
    : { type: "file", mediaType: data[1] ?? "image/png", data: data[2] ?? "" };
}

/** Sound with one more piece of it: data and transcript grow, all else is told anew. */
export function moreAudio(sofar: JsonObject, audio: JsonObject): JsonObject {
  const joined = (member: string): JsonObject => {
    const more = textIn(audio[member]);
    return more === undefined ? {} : { [member]: (textIn(sofar[member]) ?? "") + more };
  };
  return { ...sofar, ...audio, ...joined("data"), ...joined("transcript") };
}
