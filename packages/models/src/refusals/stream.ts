// The room of refusals about streaming. OpenAI streams some models only to verified accounts; Bedrock does not stream some
// of its models, or not with tools; neither do older llama.cpp servers, and Cerebras with some models. Without streaming
// they give the same answer. Alibaba and ChatGPT's own server give the answers of some models, or answers with thinking,
// only as a stream.

import type { ErrorResponse } from "../codec.ts";
import { phrases } from "../patterns.ts";
import { complaintOf } from "./complaint.ts";

const noStream: RegExp = phrases(
  /must be verified to stream this model/,
  /['`"\\]+stream['`"\\]+ does not support true/,
  /(?:not|n't) support tool use in streaming mode/,
  /(?:not|n't) support streaming/,
  /unsupported for streaming/,
  /\bstreaming is (?:currently )?(?:not supported|unsupported)/,
  /\bcannot use tools with stream\b/,
  /(?:not|n't) support\b[^{}]{0,40}\bwhen stream ?= ?true\b/,
  /\bstream[`'"\\]* ?= ?[`'"\\]*true\b[^{}]{0,60}not supported/,
);

/** Whether a refusal complains that a stream was requested. llama.cpp answers with a 500. */
export const refusesStream = ({ status, body }: ErrorResponse): boolean =>
  [400, 403, 404, 422, 500].includes(status) && noStream.test(complaintOf(body));

const noWhole: RegExp = phrases(
  /\bonly supports? stream\b/,
  /\bonly supports? streaming\b/,
  /for non-streaming calls\b/,
  /\b(?:not|n't) (?:be )?support(?:ed)? when [`'"\\]*stream ?= ?false/,
  /\bstream[`'"\\]* must be (?:set to )?true\b/,
  /\bnon-?streaming (?:\w+ )?(?:is|are) not (?:supported|allowed)/,
);

/** Whether a refusal complains that a whole answer was requested. */
export const refusesWhole = ({ status, body }: ErrorResponse): boolean =>
  [400, 403, 404, 422].includes(status) && noWhole.test(complaintOf(body));
