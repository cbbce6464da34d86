// The room of official SDKs as transports, for users who have their authentication, proxies and logging there.
//
// The SDK's client sends the codec's own request and hands over its raw stream events, which the codec decodes like frames.
// Types are structural: no SDK is imported. An SDK retries by itself unless told not to, and two layers of retries
// multiply: each request is sent with `maxRetries: 0`.

import { type JsonObject, type Model, type ModelIo, parsedJson } from "@rondo/core";
import type { Frame, WireRequest } from "./codec.ts";
import { createModel } from "./http-model.ts";
import type { LazyCodec, ProviderOptions, Send } from "./model-options.ts";
import { anthropicMessages, openaiChat, openaiResponses } from "./providers/codecs.ts";

/** Raw events of an SDK, each as one frame. An event's name is its `type`. */
export async function* framesOf(events: AsyncIterable<unknown>): AsyncGenerator<Frame> {
  for await (const event of events) {
    const type = typeof event === "object" && event !== null ? (event as { type?: unknown }).type : undefined;
    yield { event: typeof type === "string" ? type : undefined, data: JSON.stringify(event) };
  }
}

/** What every SDK's call takes besides the body. */
interface SdkCallOptions {
  signal: AbortSignal;
  headers: Record<string, string>;
  maxRetries: 0;
}

type SdkCall = (body: never, options: never) => PromiseLike<unknown>;

/** The part of `new Anthropic()` that is used. */
export interface AnthropicClientLike {
  messages: { create: SdkCall };
}

/** The part of `new OpenAI()` that is used. */
export interface OpenaiClientLike {
  chat: { completions: { create: SdkCall } };
  responses: { create: SdkCall };
}

/** The provider options that still apply when the SDK sends the requests. */
export type SdkOptions = Pick<ProviderOptions, "facts" | "compat" | "stream">;

/** A Claude over an Anthropic client: `fromAnthropicClient(new Anthropic(), "claude-sonnet-5")`. */
export function fromAnthropicClient(
  client: AnthropicClientLike,
  model: string,
  options: SdkOptions = {},
): Model {
  return sdkModel(
    anthropicMessages,
    "anthropic",
    model,
    options,
    sendOver((body, more) => client.messages.create(body as never, more as never)),
  );
}

/** A model over an OpenAI client. `protocol` default: `responses`. */
export function fromOpenaiClient(
  client: OpenaiClientLike,
  model: string,
  options: SdkOptions & { provider?: string; protocol?: "responses" | "chat" } = {},
): Model {
  const { provider = "openai", protocol, ...rest } = options;
  const chat = protocol === "chat";
  return sdkModel(
    chat ? openaiChat : openaiResponses,
    provider,
    model,
    rest,
    sendOver((body, more) =>
      chat
        ? client.chat.completions.create(body as never, more as never)
        : client.responses.create(body as never, more as never),
    ),
  );
}

function sdkModel(codec: LazyCodec, provider: string, model: string, options: SdkOptions, send: Send): Model {
  return createModel({ ...options, codec, provider, model, baseURL: "https://sdk.invalid", send });
}

function sendOver(create: (body: JsonObject, options: SdkCallOptions) => PromiseLike<unknown>): Send {
  return async (wire: WireRequest, io: ModelIo) => {
    const headers = Object.fromEntries(
      Object.entries(wire.headers).filter(([name]) => name.toLowerCase() !== "content-type"),
    );
    const given = await create(parsedJson<JsonObject>(wire.body), {
      signal: io.signal,
      headers,
      maxRetries: 0,
    });
    return isIterable(given) ? framesOf(given) : { whole: parsedJson(JSON.stringify(given)) };
  };
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
