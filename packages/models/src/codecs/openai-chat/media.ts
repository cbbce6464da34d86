// The room of what an answer contains besides text: images by URL or as data, and audio that comes in pieces.

import type { FilePart, Json, JsonObject } from "@rondo/core";
import type { Answer } from "../../answer.ts";
import { objectIn, textIn } from "../../json-values.ts";
import { Base64Pieces } from "../base64-pieces.ts";

type ImagePart = FilePart & { data?: string };

/** An image, in whichever form a gateway tells it; undefined if it is in none. */
export function imageIn(given: Json): ImagePart | undefined {
  const image = objectIn(given);
  const url =
    textIn(given) ??
    textIn(objectIn(image?.image_url)?.url) ??
    textIn(image?.image_url) ??
    textIn(image?.url);
  if (url) return imageAt(url);
  const data = textIn(image?.b64_json);
  return data ? { type: "file", mediaType: "image/png", data } : undefined;
}

/** The image at a URL, which may be a data URL. */
function imageAt(url: string): ImagePart {
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return data === null
    ? { type: "file", mediaType: "image/*", url }
    : { type: "file", mediaType: data[1] ?? "image/png", data: data[2] ?? "" };
}

/** Audio in pieces: their bytes and their transcript are appended, other members replaced. */
export class AudioPieces {
  readonly #bytes = new Base64Pieces();
  #whole: JsonObject = {};

  /** Takes a piece. The answer gets all of the audio so far, and what is spoken as its text. */
  add(piece: JsonObject, answer: Answer): void {
    const data = textIn(piece.data);
    const transcript = textIn(piece.transcript);
    this.#whole = {
      ...this.#whole,
      ...piece,
      ...(data === undefined ? {} : { data: this.#bytes.add(data) }),
      ...(transcript === undefined
        ? {}
        : { transcript: (textIn(this.#whole.transcript) ?? "") + transcript }),
    };
    answer.native("audio", "audio", { audio: this.#whole });
    if (transcript) answer.text("transcript", transcript);
  }
}
