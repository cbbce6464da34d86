// The room of serving the AI SDK's calls: a request in the AI SDK's form, our answer in its parts.
//
// A call that fails before anything arrived rejects, so that the AI SDK retries it; one that fails later reports that in
// its stream. When the reader stops or aborts, the model is stopped.

import type { AssistantMessage, Model, ModelEvent } from "@rondo/core";
import { settle } from "../codecs/openai/settle.ts";
import { errorTo } from "./errors.ts";
import { finishReason, specUsage } from "./finish-and-usage.ts";
import { readOptions, ToolMemory } from "./read-options.ts";
import type { CallOptions, GenerateResult, StreamPart } from "./spec.ts";
import { contentOf, PartWriter, warningOf } from "./write-parts.ts";

/** A call of the AI SDK, as far as its versions agree. */
export interface AiSdkCall {
  prompt: readonly object[];
  abortSignal?: AbortSignal | undefined;
}

export class ServedCalls {
  readonly #model: Model;
  readonly #version: number;
  readonly #memory = new ToolMemory();

  constructor(model: Model, version: number) {
    this.#model = model;
    this.#version = version;
  }

  async generate(options: AiSdkCall): Promise<GenerateResult> {
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
        content: contentOf(settle(message), this.#version),
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

  async stream(options: AiSdkCall): Promise<{ stream: ReadableStream<StreamPart> }> {
    const { request, warnings } = readOptions(options as CallOptions, this.#memory);
    const outlet = outletFor(options.abortSignal);
    const writer = new PartWriter(this.#version, outlet.write);
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
      writer.finish(settle(message));
      outlet.end();
    };
    const failed = (thrown: unknown): void => {
      const error = errorTo(thrown, options.abortSignal);
      if (started) writer.fail(error);
      else begun.reject(error);
      outlet.end();
    };
    // Called inside the promise, so that a synchronous throw is handled the same way; and so is a throw while the answer is
    // written.
    Promise.resolve()
      .then(() => this.#model.call(request, { signal: outlet.signal, emit: hear }))
      .then(done)
      .catch(failed);
    await begun.promise;
    return { stream: outlet.stream };
  }
}

/** A stream for others to read. */
interface Outlet {
  stream: ReadableStream<StreamPart>;
  /** Fires when the caller aborts or stops reading. */
  signal: AbortSignal;
  write(part: StreamPart): void;
  end(): void;
}

function outletFor(outer: AbortSignal | undefined): Outlet {
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
  return {
    stream,
    signal: stop.signal,
    write(part) {
      if (!over) controller?.enqueue(part);
    },
    end() {
      outer?.removeEventListener("abort", onAbort);
      if (!over) controller?.close();
      over = true;
    },
  };
}
