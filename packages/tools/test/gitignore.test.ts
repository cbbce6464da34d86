import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { listFiles } from "../src/index.ts";
import { glob } from "../src/paths/glob.ts";
import { call, folder, put } from "./calling.ts";

const git = (cwd: string, args: string[], input?: string): string => {
  try {
    return execFileSync("git", ["-c", "core.excludesFile=/dev/null", ...args], {
      cwd,
      input: input ?? "",
      encoding: "utf8",
    });
  } catch (thrown) {
    // check-ignore exits with 1 when nothing is ignored.
    return String((thrown as { stdout?: string }).stdout ?? "");
  }
};

const name = fc.constantFrom("a", "b", "ab", "a.b", "foo", ".x", "a b", "#c", "!d");
// Not among them: "a**/b", which git documents as "a*/b" and, up to some versions, takes for "a**" across folders.
const piece = fc.constantFrom(
  "a",
  "b",
  "*",
  "**",
  "?",
  "[ab]",
  "[!a]",
  "[a-c]b",
  "a*",
  "*.b",
  "foo",
  ".x",
  "\\*",
  "\\#c",
  "\\!d",
  "a\\ b",
  "[[:alpha:]]",
);
const pattern = fc
  .tuple(
    fc.boolean(),
    fc.boolean(),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "/", " ", "\\ ", "  "),
  )
  .map(([not, rooted, pieces, end]) => `${not ? "!" : ""}${rooted ? "/" : ""}${pieces.join("/")}${end}`);
const ignoreFile = fc.array(pattern, { maxLength: 4 }).map((rules) => `${rules.join("\n")}\n`);

test("what is listed is what git does not ignore, for any ignore files", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 10,
        selector: (path) => path.join("/"),
      }),
      ignoreFile,
      ignoreFile,
      async (paths, top, inner) => {
        const root = folder();
        git(root, ["init", "-q"]);
        put(join(root, ".gitignore"), top);
        put(join(root, "a", ".gitignore"), inner);
        for (const path of paths)
          try {
            put(join(root, ...path), "");
          } catch {
            // A file is where a folder would be: that path is left out.
          }
        const listed = (await call(listFiles({ root }), "list_files", { recursive: true })).text
          .split("\n")
          .slice(1)
          .filter((line) => !line.endsWith("/"));
        const byGit = git(root, ["ls-files", "-z", "--others", "--exclude-standard"])
          .split("\0")
          .filter(Boolean);
        expect(listed.sort()).toEqual(byGit.sort());
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);

test("what the repository itself excludes is left out in a linked worktree and in a submodule as well", async () => {
  const root = folder();
  const [main, linked, outer] = [join(root, "main"), join(root, "linked"), join(root, "outer")];
  const commit = ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "m"];
  for (const one of [main, outer]) {
    put(join(one, "a.txt"), "");
    git(one, ["init", "-q"]);
    git(one, commit);
  }
  put(join(main, ".git", "info", "exclude"), "secret\n");
  git(main, ["worktree", "add", "-q", linked]);
  git(outer, ["-c", "protocol.file.allow=always", "submodule", "add", "-q", main, "inner"]);
  put(join(outer, ".git", "modules", "inner", "info", "exclude"), "secret\n");
  for (const tree of [main, linked, join(outer, "inner")]) {
    put(join(tree, "secret"), "");
    put(join(tree, "open"), "");
    const { text } = await call(listFiles({ root: tree }), "list_files", {});
    expect(text, tree).toContain("open");
    expect(text, tree).not.toContain("secret");
  }
});

test("a glob with many stars takes no more than its length times the name's", () => {
  const matches = glob(`${"*a".repeat(200)}b`);
  expect(matches("a".repeat(20_000))).toBe(false);
  expect(glob("**/".repeat(300))("a/".repeat(300))).toBe(true);
  expect(glob(`${"**/a/".repeat(100)}b`)("a/".repeat(1000))).toBe(false);
});

test("a glob reads braces, sets and escapes", () => {
  const yes: [string, string][] = [
    ["*.{ts,tsx}", "x/y.tsx"],
    ["src/**", "src/a/b"],
    ["**/test/*.js", "test/a.js"],
    ["[!a]*.ts", "b.ts"],
    ["\\{a\\}", "{a}"],
    ["a{b,{c,d}}e", "ade"],
    ["./a.ts", "a.ts"],
    ["/a.ts", "a.ts"],
    ["*", ".hidden"],
    ["?", "😀"],
    ["{a}", "{a}"],
  ];
  const no: [string, string][] = [
    ["*.ts", "a.tsx"],
    ["src/*", "src/a/b"],
    ["a**/b", "a/x/b"],
    ["a/**/b", "a/bc"],
    ["[a-c]", "d"],
    ["x/a.ts", "a.ts"],
    ["/a.ts", "x/a.ts"],
  ];
  for (const [pattern, path] of yes) expect(glob(pattern)(path), `${pattern} ${path}`).toBe(true);
  for (const [pattern, path] of no) expect(glob(pattern)(path), `${pattern} ${path}`).toBe(false);
});

test("a list can be ended while it compares names with more than anybody would ignore", async () => {
  const rules = `${"*a".repeat(100)}b\n`.repeat(4_000);
  const files = Array.from({ length: 40 }, (_, at): [string, string] => [`${"a".repeat(240)}${at}`, ""]);
  const root = folder({ ".gitignore": rules, ...Object.fromEntries(files) });
  const stop = new AbortController();
  let looks = 0;
  vi.spyOn(stop.signal, "throwIfAborted").mockImplementation(() => {
    looks += 1;
    // Before the first and at the beginning of the folder it is looked at anyway.
    if (looks > 2) throw new Error("enough");
  });
  await expect(call(listFiles({ root }), "list_files", {}, { signal: stop.signal })).rejects.toThrow(
    "enough",
  );
});
