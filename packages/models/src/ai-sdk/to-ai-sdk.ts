// The room of our model abroad: a model of ours wherever the AI SDK takes one.
//
// A call that fails before anything came rejects, so that the AI SDK retries it; one that fails later says so in its
// stream. Whoever stops reading, or aborts, stops the model.

import type { AssistantMessage, Model, ModelEvent } from "@rondo/core";
import { errorTo } from "./errors.ts";
import { readOptions, ToolMemory } from "./read-options.ts";
import type { CallOptions, GenerateResult, StreamPart, Version } from "./spec.ts";
import { finishReason, specUsage } from "./words.ts";
import { contentOf, PartWriter, warningOf } from "./write-parts.ts";

export interface ToAiSdkOptions {
  /** `v4` is that of AI SDK 7, `v3` that of AI SDK 6. Default: `v4`. */
  specification?: Version;
  /** Addresses the model fetches itself, by media type. Default: none, and the AI SDK sends the bytes. */
  supportedUrls?: Record<string, RegExp[]>;
}

/** A call of the AI SDK, as far as its versions have it in common. */
export interface AiSdkCall {
  prompt: readonly object[];
  abortSignal?: AbortSignal | undefined;
}

/** A language model of the AI SDK. */
export interface AiSdkModel<V extends Version = "v4"> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: AiSdkCall): Promise<GenerateResult<V>>;
  doStream(options: AiSdkCall): Promise<{ stream: ReadableStream<StreamPart<V>> }>;
}

/**
 * A model of ours for `generateText`, `streamText` and whatever else takes a model of the AI SDK:
 * `streamText({ model: toAiSdk(anthropic("claude-sonnet-5")), … })`.
 *
 * What is lost: provider tools and JSON without a schema (each a warning); options on messages and parts, except what
 * this bridge put there itself; citations; blocks of tools that the provider ran, in version 3. Opaque data (signatures,
 * encrypted reasoning) is kept in the provider metadata under `rondo` and comes back with the prompt. See docs/guide/ai-sdk.md.
 */
export function toAiSdk(model: Model, options?: ToAiSdkOptions & { specification?: "v4" }): AiSdkModel<"v4">;
export function toAiSdk(model: Model, options: ToAiSdkOptions & { specification: "v3" }): AiSdkModel<"v3">;
export function toAiSdk(model: Model, options: ToAiSdkOptions = {}): AiSdkModel<Version> {
  return new RondoModel(model, options);
}

class RondoModel implements AiSdkModel<Version> {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  readonly #model: Model;
  readonly #version: number;
  readonly #memory = new ToolMemory();

  constructor(model: Model, { specification = "v4", supportedUrls = {} }: ToAiSdkOptions) {
    this.specificationVersion = specification;
    this.provider = model.origin.provider;
    this.modelId = model.origin.model;
    this.supportedUrls = supportedUrls;
    this.#model = model;
    this.#version = specification === "v3" ? 3 : 4;
  }

  async doGenerate(options: AiSdkCall): Promise<GenerateResult> {
    const { request, warnings } = readOptions(options as CallOptions, this.#memory);
    const signal = options.abortSignal ?? new AbortController().signal;
    try {
      const message = await this.#model.call(request, {
        signal,
        emit: (event) => {
          if (event.type === "warning") warnings.push(warningOf(event));
        },
      });
      return {
        content: contentOf(message, this.#version),
        finishReason: finishReason(message.stop),
        usage: specUsage(message.usage),
        warnings,
        providerMetadata: { rondo: { stop: { ...message.stop } } },
        response: { modelId: message.origin.model },
      };
    } catch (thrown) {
      throw errorTo(thrown, options.abortSignal);
    }
  }

  async doStream(options: AiSdkCall): Promise<{ stream: ReadableStream<StreamPart> }> {
    const { request, warnings } = readOptions(options as CallOptions, this.#memory);
    const outer = options.abortSignal;
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(outer?.reason);
    outer?.addEventListener("abort", onAbort, { once: true });
    if (outer?.aborted === true) onAbort();

    let controller: ReadableStreamDefaultController<StreamPart> | undefined;
    let over = false;
    const stream = new ReadableStream<StreamPart>({
      start(given) {
        controller = given;
      },
      cancel(reason) {
        over = true;
        stop.abort(reason);
      },
    });
    const writer = new PartWriter(this.#version, (part) => {
      if (!over) controller?.enqueue(part);
    });
    const end = (): void => {
      outer?.removeEventListener("abort", onAbort);
      if (!over) controller?.close();
      over = true;
    };

    const begun = Promise.withResolvers<void>();
    let started = false;
    const begin = (): void => {
      if (started) return;
      started = true;
      writer.start(warnings, this.#model.origin);
      begun.resolve();
    };
    const hear = (event: ModelEvent): void => {
      if (event.type === "warning" && !started) warnings.push(warningOf(event));
      else {
        begin();
        writer.event(event);
      }
    };
    const done = (message: AssistantMessage): void => {
      begin();
      writer.finish(message);
      end();
    };
    const failed = (thrown: unknown): void => {
      const error = errorTo(thrown, outer);
      if (started) writer.fail(error);
      else begun.reject(error);
      end();
    };
    // Called inside the promise, so that what is thrown at once takes the same way.
    Promise.resolve()
      .then(() => this.#model.call(request, { signal: stop.signal, emit: hear }))
      .then(done, failed);
    await begun.promise;
    return { stream };
  }
}
