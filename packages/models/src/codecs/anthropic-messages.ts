// The room of the Anthropic Messages codecs: one protocol, three hosts.
//
// Anthropic's own API, Amazon Bedrock (InvokeModel) and Google Vertex differ in the path, in the place of the version and
// in the framing of the stream; the conversation is the same on all of them.

import type { Codec, Frame, Target } from "../codec.ts";
import { objectIn, textIn } from "../json-values.ts";
import { AnthropicDecoder, anthropicWhole, frameIn } from "./anthropic/decode.ts";
import { AnthropicEncoder, type Host } from "./anthropic/encode.ts";
import { anthropicHttpError } from "./anthropic/errors.ts";
import { learned } from "./anthropic/learn-quirks.ts";
import { bedrockHttpError, bedrockStreamError } from "./bedrock/errors.ts";
import { textOfFile } from "./files.ts";

const api = "anthropic-messages";

const own: Host = {
  path: () => "/v1/messages",
  front: (target, stream) => ({ model: target.origin.model, ...(stream ? { stream } : {}) }),
  headers: { "anthropic-version": "2023-06-01" },
};

const bedrock: Host = {
  path: (target, stream) =>
    `/model/${encodeURIComponent(target.origin.model)}/${stream ? "invoke-with-response-stream" : "invoke"}`,
  front: () => ({ anthropic_version: "bedrock-2023-05-31" }),
  betasIn: "anthropic_beta",
  // Some of its regions take the name of Anthropic's own API as well.
  binding: "mismatch_behavior",
  fetchesUrls: false,
  headers: {},
};

const vertex: Host = {
  path: (target, stream) =>
    `/publishers/anthropic/models/${target.origin.model}:${stream ? "streamRawPredict" : "rawPredict"}`,
  front: (_target, stream) => ({ anthropic_version: "vertex-2023-10-16", ...(stream ? { stream } : {}) }),
  fetchesUrls: false,
  headers: {},
};

/**
 * Anthropic's own API, and servers that speak it. Base URL without `/v1`.
 *
 * `settings.providerOptions.anthropic`: fields of the body by their wire names (`thinking`, `output_config`, `metadata`,
 * `service_tier`, `container`, `context_management`, `mcp_servers`, …); `cache` (`false`, `true`, `{ ttl: "1h" }`); `betas`
 * (names); `tools` (tools that the provider runs, as on the wire); `toolOptions` (by tool name: `strict`, `defer_loading`,
 * `eager_input_streaming`, `allowed_callers`, `input_examples`). With such tools a request names the last answer's
 * container, unless `container` says otherwise (`null`: a new one). `opaque` of a caller's own part: `cache_control`; for
 * files also `file_id`, `title`, `context`, `citations`.
 *
 * `Target.compat`: see `AnthropicCompat`.
 */
export const anthropicMessages: Codec = {
  api,
  framing: "sse",
  encoder: (target) => new AnthropicEncoder(target, own),
  decoder: (target, emit) => new AnthropicDecoder(target, emit),
  decodeWhole: anthropicWhole,
  errorOf: anthropicHttpError,
  learned,
};

/** Claude on Vertex. The base URL ends in `/v1/projects/PROJECT/locations/LOCATION`. */
export const anthropicOnVertex: Codec = {
  ...anthropicMessages,
  encoder: (target) => new AnthropicEncoder(target, vertex),
};

/** Claude on Bedrock through InvokeModel: the same events, each in a frame of its own. */
export const anthropicOnBedrock: Codec = {
  ...anthropicMessages,
  framing: "aws_event_stream",
  encoder: (target) => new AnthropicEncoder(target, bedrock),
  decoder: (target, emit) => new InvokeDecoder(target, emit),
  errorOf: bedrockHttpError,
};

class InvokeDecoder extends AnthropicDecoder {
  readonly #target: Target;

  constructor(target: Target, emit: Parameters<Codec["decoder"]>[1]) {
    super(target, emit);
    this.#target = target;
  }

  override push(frame: Frame): void {
    if (frame.exception === true) throw bedrockStreamError(frame, this.#target);
    if (frame.event !== undefined && frame.event !== "chunk") return;
    const bytes = textIn(objectIn(frameIn(frame, this.#target.origin.provider))?.bytes);
    // What is not base64 is not an event either, and is rejected as one.
    if (bytes !== undefined) super.push({ event: undefined, data: textOfFile(bytes) });
  }
}
