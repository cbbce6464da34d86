import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { classicTools, fileTools } from "../src/index.ts";
import { call, folder } from "./calling.ts";

afterEach(() => vi.unstubAllEnvs());

describe("a path that a model gives", () => {
  test("of a file whose name is no UTF-8 is told what to do with it", async ({ skip }) => {
    const root = folder();
    try {
      writeFileSync(Buffer.concat([Buffer.from(join(root, "caf")), Buffer.from([0xe9])]), "one");
    } catch {
      skip("no such names in this file system");
    }
    const tools = fileTools({ root });
    expect((await call(tools, "list_files", {})).text).toContain("caf\ufffd");
    expect((await call(tools, "read_file", { path: "caf\ufffd" })).text).toBe(
      "Error: File not found: caf\ufffd (\ufffd is shown for bytes that are no UTF-8: rename it with a command, by a pattern such as caf?.txt)",
    );
  });

  test("is that of a home with ~, and makes no folder of that name", async () => {
    const root = folder();
    vi.stubEnv("HOME", "/home/somebody");
    for (const tools of [fileTools({ root }), classicTools(root)]) {
      const { text, isError } = await call(tools, "write_file", { path: "~/notes.txt", content: "x" });
      expect(isError).toBe(true);
      expect(text).toBe(
        "Error: Path is outside the root: ~/notes.txt (~ is the home folder; only paths under the root can be used)",
      );
    }
    expect(readdirSync(root)).toEqual([]);
    vi.stubEnv("HOME", root);
    await call(fileTools({ root }), "write_file", { path: "~/notes.txt", content: "x" });
    expect(readdirSync(root)).toEqual(["notes.txt"]);
  });

  test("is what it is called where something is called so", async () => {
    const root = folder({
      "~/a.txt": "in a folder called ~\n",
      "`b`": "in ticks\n",
      "c.txt ": "a space\n",
      "c.txt": "none\n",
    });
    const tools = fileTools({ root });
    expect((await call(tools, "read_file", { path: "~/a.txt" })).text).toContain("in a folder called ~");
    expect((await call(tools, "read_file", { path: "`b`" })).text).toContain("in ticks");
    expect((await call(tools, "read_file", { path: "c.txt " })).text).toContain("a space");
  });

  test.each([
    "..\\out.txt",
    "a\\..\\..\\out.txt",
    "%2e%2e/out.txt",
    "..%2fout.txt",
    "a/%2E%2E%5C..%5Cout.txt",
    "%252e%252e%252fout.txt",
  ])("is refused if it would lead out of the root wherever it is read otherwise: %s", async (path) => {
    const root = folder({ "a/b.txt": "one\n" });
    const { text, isError } = await call(fileTools({ root }), "write_file", { path, content: "x" });
    expect(isError).toBe(true);
    expect(text).toContain("Path is outside the root: ");
    expect(readdirSync(root)).toEqual(["a"]);
  });

  test.each(["100%2e.txt", "a\\..\\c.txt", "a%2fb.txt", "%zz/..txt", "%2e%2e.txt"])(
    "is a name like any other if it would not: %s",
    async (path) => {
      const root = folder({ "a/b.txt": "one\n" });
      const { isError } = await call(fileTools({ root }), "write_file", { path, content: "x" });
      expect(isError).toBe(false);
    },
  );

  test("may be a file URL, and is judged like any other path", async () => {
    const root = folder({ "a b.txt": "one\n" });
    const tools = fileTools({ root });
    const url = pathToFileURL(join(root, "a b.txt")).href;
    expect((await call(tools, "read_file", { path: url })).text).toContain("one\n");
    expect((await call(tools, "read_file", { path: "file:///etc/passwd" })).text).toContain(
      "outside the root",
    );
    expect((await call(tools, "write_file", { path: "file://host/x", content: "" })).text).toContain(
      "names no file",
    );
    expect(readdirSync(root)).toEqual(["a b.txt"]);
  });

  test("does not mean the white space or the quotes around it", async () => {
    const root = folder({ "src/a.ts": "one\n" });
    const tools = fileTools({ root });
    for (const path of [" src/a.ts", "src/a.ts\n", '"src/a.ts"', "'src/a.ts'", "`src/a.ts` "])
      expect((await call(tools, "read_file", { path })).text).toContain("one\n");
    await call(tools, "write_file", { path: "`src/b.ts`\n", content: "two\n" });
    expect(readdirSync(join(root, "src"))).toEqual(["a.ts", "b.ts"]);
  });

  test("may have the separators of Windows, but leads nowhere by them that its words do not name", async () => {
    const root = folder({ "src/a.ts": "one\n", "secret.txt": "s\n", "notes/x": "" });
    const tools = fileTools({ root });
    expect((await call(tools, "read_file", { path: "src\\a.ts" })).text).toContain("one\n");
    await call(tools, "write_file", { path: "src\\b.ts", content: "" });
    expect(existsSync(join(root, "src", "b.ts"))).toBe(true);
    expect((await call(tools, "read_file", { path: "notes/x\\..\\..\\secret.txt" })).isError).toBe(true);
    await call(tools, "write_file", { path: "dev\\x2ddisk.swap", content: "" });
    expect(existsSync(join(root, "dev\\x2ddisk.swap"))).toBe(true);
  });

  test("finds the name that looks the same: composed otherwise, with another space or apostrophe", async () => {
    const decomposed = "Cafe\u0301 menu.txt";
    const root = folder({
      [decomposed]: "soup\n",
      "Shot at 6.46.56\u202fAM.txt": "shot\n",
      "d\u2019accord.txt": "yes\n",
    });
    const tools = fileTools({ root });
    expect((await call(tools, "read_file", { path: "Caf\u00e9 menu.txt" })).text).toContain("soup\n");
    expect((await call(tools, "read_file", { path: "Shot at 6.46.56 AM.txt" })).text).toContain("shot\n");
    expect((await call(tools, "read_file", { path: "d'accord.txt" })).text).toContain("yes\n");
    await call(tools, "write_file", { path: "Caf\u00e9 menu.txt", content: "stew\n" });
    expect(readFileSync(join(root, decomposed), "utf8")).toBe("stew\n");
    expect(readdirSync(root)).toHaveLength(3);
  });

  // https://github.com/adoin/git-Agent/issues/3
  test("may be what git writes of it, in octal", async () => {
    const root = folder({ "\u6587/\u6863 a.txt": "one\n" });
    const tools = fileTools({ root });
    for (const path of ['"\\346\\226\\207/\\346\\241\\243 a.txt"', "\\346\\226\\207/\\346\\241\\243 a.txt"])
      expect((await call(tools, "read_file", { path })).text).toContain("one\n");
    await call(tools, "write_file", { path: '"\\346\\226\\207/a \\"\\303\\251\\".txt"', content: "x" });
    expect(existsSync(join(root, '\u6587/a "\u00e9".txt'))).toBe(true);
    // What is no UTF-8, or would lead elsewhere, is a name.
    expect((await call(tools, "write_file", { path: "\\377\\376.txt", content: "x" })).isError).toBe(true);
    expect(readdirSync(root)).toEqual(["\u6587"]);
  });

  // https://github.com/google-gemini/gemini-cli/pull/241
  test("may be escaped as a shell, a URL or a page wants it, if it then names something", async () => {
    const root = folder({ "My Files/a (1).txt": "one\n", "b & c.txt": "two\n", "caf\u00e9.txt": "three\n" });
    const tools = fileTools({ root });
    const read = async (path: string): Promise<string> => (await call(tools, "read_file", { path })).text;
    expect(await read("My\\ Files/a\\ \\(1\\).txt")).toContain("one\n");
    expect(await read("My%20Files/a%20%281%29.txt")).toContain("one\n");
    expect(await read("caf%C3%A9.txt")).toContain("three\n");
    expect(await read("b &amp; c.txt")).toContain("two\n");
    await call(tools, "read_file", { path: "b & c.txt" });
    await call(tools, "write_file", { path: "b &amp; c.txt", content: "new\n" });
    expect(readFileSync(join(root, "b & c.txt"), "utf8")).toBe("new\n");
    // A new file is called what it is called.
    await call(tools, "write_file", { path: "100%25.txt", content: "x" });
    expect(existsSync(join(root, "100%25.txt"))).toBe(true);
    expect((await call(tools, "list_files", { path: "My%20Files" })).text).toContain("a (1).txt");
  });

  // https://github.com/gke-labs/gemini-for-kubernetes-development/issues/347
  test("that is absolute, and of no folder here, is told which of its ends is there", async () => {
    const root = folder({ "src/a.ts": "", "package.json": "" });
    const told = async (path: string): Promise<string> =>
      (await call(fileTools({ root }), "write_file", { path, content: "x" })).text;
    const outside = (path: string): string =>
      `Error: Path is outside the root: ${path} (only paths under the root can be used`;
    expect(await told("/workspace/app/src/a.ts")).toBe(
      `${outside("/workspace/app/src/a.ts")}; paths are relative to it: src/a.ts)`,
    );
    expect(await told("/app/package.json")).toContain("paths are relative to it: package.json)");
    expect(await told("/src/new.ts")).toContain("paths are relative to it: src/new.ts)");
    expect(await told("/workspace/other.ts")).toBe(`${outside("/workspace/other.ts")})`);
    expect(await told(`/${"a/".repeat(100)}src/a.ts`)).not.toContain("relative");
  });

  test("that is a glob is told where one goes", async () => {
    const tools = fileTools({ root: folder({ "src/a.ts": "" }) });
    for (const [name, args] of [
      ["read_file", { path: "src/*.ts" }],
      ["list_files", { path: "src/**/*.ts" }],
      ["search_files", { path: "src/*.ts", pattern: "x" }],
    ] as const)
      expect((await call(tools, name, args)).text).toContain(
        "(a path is no glob: list_files takes one as its pattern",
      );
  });

  test("is escaped into no other folder than it names", async () => {
    const root = folder({
      "notes/a.txt": "",
      "secret.txt": "s3cret\n",
      "a/b.txt": "s3cret\n",
      "%2e%2e/secret.txt": "no\n",
    });
    const tools = fileTools({ root });
    for (const path of [
      "notes/%2e%2e/secret.txt",
      "notes%2f..%2fsecret.txt",
      "a%2fb.txt",
      "notes/.\\./secret.txt",
      "a&#47;b.txt",
      "%00",
    ])
      expect((await call(tools, "read_file", { path })).text).not.toContain("s3cret");
  });

  test("under a root that is gone is told that", async () => {
    const root = folder();
    const tools = fileTools({ root });
    rmSync(root, { recursive: true });
    for (const path of [".", "a.txt"])
      expect((await call(tools, "list_files", { path })).text).toBe(
        "Error: the root folder is no longer there",
      );
  });

  test("that is taken for nobody's is told what is there under a name like it", async () => {
    const root = folder({ "src/util.ts": "", "src/other/deep.ts": "" });
    const tools = fileTools({ root });
    const told = async (path: string): Promise<string> => (await call(tools, "read_file", { path })).text;
    expect(await told("src/Util.ts")).toBe("Error: File not found: src/Util.ts (there is src/util.ts)");
    expect(await told("src/util.js")).toBe("Error: File not found: src/util.js (there is src/util.ts)");
    expect(await told("@src/util.ts")).toBe("Error: File not found: @src/util.ts (there is src/util.ts)");
    expect(await told("SRC/other/deep.ts")).toContain("(there is src/other/deep.ts)");
    expect(await told("nothing.md")).toBe("Error: File not found: nothing.md");
    expect(await told("/src/util.ts")).toBe(
      "Error: Path is outside the root: /src/util.ts (only paths under the root can be used; paths are relative to it: src/util.ts)",
    );
    expect(await told("/etc/passwd")).toBe(
      "Error: Path is outside the root: /etc/passwd (only paths under the root can be used)",
    );
  });
});
