// The room of a foreign model: any language model of the AI SDK behind our interface.
//
// One call is one attempt; the AI SDK's own retries live above its models and are not used. A model that does not look at
// its signal is left behind when it fires: nothing it says later is heard.

import {
  type AssistantMessage,
  errorWith,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Origin,
  RondoError,
} from "@rondo/core";
import { factsOf } from "../catalogue/catalogue.ts";
import { abortedError } from "../transport/network.ts";
import { errorFrom } from "./errors.ts";
import { PartReader } from "./read-parts.ts";
import type { AiSdkModelLike, CallOptions } from "./spec.ts";
import { asRecord } from "./words.ts";
import { type KnownTools, type ProviderTool, writeOptions } from "./write-options.ts";

export interface FromAiSdkOptions {
  /** Default: `<provider>/<modelId>` of the AI SDK. */
  id?: string;
  /** What is known of the model. Member by member it wins over the catalogue. */
  facts?: ModelFacts;
  /** Ask for a stream. Default: true. A model that cannot stream is asked for the whole answer. */
  stream?: boolean;
  /** Tools that the provider runs itself, e.g. `anthropic.tools.webSearch_20250305()`. */
  providerTools?: readonly ProviderTool[];
  /** Keep the response's id, model, time and provider metadata as `raw` of the answer. Default: false. */
  raw?: boolean;
}

/**
 * A language model of the AI SDK (specification 2, 3 or 4) as a model of ours: `fromAiSdk(mistral("mistral-large-latest"))`.
 *
 * What is lost: `parallelToolCalls`, a reasoning budget, and before version 4 any reasoning setting (each a warning; say
 * it in `providerOptions`); raw arguments of a call that never parsed; opaque data of users' parts; several texts of one
 * tool result become one; an error result has text only; files at addresses the model does not fetch become a note;
 * approvals of tools that the provider runs. See docs/guide/ai-sdk.md.
 *
 * @throws RondoError `invalid_request` for a specification that is not known
 */
export function fromAiSdk(model: AiSdkModelLike, options: FromAiSdkOptions = {}): Model {
  if (typeof model !== "object" || model === null)
    throw new RondoError(
      "invalid_request",
      `fromAiSdk takes a model as a provider's package makes it, e.g. mistral("mistral-large-latest"), not ${JSON.stringify(model)}`,
    );
  const version = Number(/^v(\d+)$/.exec(model.specificationVersion)?.[1]);
  if (!(version >= 2 && version <= 4))
    throw new RondoError(
      "invalid_request",
      `fromAiSdk knows versions v2 to v4 of the AI SDK's model specification, and ${model.provider}/${model.modelId} is of ${JSON.stringify(model.specificationVersion)}: update the provider's package, or Rondo`,
    );
  return new AiSdkModel(model, version, options);
}

class AiSdkModel implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts?: ModelFacts;
  readonly #model: AiSdkModelLike;
  readonly #version: number;
  readonly #options: FromAiSdkOptions;
  readonly #tools: KnownTools = new WeakMap();

  constructor(model: AiSdkModelLike, version: number, options: FromAiSdkOptions) {
    const { provider, modelId } = model;
    this.id = options.id ?? `${provider}/${modelId}`;
    this.origin = { api: "ai-sdk", provider, model: modelId };
    // A package that sends no schemas asks for any JSON at all, and the model would know of none.
    const sends = (model as { supportsStructuredOutputs?: unknown }).supportsStructuredOutputs !== false;
    const told = sends ? options.facts : { output: "none" as const, ...options.facts };
    const facts = factsOf(catalogueName(provider), modelId, told);
    if (facts !== undefined) this.facts = facts;
    this.#model = model;
    this.#version = version;
    this.#options = options;
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const reader = new PartReader(this.origin, io.emit);
    // A listener of its own for each wait would gather on a long stream.
    let leave: (error: RondoError) => void = () => {};
    const gone = new Promise<never>((_, reject) => {
      leave = reject;
    });
    gone.catch(() => {});
    const onAbort = (): void => leave(abortedError(io.signal));
    io.signal.addEventListener("abort", onAbort, { once: true });
    if (io.signal.aborted) onAbort();
    const unlessGone = <T>(work: PromiseLike<T>): Promise<T> => Promise.race([gone, work]);
    try {
      const call = await this.#callOptions(request, io, unlessGone);
      await this.#ask(call, reader, unlessGone);
      if (reader.error !== undefined) throw errorFrom(reader.error.thrown, this.id, true);
      const message = reader.finish(this.#options.raw === true);
      if (reader.failed)
        throw new RondoError(
          "stream_error",
          `${this.id} ended its answer with an error (${reader.word ?? "error"})`,
        );
      return message;
    } catch (thrown) {
      throw this.#failure(thrown, reader, io.signal);
    } finally {
      io.signal.removeEventListener("abort", onAbort);
    }
  }

  async #callOptions(
    request: ModelRequest,
    io: ModelIo,
    unlessGone: <T>(work: PromiseLike<T>) => Promise<T>,
  ): Promise<CallOptions> {
    const urls = asRecord(await unlessGone(Promise.resolve(this.#model.supportedUrls)));
    const target = {
      origin: this.origin,
      version: this.#version,
      fetches: (mediaType: string, url: string) => isFetched(urls, mediaType, url),
      warn: (code: string, message: string) => io.emit({ type: "warning", code, message }),
    };
    return writeOptions(request, target, io.signal, this.#options.providerTools ?? [], this.#tools);
  }

  async #ask(
    call: CallOptions,
    reader: PartReader,
    unlessGone: <T>(work: PromiseLike<T>) => Promise<T>,
  ): Promise<void> {
    if (this.#options.stream !== false && typeof this.#model.doStream === "function") {
      const asked = Promise.resolve(this.#model.doStream(call as never));
      let stream: ReadableStream<unknown>;
      try {
        ({ stream } = await unlessGone(asked));
      } catch (thrown) {
        // A stream that comes after we left is closed.
        asked
          .then(
            ({ stream: late }) => late.cancel(),
            () => {},
          )
          .catch(() => {});
        if (asRecord(thrown).name !== "AI_UnsupportedFunctionalityError") throw thrown;
        return await this.#askWhole(call, reader, unlessGone, thrown);
      }
      return await readAll(stream, reader, unlessGone);
    }
    await this.#askWhole(call, reader, unlessGone);
  }

  async #askWhole(
    call: CallOptions,
    reader: PartReader,
    unlessGone: <T>(work: PromiseLike<T>) => Promise<T>,
    unsupported?: unknown,
  ): Promise<void> {
    if (typeof this.#model.doGenerate !== "function") throw unsupported;
    const asked = Promise.resolve(this.#model.doGenerate(call as never));
    asked.catch(() => {});
    const whole = asRecord(await unlessGone(asked));
    reader.warn(whole.warnings);
    reader.respond(asRecord(whole.response));
    for (const part of Array.isArray(whole.content) ? whole.content : []) reader.content(part);
    reader.push({ ...whole, type: "finish" });
  }

  #failure(thrown: unknown, reader: PartReader, signal: AbortSignal): RondoError {
    const aborted = signal.aborted;
    const error = aborted ? abortedError(signal) : errorFrom(thrown, this.id);
    // What an error of ours brings along has another origin; what was read here is the same, under this one's.
    const partial = reader.partial(aborted ? "aborted" : "error");
    const usage = error.usage ?? reader.usage;
    return errorWith(error, { partial, usage });
  }
}

async function readAll(
  stream: ReadableStream<unknown>,
  reader: PartReader,
  unlessGone: <T>(work: PromiseLike<T>) => Promise<T>,
): Promise<void> {
  const source = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await unlessGone(source.read());
      if (done) return;
      reader.push(value);
    }
  } finally {
    // After an abort or a failure nobody reads on; a stream that has ended does not mind.
    source.cancel().catch(() => {});
  }
}

/** Whether the model says that it fetches this address itself: patterns of addresses, by media type. */
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

/** The AI SDK's provider (`openai.responses`, `amazon-bedrock`) under the catalogue's name. */
function catalogueName(provider: string): string {
  const known: { readonly [name: string]: string } = {
    "amazon-bedrock": "bedrock",
    fireworks: "fireworks",
    moonshotai: "moonshot",
    togetherai: "together",
  };
  const house =
    provider.startsWith("google.vertex") || provider.startsWith("vertex")
      ? "vertex"
      : (provider.split(".")[0] ?? "");
  return Object.hasOwn(known, house) ? (known[house] ?? house) : house;
}
