import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileTools } from "../src/index.ts";
import { nearPassage } from "../src/text/near-passage.ts";
import { call, folder } from "./calling.ts";

/** What is said of a passage that is not in a file. */
async function said(file: string, oldText: string, newText = "x"): Promise<string> {
  const root = folder({ "a.txt": file });
  const answer = await call(fileTools({ root }), "edit_file", { path: "a.txt", oldText, newText });
  expect(answer.isError).toBe(true);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(file);
  return answer.text.replace("Error: the old text does not occur in a.txt; nothing was changed. ", "");
}

describe("whitespace that differs is named", () => {
  const differs = "A passage that differs only in whitespace begins at line";

  // https://github.com/anthropics/claude-code/issues/29869
  test("a space that does not break", async () => {
    expect(await said("one\nthe list in\u00a0current\n", "list in current")).toBe(
      `${differs} 2: the file has 1 no-break space (U+00A0) where the old text has 1 space`,
    );
    expect(await said("a\u202fb\u2003c\n", "a\u202fb c")).toBe(
      `${differs} 1: the file has 1 U+2003 where the old text has 1 space`,
    );
  });

  test("tabs and spaces, in front and within", async () => {
    expect(await said("if (a) {\n\tfoo();\n}\n", "    foo();")).toBe(
      `${differs} 2: the file has 1 tab where the old text has 4 spaces`,
    );
    expect(await said("if (a) {\n\tfoo();\n}\n", "if (a) {\n  foo();")).toBe(
      `${differs} 1: the file has 1 line break, 1 tab where the old text has 1 line break, 2 spaces`,
    );
    expect(await said("a\n\n\tb c\n", "\n\n  b c")).toBe(
      `${differs} 3: the file has 2 line breaks, 1 tab where the old text has 2 line breaks, 2 spaces`,
    );
  });

  test("blanks at the end of a line, and a last line without an end", async () => {
    expect(await said("one\r\ntwo\r\n", "one  \ntwo")).toBe(
      `${differs} 1: the file has 1 line break where the old text has 2 spaces, 1 line break`,
    );
    expect(await said("one\nlast", "last\n")).toBe(
      `${differs} 2: the file has nothing, for it ends there where the old text has 1 line break`,
    );
    expect(await said("first\n", "\nfirst")).toBe(
      `${differs} 1: the file has nothing, for it ends there where the old text has 1 line break`,
    );
    expect(await said(`a ${"\t ".repeat(5)}b\n`, "a b")).toContain(
      "the file has 1 space, 1 tab, 1 space, 1 tab and more",
    );
  });
});

test("characters without a width are named", async () => {
  expect(await said("ab\u200bcd\n", "abcd")).toContain("(the file has U+200B there)");
  expect(await said("it\u2019s\u00a0so\n", "it's so")).toContain(
    "(the file has \u2019 (U+2019), U+00A0 there)",
  );
});

describe("a passage is found that was written otherwise", () => {
  // https://github.com/google-gemini/gemini-cli/issues/10995, https://github.com/anthropics/claude-code/issues/52813
  test.each([
    ["if (a) {\n  b();\n}\n", "if (a) {\\n  b();\\n}"],
    ['say("hi");\nok\n', 'say(\\"hi\\");'],
    ["x.replace(/\\u00A0/g, ' ');\n", "x.replace(/\u00a0/g, ' ');"],
    ["caf\u00e9 au lait\n", "caf\\u00e9 au"],
    ['print("a\\nb")\n', 'print("a\nb")'],
  ])("with escapes: %j", async (file, given) => {
    expect(await said(file, given)).toBe(
      'A passage that is the same if an escape (\\n, \\t, \\", \\u2014) is taken for what it stands for begins at line 1: ' +
        "give it as it is in the file",
    );
  });

  // https://github.com/RooCodeInc/Roo-Code/issues/4077
  test.each([
    ["one\nif (a < b && c)\n", "if (a &lt; b &amp;&amp; c)"],
    ["one\n<p>It&#39;s &quot;so&quot;</p>\n", '<p>It\'s "so"</p>'],
  ])("with entities: %j", async (file, given) => {
    expect(await said(file, given)).toBe(
      "A passage that is the same if an HTML entity (&lt;, &amp;, &quot;) is taken for what it stands for begins at line 2: " +
        "give it as it is in the file",
    );
  });

  // https://github.com/Zoo-Code-Org/Zoo-Code/issues/716
  test.each([
    "2\tlet a;\n3\tlet b;",
    "  2 | let a;\n  3 | let b;\n",
    "2: let a;\n3: let b;",
    "     2\u2192let a;\n     3\u2192let b;",
    "src/a.ts:2: let a;",
  ])("with line numbers: %j", async (given) => {
    expect(await said("one\nlet a;\nlet b;\n", given)).toBe(
      "It begins at line 2 without the line numbers in front of its lines: leave that out",
    );
  });

  test("with a code fence around it", async () => {
    const fenced = "It begins at line 2 without the code fence around it: leave that out";
    expect(await said("one\nlet a;\nlet b;\n", "```ts\nlet a;\nlet b;\n```\n")).toBe(fenced);
    expect(await said("one\nlet a;\nlet b;\n", "~~~\nlet a;\n~~~")).toBe(fenced);
  });

  test("what is neither is not", async () => {
    const none = "Read the file with read_file, and give the passage exactly as it is there";
    for (const given of ["\\nno", "&amp;", "1: no", "```\nno\n```", "```\n```", "no\\", "12"])
      expect(await said("one\nlet a;\n", given)).toBe(none);
  });
});

// https://github.com/anomalyco/opencode/issues/42908
test("of a passage that is remembered wrongly a line is pointed at", async () => {
  const file = "function one() {\n  return first(1);\n}\nfunction two() {\n  return second(2);\n}\n";
  expect(await said(file, "function two(a) {\n  return second(2);\n}")).toBe(
    'Of its lines the file has "return second(2);" at line 5: what is around it differs, so read the file there',
  );
  // One that stands there twice says nothing.
  expect(await said(`${file}${file}`, "function three() {\n  return second(2);\n}")).toContain(
    "Read the file",
  );
});

// https://github.com/google-gemini/gemini-cli/issues/10995
test("an edit that was made before is taken for that", async () => {
  const already = "The new text is already in it, at line 2: the change may have been made before";
  expect(await said("one\nconst answer = 42;\n", "const answer = 41;", "const answer = 42;")).toBe(
    `${already}. Read the file with read_file, and give the passage exactly as it is there`,
  );
  expect(
    await said("one\r\nconst a = 1;\r\nconst b = 2;\r\n", "gone", "const a = 1;\nconst b = 2;"),
  ).toContain(already);
  expect(await said("one\nx = 2\n", "x = 1", "x = 2")).not.toContain("already");
});

test("what comes near to a long passage is looked for in no time", () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `\`\`\`\\n &amp; ${at} "x"    `);
  const started = performance.now();
  for (const given of [`${" ".repeat(500_000)}x`, `\`\`\`${"\n ".repeat(200_000)}`, `${lines.join("\n")}?`])
    nearPassage(lines.join("\n"), given);
  expect(performance.now() - started).toBeLessThan(5_000);
});
