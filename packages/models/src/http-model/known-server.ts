// The room of what a model knows of its server: the quirks from its options, and those learned from its answers.
//
// What was learned is kept and applies to every later request. Concurrent calls may learn the same quirk: a call whose
// request was made before another one learned it is simply made again with what is known now.

import type { Json, ModelIo, ModelRequest } from "@rondo/core";
import type { Codec, Encoder, Target, WireRequest } from "../codec.ts";
import { withAffinity } from "./affinity.ts";

/** What is to be sent, by which codec, and for which session. */
export interface Given {
  codec: Codec;
  request: ModelRequest;
  io: Pick<ModelIo, "session">;
}

/** A request as it is sent, and what was known of the server when it was made. */
export interface Made {
  wire: WireRequest;
  target: Target;
}

/** The same request made again with newly learned quirks. */
export interface Other extends Made {
  /** Takes back what was learned: it proved wrong. */
  forget(): void;
}

export class KnownServer {
  #target: Target;
  #encoder: Encoder | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  make({ codec, request, io }: Given): Made {
    const target = this.#target;
    this.#encoder ??= codec.encoder(target);
    return { wire: this.#encoder.encode(withAffinity(request, io.session, target)), target };
  }

  /**
   * The server as known now, plus the quirks that the answer to a request revealed; undefined if it revealed none.
   * @param asked the server as it was known when that request was made
   */
  quirked(asked: Target, taught: Target["compat"]): Target | undefined {
    if (taught === undefined) return undefined;
    const now = this.#target;
    const news = Object.entries(taught).filter(
      ([quirk, value]) => isOther(value, asked.compat?.[quirk]) && isOther(value, now.compat?.[quirk]),
    );
    return news.length === 0 ? now : { ...now, compat: { ...now.compat, ...Object.fromEntries(news) } };
  }

  /** The server, known to answer with streams only, or with whole answers only. */
  streaming(stream: boolean): Target {
    return { ...this.#target, stream };
  }

  /**
   * The request made again for a target, which is kept as known from now on. Undefined, with nothing learned, if it is the
   * same request.
   */
  otherwise(target: Target, { codec, request, io }: Given, { wire: before }: Made): Other | undefined {
    const known = { target: this.#target, encoder: this.#encoder };
    const encoder = (target === known.target ? known.encoder : undefined) ?? codec.encoder(target);
    const wire = encoder.encode(withAffinity(request, io.session, target));
    // In some protocols the path decides whether the answer is a stream.
    if (wire.body === before.body && wire.path === before.path) return undefined;
    this.#target = target;
    this.#encoder = encoder;
    const forget = (): void => {
      // If another call has learned something since, what is known is no longer ours to take back.
      if (this.#target !== target) return;
      this.#target = known.target;
      this.#encoder = known.encoder;
    };
    return { wire, target, forget };
  }
}

const isOther = (one: Json, other: Json | undefined): boolean =>
  JSON.stringify(one) !== JSON.stringify(other);

/** The names of the quirks in which two servers differ; a quirk that is a list may grow more than once. */
export const quirksBetween = ({ compat: before }: Target, after: Target | undefined): string[] =>
  Object.entries(after?.compat ?? {}).flatMap(([quirk, value]) => {
    const told = JSON.stringify(value);
    if (told === JSON.stringify(before?.[quirk])) return [];
    return [Array.isArray(value) ? `${quirk} ${told}` : quirk];
  });
