import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { fileTools, runCommand } from "../src/index.ts";
import { Root } from "../src/paths/root.ts";
import { call, folder, put } from "./calling.ts";

/** A folder `app` with a neighbour `app-evil`, and links that lead out. */
function world(): { base: string; root: string } {
  const base = folder({
    "app/in.txt": "inside\n",
    "app/sub/deep.txt": "deep\n",
    "app-evil/secret.txt": "SECRET\n",
  });
  const root = join(base, "app");
  symlinkSync(join(base, "app-evil", "secret.txt"), join(root, "link-file"));
  symlinkSync(join(base, "app-evil"), join(root, "link-dir"));
  symlinkSync(join(base, "app-evil", "nothing.txt"), join(root, "dangling-out"));
  symlinkSync(join(root, "nothing.txt"), join(root, "dangling-in"));
  symlinkSync("link-chain-2", join(root, "link-chain-1"));
  symlinkSync("../app-evil/secret.txt", join(root, "link-chain-2"));
  symlinkSync("loop", join(root, "loop"));
  symlinkSync("sub", join(root, "link-in"));
  return { base, root };
}

const outside = (base: string): string[] => [
  "..",
  "../app-evil/secret.txt",
  "sub/../../app-evil/secret.txt",
  "/etc/passwd",
  join(base, "app-evil", "secret.txt"),
  `${join(base, "app")}-evil/secret.txt`,
  "link-file",
  "link-dir/secret.txt",
  "link-dir/not-there.txt",
  "link-dir/new/deeper.txt",
  "dangling-out",
  "dangling-in",
  "link-chain-1",
  "loop",
  "loop/x",
  "link-in/../../app-evil/secret.txt",
];

describe("a path that leaves the root", () => {
  test("is refused by every file tool, in plain words, and nothing outside changes", async () => {
    const { base, root } = world();
    const tools = fileTools({ root, write: { overwriteUnread: true } });
    for (const path of outside(base)) {
      const answers = {
        read: await call(tools, "read_file", { path }),
        list: await call(tools, "list_files", { path }),
        search: await call(tools, "search_files", { path, pattern: "." }),
        write: await call(tools, "write_file", { path, content: "x" }),
        edit: await call(tools, "edit_file", { path, oldText: "SECRET", newText: "x" }),
      };
      for (const [name, answer] of Object.entries(answers)) {
        expect(answer.isError, `${name} ${path}: ${answer.text}`).toBe(true);
        expect(answer.text, `${name} ${path}`).toContain("Path is outside the root");
        expect(answer.text, `${name} ${path}`).not.toContain("SECRET");
      }
    }
    expect(readFileSync(join(base, "app-evil", "secret.txt"), "utf8")).toBe("SECRET\n");
    expect(existsSync(join(base, "app-evil", "nothing.txt"))).toBe(false);
    expect(existsSync(join(base, "app-evil", "new"))).toBe(false);
    expect(existsSync(join(root, "nothing.txt"))).toBe(false);
  });

  test("is refused as the working folder of a command", async () => {
    const { root } = world();
    const answer = await call(runCommand({ root, sandbox: "off" }), "run_command", {
      command: "pwd",
      cwd: "link-dir",
    });
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toContain("Path is outside the root: link-dir");
  });

  test("gets the same words whether what it leads to exists or not", async () => {
    const { root } = world();
    const tools = fileTools({ root });
    const words = async (path: string): Promise<string> =>
      (await call(tools, "read_file", { path })).text.replaceAll(path, "P");
    expect(await words("link-file")).toBe(await words("dangling-out"));
    expect(await words("link-dir/secret.txt")).toBe(await words("link-dir/not-there.txt"));
  });

  test("may hold a NUL or a newline without confusing anybody", async () => {
    const { root } = world();
    const tools = fileTools({ root });
    expect((await call(tools, "read_file", { path: "in.txt\0.png" })).text).toContain("NUL");
    const answer = await call(tools, "read_file", { path: "a\n[fake line]" });
    expect(answer.text).toBe('Error: File not found: "a\\n[fake line]"');
  });
});

describe("a path under the root", () => {
  test("may be absolute, go through a link that stays inside, or name the root by a link to it", async () => {
    const { base, root } = world();
    symlinkSync(root, join(base, "alias"));
    const tools = fileTools({ root: join(base, "alias") });
    for (const path of [
      "in.txt",
      join(root, "in.txt"),
      join(base, "alias", "in.txt"),
      "sub/../in.txt",
      "./in.txt",
    ])
      expect((await call(tools, "read_file", { path })).text).toContain("inside");
    expect((await call(tools, "read_file", { path: "link-in/deep.txt" })).text).toContain("deep");
  });

  test("may begin with two dots when that is a name", async () => {
    const root = folder({ "..name": "dots\n" });
    expect((await call(fileTools({ root }), "read_file", { path: "..name" })).text).toContain("dots");
  });

  test("is locked by its real path, however it is written", () => {
    const { root } = world();
    const keys = (name: string, path: string): readonly string[] =>
      fileTools({ root }).find((one) => one.name === name)!.keys!({ path } as never);
    expect(keys("edit_file", "link-in/deep.txt")).toEqual([`file:${join(root, "sub", "deep.txt")}`]);
    expect(keys("write_file", "sub/./deep.txt")).toEqual(keys("read_file", join(root, "sub/deep.txt")));
    expect(keys("write_file", "sub/new.txt")).not.toEqual(keys("write_file", "sub/other.txt"));
    expect(keys("write_file", "../x")).toHaveLength(1);
  });
});

describe("what is no plain file", () => {
  test("a pipe, a device and a socket are refused and never waited for", async () => {
    const root = folder({ "a.txt": "a\n" });
    execFileSync("sh", ["-c", 'mkfifo "$0"', join(root, "pipe")]);
    const tools = fileTools({ root, write: { overwriteUnread: true } });
    for (const name of ["read_file", "write_file", "edit_file", "search_files"]) {
      const args = { path: "pipe", content: "x", oldText: "a", newText: "b", pattern: "x" };
      const answer = await call(tools, name, args);
      expect(answer.isError, name).toBe(true);
      expect(answer.text, name).toContain("device, pipe or socket");
    }
    const dev = await call(fileTools({ root: "/dev" }), "read_file", { path: "zero" });
    expect(dev.text).toContain("device, pipe or socket");
    expect((await call(tools, "list_files", {})).text).toContain("pipe (no plain file)");
    expect((await call(tools, "search_files", { pattern: "a" })).text).toContain("a.txt:1: a");
  });

  test("a folder is refused with a hint", async () => {
    const root = folder({ "sub/a.txt": "a" });
    const answer = await call(fileTools({ root }), "read_file", { path: "sub" });
    expect(answer.text).toBe(
      "Error: Path is not a file: sub (it is a directory: list_files shows what is in it)",
    );
    const list = await call(fileTools({ root }), "list_files", { path: "sub/a.txt" });
    expect(list.text).toBe("Error: Path is not a directory: sub/a.txt");
    const under = await call(fileTools({ root }), "read_file", { path: "sub/a.txt/x" });
    expect(under.text).toContain("is a file, not a folder");
  });
});

describe("a race", () => {
  // Another thread swaps a folder for a link that leads out, as fast as it can, while the tools work below it.
  test("between looking and opening never leads out of the root", async () => {
    const base = folder({ "app/dir/f.txt": "inside\n", "evil/f.txt": "SECRET\n" });
    const root = join(base, "app");
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const swapper = new Worker(
      `const { renameSync, rmSync, symlinkSync } = require("node:fs");
       const { workerData: { root, evil, stop } } = require("node:worker_threads");
       const attempt = (act) => { try { act(); } catch {} };
       while (Atomics.load(stop, 0) === 0) {
         attempt(() => renameSync(root + "/dir", root + "/away"));
         attempt(() => symlinkSync(evil, root + "/dir"));
         // A write may have made the folder anew meanwhile; a link is removed, never what it leads to.
         attempt(() => rmSync(root + "/dir", { recursive: true, force: true }));
         attempt(() => renameSync(root + "/away", root + "/dir"));
       }`,
      { eval: true, workerData: { root, evil: join(base, "evil"), stop } },
    );
    const ended = new Promise((resolve) => swapper.once("exit", resolve));
    const tools = fileTools({ root, write: { overwriteUnread: true } });
    let inside = 0;
    try {
      for (let round = 0; round < 100; round++) {
        const read = await call(tools, "read_file", { path: "dir/f.txt" });
        expect(read.text).not.toContain("SECRET");
        await call(tools, "write_file", { path: "dir/f.txt", content: `inside ${round}\n` });
        await call(tools, "write_file", { path: `dir/new-${round}.txt`, content: "new\n" });
        const list = await call(tools, "list_files", { recursive: true });
        expect(list.text).not.toContain("SECRET");
        if (!read.isError) inside++;
      }
    } finally {
      Atomics.store(stop, 0, 1);
      await ended;
    }
    expect(readFileSync(join(base, "evil", "f.txt"), "utf8")).toBe("SECRET\n");
    expect(execFileSync("ls", [join(base, "evil")], { encoding: "utf8" })).toBe("f.txt\n");
    // The race was one: some reads got through.
    expect(inside).toBeGreaterThan(0);
  }, 30_000);

  test.runIf(process.platform === "linux")(
    "cannot make a folder that was opened into another one: what is written through it lands in it",
    async () => {
      const base = folder({ "app/dir/f.txt": "inside\n", "evil/f.txt": "SECRET\n" });
      const root = new Root(join(base, "app"));
      const open = await root.parent(root.locate("dir/new/file.txt"));
      try {
        renameSync(join(base, "app", "dir"), join(base, "app", "away"));
        symlinkSync(join(base, "evil"), join(base, "app", "dir"));
        put(join(open.path, "file.txt"), "new\n");
      } finally {
        await open.close();
      }
      expect(readFileSync(join(base, "app", "away", "new", "file.txt"), "utf8")).toBe("new\n");
      expect(readdirSync(join(base, "evil"))).toEqual(["f.txt"]);
    },
  );

  test("a root that is moved away is refused, not followed by name", async () => {
    const base = folder({ "app/f.txt": "one\n", "evil/f.txt": "SECRET\n" });
    const tools = fileTools({ root: join(base, "app") });
    renameSync(join(base, "app"), join(base, "gone"));
    symlinkSync(join(base, "evil"), join(base, "app"));
    expect((await call(tools, "read_file", { path: "f.txt" })).text).toContain("outside the root");
  });
});

test("a hard link is written beside, never through", async () => {
  const base = folder({ "outer.txt": "outer\n" });
  mkdirSync(join(base, "app"));
  linkSync(join(base, "outer.txt"), join(base, "app", "in.txt"));
  const tools = fileTools({ root: join(base, "app"), write: { overwriteUnread: true } });
  const note = "\n[it had other names (hard links), which keep the old content]";
  const { text, isError } = await call(tools, "write_file", { path: "in.txt", content: "new\n" });
  expect(isError).toBe(false);
  // https://github.com/anthropics/claude-code/issues/31290
  expect(text).toBe(`Overwrote in.txt (1 line, 4 bytes)${note}`);
  expect(readFileSync(join(base, "outer.txt"), "utf8")).toBe("outer\n");
  const again = await call(tools, "edit_file", { path: "in.txt", oldText: "new", newText: "newer" });
  expect(again.text).not.toContain("other names");
});

// https://github.com/chmln/sd/issues/191
test("a file that may be written is, in a folder that may not be changed", ({ skip }) => {
  if (process.platform === "win32") skip("no modes of folders here");
  const program = fileURLToPath(new URL("programs/folder-of-others.ts", import.meta.url));
  const out = execFileSync(process.execPath, ["--conditions=rondo-source", program], { encoding: "utf8" });
  const { said, texts, names } = JSON.parse(out) as { said: string[]; texts: string[]; names: string[] };
  expect(said).toEqual([
    "Replaced 1 occurrence in shut/a.txt at line 1 (now 1 line, 6 bytes)",
    "Error: Permission denied: shut/b.txt",
    "Error: Permission denied: shut/read-only.txt",
    "Error: Permission denied: shut/new.txt",
  ]);
  expect(texts).toEqual(["twice\n", "one\n", "one\n"]);
  expect(names).toEqual(["a.txt", "b.txt", "read-only.txt"]);
});

test("a root that is no folder is a programming error that names it", () => {
  const base = folder({ "a.txt": "a" });
  expect(() => fileTools({ root: join(base, "none") })).toThrow(/root cannot be used \(ENOENT\)/);
  expect(() => fileTools({ root: join(base, "a.txt") })).toThrow(/not a folder/);
});

test("git's own data is not written, in no spelling", async () => {
  const root = folder({ ".git/config": "[core]\n" });
  put(join(root, "sub/.git/hooks/x"), "");
  const tools = fileTools({ root, write: { overwriteUnread: true } });
  for (const path of [".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/x", ".GIT/config"]) {
    const answer = await call(tools, "write_file", { path, content: "x" });
    expect(answer.text, path).toContain("belongs to git's own data");
  }
  const allowed = fileTools({ root, write: { writeGit: true } });
  expect((await call(allowed, "write_file", { path: ".git/new", content: "x" })).isError).toBe(false);
  rmSync(join(root, ".git"), { recursive: true });
});
