import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { probe } from "../src/command/sandbox.ts";
import { editFile, fileToolSet, fileTools, readFile, writeFile } from "../src/index.ts";
import { call, folder, put } from "./calling.ts";

const text = (root: string, name: string): string => readFileSync(join(root, name), "utf8");

describe("write_file", () => {
  test("makes the file and its folders and says what it did", async () => {
    const root = folder();
    const tools = fileTools({ root });
    const answer = await call(tools, "write_file", { path: "a/b/c.txt", content: "one\ntwo" });
    expect(answer).toMatchObject({
      text: "Created a/b/c.txt (2 lines, 7 bytes; made 2 folders)",
      isError: false,
    });
    expect(text(root, "a/b/c.txt")).toBe("one\ntwo");
    expect(readdirSync(join(root, "a/b"))).toEqual(["c.txt"]);
  });

  test("counts the folders that it made, and not those that a call beside it made", async () => {
    const tools = fileTools({ root: folder() });
    const made = await Promise.all(
      ["1", "2", "3"].map((name) => call(tools, "write_file", { path: `a/b/${name}`, content: "" })),
    );
    const counts = made.map(({ text }) => Number(/made (\d)/.exec(text)?.[1] ?? 0));
    expect(counts.reduce((sum, one) => sum + one)).toBe(2);
  });

  test("does not write over a file that was never read, and says what to do", async () => {
    const root = folder({ "a.txt": "precious\n" });
    const tools = fileTools({ root });
    const answer = await call(tools, "write_file", { path: "a.txt", content: "x" });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("was not read yet");
    expect(answer.text).toContain("read_file");
    expect(text(root, "a.txt")).toBe("precious\n");
    await call(tools, "read_file", { path: "a.txt" });
    expect((await call(tools, "write_file", { path: "a.txt", content: "x" })).text).toBe(
      "Overwrote a.txt (1 line, 1 byte)",
    );
    // Its own write is something it knows.
    expect((await call(tools, "write_file", { path: "a.txt", content: "y" })).isError).toBe(false);
  });

  test("writes over an empty file that was never read, as edit_file says to: nothing is lost", async () => {
    const root = folder({ "a.txt": "", "b.txt": "b" });
    const tools = fileTools({ root });
    const edited = await call(tools, "edit_file", { path: "a.txt", oldText: "a", newText: "b" });
    expect(edited.text).toContain("a.txt is empty; nothing was changed. Write it with write_file");
    expect((await call(tools, "write_file", { path: "a.txt", content: "x" })).text).toBe(
      "Overwrote a.txt (1 line, 1 byte)",
    );
    // One that somebody emptied since it was read is another matter.
    await call(tools, "read_file", { path: "b.txt" });
    put(join(root, "b.txt"), "");
    expect((await call(tools, "write_file", { path: "b.txt", content: "x" })).text).toContain(
      "b.txt was changed since it was read",
    );
  });

  test("does not write over what changed since it was read (F225)", async () => {
    const root = folder({ "a.txt": "v1\n" });
    const tools = fileTools({ root, write: { overwriteUnread: true } });
    await call(tools, "read_file", { path: "a.txt" });
    put(join(root, "a.txt"), "v2 of the user\n");
    for (const [name, args] of [
      ["write_file", { content: "v1 and more\n" }],
      ["edit_file", { oldText: "v2", newText: "v3" }],
    ] as const) {
      const answer = await call(tools, name, { path: "a.txt", ...args });
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain("changed since it was read; nothing was written. Read it again");
    }
    expect(text(root, "a.txt")).toBe("v2 of the user\n");
    await call(tools, "read_file", { path: "a.txt", offset: 1, limit: 1 });
    expect((await call(tools, "edit_file", { path: "a.txt", oldText: "v2", newText: "v3" })).isError).toBe(
      false,
    );
  });

  test("writes over a binary file that was looked at, and not when it changed since", async () => {
    const root = folder({ "a.bin": new Uint8Array([1, 0, 2]), "b.bin": new Uint8Array([1, 0, 2]) });
    const tools = fileTools({ root });
    for (const path of ["a.bin", "b.bin"]) await call(tools, "read_file", { path });
    put(join(root, "b.bin"), new Uint8Array([1, 0, 3]));
    const write = (path: string): Promise<{ text: string }> =>
      call(tools, "write_file", { path, content: "text" });
    expect((await write("a.bin")).text).toBe("Overwrote a.bin (1 line, 4 bytes)");
    expect((await write("b.bin")).text).toContain("changed since it was read");
  });

  test("nobody else may read the new content of a file that is not theirs to read, while it is written either", async () => {
    const root = folder({ "a.txt": `${"secret ".repeat(1_000_000)}end\n` });
    chmodSync(join(root, "a.txt"), 0o600);
    const modes = new Set<number>();
    let isWriting = true;
    const look = (): void => {
      if (!isWriting) return;
      for (const name of readdirSync(root))
        modes.add((statSync(join(root, name), { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777);
      setImmediate(look);
    };
    look();
    await call(fileTools({ root }), "edit_file", { path: "a.txt", oldText: "end", newText: "END" });
    isWriting = false;
    expect([...modes]).toEqual([0o600]);
  });

  test("the same content twice is the same as once, also for a set that knows nothing", async () => {
    const root = folder();
    const args = { path: "a.txt", content: "same\n" };
    await call(fileTools({ root }), "write_file", args);
    const before = statSync(join(root, "a.txt")).ino;
    const again = await call(fileTools({ root }), "write_file", args);
    expect(again).toMatchObject({
      text: "Unchanged: a.txt already holds this content (1 line, 5 bytes)",
      isError: false,
    });
    expect(statSync(join(root, "a.txt")).ino).toBe(before);
  });

  test("keeps the mode of a file and follows a link that stays inside", async () => {
    const root = folder({ "run.sh": "#!/bin/sh\n" });
    chmodSync(join(root, "run.sh"), 0o754);
    symlinkSync("run.sh", join(root, "link.sh"));
    const tools = fileTools({ root });
    await call(tools, "read_file", { path: "link.sh" });
    expect((await call(tools, "write_file", { path: "link.sh", content: "#!/bin/sh\necho\n" })).isError).toBe(
      false,
    );
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o754);
    expect(text(root, "run.sh")).toBe("#!/bin/sh\necho\n");
  });

  test("does not replace a file that must not be written", async ({ skip }) => {
    if (process.getuid?.() === 0) skip("the mode of a file says nothing to root");
    const root = folder({ "a.txt": "fixed\n" });
    chmodSync(join(root, "a.txt"), 0o444);
    const tools = fileTools({ root, write: { overwriteUnread: true } });
    for (const [name, args] of [
      ["write_file", { content: "x" }],
      ["edit_file", { oldText: "fixed", newText: "x" }],
    ] as const)
      expect((await call(tools, name, { path: "a.txt", ...args })).text).toBe(
        "Error: Permission denied: a.txt",
      );
    expect(text(root, "a.txt")).toBe("fixed\n");
  });

  test("refuses half a character and too much content", async () => {
    const root = folder();
    const tools = [writeFile({ root, maxBytes: 10 })];
    expect((await call(tools, "write_file", { path: "a", content: "\ud800" })).text).toContain(
      "lone surrogate",
    );
    expect((await call(tools, "write_file", { path: "a", content: "x".repeat(11) })).text).toContain(
      "more than 10 bytes",
    );
    expect(existsSync(join(root, "a"))).toBe(false);
  });

  test("does nothing when it was aborted", async () => {
    const root = folder();
    const stopped = AbortSignal.abort(new Error("stop"));
    await expect(
      call(fileTools({ root }), "write_file", { path: "a", content: "x" }, { signal: stopped }),
    ).rejects.toThrow("stop");
    expect(existsSync(join(root, "a"))).toBe(false);
  });
});

describe("edit_file", () => {
  test("replaces one passage and says where", async () => {
    const root = folder({ "a.txt": "one\ntwo\nthree\n" });
    const answer = await call(fileTools({ root }), "edit_file", {
      path: "a.txt",
      oldText: "two\n",
      newText: "2\n2b\n",
    });
    expect(answer.text).toBe("Replaced 1 occurrence in a.txt at line 2 (now 4 lines, 15 bytes)");
    expect(text(root, "a.txt")).toBe("one\n2\n2b\nthree\n");
  });

  test("says when the passage is not unique, and where it stands", async () => {
    const root = folder({ "a.txt": "x\ny\nx\nx\n" });
    const tools = fileTools({ root });
    const answer = await call(tools, "edit_file", { path: "a.txt", oldText: "x", newText: "z" });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("not unique: it occurs 3 times in a.txt, at lines 1, 3, 4");
    expect(text(root, "a.txt")).toBe("x\ny\nx\nx\n");
    const all = await call(tools, "edit_file", {
      path: "a.txt",
      oldText: "x",
      newText: "z",
      replaceAll: true,
    });
    expect(all.text).toContain("Replaced 3 occurrences in a.txt at lines 1, 3, 4");
    expect(text(root, "a.txt")).toBe("z\ny\nz\nz\n");
  });

  test.each([
    [
      "\u2018quoted\u2019 \u2013 \u201chere\u201d\u2026",
      "'quoted' - \"here\"...",
      "the file has \u2018 (U+2018), \u2019 (U+2019), \u2013 (U+2013), \u201c (U+201C), \u201d (U+201D) there",
    ],
    ["ne\u0301e", "n\u00e9e", "the file has U+0301 there"],
    ["n\u00e9e", "ne\u0301e", "the old text has U+0301"],
    ["well\u2011known", "well-known", "the file has \u2011 (U+2011) there"],
  ])(
    "says where a passage stands that looks the same, and what differs: %j",
    async (there, given, differs) => {
      const root = folder({ "a.txt": `one\nit is ${there}, so\n` });
      const tools = fileTools({ root });
      const near = await call(tools, "edit_file", { path: "a.txt", oldText: `is ${given}, `, newText: "x" });
      expect(near.text).toBe(
        "Error: the old text does not occur in a.txt; nothing was changed. A passage that looks the same begins at line 2, " +
          `with other quotes, dashes, dots or accents: give those of the file, or a passage without them (${differs})`,
      );
    },
  );

  test("makes no file where a folder is named", async () => {
    const root = folder();
    const made = await call(fileTools({ root }), "write_file", { path: "notes/", content: "" });
    expect(made.text).toBe(
      "Error: Path is not a file: notes/ (it names a folder; folders are made with the files in them)",
    );
    expect(existsSync(join(root, "notes"))).toBe(false);
  });

  test("says when the passage is missing, and what comes near", async () => {
    const root = folder({ "a.txt": "if (a) {\n\t\treturn 1;\n}\n" });
    const tools = fileTools({ root });
    const near = await call(tools, "edit_file", { path: "a.txt", oldText: "    return 1;\n}", newText: "x" });
    expect(near.text).toContain("differs only in whitespace begins at line 2");
    const inLine = await call(tools, "edit_file", {
      path: "a.txt",
      oldText: "(a)  {\n return",
      newText: "x",
    });
    expect(inLine.text).toContain("differs only in whitespace begins at line 1");
    const none = await call(tools, "edit_file", { path: "a.txt", oldText: "nothing", newText: "x" });
    expect(none.text).toBe(
      "Error: the old text does not occur in a.txt; nothing was changed. " +
        "Read the file with read_file, and give the passage exactly as it is there",
    );
  });

  test("says that a file without anything in it has no passage to replace", async () => {
    const root = folder({ "a.txt": "" });
    const none = await call(fileTools({ root }), "edit_file", { path: "a.txt", oldText: "a", newText: "x" });
    expect(none.text).toBe("Error: a.txt is empty; nothing was changed. Write it with write_file");
  });

  test("says that what is shown in the place of bytes cannot be found, also where it looks as if it stood there", async () => {
    const root = folder({ "a.txt": Buffer.from("caf\xe9\n", "latin1") });
    const args = { path: "a.txt", oldText: "caf\ufffd", newText: "cafe" };
    const answer = await call(fileTools({ root }), "edit_file", args);
    expect(answer.text).toContain("\ufffd is what read_file shows for something else");
    expect(answer.text).not.toContain("whitespace");
  });

  test("refuses a replacement that would make a file too large before it takes the memory for it", async () => {
    const before = "a".repeat(500_000);
    const root = folder({ "a.txt": before, "b.txt": Buffer.from(`\ufeff${before}`, "utf16le") });
    const tools = fileTools({ root });
    const instead = "b".repeat(200_000);
    for (const path of ["a.txt", "b.txt"]) {
      const args = { path, oldText: "a", newText: instead, replaceAll: true };
      const answer = await call(tools, "edit_file", args);
      expect(answer.text).toMatch(
        /^Error: the new content would be .*, more than 32\.0 MiB; nothing was written/,
      );
    }
    expect(text(root, "a.txt")).toBe(before);
  });

  test("names a line once, however often the passage stands in it", async () => {
    const root = folder({ "a.txt": "x x x\ny\n" });
    const tools = fileTools({ root });
    const args = { path: "a.txt", oldText: "x", newText: "z" };
    expect((await call(tools, "edit_file", args)).text).toContain("it occurs 3 times in a.txt, at line 1; ");
    expect((await call(tools, "edit_file", { ...args, replaceAll: true })).text).toContain(
      "Replaced 3 occurrences in a.txt at line 1 (now",
    );
  });

  test("takes the new text as it is: no dollar signs mean anything", async () => {
    const root = folder({ "a.txt": "price\n" });
    await call(fileTools({ root }), "edit_file", { path: "a.txt", oldText: "price", newText: "$& $1 $$" });
    expect(text(root, "a.txt")).toBe("$& $1 $$\n");
  });

  test("keeps CRLF, a byte order mark, and bytes that are no UTF-8", async () => {
    const root = folder({
      "crlf.txt": "\ufeffone\r\ntwo\r\nthree\r\n",
      "latin.txt": Buffer.concat([Buffer.from("caf"), Buffer.from([0xe9]), Buffer.from("\nend\n")]),
    });
    const tools = fileTools({ root });
    await call(tools, "edit_file", { path: "crlf.txt", oldText: "one\ntwo", newText: "1\n2" });
    expect(text(root, "crlf.txt")).toBe("\ufeff1\r\n2\r\nthree\r\n");
    await call(tools, "edit_file", { path: "latin.txt", oldText: "end", newText: "END" });
    expect([...readFileSync(join(root, "latin.txt"))]).toEqual([
      0x63, 0x61, 0x66, 0xe9, 10, 0x45, 0x4e, 0x44, 10,
    ]);
  });

  test("refuses a binary file, a missing one, and a change that is none", async () => {
    const root = folder({ "a.bin": new Uint8Array([1, 0, 2, 0]), "a.txt": "a" });
    const tools = fileTools({ root });
    const edit = (
      path: string,
      oldText: string,
      newText: string,
    ): Promise<{ text: string; isError: boolean }> => call(tools, "edit_file", { path, oldText, newText });
    expect((await edit("a.bin", "x", "y")).text).toContain("not text");
    expect((await edit("none", "x", "y")).text).toBe(
      "Error: File not found: none; a new file is made with write_file",
    );
    expect((await edit("a.txt", "a", "a")).text).toContain("the same");
    expect((await edit("a.txt", "", "y")).isError).toBe(true);
  });

  test("many edits of one file at once, from two sets, all take place (F224)", async () => {
    const count = 40;
    const root = folder({ "a.txt": Array.from({ length: count }, (_, n) => `<${n}>\n`).join("") });
    const sets = [editFile({ root }), editFile({ root })];
    const answers = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        call(sets[n % 2]!, "edit_file", { path: "a.txt", oldText: `<${n}>`, newText: `done ${n}` }),
      ),
    );
    // The sets do not know of each other's writes: what they refuse they say, what they report is there.
    const there = text(root, "a.txt")
      .split("\n")
      .filter((line) => line.startsWith("done")).length;
    expect(there).toBe(answers.filter((answer) => !answer.isError).length);
    for (const answer of answers.filter((one) => one.isError)) expect(answer.text).toContain("changed since");
  });

  test("many edits of one file at once within one set all succeed", async () => {
    const count = 40;
    const root = folder({ "a.txt": Array.from({ length: count }, (_, n) => `<${n}>\n`).join("") });
    const tools = fileTools({ root });
    const answers = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        call(tools, "edit_file", { path: "a.txt", oldText: `<${n}>`, newText: `done ${n}` }),
      ),
    );
    expect(answers.every((answer) => !answer.isError)).toBe(true);
    expect(text(root, "a.txt")).toBe(Array.from({ length: count }, (_, n) => `done ${n}\n`).join(""));
    expect(readdirSync(root)).toEqual(["a.txt"]);
  });

  test("two writes that make one file at once leave one whole content", async () => {
    const root = folder();
    const tools = fileTools({ root });
    const contents = ["a".repeat(300_000), "b".repeat(200_000)];
    await Promise.all(contents.map((content) => call(tools, "write_file", { path: "n/f.txt", content })));
    expect(contents).toContain(text(root, "n/f.txt"));
  });
});

test("tools made one by one share what was read when they share a set", async () => {
  const root = folder({ "a.txt": "a\n" });
  const set = fileToolSet(root);
  const tools = [readFile({ root: set }), writeFile({ root: set })];
  await call(tools, "read_file", { path: "a.txt" });
  expect((await call(tools, "write_file", { path: "a.txt", content: "b\n" })).isError).toBe(false);
});

test("effects, permissions and names are what the loop is told", () => {
  const root = folder();
  const told = fileTools({ root }).map((one) => [one.name, one.effect, one.permission]);
  expect(told).toEqual([
    ["list_files", "read", "allow"],
    ["read_file", "read", "allow"],
    ["search_files", "read", "allow"],
    ["write_file", "idempotent", "allow"],
    ["edit_file", "write", "allow"],
  ]);
  expect(fileTools({ root, writePermission: "ask" }).map((one) => one.permission)).toEqual([
    "allow",
    "allow",
    "allow",
    "ask",
    "ask",
  ]);
  expect(fileTools({ root, readOnly: true }).map((one) => one.name)).toEqual([
    "list_files",
    "read_file",
    "search_files",
  ]);
});

test("a file that is a mount of its own, as in a container, is written all the same", async ({ skip }) => {
  const sandbox = await probe(process.env.PATH ?? "");
  if ("missing" in sandbox) skip(sandbox.missing);
  const root = folder({ "a.conf": "old and longer\n" });
  const index = new URL("../src/index.ts", import.meta.url).href;
  const script = `
    import { fileTools } from ${JSON.stringify(index)};
    const edit = fileTools({ root: ${JSON.stringify(root)} }).find((tool) => tool.name === "edit_file");
    const args = { path: "a.conf", oldText: "old and longer", newText: "new" };
    console.log((await edit.execute(args, { signal: new AbortController().signal })).content[0].text);`;
  const file = join(root, "a.conf");
  const node = ["--conditions=rondo-source", "--input-type=module", "-e", script];
  const mounted = ["--dev-bind", "/", "/", "--bind", file, file, process.execPath, ...node];
  expect(execFileSync("bwrap", mounted, { encoding: "utf8" })).toBe(
    "Replaced 1 occurrence in a.conf at line 1 (now 1 line, 4 bytes)\n",
  );
  expect(readFileSync(file, "utf8")).toBe("new\n");
  expect(readdirSync(root)).toEqual(["a.conf"]);
});
