// The rules runner: it counts what passes and asserts, and says what is wrong with a name.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { root } from "../scripts/packages.ts";
import { assertionsOf } from "../scripts/rules/assertions.ts";
import { mentionsIn, readBook, readExempt } from "../scripts/rules/book.ts";

const book = `# A book
1. not a rule: no section

# K. A letter
## K1. First
1. one
2. two
- no rule
## K2. Second
3. three

# L. Another
## L1. First
1. one again
`;
const rules = readBook(book);
describe("the book", () => {
  test("names rules by section and number", () => {
    expect(rules.map(({ id, text }) => [id, text])).toEqual([
      ["K1.1", "one"],
      ["K1.2", "two"],
      ["K2.3", "three"],
      ["L1.1", "one again"],
    ]);
  });

  test("may not have a number twice in a letter, nor be empty", () => {
    expect(() => readBook("## K1. A\n1. a\n## K2. B\n1. b")).toThrow("rule 1 of K is there twice");
    expect(() => readBook("# nothing\n")).toThrow("no numbered rules");
  });

  test("finds the names of rules in a test's name, and tells the misspelt", () => {
    const found = mentionsIn("K1.1 K.3 K1.3 K2.9 M1.1 gpt-K1.1 vK1.2", rules);
    expect(found.map(({ written, rule, canonical }) => [written, rule?.id, canonical])).toEqual([
      ["K1.1", "K1.1", true],
      ["K.3", "K2.3", false],
      ["K1.3", undefined, false],
      ["K2.9", undefined, false],
    ]);
  });

  test("lets at most ten rules be exempt, each with a reason", () => {
    expect(readExempt("# comment\n\nK1.1\tnothing to do\n", rules)).toEqual({
      exempt: new Map([["K1.1", "nothing to do"]]),
      wrong: [],
    });
    expect(readExempt("K1.1\nK9.9\tx\n", rules).wrong).toHaveLength(2);
    const many = readBook(`## Q1. Q\n${Array.from({ length: 11 }, (_, at) => `${at + 1}. r`).join("\n")}`);
    expect(readExempt(many.map(({ id }) => `${id}\twhy`).join("\n"), many).wrong).toEqual([
      "rules-exempt.tsv: 11 rules are exempt, at most 10 may be",
    ]);
  });
});

describe("an assertion", () => {
  const says = (body: string, more = ""): boolean | undefined =>
    assertionsOf(`${more}\ntest("t", async () => { ${body} });`, "x.test.ts")("t");

  test.each([
    "expect(a).toBe(1);",
    "expect(a).not.toBe(1);",
    "await expect(a).rejects.toThrow();",
    "expect.soft(a).toBe(1);",
    "for (const x of y) expect(x, 'why').toBe(1);",
  ])("is seen in %s", (body) => {
    expect(says(body)).toBe(true);
  });

  test.each([
    "run();",
    "expect(a);",
    "expect(true).toBe(true);",
    "expect.hasAssertions();",
    "/* expect(a).toBe(1) */",
    "'expect(a).toBe(1)';",
    "const b = expect.any(String);",
  ])("is not seen in %s", (body) => {
    expect(says(body)).toBe(false);
  });

  test("is seen in a function of the file that the test calls, also by way of another", () => {
    const helper =
      "const check = (a) => expect(a).toBe(1); function both() { check(1); } const no = () => 1;";
    expect([says("both();", helper), says("no();", helper)]).toEqual([true, false]);
  });

  test("is looked for in the test of that title, also where the title is filled in", () => {
    const source = `
      test.each([1])("with %s it holds", (a) => expect(a).toBe(1));
      it.each(["x"])("with %s it does not", () => {});
      test(\`in \${place} it holds\`, () => { expect(place).toBe(1); });
      describe("d", () => { test("with many it holds", () => {}); });`;
    const asserts = assertionsOf(source, "x.test.ts");
    expect(asserts("with 5 it holds")).toBe(true);
    expect(asserts("with many it holds")).toBe(false);
    expect(asserts("with 5 it does not")).toBe(false);
    expect(asserts("in Rome it holds")).toBe(true);
    expect(asserts("unheard of")).toBeUndefined();
  });
});

test("the runner lists every rule with its tests, and counts the untested", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-rules-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const source = file(
    "a.test.ts",
    `test("K1.1 holds", () => expect(a).toBe(1));
     test("K1.2 passes and looks at nothing", () => {});
     test("K.3 is short", () => expect(a).toBe(1));
     test("L1.1 fails", () => expect(a).toBe(1));
     test("K1.1 K1.2 K2.3 L1.1 are too many", () => expect(a).toBe(1));`,
  );
  const results = [
    ["K1.1 holds", "passed"],
    ["K1.2 passes and looks at nothing", "passed"],
    ["K.3 is short", "passed"],
    ["L1.1 fails", "failed"],
    ["K1.1 K1.2 K2.3 L1.1 are too many", "passed"],
  ].map(([title, status]) => ({ title, status, ancestorTitles: [] }));
  const report = file(
    "report.json",
    JSON.stringify({ testResults: [{ name: source, assertionResults: results }] }),
  );
  const main = join(root, "scripts/rules/main.ts");
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--conditions=rondo-source", main, file("book.md", book), "--report", report],
    { encoding: "utf8" },
  );
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 2)).toEqual(["K1.1  one", expect.stringContaining("    K1.1 holds  (")]);
  expect(lines.slice(2, 4)).toEqual(["K1.2  two", "    UNTESTED"]);
  expect(lines.slice(4, 6)).toEqual(["K2.3  three", expect.stringContaining("    K.3 is short  (")]);
  expect(stdout).toContain("names K.3, which is written K2.3");
  expect(stdout).toContain("names 4 rules, at most 3 may be");
  expect(stdout).toContain("asserts nothing that can be seen");
  expect(stdout).toMatch(/"L1\.1 fails" is failed/);
  expect([lines.at(-1), status]).toEqual(["4 rules, 2 untested", 1]);
});
