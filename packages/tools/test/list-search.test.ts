import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { listFiles, searchFiles } from "../src/index.ts";
import { call, folder } from "./calling.ts";

describe("list_files", () => {
  test("lists one folder, sorted, folders with a slash, counted exactly", async () => {
    const root = folder({ "b.txt": "", "a/x.txt": "", "a.txt": "", ".env": "", "Z.txt": "" });
    expect((await call(listFiles({ root }), "list_files", {})).text).toBe(
      "4 files, 1 folder in .\n.env\nZ.txt\na.txt\na/\nb.txt",
    );
  });

  test("lists everything below, as paths from the root, without what git ignores", async () => {
    const root = folder({
      ".gitignore": "*.log\n/dist/\n!keep.log\nsecret\n",
      "a.log": "",
      "keep.log": "",
      "dist/out.js": "",
      "src/dist/in.js": "",
      "src/.gitignore": "!a.log\ngen-*\n",
      "src/a.log": "",
      "src/gen-1.ts": "",
      "src/b.ts": "",
      "secret/x": "",
      "node_modules/m/index.js": "",
      ".git/HEAD": "ref",
    });
    const tool = listFiles({ root });
    expect((await call(tool, "list_files", { recursive: true })).text).toBe(
      [
        "6 files, 2 folders in . and below (5 ignored entries left out)",
        ".gitignore",
        "keep.log",
        "src/",
        "src/.gitignore",
        "src/a.log",
        "src/b.ts",
        "src/dist/",
        "src/dist/in.js",
      ].join("\n"),
    );
    const all = await call(tool, "list_files", { recursive: true, includeIgnored: true });
    expect(all.text).toContain("node_modules/m/index.js");
    expect(all.text).toContain("dist/out.js");
    expect(all.text).not.toContain(".git/HEAD");
    const below = await call(tool, "list_files", { path: "src", recursive: true });
    expect(below.text).toContain("src/a.log");
    expect(below.text).not.toContain("gen-1");
  });

  test("knows the ignore files above the root, up to the repository", async () => {
    const base = folder({
      ".git/HEAD": "",
      ".gitignore": "*.tmp\n/app/out/\n",
      "app/a.tmp": "",
      "app/out/x": "",
      "app/b": "",
    });
    expect((await call(listFiles({ root: join(base, "app") }), "list_files", { recursive: true })).text).toBe(
      "1 file, 0 folders in . and below (2 ignored entries left out)\nb",
    );
  });

  test("counts what a glob matches, and only that", async () => {
    const root = folder({
      "a.ts": "",
      "src/b.ts": "",
      "src/deep/c.ts": "",
      "src/d.js": "",
      "src/deep/e.tsx": "",
    });
    const list = async (args: Record<string, string>): Promise<string> =>
      (await call(listFiles({ root }), "list_files", args)).text;
    expect(await list({ pattern: "*.ts" })).toMatch(
      /^3 files, 0 folders in \. and below matching "\*\.ts"\n/,
    );
    expect(await list({ pattern: "src/**/*.ts" })).toMatch(/^2 files/);
    expect(await list({ pattern: "src/*.{ts,js}" })).toContain("2 files, 0 folders");
    expect(await list({ pattern: "**/*.ts" })).toMatch(/^3 files/);
    expect(await list({ path: "src", pattern: "deep/*" })).toContain("src/deep/c.ts\nsrc/deep/e.tsx");
    expect(await list({ pattern: "deep/" })).toBe(
      '0 files, 1 folder in . and below matching "deep/"\nsrc/deep/',
    );
    expect(await list({ pattern: "{a,b}".repeat(12) })).toContain("more than 256 patterns");
  });

  test("takes globs as models write them: absolute ones, lists, and what is to be left out", async () => {
    const root = folder({
      "src/a.ts": "",
      "src/a.test.ts": "",
      "src/b.js": "",
      "x,y.md": "",
      "app/[slug]/page.tsx": "",
    });
    const list = async (args: Record<string, string>): Promise<string> =>
      (await call(listFiles({ root }), "list_files", args)).text.split("\n").slice(1).join(" ");
    expect(await list({ pattern: `${root}/src/*.js` })).toBe("src/b.js");
    expect(await list({ path: "src", pattern: `${root}/src/*.js` })).toBe("src/b.js");
    expect(await list({ pattern: "*.js, *.md" })).toBe("src/b.js x,y.md");
    expect(await list({ pattern: "x,y.md" })).toBe("x,y.md");
    expect(await list({ pattern: "*.ts,!*.test.ts" })).toBe("src/a.ts");
    expect(await list({ path: "src", pattern: "!*.ts" })).toBe("src/b.js");
    expect(await list({ pattern: "app/[slug]/*.tsx" })).toBe("app/[slug]/page.tsx");
    expect(await list({ pattern: "[ab].{ts,js}" })).toBe("src/a.ts src/b.js");
    const elsewhere = await call(listFiles({ root }), "list_files", {
      path: "app",
      pattern: `${root}/src/*.ts`,
    });
    expect(elsewhere.text).toBe(`Error: the glob names nothing in app: ${root}/src/*.ts`);
  });

  test("means by an absolute glob only the folder it names, and not those below it", async () => {
    const root = folder({ "a.ts": "one", "src/a.ts": "one", "src/old/a.ts": "one", "src/src/b.ts": "one" });
    const list = async (args: JsonObject): Promise<string[]> =>
      (await call(listFiles({ root }), "list_files", args)).text.split("\n").slice(1);
    expect(await list({ pattern: `${root}/*.ts` })).toEqual(["a.ts"]);
    expect(await list({ pattern: `${root}/src/*.ts`, path: "src" })).toEqual(["src/a.ts"]);
    expect(await list({ pattern: `${root}/src/` })).toEqual(["src/"]);
    expect(await list({ pattern: `!${root}/a.ts` })).toEqual(["src/a.ts", "src/old/a.ts", "src/src/b.ts"]);
    const { text } = await call(searchFiles({ root }), "search_files", {
      pattern: "one",
      glob: `${root}/*.ts`,
    });
    expect(text.split("\n").slice(1)).toEqual(["a.ts:1: one"]);
  });

  test("says why a glob may have matched nothing", async () => {
    const root = folder({ "src/a.ts": "" });
    const list = async (args: Record<string, string>): Promise<string> =>
      (await call(listFiles({ root }), "list_files", args)).text;
    expect(await list({ path: "src", pattern: "src/*.ts" })).toContain(
      "[no path matches the pattern, which is relative to path: it means src/src/*.ts]",
    );
    expect(await list({ pattern: "*.py" })).toContain("[no name matches the pattern]");
    expect(await list({ pattern: "src\\**\\*.ts" })).toContain(
      "[no path matches the pattern; folders are separated by /, and a \\ makes what follows it literal]",
    );
    const search = async (glob: string): Promise<string> =>
      (await call(searchFiles({ root }), "search_files", { pattern: "x", glob })).text;
    expect(await search("src")).toContain("[no name matches the glob; src/** is what is in a folder]");
    expect(await search("src/")).toContain(
      "[no file matches the glob, for it names a folder: src/** is what is in it]",
    );
  });

  test("leaves out what is in a folder that is not wanted", async () => {
    const root = folder({
      "src/a.ts": "one\n",
      "src/deep/b.ts": "one\n",
      "lib/src/c.ts": "one\n",
      "d.ts": "one\n",
    });
    const list = async (pattern: string): Promise<string[]> =>
      (await call(listFiles({ root }), "list_files", { pattern })).text.split("\n").slice(1);
    const search = async (glob: string): Promise<string[]> =>
      (await call(searchFiles({ root }), "search_files", { pattern: "one", glob })).text.split("\n").slice(1);
    for (const pattern of ["!src", "!src/", "*.ts,!src", "*.ts, !src/"]) {
      expect(await list(pattern)).toEqual(["d.ts"]);
      expect(await search(pattern)).toEqual(["d.ts:1: one"]);
    }
    expect(await list("!lib/src")).toEqual(["d.ts", "src/a.ts", "src/deep/b.ts"]);
    expect(await list("!src/deep")).toEqual(["d.ts", "lib/src/c.ts", "src/a.ts"]);
    expect(await list("s*/")).toEqual(["lib/src/", "src/"]);
  });

  test("shows a bounded part and still counts everything", async () => {
    const root = folder(
      Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`d${n % 5}/f${n}.txt`, ""])),
    );
    const { text } = await call(listFiles({ root, maxEntries: 10 }), "list_files", { recursive: true });
    expect(text).toMatch(/^250 files, 5 folders in \. and below\n/);
    expect(text).toMatch(/\n\[the first 10 entries of 255; path or pattern can narrow the list\]$/);
    expect(text.split("\n")).toHaveLength(12);
  });

  test("counts links apart, follows none, and writes no name across two lines", async () => {
    const root = folder({ "a/f": "", "evil\nname": "" });
    symlinkSync("a", join(root, "again"));
    symlinkSync("..", join(root, "a", "up"));
    expect((await call(listFiles({ root }), "list_files", { recursive: true })).text).toBe(
      '2 files, 1 folder, 2 links in . and below\na/\na/f\na/up (link)\nagain (link)\n"evil\\nname"',
    );
  });

  test("takes an empty pattern for none, and so does search_files", async () => {
    const root = folder({ "a.txt": "one", "b/c.txt": "one" });
    for (const pattern of ["", " "])
      expect((await call(listFiles({ root }), "list_files", { pattern })).text).toBe(
        "1 file, 1 folder in .\na.txt\nb/",
      );
    const { text } = await call(searchFiles({ root }), "search_files", { pattern: "one", glob: "" });
    expect(text).toMatch(/^2 matching lines in 2 files/);
  });

  test("says that a folder is not there, and that an empty one is empty", async () => {
    const root = folder();
    expect((await call(listFiles({ root }), "list_files", { path: "x" })).text).toBe(
      "Error: Directory not found: x",
    );
    expect((await call(listFiles({ root }), "list_files", {})).text).toBe("0 files, 0 folders in .");
  });
});

describe("search_files", () => {
  test("gives path, line and text, and counts exactly", async () => {
    const root = folder({
      "a.ts": "let x = 1;\r\nlet yy = 2;\n",
      "b/c.ts": "const let2 = 3\n",
      "d.txt": "nothing\n",
    });
    expect((await call(searchFiles({ root }), "search_files", { pattern: "let \\w+ =" })).text).toBe(
      "2 matching lines in 1 file (3 files searched in .)\na.ts:1: let x = 1;\na.ts:2: let yy = 2;",
    );
    expect(
      (
        await call(searchFiles({ root }), "search_files", {
          pattern: "LET",
          ignoreCase: true,
          glob: "b/*.ts",
        })
      ).text,
    ).toBe("1 matching line in 1 file (1 file searched in .)\nb/c.ts:1: const let2 = 3");
    expect((await call(searchFiles({ root }), "search_files", { pattern: "zzz" })).text).toBe(
      "0 matching lines in 0 files (3 files searched in .)",
    );
    expect(
      (await call(searchFiles({ root }), "search_files", { pattern: "^let yy = 2;$", path: "a.ts" })).text,
    ).toContain("1 matching line in 1 file (1 file searched in a.ts)");
  });

  test("understands flags before a pattern, and properties of Unicode", async () => {
    const root = folder({ "a.txt": "Export\n\u00c4rger\n" });
    const search = async (pattern: string): Promise<string> =>
      (await call(searchFiles({ root }), "search_files", { pattern })).text;
    expect(await search("(?i)eXPORT")).toContain("a.txt:1: Export");
    expect(await search("(?m)^Exp")).toContain("a.txt:1: Export");
    expect(await search("^\\p{Lu}r")).toContain("a.txt:2: \u00c4rger");
    expect((await call(searchFiles({ root }), "search_files", { pattern: "\\p{Nonsense}" })).isError).toBe(
      true,
    );
    expect(await search("\\\\p{2}")).toContain("0 matching lines");
  });

  test("takes a character for one, also where it has two units", async () => {
    const root = folder({ "a.txt": "\u{1f44d}\u{1f44d}\nx\u{1f600}y {\n" });
    const search = async (pattern: string): Promise<string> =>
      (await call(searchFiles({ root }), "search_files", { pattern })).text;
    expect(await search("^\u{1f44d}{2}$")).toContain("a.txt:1:");
    expect(await search("x[\u{1f600}\u{1f601}]y")).toContain("a.txt:2:");
    expect(await search("^x.y")).toContain("a.txt:2:");
    // What only the looser grammar takes is searched by that one.
    expect(await search("\u{1f600}y\\ {")).toContain("a.txt:2:");
  });

  test("says what a pattern means in JavaScript, where nothing was found", async () => {
    const root = folder({ "a.txt": "one\ntwo\n" });
    const search = async (pattern: string, args = {}): Promise<string[]> =>
      (await call(searchFiles({ root }), "search_files", { pattern, ...args })).text.split("\n").slice(1);
    expect(await search("one\\ntwo")).toEqual([
      "[lines are searched one by one, so a newline never matches]",
    ]);
    expect(await search("one\ntwo", { literal: true })).toHaveLength(1);
    expect((await search("x\\|y"))[0]).toContain("alternatives are separated by | alone");
    expect((await search("[[:digit:]]x"))[0]).toContain("are not known");
    expect((await search("\\Aone"))[0]).toContain("^ and $ are the ends of a line");
    expect((await search("\\<one\\>"))[0]).toContain("\\b is the edge of a word");
    expect((await search("/one/i"))[0]).toContain("the slashes are part of the pattern");
    expect(await search("one|x\\|y")).toEqual(["a.txt:1: one"]);
    expect(await search("three")).toEqual([]);
    expect(await search("one", { glob: "*.md" })).toEqual(["[no name matches the glob]"]);
  });

  test("says that ignored files were left out, where nothing was found", async () => {
    const root = folder({ ".gitignore": "out\n", "out/a.txt": "one\n" });
    const { text } = await call(searchFiles({ root }), "search_files", { pattern: "one" });
    expect(text).toContain("[1 ignored entry was left out; includeIgnored searches them]");
  });

  test("takes a pattern as plain text when told so, and says what is wrong with a bad one", async () => {
    const root = folder({ "a.txt": "a.b(c) [x]\naxb\n" });
    expect(
      (await call(searchFiles({ root }), "search_files", { pattern: "a.b(c) [x]", literal: true })).text,
    ).toContain("1 matching line");
    const bad = await call(searchFiles({ root }), "search_files", { pattern: "(" });
    expect(bad).toMatchObject({ isError: true });
    expect(bad.text).toContain("the pattern cannot be used");
    // https://github.com/MarcusJellinghaus/mcp-workspace/issues/139
    expect(bad.text).toContain("If it is plain text, set literal: true");
    expect((await call(searchFiles({ root }), "search_files", { pattern: "x", path: "none" })).text).toBe(
      "Error: File not found: none",
    );
  });

  test("leaves out what git ignores, binary files and large ones, and says so", async () => {
    const root = folder({
      ".gitignore": "out/\n",
      "out/a.txt": "needle\n",
      "b.bin": Buffer.from("needle\0"),
      "c.txt": "needle\n",
      "big.txt": "needle\n",
    });
    truncateSync(join(root, "big.txt"), 20_000);
    const { text } = await call(searchFiles({ root, maxFileBytes: 10_000 }), "search_files", {
      pattern: "needle",
    });
    expect(text).toBe(
      "1 matching line in 1 file (2 files searched in .; 1 binary file skipped; 1 file over 10,000 bytes skipped)\nc.txt:1: needle",
    );
  });

  test("shows a bounded part and still counts everything; long lines around the match", async () => {
    const root = folder({
      "a.txt": "hit\n".repeat(1000),
      "b.txt": `${"x".repeat(5000)}hit${"y".repeat(5000)}\n`,
    });
    const { text } = await call(searchFiles({ root, maxMatches: 5 }), "search_files", { pattern: "hit" });
    expect(text).toMatch(/^1,001 matching lines in 2 files/);
    expect(text).toMatch(
      /\[the first 5 matching lines of 1,001; path, glob or pattern can narrow the search\]$/,
    );
    const long = await call(searchFiles({ root }), "search_files", { pattern: "hit", path: "b.txt" });
    expect(long.text).toMatch(/b\.txt:1: \[\.\.\.\] x+hity+ \[\.\.\.\]$/);
    expect(long.text.length).toBeLessThan(450);
  });

  test("shows as many lines of one file as it was told to", async () => {
    const root = folder({ "a.txt": "x\n".repeat(200_000) });
    const tool = searchFiles({ root, maxMatches: 200_000 });
    const { text } = await call(tool, "search_files", { pattern: "x" });
    expect(text).toMatch(/^200,000 matching lines in 1 file/);
    expect(text.endsWith("\na.txt:200000: x")).toBe(true);
  });

  test("ends a pattern that needs exponential time, and tells what it had found (F243)", async () => {
    const root = folder({ "a.txt": "aaaa\n", "b.txt": `${"a".repeat(50)}b\n` });
    // Without the bound this takes years.
    const { text, isError } = await call(searchFiles({ root, timeLimitMs: 700 }), "search_files", {
      pattern: "^(a+)+$",
    });
    expect(isError).toBe(true);
    expect(text).toContain("stopped after 0.7 s while it was in b.txt");
  });

  test("may be given more time than a timer of Node's knows", async () => {
    const root = folder({ "a.txt": "needle\n" });
    const { text } = await call(searchFiles({ root, timeLimitMs: 2 ** 32 }), "search_files", {
      pattern: "needle",
    });
    expect(text).toBe("1 matching line in 1 file (1 file searched in .)\na.txt:1: needle");
  });

  test("ends at once when it is aborted in the middle of such a pattern", async () => {
    const root = folder({ "b.txt": `${"a".repeat(50)}b\n` });
    const stop = new AbortController();
    const pending = call(
      searchFiles({ root, timeLimitMs: 600_000 }),
      "search_files",
      { pattern: "(a+)+$" },
      { signal: stop.signal },
    );
    setTimeout(() => stop.abort(new Error("enough")), 50);
    await expect(pending).rejects.toThrow("enough");
  });

  test("shows control characters as symbols and names on one line", async () => {
    const root = folder({ "a\nb": "x\x1b[31mneedle\x07\n" });
    expect((await call(searchFiles({ root }), "search_files", { pattern: "needle" })).text).toContain(
      '"a\\nb":1: x␛[31mneedle␇',
    );
  });

  test("does not search what a link leads to", async () => {
    const base = folder({ "app/a.txt": "x\n", "out/secret.txt": "needle\n" });
    symlinkSync("../out", join(base, "app", "link"));
    symlinkSync("../out/secret.txt", join(base, "app", "file"));
    const { text } = await call(searchFiles({ root: join(base, "app") }), "search_files", {
      pattern: "needle",
      includeIgnored: true,
    });
    expect(text).toMatch(/^0 matching lines/);
    // https://github.com/anthropics/claude-code/issues/25317
    expect(text).toContain(
      "[2 links were not followed; a path through one is, if it leads to something under the root]",
    );
  });

  // https://github.com/Digital-Process-Tools/claude-supertool/issues/287
  test("says that a pattern is there as plain text, where it found nothing as an expression", async () => {
    const root = folder({ "a.js": "$.html(json.data);\n", "b.js": "$.html(json.data)\n", "c.js": "html\n" });
    const search = async (args: Record<string, string | boolean>): Promise<string[]> =>
      (await call(searchFiles({ root }), "search_files", args as { pattern: string })).text
        .split("\n")
        .slice(1);
    expect(await search({ pattern: ".html(json.data)" })).toEqual([
      "[2 files have the pattern as plain text; literal: true searches for it so]",
    ]);
    expect(await search({ pattern: ".html(json.data)", literal: true })).toHaveLength(2);
    expect(await search({ pattern: "html|json(x)" })).toHaveLength(3);
    expect(await search({ pattern: "no.html()" })).toEqual([]);
  });

  test("says in which files a character beyond ASCII cannot be found", async () => {
    const latin = Buffer.from("caf\u00e9\n", "latin1");
    const root = folder({ "a.txt": latin, "b.txt": latin, "c.txt": "th\u00e9\n" });
    const search = async (pattern: string): Promise<string[]> =>
      (await call(searchFiles({ root }), "search_files", { pattern })).text.split("\n").slice(1);
    expect(await search("caf\u00e9")).toEqual([
      "[2 files are not in UTF-8, where characters beyond ASCII are not found: search for others]",
    ]);
    expect(await search("caff")).toEqual([]);
    expect(await search("th\u00e9")).toEqual(["c.txt:1: th\u00e9"]);
  });
});

test("search, in a source checkout, runs from its own thread file", () => {
  // The thread's file is found beside the module, under the module's own extension.
  const out = execFileSync(
    process.execPath,
    [
      "--conditions=rondo-source",
      "--input-type=module",
      "-e",
      `import { searchFiles } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
       const tool = searchFiles({ root: ${JSON.stringify(folder({ "a.txt": "needle\n" }))} });
       const result = await tool.execute({ pattern: "needle" }, { signal: new AbortController().signal, update() {} });
       console.log(result.content[0].text);`,
    ],
    { encoding: "utf8" },
  );
  expect(out).toContain("a.txt:1: needle");
});
