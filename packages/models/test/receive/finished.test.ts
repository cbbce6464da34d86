// What comes behind a whole answer is nobody's: it must not matter whether it came in the same piece.

import type { AssistantMessage } from "@rondo/core";
import { eventStreamMessage } from "@rondo/testkit/wire";
import { expect, test } from "vitest";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { receive } from "../../src/receive.ts";

function received(pieces: readonly Uint8Array[]): Promise<AssistantMessage> {
  const target = { origin: { api: "bedrock-converse", provider: "amazon-bedrock", model: "m" }, facts: {} };
  return receive(
    {
      status: 200,
      header: () => null,
      discard: () => {},
      read: async (sink) => {
        for (const piece of pieces) if (sink(piece) === false) return;
      },
    },
    bedrockConverse,
    target,
    { emit: () => {} },
  );
}

test("an answer that is whole stays whole when the bytes behind it, in the same piece, are broken", async () => {
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
