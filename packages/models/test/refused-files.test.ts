// A file that a provider refuses stands in the history: left out, the session goes on (F117, F118).

import { Agent, type Message } from "@rondo/core";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import type { Codec } from "../src/index.ts";
import { expectValid, rows, serve } from "./end-to-end-stack.ts";

const repairOf = (codec: Codec, message: string, status: number = 400): string | undefined =>
  codec.errorOf({
    status,
    header: () => null,
    body: JSON.stringify({ error: { message, type: "invalid_request_error" } }),
  }).repair;

describe("a refusal that is about a file in the history says so in the error", () => {
  it.each([
    [
      anthropicMessages,
      "messages.8.content.0.image.source.base64: image exceeds 5 MB maximum: 5923816 bytes > 5242880 bytes",
    ],
    [anthropicMessages, "Could not process image"],
    [anthropicMessages, "messages.0.content.0.document: The PDF specified was not valid."],
    [
      anthropicMessages,
      "messages.2.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    ],
    [bedrockConverse, "too many images and documents: 52 > 50"],
    [googleGenerativeAi, "Unable to process input image. Please retry or report in troubleshooting"],
    [openaiResponses, "Invalid image data in input[3].content[1].image_url."],
    [
      openaiChat,
      "Invalid 'messages[234]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    ],
    [openaiChat, "Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`"],
  ] as const)("%#: %s", (codec, message) => {
    expect(repairOf(codec, message)).toBe("files");
  });

  it.each([
    "messages: text content blocks must be non-empty",
    "Invalid 'tools[3].function.name': string too long.",
    "tools.12.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
  ])("and is told apart from other complaints: %s", (message) => {
    expect(repairOf(openaiChat, message)).toBeUndefined();
  });

  it("and only by a status that means the request", () => {
    expect(repairOf(anthropicMessages, "Could not process image", 500)).toBeUndefined();
  });
});

describe.each(rows)("an image that $name refuses", (row) => {
  const refused = raw(JSON.stringify({ error: { message: "Could not process image" } }), {
    status: 400,
    headers: { "content-type": "application/json" },
  });
  const history: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
      ],
    },
  ];

  it("is left out with a word in its place, and the run goes on", async () => {
    const wire = await serve([refused, say("done")]);
    const { end, text } = await new Agent({ model: row.model(wire) }).run(history);
    expect([end?.reason, text]).toEqual(["completed", "done"]);
    const sent = wire.requests.map(({ body }) => JSON.stringify(body));
    expect(sent.map((body) => body.includes("iVBORw0KGgo"))).toEqual([true, false]);
    expect(sent[1]).toContain("[image/png left out]");
    expectValid(wire);
  });

  it("and goes on being refused ends the run at the second refusal", async () => {
    const wire = await serve([refused, refused, say("never")]);
    const { end } = await new Agent({ model: row.model(wire) }).run(history);
    expect(end?.error?.kind).toBe("invalid_request");
    expect(wire.requests).toHaveLength(2);
  });
});
