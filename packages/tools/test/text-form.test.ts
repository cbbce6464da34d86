import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileTools } from "../src/index.ts";
import { mustNotBeShown } from "../src/text/shown-text.ts";
import { type Answer, call, folder } from "./calling.ts";

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

function within(files: Record<string, string | Uint8Array>) {
  const root = folder(files);
  const tools = fileTools({ root });
  return {
    at: (path: string): Buffer => readFileSync(join(root, path)),
    read: (path: string, args = {}): Promise<Answer> => call(tools, "read_file", { path, ...args }),
    write: (path: string, content: string): Promise<Answer> => call(tools, "write_file", { path, content }),
    edit: (path: string, oldText: string, newText: string, args = {}): Promise<Answer> =>
      call(tools, "edit_file", { path, oldText, newText, ...args }),
    search: (pattern: string): Promise<Answer> => call(tools, "search_files", { pattern }),
  };
}

describe("a file keeps its form", () => {
  test("lines that end with CRLF and a byte order mark, when all of it is written anew", async () => {
    const { at, read, write } = within({ "a.bat": "\ufeffone\r\ntwo\r\n", "b.txt": "one\r\ntwo\n" });
    await read("a.bat");
    expect((await write("a.bat", "one\n2\nthree\n")).text).toBe(
      "Overwrote a.bat (3 lines, 18 bytes; CRLF and byte order mark kept)",
    );
    expect(at("a.bat").toString()).toBe("\ufeffone\r\n2\r\nthree\r\n");
    expect((await write("a.bat", "one\n2\nthree\n")).text).toContain("Unchanged");
    expect((await write("a.bat", "one\r\nlast\n")).isError).toBe(false);
    expect(at("a.bat").toString()).toBe("\ufeffone\r\nlast\n");
    await read("b.txt");
    await write("b.txt", "1\n2\n");
    expect(at("b.txt").toString()).toBe("1\n2\n");
  });

  test("UTF-16, read, searched, edited and written", async () => {
    const { at, read, write, edit, search } = within({
      "le.rc": utf16("caf\u00e9\r\ntwo\r\n"),
      "be.rc": utf16("one\n").swap16(),
      "odd.bin": Buffer.from([0xff, 0xfe, 0x00, 0x00, 0x01, 0x00]),
      "half.rc": Buffer.concat([utf16("one\n"), Buffer.from([0x41])]),
    });
    expect((await read("le.rc")).text).toBe(
      "caf\u00e9\ntwo\n[2 lines, 24 bytes, the whole file; UTF-16; lines end with CRLF]",
    );
    expect((await read("be.rc")).text).toContain("one\n[1 line, 10 bytes, the whole file; UTF-16]");
    expect((await read("odd.bin")).text).toContain("not shown as text");
    expect((await search("caf\u00e9")).text).toContain("le.rc:1: caf\u00e9");
    expect((await edit("le.rc", "two", "zwei\ndrei")).isError).toBe(false);
    expect(at("le.rc")).toEqual(utf16("caf\u00e9\r\nzwei\r\ndrei\r\n"));
    expect((await edit("be.rc", "one", "eins")).isError).toBe(false);
    expect(at("be.rc")).toEqual(utf16("eins\n").swap16());
    await write("le.rc", "all new \u2713\n");
    expect(at("le.rc")).toEqual(utf16("all new \u2713\r\n"));
    expect((await edit("half.rc", "one", "two")).text).toContain("damaged UTF-16");
  });

  test("UTF-16 without any text is empty, and can be written", async () => {
    const { at, read, write } = within({ "none.txt": utf16("") });
    expect(await read("none.txt")).toMatchObject({
      text: "[none.txt is empty: 0 lines, 2 bytes]",
      isError: false,
    });
    expect((await write("none.txt", "one\n")).text).toContain(
      "Overwrote none.txt (1 line, 10 bytes; UTF-16 kept)",
    );
    expect(at("none.txt")).toEqual(utf16("one\n"));
  });

  test("lines that end in both ways: each as the one in its place", async () => {
    const { at, edit } = within({
      "a.txt": "one\r\ntwo\nthree\r\nfour\n",
      "b.txt": "x\r\ny\nx\ny\n",
      "c.txt": "p\r\nq\n",
    });
    await edit("a.txt", "one\ntwo\nthree", "1\n2\n3");
    expect(at("a.txt").toString()).toBe("1\r\n2\n3\r\nfour\n");
    await edit("a.txt", "3", "3\n3a");
    expect(at("a.txt").toString()).toBe("1\r\n2\n3\r\n3a\r\nfour\n");
    expect((await edit("b.txt", "x\ny", "z")).text).toContain("2 times in b.txt, at lines 1, 3");
    await edit("b.txt", "x\ny\n", "z\n", { replaceAll: true });
    expect(at("b.txt").toString()).toBe("z\r\nz\n");
    await edit("c.txt", "\nq", "\nr\ns");
    expect(at("c.txt").toString()).toBe("p\r\nr\r\ns\n");
  });
});

test("a passage that is given with CRLF is found where lines end otherwise", async () => {
  const { at, edit } = within({ "a.txt": "one\ntwo\n", "b.txt": "one\r\ntwo\nthree\n" });
  await edit("a.txt", "one\r\ntwo\r\n", "1\r\n2\r\n");
  expect(at("a.txt").toString()).toBe("1\n2\n");
  await edit("b.txt", "two\r\nthree", "2\r\n3");
  expect(at("b.txt").toString()).toBe("one\r\n2\n3\n");
});

test("a passage that overlaps itself is not unique", async () => {
  const { at, edit } = within({ "a.txt": "aaa\n" });
  expect((await edit("a.txt", "aa", "b")).text).toContain("not unique");
  await edit("a.txt", "aa", "b", { replaceAll: true });
  expect(at("a.txt").toString()).toBe("ba\n");
});

test("a passage that stands in a file beyond counting is left alone, in little time and memory", async () => {
  const { at, edit } = within({ "a.txt": "a".repeat(20_000_000), "b.txt": "x\r\n".repeat(2_000_000) });
  expect((await edit("a.txt", "aa", "b")).text).toContain("1,000,000 times or more in a.txt");
  expect((await edit("b.txt", "x\n", "", { replaceAll: true })).text).toContain("1,000,000 times or more");
  expect(at("a.txt")).toHaveLength(20_000_000);
});

test("a file whose lines end nowhere with a newline has no CRLF", async () => {
  const { read } = within({ "mac.txt": "a\rb\r" });
  expect((await read("mac.txt")).text).not.toContain("CRLF");
});

describe("what was not seen is not written over", () => {
  const many = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join("");

  test("a file that was read in part, until the rest was read too", async () => {
    const { at, read, write } = within({ "a.txt": many });
    await read("a.txt", { limit: 4 });
    expect((await write("a.txt", "line 1\n")).text).toBe(
      "Error: a.txt was read only in part, without lines 5 to 10; nothing was written. Read the rest with read_file (offset 5) before overwriting it, or change a part of it with edit_file",
    );
    await read("a.txt", { offset: 8 });
    expect((await write("a.txt", "line 1\n")).text).toContain("without lines 5 to 7");
    await read("a.txt", { offset: 5, limit: 3 });
    expect((await write("a.txt", "line 1\n")).isError).toBe(false);
    expect(at("a.txt").toString()).toBe("line 1\n");
  });

  test("a file with a line that is longer than is shown, though all its lines were read", async () => {
    const long = `short\n${"x".repeat(3_000)}\nlast\n`;
    const { at, read, write, edit } = within({ "a.txt": long });
    await read("a.txt");
    const refused =
      "Error: line 2 of a.txt is longer than read_file shows, and what was not shown of it would be lost; nothing was written. Change a part of it with edit_file";
    expect((await write("a.txt", "short\n")).text).toBe(refused);
    await edit("a.txt", "last", "end");
    await read("a.txt", { offset: 1, limit: 1 });
    await read("a.txt", { offset: 2 });
    expect((await write("a.txt", "short\n")).text).toBe(refused);
    expect(at("a.txt").toString()).toBe(long.replace("last", "end"));
    await edit("a.txt", "x".repeat(1_500), "", { replaceAll: true });
    await read("a.txt");
    expect((await write("a.txt", "short\n")).isError).toBe(false);
  });

  test("a file of which a passage was replaced without reading it", async () => {
    const { write, edit, read } = within({ "a.txt": many, "b.txt": many });
    await edit("a.txt", "line 3", "third");
    expect((await write("a.txt", "third\n")).text).toContain("read only in part, without lines 1 to 10");
    await read("b.txt");
    await edit("b.txt", "line 3", "third");
    expect((await write("b.txt", "third\n")).isError).toBe(false);
  });

  test("a file of which a passage was replaced, and something else had not been seen before", async () => {
    const { write, edit, read } = within({ "a.txt": many, "b.txt": `first\n${"x".repeat(3_000)}\n` });
    await read("a.txt", { limit: 4 });
    await edit("a.txt", "line 3", "third");
    expect((await write("a.txt", "third\n")).text).toContain("read only in part, without lines 1 to 10");
    await read("b.txt");
    await edit("b.txt", "first", "1st");
    expect((await write("b.txt", "1st\n")).text).toContain("read only in part, without lines 1 to 2");
  });
});

describe("what read_file shows for something else is not written in its place", () => {
  test("is looked for once, however often it stands in a text", () => {
    const before = Buffer.from(`\u241b${"x".repeat(1_000_000)}`);
    expect(() => mustNotBeShown("\u241b".repeat(1_000_000), before, "the content")).not.toThrow();
  });

  test("bytes that are no UTF-8, control characters, the rest of a long line", async () => {
    const latin = Buffer.from("caf\u00e9 one\n", "latin1");
    const files = {
      "latin.txt": latin,
      "esc.txt": "\u001b[1mbold\n",
      "long.txt": `${"x".repeat(2100)}\nend\n`,
      "mojibake.txt": "it\u0080\u0099s\n",
      "some real.txt": Buffer.concat([Buffer.from("\ufffd "), latin]),
      "mac.txt": "one line\r",
    };
    const { at, read, write, edit } = within(files);
    for (const path of Object.keys(files)) {
      const [part] = (await read(path)).parts;
      const shown = part?.type === "text" ? part.text : "";
      const { text, isError } = await write(path, `${shown}more\n`);
      expect(isError, text).toBe(true);
      expect(text).toContain("nothing was written");
    }
    expect(at("latin.txt")).toEqual(latin);
    expect((await edit("esc.txt", "\u241b[1mbold", "plain")).text).toContain(
      "\u241b is what read_file shows",
    );
    expect((await edit("latin.txt", "one", "\ufffd")).text).toContain("would be lost");
    expect((await write("new.txt", "\ufffd and \u241b\n")).isError).toBe(false);
    expect((await edit("new.txt", "and", "or \u241b")).isError).toBe(false);
  });

  test("nor is UTF-8 brought into a file in another encoding, but into one that is merely damaged", async () => {
    const { at, edit } = within({
      "latin.txt": Buffer.from("caf\u00e9 one\n", "latin1"),
      "damaged.txt": Buffer.concat([Buffer.from("\u00e9t\u00e9 na\u00efve "), Buffer.from([0xe9, 10])]),
    });
    expect((await edit("latin.txt", "one", "\u00e9t\u00e9")).text).toContain("not in UTF-8");
    expect((await edit("latin.txt", "one", "two")).isError).toBe(false);
    expect(at("latin.txt")).toEqual(Buffer.from("caf\u00e9 two\n", "latin1"));
    expect((await edit("damaged.txt", "na\u00efve", "\u00e9")).isError).toBe(false);
  });
});
