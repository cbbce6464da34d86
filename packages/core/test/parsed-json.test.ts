import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Json, parsedJson } from "../src/index.ts";

/** What V8 must have seen before it reads keys wrongly. */
const seen = ['{"\\\\":0}', '{"h":[],"\\\\":0}', '{"a":1,"a\\\\":0}', '{"\\"\\\\":0,"\\\\\\\\":1}'];

const key = fc.oneof(
  fc.array(fc.constantFrom('"', "\\", "\n", "\t", "\u0001", "/", "a", "key", "0", "1", ":", "{", "é"), {
    maxLength: 3,
  }),
  fc.constantFrom(["__proto__"], ["constructor"], ["key0"], ["7"]),
);
const keyed = key.map((pieces) => pieces.join(""));
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    keyed,
    fc.integer(),
    fc.constantFrom<Json>(null, true, 1e-7),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(keyed, tie("value")), { maxLength: 4 })
      .map((members) => Object.fromEntries(members) as Json),
  ),
}));

describe("JSON with escapes in its keys", () => {
  test("is read as it was written, whatever was read before", () => {
    for (const text of seen) JSON.parse(text);
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, "\t"), (given, indent) => {
        const text = JSON.stringify(given, null, indent);
        expect(JSON.stringify(parsedJson(text), null, indent)).toBe(text);
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['{"\\"":1,"b\\n":{"\\t":[{"\\\\":2}]}}', { '"': 1, "b\n": { "\t": [{ "\\": 2 }] } }],
    ['{"\\u0061":1,"a":2}', { a: 2 }],
    ['{"key0":1,"\\n":2,"keykey":3}', { key0: 1, "\n": 2, keykey: 3 }],
    ['{ "\\u002F" : 1 }', { "/": 1 }],
  ])("%s has its own keys", (text, wanted) => {
    for (const one of seen) JSON.parse(one);
    expect(parsedJson(text)).toEqual(wanted);
  });

  test("keeps `__proto__` a name like any other, also when it is written with an escape", () => {
    const read = parsedJson('{"\\u005f_proto__":{"polluted":true},"__proto__":1,"\\n":2}');
    expect(Object.entries(read as object)).toEqual([
      ["__proto__", 1],
      ["\n", 2],
    ]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("is refused with the error of the text as it is", () => {
    for (const text of ['{"\\n":1,}', '{"\\n":', '{"\\n":1} x', '{"\\x":1}', '{"a\\']) {
      const plain = (() => {
        try {
          return JSON.parse(text) as unknown;
        } catch (thrown) {
          return String(thrown);
        }
      })();
      expect(() => parsedJson(text)).toThrow(SyntaxError);
      expect(() => parsedJson(text)).toThrow(String(plain).replace("SyntaxError: ", ""));
    }
  });

  test("may be nested more deeply than a stack", () => {
    const deep = 200_000;
    const text = `${'{"\\n":['.repeat(deep)}${"]}".repeat(deep)}`;
    let read = parsedJson(text);
    let levels = 0;
    for (; levels < deep; levels += 1)
      read = ((read as { [name: string]: Json[] })["\n"] as Json[])[0] as Json;
    expect(read).toBeUndefined();
  });

  test("is given to another parser with keys that it cannot misread", () => {
    const heard: string[] = [];
    const parse = (text: string): unknown => {
      heard.push(text);
      return JSON.parse(text);
    };
    expect(parsedJson('{"a\\"":"b\\"","c":"\\\\"}', parse)).toEqual({ 'a"': 'b"', c: "\\" });
    expect(parsedJson('{"a":"b\\""}', parse)).toEqual({ a: 'b"' });
    expect(heard).toEqual(['{"key0":"b\\"","c":"\\\\"}', '{"a":"b\\""}']);
  });
});
