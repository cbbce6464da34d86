// The room of our model abroad: a Rondo model wherever the AI SDK takes one.
//
// The code that answers is loaded on the first call (`serve-calls.ts`): those who do not use it never load it.

import type { Model } from "@rondo/core";
import { checkGiven, membersOf, object, oneOf } from "@rondo/core/checks";
import { checkInner } from "../inner-model.ts";
import { loadOnce } from "../load-once.ts";
import type { AiSdkCall, ServedCalls } from "./serve-calls.ts";
import type { GenerateResult, StreamPart, Version } from "./spec.ts";

export interface ToAiSdkOptions {
  /** `v4` is the specification of AI SDK 7, `v3` that of AI SDK 6. Default: `v4`. */
  specification?: Version;
  /** URLs that the model fetches itself, by media type. Default: none, and the AI SDK sends the bytes. */
  supportedUrls?: Record<string, RegExp[]>;
}

export type { AiSdkCall };

/** A language model of the AI SDK. */
export interface AiSdkModel<V extends Version = "v4"> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: AiSdkCall): Promise<GenerateResult<V>>;
  doStream(options: AiSdkCall): Promise<{ stream: ReadableStream<StreamPart<V>> }>;
}

const optionChecks = membersOf<ToAiSdkOptions>({ specification: oneOf("v3", "v4"), supportedUrls: object });

const calls = loadOnce(() => import("./serve-calls.ts"));

/**
 * A Rondo model for `generateText`, `streamText` and whatever else takes a model of the AI SDK: `streamText({ model:
 * toAiSdk(anthropic("claude-sonnet-5")), … })`.
 *
 * What is lost: provider tools and JSON without a schema (each with a warning); options on messages and parts, except what
 * this bridge put there itself; citations; files in an answer whose address is not a URL; in version 3 blocks of tools that
 * the provider ran, and files at any URL. Opaque data (signatures, encrypted reasoning) is kept in the provider metadata
 * under `rondo` and comes back with the prompt. See docs/guide/ai-sdk.md.
 *
 * @throws RondoError `invalid_request` if `model` is not a Rondo model, or naming the option that cannot be used
 */
export function toAiSdk(model: Model, options?: ToAiSdkOptions & { specification?: "v4" }): AiSdkModel<"v4">;
export function toAiSdk(model: Model, options: ToAiSdkOptions & { specification: "v3" }): AiSdkModel<"v3">;
export function toAiSdk(model: Model, options: ToAiSdkOptions = {}): AiSdkModel<Version> {
  checkInner(model, "toAiSdk");
  checkGiven(optionChecks, options, "toAiSdk");
  return new RondoModel(model, options);
}

class RondoModel implements AiSdkModel<Version> {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  readonly #model: Model;
  readonly #version: number;
  #calls: ServedCalls | undefined;

  constructor(model: Model, { specification = "v4", supportedUrls = {} }: ToAiSdkOptions) {
    this.specificationVersion = specification;
    this.provider = model.origin.provider;
    this.modelId = model.origin.model;
    this.supportedUrls = supportedUrls;
    this.#model = model;
    this.#version = specification === "v3" ? 3 : 4;
  }

  async doGenerate(options: AiSdkCall): Promise<GenerateResult> {
    return (await this.#loaded()).generate(options);
  }

  async doStream(options: AiSdkCall): Promise<{ stream: ReadableStream<StreamPart> }> {
    return (await this.#loaded()).stream(options);
  }

  async #loaded(): Promise<ServedCalls> {
    const { ServedCalls } = await calls();
    this.#calls ??= new ServedCalls(this.#model, this.#version);
    return this.#calls;
  }
}
