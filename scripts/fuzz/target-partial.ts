// The room of the partial JSON target: JSON in pieces must parse like the whole, and valid JSON must be accepted.

import type { Json } from "@rondo/core";
import { PartialJson } from "../../packages/core/src/output/partial.ts";
import { anyJson, anyText, isObject, mutateText } from "./mutate.ts";
import { cuts, demand, type FuzzTarget, same } from "./target.ts";

const words = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "\\",
  "\\u00e4",
  "\\ud83d",
  "\\ude42",
  "1",
  "-",
  "e5",
  "tru",
  "true",
  " ",
];

export const partialTarget: FuzzTarget = {
  name: "partial-json",
  make: (chance) => {
    const text = JSON.stringify(anyJson(chance, 5), null, chance.below(3));
    const around = chance.is(0.2) ? `${anyText(chance, ["Sure: ", "```json\n", "{x} "], 3)}${text}\n` : text;
    return {
      text: chance.is(0.3)
        ? anyText(chance, words, 60)
        : chance.is(0.5)
          ? mutateText(chance, around, words)
          : around,
      schema: chance.pick<Json>([{}, { type: "object" }, { type: "array" }]),
    };
  },
  run(input) {
    if (!isObject(input) || typeof input.text !== "string" || !isObject(input.schema)) return undefined;
    const { text, schema } = input;
    const results = cuts(text).map((pieces) => {
      const builder = new PartialJson(schema);
      for (const piece of pieces) builder.feed(piece);
      demand(builder.looked <= text.length, `it looked at ${builder.looked} of ${text.length} characters`);
      return { value: builder.value, done: builder.done, looked: builder.looked };
    });
    same(results, "cutting");
    // Every feed tells whether the value changed: somebody who redraws only then must not miss anything.
    const builder = new PartialJson(schema);
    let shown = JSON.stringify(builder.value);
    for (const char of text.length < 400 ? text.split("") : []) {
      const changed = builder.feed(char);
      const now = JSON.stringify(builder.value);
      demand(
        changed || now === shown,
        `the value changed to ${now} at ${JSON.stringify(char)} without a word`,
      );
      shown = now;
    }
    let whole: Json | undefined;
    try {
      whole = JSON.parse(text) as Json;
    } catch {
      return results[0];
    }
    const root = Array.isArray(whole) ? "array" : isObject(whole) ? "object" : "neither";
    if (root !== "neither" && (schema.type === undefined || schema.type === root)) {
      demand(results[0]?.done === true, "a whole value is not done");
      same([whole, results[0]?.value], "JSON.parse and the builder, of which");
    }
    return results[0];
  },
};
