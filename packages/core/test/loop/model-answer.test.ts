// What a model gave back, as facts: asked of the room by itself.

import { type AssistantMessage, type Model, RondoError } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { answerFrom, failureFrom } from "../../src/loop/driving/model-answer.ts";

const asked = { api: "asked", provider: "asked", model: "asked" };
const other = { api: "other", provider: "other", model: "other" };
const model = { id: "own-model", origin: asked } as Model;
const stop = { kind: "end_turn", wire: "end_turn" } as const;
const said = (more: object = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
  origin: other,
  stop,
  ...more,
});

describe("an answer", () => {
  test("has the origin it states, and that of the called model if it states nothing useful", () => {
    expect(answerFrom(model, said()).origin).toEqual(other);
    for (const origin of [undefined, null, "other"])
      expect(answerFrom(model, said({ origin })).origin).toEqual(asked);
  });

  test("has the usage it states, without invalid numbers", () => {
    expect(answerFrom(model, said({ usage: { inputTokens: 3, outputTokens: undefined } })).usage).toEqual({
      inputTokens: 3,
    });
    for (const usage of [
      undefined,
      null,
      5,
      "much",
      [],
      { inputTokens: -1 },
      { inputTokens: Number.NaN },
      { inputTokens: "3" },
    ])
      expect(answerFrom(model, said({ usage }))).not.toHaveProperty("usage");
  });
});

test("an answer with a call whose arguments are no object is refused: a provider would refuse the history with it", () => {
  const calling = (args: unknown) =>
    answerFrom(model, said({ content: [{ type: "tool_call", id: "1", name: "look", args, rawArgs: "[]" }] }));
  expect(calling({}).content).toHaveLength(1);
  for (const args of [[], null, "{}"])
    expect(() => calling(args)).toThrow('part 0 is not valid: { type: "tool_call", id, name, args: {}');
});

test("an answer with a call that lacks its id, its name or its raw arguments is refused", () => {
  const part = { type: "tool_call", id: "1", name: "look", args: {}, rawArgs: "{}" };
  expect(answerFrom(model, said({ content: [part] })).content).toHaveLength(1);
  for (const lacking of ["id", "name", "rawArgs"])
    expect(() => answerFrom(model, said({ content: [{ ...part, [lacking]: undefined }] }))).toThrow(
      'part 0 is not valid: { type: "tool_call", id, name, args: {}',
    );
});

describe("a failure", () => {
  const failed = (options: object): object => failureFrom(model, new RondoError("network", "gone", options));

  test("keeps the partial answer, and its usage", () => {
    expect(failed({ partial: said(), usage: { inputTokens: 2 } })).toEqual({
      error: { kind: "network", message: "gone", retryable: true },
      partial: said(),
      usage: { inputTokens: 2 },
    });
  });

  test("is recorded without invalid parts", () => {
    const bare = { error: { kind: "network", message: "gone", retryable: true } };
    expect(failed({})).toStrictEqual(bare);
    for (const usage of [null, 5, { inputTokens: -1 }]) expect(failed({ usage })).toStrictEqual(bare);
    for (const partial of [null, said({ content: [{ type: "text" }] })])
      expect(failed({ partial })).toStrictEqual(bare);
  });
});
