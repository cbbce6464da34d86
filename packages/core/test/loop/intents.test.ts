// What is written down before something is done. Asked by hand.

import type { ModelRequest } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { modelStarted, summaryStarted, toolsStarted } from "../../src/loop/driving/intents.ts";
import { Prefix, requestName } from "../../src/loop/request/prefix.ts";
import { options } from "./support.ts";

const { tools, settings } = options();
const request = {
  messages: [{ role: "user", content: [{ type: "text", text: "go" }] }],
  tools: tools.map(({ definition }) => definition),
  toolChoice: "auto",
  settings,
} as unknown as ModelRequest;
const shape = { rewritten: [], by: [], notes: 0 };
const asks = { do: "call_model", step: 2, attempt: 3, model: 1, request, shape } as const;

describe("the record before a model call", () => {
  test("has the model and the digest of the request", () => {
    expect(modelStarted(asks, new Prefix())).toStrictEqual({
      type: "model_started",
      step: 2,
      attempt: 3,
      model: 1,
      digest: requestName(request),
    });
  });

  test("has the stage that made its messages smaller for this request", () => {
    const stages = [{ stage: "trim", before: 2, after: 1, note: "cut" }] as never;
    expect(modelStarted({ ...asks, stages }, new Prefix())).toMatchObject({ stages });
  });

  test("has what changed the front since the last request", () => {
    const prefix = new Prefix();
    modelStarted(asks, prefix);
    expect(modelStarted(asks, prefix)).not.toHaveProperty("broke");
    const other = { ...request, system: "another" };
    expect(modelStarted({ ...asks, request: other }, prefix)).toMatchObject({ broke: expect.any(String) });
  });
});

test("for a summary has its part, the number of parts, and the digest of the request", () => {
  const summarise = { do: "summarise", part: 1, of: 2, attempt: 3, request } as const;
  expect(summaryStarted(summarise)).toStrictEqual({
    type: "summary_started",
    part: 1,
    of: 2,
    attempt: 3,
    digest: requestName(request),
  });
});

test("for calls has their keys, and for sub-agents what they may spend", () => {
  const calls = ["5.0", "5.1"] as const;
  const one = { type: "tool_started", call: "5.0", idempotencyKey: "s:5.0" };
  const two = { type: "tool_started", call: "5.1", idempotencyKey: "s:5.1" };
  expect(toolsStarted({ do: "start_tools", calls: [...calls] }, "s")).toStrictEqual([one, two]);
  const reserved = { "5.1": { tokens: 7 } };
  expect(toolsStarted({ do: "start_tools", calls: [...calls], reserved }, "s")).toStrictEqual([
    one,
    { ...two, child: "s:5.1", reserved: { tokens: 7 } },
  ]);
});
