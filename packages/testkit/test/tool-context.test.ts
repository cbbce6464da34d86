// A tool is executed by hand, with what a run would give it.

import { dependency, tool } from "@rondo/core";
import { toolContext } from "@rondo/testkit";
import { expect, test } from "vitest";
import { z } from "zod";

const table = dependency("table", (): Map<string, number> => new Map());
const weather = tool({
  name: "weather",
  description: "Weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }, { resolve, signal, update, idempotencyKey }) => {
    signal.throwIfAborted();
    update("looking");
    return { degrees: (await resolve(table)).get(city), key: idempotencyKey };
  },
});

test("a tool is executed with what a key makes, and with what is given for it", async () => {
  const dependencies = [table.as(new Map([["Oslo", 21]]))];
  const { degrees, key } = await weather.execute({ city: "Oslo" }, toolContext({ dependencies }));
  const other = await weather.execute({ city: "Oslo" }, toolContext());
  expect([degrees, other.degrees]).toEqual([21, undefined]);
  expect(other.key).not.toBe(key);
});

test("what a test gives stands in place of what there is", async () => {
  const told: string[] = [];
  const context = toolContext({ update: (progress) => told.push(progress), idempotencyKey: "k" });
  expect((await weather.execute({ city: "Oslo" }, context)).key).toBe("k");
  expect(told).toEqual(["looking"]);
  const aborted = toolContext({ signal: AbortSignal.abort(new Error("no more")) });
  await expect(weather.execute({ city: "Oslo" }, aborted)).rejects.toThrow("no more");
});
