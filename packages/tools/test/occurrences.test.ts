import fc from "fast-check";
import { expect, test } from "vitest";
import { editFile } from "../src/index.ts";
import { inOneGo, searched } from "../src/text/occurrences.ts";
import { call, folder } from "./calling.ts";

test("a passage is found in one go where a plain search finds it, however it repeats itself", () => {
  const bytes = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom("a", "b"), { minLength, maxLength }).map((chars) => Buffer.from(chars.join("")));
  fc.assert(
    fc.property(
      bytes(0, 60),
      bytes(1, 6),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      (file, passage, apart, most) => {
        expect(inOneGo(file, passage, apart, most)).toEqual(searched(file, passage, apart, most));
        expect(inOneGo(file, passage, apart, 1000)).toEqual(searched(file, passage, apart, 1000));
      },
    ),
    { numRuns: 500 },
  );
});

test("a long passage of one letter in a file of it is looked for in no time", async () => {
  const root = folder({ "a.txt": "a".repeat(20_000_000) });
  const edit = async (oldText: string): Promise<string> =>
    (await call(editFile({ root }), "edit_file", { path: "a.txt", oldText, newText: "x" })).text;
  expect(await edit("a".repeat(300_000))).toContain("1,000,000 times or more in a.txt");
  expect(await edit(`${"a".repeat(500)}b${"a".repeat(500)}`)).toContain("does not occur in a.txt");
});

test("what comes near to such a passage is looked for in no time as well", async () => {
  const root = folder({ "a.txt": `é\n${"a".repeat(1_900_000)}` });
  const edit = async (oldText: string): Promise<string> =>
    (await call(editFile({ root }), "edit_file", { path: "a.txt", oldText, newText: "x" })).text;
  expect(await edit(`${"a".repeat(100_000)}b${"a".repeat(100_000)}`)).toContain("does not occur in a.txt");
  expect(await edit(`é ${"a".repeat(100_000)}`)).toContain("only in whitespace begins at line 1");
});
