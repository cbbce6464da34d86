import { Agent, type Message } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import type { Codec } from "../../src/index.ts";
import { rows, serve } from "../end-to-end/stack.ts";

const repairOf = (codec: Codec, body: object, status: number = 400): string | undefined =>
  codec.errorOf({ status, header: () => null, body: JSON.stringify(body) }).repair;
const claude = (message: string): object => ({
  type: "error",
  error: { type: "invalid_request_error", message },
});
const openai = (message: string): object => ({ error: { message, type: "invalid_request_error" } });

describe("a refusal about reasoning in the history is recognised", () => {
  it.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.",
    "messages.1.content.0.thinking: each thinking block must contain thinking",
    "messages.23.content.2: Invalid `data` in `redacted_thinking` block",
  ])("in Claude's words, direct, on Bedrock and through a proxy: %s", (message) => {
    expect(repairOf(anthropicMessages, claude(message))).toBe("reasoning");
    expect(repairOf(bedrockConverse, { message })).toBe("reasoning");
    expect(repairOf(openaiChat, openai(`litellm.BadRequestError: ${JSON.stringify(claude(message))}`))).toBe(
      "reasoning",
    );
  });

  it("in Amazon's words for a model that accepts none", () => {
    const message =
      "This model doesn't support the reasoningContent content block that you provided. Update or remove the reasoningContent content block in the request and try again.";
    expect(repairOf(bedrockConverse, { message })).toBe("reasoning");
  });

  it.each([
    [
      "Groq",
      400,
      openai(
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
      ),
    ],
    [
      "Mistral",
      422,
      {
        detail: [
          {
            type: "extra_forbidden",
            loc: ["body", "messages", 1, "assistant", "reasoning_content"],
            msg: "Extra inputs are not permitted",
          },
        ],
      },
    ],
    [
      "Cerebras",
      400,
      {
        message: "body.messages.1.assistant.reasoning_content: property is unsupported",
        type: "invalid_request_error",
        code: "wrong_api_format",
      },
    ],
    [
      "Fireworks",
      400,
      openai("Extra inputs are not permitted, field: 'messages[1].reasoning_content', value: 'Hm'"),
    ],
  ])("as an unknown field, at %s", (_name, status, body) => {
    expect(repairOf(openaiChat, body, status)).toBe("reasoning");
  });

  it.each([
    openai("The `reasoning_content` in the thinking mode must be passed back to the API."),
    openai("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"),
    openai("Unknown parameter: 'reasoning'."),
    openai("`reasoning_effort` is not supported with this model"),
    openai("Unsupported value: 'temperature' does not support 0.5 with this model."),
  ])("and is distinguished from other complaints: %j", (body) => {
    expect(repairOf(openaiChat, body)).not.toBe("reasoning");
  });

  it.each([
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    "Invalid 'input[2].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
    "Conflicting authenticated continuation identities.",
    "Upstream request failed: [invalid_request_error] reasoning `encrypted_content` was not issued to this caller",
    "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
    "The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    "Encrypted content item_id did not match the target item id.",
  ])("in the words of OpenAI Responses (F109, F111): %s", (message) => {
    expect(repairOf(openaiResponses, openai(message))).toBe("reasoning");
  });

  it.each([
    [400, "Could not decrypt the provided encrypted_content. Ensure that it is not modified."],
    [400, "Could not decode the compaction blob. Ensure that it is not modified."],
    [422, "Failed to deserialize the JSON body: data did not match any variant of untagged enum ModelInput"],
  ])("in the words of xAI, with a status of %i: %s", (status, error) => {
    expect(repairOf(openaiResponses, { code: "invalid-argument", error }, status)).toBe("reasoning");
  });

  it.each([400, 401])(
    "in the words of Copilot, whose ids belong to one connection, with a status of %i",
    (status) => {
      const body = { error: { message: "input item ID does not belong to this connection", code: "" } };
      const refusal = openaiResponses.errorOf({ status, header: () => null, body: JSON.stringify(body) });
      expect([refusal.kind, refusal.repair]).toEqual(["invalid_request", "reasoning"]);
    },
  );

  it("by its code alone, and as Kimi's details about an unknown type", () => {
    const stale = { error: { message: "It is no longer valid.", code: "thinking_signature_invalid" } };
    expect(repairOf(openaiResponses, stale)).toBe("reasoning");
    const details = openai("the reasoning_details at position 3 entry 0 has an invalid type");
    expect(repairOf(openaiChat, details)).toBe("reasoning");
  });

  it("if the item was not stored, which is a 404", () => {
    const message =
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
    expect(repairOf(openaiResponses, openai(message), 404)).toBe("reasoning");
    expect(repairOf(openaiResponses, openai("The model 'rs_1' does not exist"), 404)).toBeUndefined();
  });

  it("and only with a status that means the request", () => {
    expect(
      repairOf(anthropicMessages, claude("Invalid `signature` in `thinking` block"), 500),
    ).toBeUndefined();
  });
});

it("a request without any reasoning is not sent again unchanged", async () => {
  const row = rows.find(({ name }) => name === "openai");
  if (row === undefined) throw new Error("the row is gone");
  const refusal = openai("Item 'rs_1' of type 'reasoning' was provided without its required following item.");
  const headers = { "content-type": "application/json" };
  const wire = await serve([raw(JSON.stringify(refusal), { status: 400, headers }), say("never asked")]);
  // Another model's: it goes to nobody else, so that there is nothing to leave out.
  const history: Message[] = [
    { role: "user", content: [{ type: "text", text: 'what is "reasoning": true?' }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "a word" },
      ],
      origin: { api: "anthropic-messages", provider: "anthropic", model: "claude" },
      stop: { kind: "end_turn", wire: "end_turn" },
    },
    { role: "user", content: [{ type: "text", text: "and now?" }] },
  ];
  const { end } = await new Agent({ model: row.model(wire) }).run(history);
  expect(end).toMatchObject({ reason: "error", error: { kind: "invalid_request" } });
  expect(wire.requests).toHaveLength(1);
});
