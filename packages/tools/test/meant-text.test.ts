import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileTools } from "../src/index.ts";
import { type Answer, call, folder } from "./calling.ts";

const code = Array.from({ length: 20 }, (_, at) => `const line${at} = ${at};`).join("\n");

describe("a line for lines left out", () => {
  const over = async (content: string, before = code): Promise<Answer & { after: string }> => {
    const root = folder({ "a.ts": before });
    const tools = fileTools({ root });
    await call(tools, "read_file", { path: "a.ts" });
    const answer = await call(tools, "write_file", { path: "a.ts", content });
    return { ...answer, after: readFileSync(join(root, "a.ts"), "utf8") };
  };

  // https://github.com/cline/cline/issues/367, https://github.com/cline/cline/issues/3183
  test.each([
    "// ... existing code ...",
    "// ... rest of the code unchanged ...",
    "# ... (keep all existing code)",
    "  /* ... remaining methods ... */",
    "<!-- ... the rest of the file remains the same ... -->",
    "{/* \u2026 existing JSX \u2026 */}",
    "// rest of code unchanged",
    "-- Rest of the queries stay the same",
    "[original content here]",
    "... existing code",
  ])("does not take their place: %s", async (line) => {
    const { text, isError, after } = await over(`const line0 = 1;\n${line}\n`);
    expect(isError).toBe(true);
    expect(text).toBe(
      `Error: the content holds ${JSON.stringify(line.trim())}, which would take the place of lines that are there now; nothing was written. ` +
        "Give all lines, or change only those that are to be changed with edit_file",
    );
    expect(after).toBe(code);
  });

  // https://github.com/RooCodeInc/Roo-Code/issues/147
  test.each([
    "visible: number      // Currently visible content",
    "// Previous code was slower.",
    "// Merge with the existing config...",
    "# Loading existing data ...",
    "// ...so that it works",
    "const all = [...existing, ...rest];",
    "...rest",
    "f(...previous)",
    "// the rest of the buffer",
    "// The rest of the arguments are the same as those of open.",
  ])("is no other line: %s", async (line) => {
    expect(await over(`${line}\n`)).toMatchObject({ isError: false, after: `${line}\n` });
  });

  test("may stay where it is, be new in a longer text, or in a new file", async () => {
    const line = "// ... existing code ...";
    expect((await over(`${line}\n`, `${line}\n${code}`)).isError).toBe(false);
    expect((await over(`${line}\n${code}`, "a\n")).isError).toBe(false);
    const answer = await call(fileTools({ root: folder() }), "write_file", { path: "new.md", content: line });
    expect(answer.isError).toBe(false);
  });

  test("nor does it in an edit", async () => {
    const root = folder({ "a.ts": code });
    const tools = fileTools({ root });
    const edit = (newText: string): Promise<Answer> =>
      call(tools, "edit_file", { path: "a.ts", oldText: code.slice(0, 200), newText });
    const { text } = await edit("const line0 = 1;\n// ... existing code ...\n");
    expect(text).toContain('the new text holds "// ... existing code ..."');
    expect(readFileSync(join(root, "a.ts"), "utf8")).toBe(code);
    expect((await edit("const line0 = 1;\n")).isError).toBe(false);
  });
});

describe("what may be meant is written, and said", () => {
  const written = async (path: string, content: string): Promise<string> => {
    const root = folder();
    const { text } = await call(fileTools({ root }), "write_file", { path, content });
    expect(readFileSync(join(root, path), "utf8")).toBe(content);
    return text;
  };

  // https://github.com/openclaw/openclaw/issues/14452
  test("one line with \\n in it", async () => {
    expect(await written("a.py", "import os\\nprint(1)\\nprint(2)\\n")).toBe(
      "Created a.py (1 line, 31 bytes)\n" +
        "[it is one line with \\n as two characters 3 times; if lines were meant, write it again with line breaks]",
    );
    for (const content of ["a\\nb\n", "a\\nb\\nc\nd\n", '{"a":"1\\n2\\n3"}\n', '"a\\nb\\nc"', "plain\n"])
      expect(await written("a.txt", content)).not.toContain("two characters");
  });

  // https://github.com/0xMaxMa/claude-gateway/issues/271
  test("a code fence around all of it", async () => {
    const note =
      "[its first and last lines are a code fence; if that was not meant, write it again without them]";
    expect(await written("a.ts", "```ts\nlet a;\n```\n")).toContain(note);
    expect(await written("A.md", "```markdown\n# A\n```sh\nls\n```\n```")).toContain(note);
    expect(await written("A.md", "```sh\nls\n```\nand\n```sh\npwd\n```\n")).not.toContain(note);
    expect(await written("A.md", "# A\n```sh\nls\n```\n")).not.toContain(note);
  });
});

// https://github.com/QwenLM/qwen-code/issues/2069, https://github.com/esengine/DeepSeek-Reasonix/issues/3354
test("a file in another encoding is not overwritten by a model that could not read it", async () => {
  const gbk = Buffer.concat([
    Buffer.from("# "),
    Buffer.from([0xb2, 0xe2, 0xca, 0xd4, 0xb1, 0xe0, 0xc2, 0xeb, 0x0a]),
  ]);
  const root = folder({ "a.py": gbk, "damaged.txt": Buffer.from([0xc3, 0xa9, 0xc3, 0xa8, 0xff, 0x0a]) });
  const tools = fileTools({ root });
  const write = async (path: string, content: string): Promise<Answer> => {
    const read = await call(tools, "read_file", { path });
    expect(read.text).toContain("invalid UTF-8");
    return call(tools, "write_file", { path, content });
  };
  expect((await call(tools, "read_file", { path: "a.py" })).text).toContain(
    "1 line with invalid UTF-8, shown as \ufffd: the file has another encoding (a command such as iconv converts it)",
  );
  for (const content of ["# \u6d4b\u8bd5\nprint(1)\n", "print(1)\n"])
    expect((await write("a.py", content)).text).toBe(
      "Error: a.py is not in UTF-8, so its characters beyond ASCII were not shown, and would be lost; nothing was written. " +
        "Change other parts of it with edit_file, or convert it first with a command (iconv), and read it again",
    );
  expect(readFileSync(join(root, "a.py"))).toEqual(gbk);
  // One that is merely damaged is mended so.
  expect((await write("damaged.txt", "\u00e9\u00e8\n")).isError).toBe(false);
  const sure = fileTools({ root, write: { overwriteUnread: true } });
  expect((await call(sure, "write_file", { path: "a.py", content: "print(1)\n" })).isError).toBe(false);
});
