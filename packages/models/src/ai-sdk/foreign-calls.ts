// The room of calls to a foreign model: our request in the AI SDK's form, its parts as our answer.
//
// One call is one attempt; the AI SDK's own retries are above its models and are not used. A model that ignores its abort
// signal is abandoned when the signal fires: anything it sends later is dropped.

import {
  type AssistantMessage,
  errorWith,
  type Model,
  type ModelIo,
  type ModelRequest,
  RondoError,
} from "@rondo/core";
import { abortedError, type Waiting, waitingUnless } from "../transport/network.ts";
import { errorFrom } from "./errors.ts";
import { asRecord } from "./finish-and-usage.ts";
import { PartReader } from "./read-parts.ts";
import type { AiSdkModelLike, CallOptions } from "./spec.ts";
import { type KnownTools, type ProviderTool, writeOptions } from "./write-options.ts";

interface HowToAsk {
  stream?: boolean;
  providerTools?: readonly ProviderTool[];
  raw?: boolean;
}

export class ForeignCalls {
  readonly #face: Pick<Model, "id" | "origin">;
  readonly #model: AiSdkModelLike;
  readonly #version: number;
  readonly #options: HowToAsk;
  readonly #tools: KnownTools = new WeakMap();

  /** @param face whose id and origin the answers bear */
  constructor(face: Pick<Model, "id" | "origin">, model: AiSdkModelLike, version: number, options: HowToAsk) {
    this.#face = face;
    this.#model = model;
    this.#version = version;
    this.#options = options;
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const reader = new PartReader(this.#face.origin, io.emit);
    const waiting = waitingUnless(io.signal);
    try {
      const call = await this.#callOptions(request, io, waiting);
      await this.#ask(call, reader, waiting);
      if (reader.error !== undefined) throw errorFrom(reader.error.thrown, this.#face.id, true);
      const message = reader.finish(this.#options.raw === true);
      if (reader.failed)
        throw new RondoError(
          "stream_error",
          `${this.#face.id} ended its answer with an error (${reader.word ?? "error"})`,
        );
      return message;
    } catch (thrown) {
      throw this.#failure(thrown, reader, io.signal);
    } finally {
      waiting.end();
    }
  }

  async #callOptions(request: ModelRequest, io: ModelIo, waiting: Waiting): Promise<CallOptions> {
    const urls = asRecord(await waiting.for(Promise.resolve(this.#model.supportedUrls)));
    const target = {
      origin: this.#face.origin,
      version: this.#version,
      fetches: (mediaType: string, url: string) => isFetched(urls, mediaType, url),
      warn: (code: string, message: string) => io.emit({ type: "warning", code, message }),
    };
    return writeOptions(request, target, io.signal, this.#options.providerTools ?? [], this.#tools);
  }

  async #ask(call: CallOptions, reader: PartReader, waiting: Waiting): Promise<void> {
    if (this.#options.stream !== false && typeof this.#model.doStream === "function") {
      // Some models throw synchronously instead of rejecting.
      const asked = (async () => await this.#model.doStream(call as never))();
      let stream: ReadableStream<unknown>;
      try {
        ({ stream } = await waiting.for(asked));
      } catch (thrown) {
        // A stream that arrives after we left is cancelled.
        asked
          .then(
            ({ stream: late }) => late.cancel(),
            () => {},
          )
          .catch(() => {});
        if (asRecord(thrown).name !== "AI_UnsupportedFunctionalityError") throw thrown;
        return await this.#askWhole(call, reader, waiting, thrown);
      }
      return await readAll(stream, reader, waiting);
    }
    await this.#askWhole(call, reader, waiting);
  }

  async #askWhole(
    call: CallOptions,
    reader: PartReader,
    waiting: Waiting,
    unsupported?: unknown,
  ): Promise<void> {
    if (typeof this.#model.doGenerate !== "function") throw unsupported;
    const asked = Promise.resolve(this.#model.doGenerate(call as never));
    asked.catch(() => {});
    const whole = asRecord(await waiting.for(asked));
    reader.warn(whole.warnings);
    reader.respond(asRecord(whole.response));
    for (const part of Array.isArray(whole.content) ? whole.content : []) reader.content(part);
    reader.push({ ...whole, type: "finish" });
  }

  #failure(thrown: unknown, reader: PartReader, signal: AbortSignal): RondoError {
    const aborted = signal.aborted;
    const error = aborted ? abortedError(signal) : errorFrom(thrown, this.#face.id);
    // The partial answer inside one of our own errors has another origin; what was read here is the same, with the right
    // one.
    const partial = reader.partial(aborted ? "aborted" : "error");
    const usage = error.usage ?? reader.usage;
    return errorWith(error, { partial, usage });
  }
}

async function readAll(stream: ReadableStream<unknown>, reader: PartReader, waiting: Waiting): Promise<void> {
  const source = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await waiting.for(source.read());
      if (done) return;
      reader.push(value);
    }
  } finally {
    // After an abort or a failure nobody reads on; cancelling a stream that has ended does no harm.
    source.cancel().catch(() => {});
  }
}

/** Whether the model says that it fetches this URL itself: URL patterns by media type. */
function isFetched(urls: { readonly [pattern: string]: unknown }, mediaType: string, url: string): boolean {
  return Object.entries(urls).some(
    ([pattern, addresses]) =>
      (pattern === "*" ||
        pattern === "*/*" ||
        pattern === mediaType ||
        (pattern.endsWith("/*") && mediaType.startsWith(pattern.slice(0, -1)))) &&
      Array.isArray(addresses) &&
      addresses.some((address) => address instanceof RegExp && address.test(url.toLowerCase())),
  );
}
