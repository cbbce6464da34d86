// The room of what a model knows of its server: the quirks that were told of it, and those that its answers taught.
//
// What is learned once is kept, and every later request is made for it. Calls that are under way together are taught the
// same: what one of them has learned already is no news to the next, whose request was made without it.

import type { Json, ModelRequest } from "@rondo/core";
import type { Codec, Encoder, Target, WireRequest } from "./codec.ts";

/** A request as it goes out, and the server as it was known when it was made. */
export interface Made {
  wire: WireRequest;
  target: Target;
}

/** The request made otherwise, for a server that is known better. */
export interface Other extends Made {
  /** What was learned for it is not so. */
  forget(): void;
}

export class KnownServer {
  #target: Target;
  #encoder: Encoder | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  make(request: ModelRequest, codec: Codec): Made {
    this.#encoder ??= codec.encoder(this.#target);
    return { wire: this.#encoder.encode(request), target: this.#target };
  }

  /**
   * The server as it is known by now, with the quirks that the answer to a request taught.
   * @param asked what the request was made for
   */
  quirked(asked: Target, taught: Target["compat"]): Target | undefined {
    if (taught === undefined) return undefined;
    const now = this.#target;
    const news = Object.entries(taught).filter(
      ([quirk, value]) => isOther(value, asked.compat?.[quirk]) && isOther(value, now.compat?.[quirk]),
    );
    return news.length === 0 ? now : { ...now, compat: { ...now.compat, ...Object.fromEntries(news) } };
  }

  /** The server as one whose answers come as streams, or whole. */
  streaming(stream: boolean): Target {
    return { ...this.#target, stream };
  }

  /** A request made anew for a server that is such from now on; undefined, and nothing was learned, where that is the same one. */
  otherwise(target: Target, request: ModelRequest, codec: Codec, { wire: before }: Made): Other | undefined {
    const known = { target: this.#target, encoder: this.#encoder };
    const encoder = (target === known.target ? known.encoder : undefined) ?? codec.encoder(target);
    const wire = encoder.encode(request);
    // Of some protocols the path says whether it is a stream.
    if (wire.body === before.body && wire.path === before.path) return undefined;
    this.#target = target;
    this.#encoder = encoder;
    const forget = (): void => {
      // What another call has learned since is its own to forget.
      if (this.#target !== target) return;
      this.#target = known.target;
      this.#encoder = known.encoder;
    };
    return { wire, target, forget };
  }
}

const isOther = (one: Json, other: Json | undefined): boolean =>
  JSON.stringify(one) !== JSON.stringify(other);
