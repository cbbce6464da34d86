// The room of what an answer contains besides text: images by URL or as data, and audio that comes in pieces.

import type { JsonObject, Part } from "@rondo/core";
import { textIn } from "../../json-values.ts";

/** The image at a URL, which may be a data URL. */
export function imageAt(url: string): Part {
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return data === null
    ? { type: "file", mediaType: "image/*", url }
    : { type: "file", mediaType: data[1] ?? "image/png", data: data[2] ?? "" };
}

/** The audio with one more piece of it: data and transcript are appended, other members replaced. */
export function moreAudio(sofar: JsonObject, audio: JsonObject): JsonObject {
  const joined = (member: string): JsonObject => {
    const more = textIn(audio[member]);
    return more === undefined ? {} : { [member]: (textIn(sofar[member]) ?? "") + more };
  };
  return { ...sofar, ...audio, ...joined("data"), ...joined("transcript") };
}
