// The room of the Bedrock Converse codec.

import type { Codec } from "../codec.ts";
import { bedrockDecoder, bedrockWhole } from "./bedrock/decode.ts";
import { BedrockEncoder } from "./bedrock/encode.ts";
import { bedrockHttpError } from "./bedrock/errors.ts";
import { learnedOfConverse } from "./bedrock/learn-quirks.ts";

/**
 * Amazon Bedrock's Converse and ConverseStream. The base URL is the runtime's, e.g.
 * `https://bedrock-runtime.us-east-1.amazonaws.com`.
 *
 * `settings.providerOptions.bedrock`: members of the body (`guardrailConfig`, `additionalModelRequestFields`,
 * `requestMetadata`, `performanceConfig`, `serviceTier`, …) and `cache` (`false`, `true`, `{ ttl: "1h" }`).
 * `Target.compat`: see `BedrockCompat`; traits serve e.g. an inference profile whose name does not tell its model.
 */
export const bedrockConverse: Codec = {
  api: "bedrock-converse",
  framing: "aws_event_stream",
  encoder: (target) => new BedrockEncoder(target),
  decoder: bedrockDecoder,
  decodeWhole: bedrockWhole,
  errorOf: bedrockHttpError,
  learned: learnedOfConverse,
};
