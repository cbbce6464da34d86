// A typed output while it arrives: what is shown of it, and what showing it costs.

import { Agent, type Json } from "@rondo/core";
import { call, fail, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { PartialJson } from "../src/output/partial.ts";
import { echo, quick } from "./support.ts";

const values = fc.oneof(
  fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue() as fc.Arbitrary<Json>),
  fc.array(fc.jsonValue() as fc.Arbitrary<Json>),
);
const whole = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Whether a value is what another may look like before it is whole. */
function begins(part: Json | undefined, all: Json): boolean {
  if (typeof all === "string") return typeof part === "string" && all.startsWith(part);
  if (Array.isArray(all)) {
    if (!Array.isArray(part) || part.length > all.length) return false;
    return part.every((one, at) =>
      at === part.length - 1 ? begins(one, all[at] as Json) : equal(one, all[at] as Json),
    );
  }
  if (typeof all === "object" && all !== null) {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return false;
    return Object.keys(part).every((key) => Object.hasOwn(all, key) && begins(part[key], all[key] as Json));
  }
  return part === all;
}

const equal = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other);

describe("a value while it arrives", () => {
  test("is correct so far after every character, and complete at the end", () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2), (given, indent) => {
        const value = whole(given) as Json;
        const json = new PartialJson();
        for (const char of JSON.stringify(value, null, indent).split("")) {
          json.feed(char);
          expect(json.value !== undefined && begins(json.value, value)).toBe(true);
          // What is shown is well formed: it can be sent on as it is.
          expect(JSON.stringify(json.value).isWellFormed()).toBe(true);
        }
        expect(json.value).toEqual(value);
        expect(json.done).toBe(true);
      }),
    );
  });

  test("is the same however its text is cut", () => {
    fc.assert(
      fc.property(values, fc.array(fc.nat(20), { minLength: 1 }), (given, sizes) => {
        const value = whole(given) as Json;
        const text = `Here you are:\n${JSON.stringify(value)}\nThat is all.`;
        const json = new PartialJson();
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = 1 + (sizes[turn % sizes.length] ?? 0);
          json.feed(text.slice(at, at + size));
          at += size;
        }
        expect(json.value).toEqual(value);
      }),
    );
  });

  test("reads each character once, however long it is and however small the pieces are", () => {
    const looks = (length: number): number => {
      const value = { text: "a".repeat(length), list: Array.from({ length }, (_, n) => ({ n })) };
      const text = JSON.stringify(value);
      const json = new PartialJson();
      for (const char of text) json.feed(char);
      expect(json.value).toEqual(value);
      return json.looked - text.length;
    };
    expect([looks(10), looks(1_000), looks(20_000)]).toEqual([0, 0, 0]);
  });

  test("never throws, whatever the text is, and shows nothing that began with a bracket in prose", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]{}",:\\un1 t-e'.split("")) }), (text) => {
        const json = new PartialJson();
        for (const char of text) json.feed(char);
        if (!json.done) return;
        const found = JSON.stringify(json.value);
        expect(JSON.parse(found)).toEqual(json.value);
      }),
      { numRuns: 1_000 },
    );
    const prose = new PartialJson({ type: "object" });
    prose.feed('See [1] and {this} {"a":');
    expect(prose.value).toEqual({});
    prose.feed(" 12");
    expect(prose.value).toEqual({});
    prose.feed("3}");
    expect(prose.value).toEqual({ a: 123 });
  });

  test("is complete with a comma after its last member, as for the whole text", () => {
    const text = '{"list":[1,[],],"a":{"b":true,},}';
    for (const size of [1, 3, text.length]) {
      const json = new PartialJson({ type: "object" });
      for (let at = 0; at < text.length; at += size) json.feed(text.slice(at, at + size));
      expect(json.done).toBe(true);
      expect(json.value).toEqual({ list: [1, []], a: { b: true } });
      json.feed(" Or is it {}?");
      expect(json.value).toEqual({ list: [1, []], a: { b: true } });
    }
    for (const wrong of ['{"a":}', "{,}", "[,]", '{"a",}', '{"a":1,]']) {
      const json = new PartialJson();
      json.feed(wrong);
      expect(json.done, wrong).toBe(false);
    }
  });

  test("begins with the bracket that ends a word of prose", () => {
    for (const text of ['[note{"a":1}', '[tree{"a":1}', '[1st [{"a":1}]']) {
      const json = new PartialJson({ type: "object" });
      json.feed(text);
      expect(json.value, text).toEqual({ a: 1 });
      const any = new PartialJson();
      any.feed(text);
      expect(any.done, text).toBe(true);
    }
  });

  test("treats every key as data", () => {
    const json = new PartialJson();
    json.feed('{"__proto__": {"admin": true}}');
    expect(Object.getPrototypeOf(json.value)).toBe(Object.prototype);
    expect(JSON.stringify(json.value)).toBe('{"__proto__":{"admin":true}}');
  });
});

describe("stream().partialOutput", () => {
  const output = z.object({ city: z.string(), days: z.array(z.object({ high: z.number() })) });

  test("grows while the answer arrives, and ends with the run", async () => {
    const text = '{"city":"Rome","days":[{"high":21},{"high":23}]}';
    const stream = new Agent({ model: scripted([say(text, { chunk: 1 })]), output }).stream("weather?");
    const seen: string[] = [];
    for await (const partial of stream.partialOutput) {
      expectTypeOf(partial.city).toEqualTypeOf<string | undefined>();
      seen.push(JSON.stringify(partial));
    }
    expect(seen.at(-1)).toBe(text);
    expect((await stream.result).output).toEqual(JSON.parse(text));
  });

  test("follows the answer that will be the output, not texts from while tools were in use", async () => {
    const model = scripted([
      [say('I look at {"city":"nowhere"}.'), call("look")],
      say('It is {"warm":true} there.'),
      say('{"city":"Rome","days":[]}'),
    ]);
    const stream = new Agent({ model, tools: [echo("look")], output }).stream("weather?");
    const seen: unknown[] = [];
    for await (const partial of stream.partialOutput) seen.push(structuredClone(partial));
    expect(seen).toEqual([{ city: "Rome", days: [] }]);
  });

  test("shows no draft from a thought at the beginning of the answer", async () => {
    const says = '<think>{"city":"Oslo","days":[]}</think>{"city":"Rome","days":[]}';
    for (const chunk of [1, 200]) {
      const stream = new Agent({ model: scripted([say(says, { chunk })]), output }).stream("weather?");
      const seen: string[] = [];
      for await (const partial of stream.partialOutput) seen.push(JSON.stringify(partial));
      expect(seen.join()).not.toContain("O");
      expect((await stream.result).output).toEqual(JSON.parse(seen.at(-1) ?? ""));
    }
  });

  test("begins again if the answer is requested again", async () => {
    const model = scripted([[say('{"city":"Par'), fail("overloaded")], say('{"city":"Rome","days":[]}')]);
    const stream = new Agent({ model, output, ...quick }).stream("weather?");
    let last: unknown;
    for await (const partial of stream.partialOutput) last = partial;
    expect(last).toEqual({ city: "Rome", days: [] });
  });

  test("is empty for an agent without a typed output", async () => {
    const stream = new Agent({ model: scripted([say('{"a":1}')]) }).stream("go");
    for await (const partial of stream.partialOutput) expect(partial).toBeUndefined();
    expect((await stream.result).text).toBe('{"a":1}');
  });
});
