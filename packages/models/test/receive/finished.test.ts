// What comes behind a whole answer is nobody's: it must not matter whether it came in the same piece.

import type { AssistantMessage } from "@rondo/core";
import { eventStreamMessage } from "@rondo/testkit/wire";
import { expect, test } from "vitest";
import type { Codec } from "../../src/codec.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { receive } from "../../src/receive.ts";

function received(
  pieces: readonly Uint8Array[],
  codec: Codec = bedrockConverse,
  provider = "amazon-bedrock",
): Promise<AssistantMessage> {
  const target = { origin: { api: codec.api, provider, model: "m" }, facts: {} };
  return receive(
    {
      status: 200,
      header: () => null,
      discard: () => {},
      read: async (sink) => {
        for (const piece of pieces) if (sink(piece) === false) return;
      },
    },
    codec,
    target,
    { emit: () => {} },
  );
}

test("a complete answer stays complete if later bytes, in the same piece, are broken", async () => {
  const stream = Buffer.concat([
    eventStreamMessage({ event: "messageStart", data: '{"role":"assistant"}' }),
    eventStreamMessage({
      event: "contentBlockDelta",
      data: '{"contentBlockIndex":0,"delta":{"text":"hi"}}',
    }),
    eventStreamMessage({ event: "messageStop", data: '{"stopReason":"end_turn"}' }),
    eventStreamMessage({ event: "metadata", data: '{"usage":{"inputTokens":1,"outputTokens":2}}' }),
  ]);
  const behind = new Uint8Array(16);
  const apart = await received([stream, behind]);
  expect(apart.content).toEqual([{ type: "text", text: "hi" }]);
  expect(await received([Buffer.concat([stream, behind])])).toEqual(apart);
});

test("an answer without a finish that ended with the end token is not reported as cut in the text after that", async () => {
  const stream = Buffer.from(
    'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}\n\ndata: [DONE]\n\nd',
  );
  for (const pieces of [[stream], [stream.subarray(0, -1), stream.subarray(-1)]])
    await expect(received(pieces, googleGenerativeAi, "google")).rejects.toMatchObject({
      kind: "stream_truncated",
      message: expect.stringMatching(/without its finish signal$/),
    });
});
