// A body with a good status that holds nothing: no answer, and no other protocol's either (F026).

import { RondoError } from "@rondo/core";
import { expect, it } from "vitest";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { targetOf } from "./anthropic/feeding.ts";

const codecs = [anthropicMessages, bedrockConverse, openaiChat, openaiResponses].map(
  (codec) => [codec.api, codec] as const,
);

it.each(codecs)("an empty body is asked for again, one of another kind is not: %s", (_api, codec) => {
  const thrown = (body: [] | [string]): unknown => {
    try {
      return codec.decodeWhole(body, targetOf(codec.api, "p", "m"), () => {});
    } catch (error) {
      return error instanceof RondoError ? [error.kind, error.retryable] : error;
    }
  };
  expect(thrown([])).toEqual(["empty_response", true]);
  expect(thrown(["words"])).toEqual(["protocol", false]);
});
