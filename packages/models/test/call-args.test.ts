// What a model writes as a call's arguments and is none: the call is answered with what is wrong, and the run goes on.

import { Agent } from "@rondo/core";
import { badArgs, say } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { parseArgs } from "../src/answer/call-args.ts";
import { expectValid, rows, serve, weather } from "./end-to-end/stack.ts";

const tooLarge = "a number in the arguments is larger than any that can be kept";

describe("a number that JSON can write and nothing can keep", () => {
  it.each([
    '{"n":1e999}',
    '{"n":[{"m":-1E+400}]}',
    `{"n":${"9".repeat(400)}}`,
    JSON.stringify('{"n":1e999}'),
  ])("is no argument: %s", (text) => {
    expect(parseArgs(text)).toEqual({ args: {}, argsError: tooLarge });
  });

  it("is none where the protocol has values", () => {
    expect(parseArgs({ list: [1, null, { n: Number.POSITIVE_INFINITY }] })).toEqual({
      args: {},
      argsError: tooLarge,
    });
  });

  it.each(['{"n":1e300}', '{"text":"1e999"}', '{"n":1e-999,"m":null}', `{"id":"${"9".repeat(400)}"}`])(
    "is told from one that is: %s",
    (text) => {
      expect(parseArgs(text)).toEqual({ args: JSON.parse(text) });
    },
  );
});

describe("arguments that are nested", () => {
  const nested = (levels: number): string => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  it("are arguments some hundred levels deep", () => {
    expect(parseArgs(nested(512))).toEqual({ args: JSON.parse(nested(512)) });
  });

  it.each([513, 5_000, 200_000])("are none %i levels deep, and the model is told why", (levels) => {
    const argsError = "the arguments are nested more than 512 levels deep";
    expect(parseArgs(nested(levels))).toEqual({ args: {}, argsError });
    expect(parseArgs(JSON.parse(nested(levels)))).toEqual({ args: {}, argsError });
  });

  it("too deep end no run: the model may call again", async () => {
    const wire = await serve([badArgs("weather", nested(20_000)), say("done")]);
    const row = rows.find(({ name }) => name === "openai-chat") ?? rows[0];
    if (row === undefined) throw new Error("there is no row");
    const { text, end } = await new Agent({ model: row.model(wire), tools: [weather] }).run("go");
    expect([text, end?.reason]).toEqual(["done", "completed"]);
  });
});

describe.each(rows.filter(({ name }) => name !== "google" && name !== "bedrock"))(
  "such a number in a call of $name",
  (row) => {
    it("is told to the model, which may call again", async () => {
      const wire = await serve([badArgs("weather", '{"city":"Oslo","n":1e999}'), say("done")]);
      const run = await new Agent({ model: row.model(wire), tools: [weather] }).run("go");
      expect([run.end?.reason, run.text]).toEqual(["completed", "done"]);
      expect(JSON.stringify(wire.requests[1]?.body)).toContain(tooLarge);
      expectValid(wire, run);
    });
  },
);
