// The typed output while it arrives: at every moment a part of what the model has written, in the end the output itself, whatever
// was broken off, asked for again or wrapped in words, and however the text is cut into pieces.

import { Agent, type Json, type JsonObject, memoryJournal } from "@rondo/core";
import { call, fail, say, scripted, type Turn, think, tick } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hastyClock } from "./programs/gates.ts";
import { echo } from "./support.ts";

/** Whether a value may be what has arrived of another. */
function isPartOf(part: Json | undefined, whole: Json): boolean {
  if (typeof part === "string" && typeof whole === "string") return whole.startsWith(part);
  if (Array.isArray(part) && Array.isArray(whole))
    return (
      part.length <= whole.length &&
      part.every((one, i) =>
        i === part.length - 1 ? isPartOf(one, whole[i] as Json) : same(one, whole[i] as Json),
      )
    );
  if (isObject(part) && isObject(whole))
    return Object.keys(part).every(
      (name) => Object.hasOwn(whole, name) && isPartOf(part[name], whole[name] as Json),
    );
  return same(part, whole);
}
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ways = [
  "plain",
  "fenced",
  "after words",
  "after a thought",
  "in two parts",
  "broken off",
  "of another shape",
  "no JSON",
  "empty",
] as const;
interface Trial {
  way: (typeof ways)[number][];
  values: { n: number; texts: string[]; deep: Json }[];
  chunk: number;
  indent: number;
  tools: boolean;
}
const anyTrial: fc.Arbitrary<Trial> = fc.record({
  way: fc.array(fc.constantFrom(...ways), { minLength: 1, maxLength: 4 }),
  values: fc.array(
    fc.record({
      n: fc.integer(),
      texts: fc.array(fc.string({ unit: "grapheme", maxLength: 6 }), { maxLength: 3 }),
      deep: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    }),
    { minLength: 4, maxLength: 4 },
  ),
  chunk: fc.constantFrom(1, 2, 5, 1000),
  indent: fc.constantFrom(0, 2),
  tools: fc.boolean(),
});

function turnOf(way: Trial["way"][number], text: string): Turn {
  const half = Math.floor(text.length / 2);
  switch (way) {
    case "plain":
      return say(text);
    case "fenced":
      return say(`\`\`\`json\n${text}\n\`\`\``);
    case "after words":
      return say(`Here it is: ${text}`);
    case "after a thought":
      return [think('{"n": 0}'), say(`<think>{"n": 1}</think>${text}`)];
    case "in two parts":
      return [say('{"n": 0}'), say(text)];
    case "broken off":
      return [say(text.slice(0, half)), tick(), fail("stream_truncated")];
    case "of another shape":
      return say('{"n": "none", "other": [1, 2');
    case "no JSON":
      return say("I cannot.");
    case "empty":
      return say("");
  }
}

test("the typed output while it arrives", async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(anyTrial, async ({ way, values, chunk, indent, tools }) => {
      let at = tools ? -1 : 0;
      const texts = values.map((value) => JSON.stringify(value, undefined, indent));
      const model = scripted(
        () => {
          const n = at++;
          return n < 0 ? call("look") : turnOf(way[n] ?? "plain", texts[n % 4] ?? "{}");
        },
        { chunk },
      );
      const agent = new Agent({
        model,
        ...(tools ? { tools: [echo("look")] } : {}),
        output: {
          type: "object",
          properties: {
            n: { type: "integer" },
            texts: { type: "array", items: { type: "string" } },
            deep: {},
          },
          required: ["n", "texts", "deep"],
        },
        journal: memoryJournal(),
        clock: hastyClock(),
        decodeRetries: 3,
      });
      const stream = agent.stream("go");
      const parts: Json[] = [];
      for await (const part of stream.partialOutput) parts.push(structuredClone(part) as Json);
      const { output, end } = await stream.result;
      const others: Json[] = [{ n: "none", other: [1, 2] }, { n: 0 }, { n: 1 }, {}];
      for (const part of parts)
        if (![...values, ...others].some((value) => isPartOf(part, value as unknown as Json)))
          throw new Error(`${JSON.stringify(part)} is part of nothing`);
      if (end?.reason === "completed" && output !== undefined) {
        whole += 1;
        expect(values.some((value) => same(JSON.parse(JSON.stringify(value)), output))).toBe(true);
        expect(JSON.stringify(parts.at(-1))).toBe(JSON.stringify(output));
      }
    }),
    { numRuns: 150 },
  );
  expect(whole).toBeGreaterThan(20);
}, 60_000);
