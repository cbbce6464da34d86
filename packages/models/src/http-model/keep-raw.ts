// The room of raw answers: a codec that keeps what the provider sent beside what was decoded from it.
//
// Only on request: a raw answer is journaled with its message, and doubles its size.

import type { AssistantMessage, Json, Usage } from "@rondo/core";
import type { Codec, Decoder, Frame } from "../codec.ts";
import { asNumbers } from "../exact-json.ts";

/** The codec, with the provider's own answer on each message as `raw`: the body, or the list of a stream's events. */
export function keepingRaw(codec: Codec): Codec {
  // Not spread: a user's own codec may be an instance of a class.
  return {
    api: codec.api,
    framing: codec.framing,
    encoder: (target) => codec.encoder(target),
    decoder: (target, emit) => new RawKeeper(codec.decoder(target, emit)),
    decodeWhole: (body, target, emit) => ({
      ...codec.decodeWhole(body, target, emit),
      raw: asNumbers(body),
    }),
    errorOf: (response) => codec.errorOf(response),
    answerOf: (response, target) => codec.answerOf?.(response, target),
    learned: (response, target) => codec.learned?.(response, target),
    suspected: (answer, target) => codec.suspected?.(answer, target),
  };
}

class RawKeeper implements Decoder {
  readonly #decoder: Decoder;
  readonly #raw: Json[] = [];

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  get finished(): boolean {
    return this.#decoder.finished;
  }

  get complete(): boolean {
    return this.#decoder.complete === true;
  }

  push(frame: Frame): void {
    this.#raw.push(read(frame.data));
    this.#decoder.push(frame);
  }

  end(): AssistantMessage {
    return { ...this.#decoder.end(), raw: this.#raw };
  }

  partial(): AssistantMessage | undefined {
    return this.#decoder.partial();
  }

  get usage(): Usage | undefined {
    return this.#decoder.usage;
  }
}

/** A sentinel such as `[DONE]` is not JSON: it is kept as text. */
function read(data: string): Json {
  try {
    return JSON.parse(data) as Json;
  } catch {
    return data;
  }
}
