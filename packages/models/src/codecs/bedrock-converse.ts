// The room of the Bedrock Converse codec.

import type { Codec } from "../codec.ts";
import { bedrockDecoder, bedrockWhole } from "./bedrock-decode.ts";
import { bedrockEncoder } from "./bedrock-encode.ts";
import { bedrockHttpError } from "./bedrock-errors.ts";

/** Amazon Bedrock's Converse and ConverseStream. The base URL is the runtime's, e.g. `https://bedrock-runtime.us-east-1.amazonaws.com`. */
export const bedrockConverse: Codec = {
  api: "bedrock-converse",
  framing: "aws_event_stream",
  encoder: bedrockEncoder,
  decoder: bedrockDecoder,
  decodeWhole: bedrockWhole,
  errorOf: bedrockHttpError,
};
