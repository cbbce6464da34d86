// The room of refusals that are about the stream: OpenAI streams some models to accounts that are verified alone, Bedrock
// streams some of its models not at all, or not with tools. Whole, the same answer is given. Alibaba and ChatGPT's own server give
// some models' answers, or thoughtful ones, as a stream alone.

import type { ErrorResponse } from "../codec.ts";
import { complaintOf } from "./complaint.ts";

const noStream: RegExp =
  /must be verified to stream this model|['`"\\]+stream['`"\\]+ does not support true|(?:not|n't) support tool use in streaming mode|(?:not|n't) support streaming|unsupported for streaming|\bstreaming is (?:currently )?(?:not supported|unsupported)/i;

/** Whether a refusal complains that the answer was asked for as a stream. */
export const refusesStream = ({ status, body }: ErrorResponse): boolean =>
  [400, 403, 404, 422].includes(status) && noStream.test(complaintOf(body));

const noWhole: RegExp =
  /\bonly supports? stream\b|\bonly supports? streaming\b|for non-streaming calls\b|\b(?:not|n't) (?:be )?support(?:ed)? when [`'"\\]*stream ?= ?false|\bstream[`'"\\]* must be (?:set to )?true\b|\bnon-?streaming (?:\w+ )?(?:is|are) not (?:supported|allowed)/i;

/** Whether a refusal complains that the answer was asked for as a whole. */
export const refusesWhole = ({ status, body }: ErrorResponse): boolean =>
  [400, 403, 404, 422].includes(status) && noWhole.test(complaintOf(body));
