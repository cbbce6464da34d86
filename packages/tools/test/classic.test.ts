// The classic tools, on real folders and real processes, and through the loop they belong to.

import { chmodSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Agent, type Message, textOf } from "@rondo/core";
import { thinkActObserve } from "@rondo/core/presets";
import { call as asks, calls, say, scripted } from "@rondo/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type ClassicToolsOptions, classicTools } from "../src/index.ts";
import { type Answer, call, folder, put } from "./calling.ts";

type Args = Parameters<typeof call>[2];

const using =
  (root: string, options: ClassicToolsOptions = {}) =>
  (name: string, args: Args): Promise<Answer> =>
    call(classicTools(root, options), name, args);

/** From here on this process may do no more than an ordinary user: to root every file is open. */
function asOrdinaryUser(): void {
  if (process.getuid?.() !== 0) return;
  process.seteuid?.(65_534);
  onTestFinished(() => process.seteuid?.(0));
}

function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const done = (text: string): object => ({ text, isError: false });
const failed = (text: string): object => ({ text, isError: true });

describe("read_file", () => {
  test("A6.31 gives the content as it is, or says what is in the way", async () => {
    const root = folder({ "a.txt": "one\ntwo\n", "sub/b.txt": "\ufeffb" });
    const use = using(root);
    expect(await use("read_file", { path: "a.txt" })).toMatchObject(done("one\ntwo\n"));
    expect(await use("read_file", { path: "./sub/b.txt" })).toMatchObject(done("\ufeffb"));
    expect(await use("read_file", { path: join(root, "a.txt") })).toMatchObject(done("one\ntwo\n"));
    for (const path of ["no.txt", "./no/no.txt", "a.txt/below"])
      expect(await use("read_file", { path })).toMatchObject(failed(`Error: File not found: ${path}`));
    for (const path of ["sub", "."])
      expect(await use("read_file", { path })).toMatchObject(failed(`Error: Path is not a file: ${path}`));
  });

  test("A6.31 A6.32 A6.33 say that permission was denied", async () => {
    const root = folder({ "a.txt": "secret", "shut/b.txt": "b" });
    const tools = classicTools(root);
    chmodSync(root, 0o755);
    chmodSync(join(root, "a.txt"), 0);
    chmodSync(join(root, "shut"), 0);
    onTestFinished(() => chmodSync(join(root, "shut"), 0o755));
    asOrdinaryUser();
    expect(await call(tools, "read_file", { path: "a.txt" })).toMatchObject(
      failed("Error: Permission denied: a.txt"),
    );
    expect(await call(tools, "list_files", { path: "shut" })).toMatchObject(
      failed("Error: Permission denied: shut"),
    );
    if (process.getuid?.() === 0)
      expect(await call(tools, "write_file", { path: "new.txt", content: "x" })).toMatchObject(
        failed("Error: Permission denied: new.txt"),
      );
    const tree = await call(tools, "list_files", { path: ".", recursive: true });
    expect(tree).toMatchObject(done("├── a.txt\n└── shut/"));
  });

  test("refuses what is no text, what is too large, and what is no plain file", async () => {
    const root = folder({ "a.bin": new Uint8Array([0xff, 0xfe, 0x41]), "big.txt": "x".repeat(11) });
    const use = using(root, { maxBytes: 10 });
    expect(await use("read_file", { path: "a.bin" })).toMatchObject(
      failed("Error: File is not UTF-8 text: a.bin"),
    );
    expect(await use("read_file", { path: "big.txt" })).toMatchObject(
      failed("Error: File is too large (11 bytes): big.txt"),
    );
  });
});

describe("write_file", () => {
  test("A6.32 writes the file, makes its parents, and writes over what is there", async () => {
    const root = folder();
    const use = using(root);
    const path = "deep/er/a.txt";
    for (const content of ["one\n", "two\n", "two\n", ""]) {
      expect(await use("write_file", { path, content })).toMatchObject(done(`Successfully wrote to ${path}`));
      expect(readFileSync(join(root, path), "utf8")).toBe(content);
    }
    expect(await use("write_file", { path: "deep", content: "x" })).toMatchObject({ isError: true });
  });
});

describe("list_files", () => {
  const files = { "b.txt": "", "a/y.txt": "", "a/x/z.txt": "", "a.txt": "", ".hidden": "", "c/only.txt": "" };

  test("A6.33 lists names, sorted, folders with a slash; below them only as a tree", async () => {
    const root = folder(files);
    mkdirSync(join(root, "empty"));
    const use = using(root);
    const flat = done(".hidden\na/\na.txt\nb.txt\nc/\nempty/");
    expect(await use("list_files", { path: "." })).toMatchObject(flat);
    expect(await use("list_files", { path: ".", recursive: false })).toMatchObject(flat);
    expect(await use("list_files", { path: "a" })).toMatchObject(done("x/\ny.txt"));
    expect(await use("list_files", { path: ".", recursive: true })).toMatchObject(
      done(
        [
          "├── .hidden",
          "├── a/",
          "│   ├── x/",
          "│   │   └── z.txt",
          "│   └── y.txt",
          "├── a.txt",
          "├── b.txt",
          "├── c/",
          "│   └── only.txt",
          "└── empty/",
        ].join("\n"),
      ),
    );
  });

  test("A6.33 says that a folder is empty, is not there, or is none", async () => {
    const root = folder({ "a.txt": "" });
    mkdirSync(join(root, "empty"));
    const use = using(root);
    for (const recursive of [false, true])
      expect(await use("list_files", { path: "empty", recursive })).toMatchObject(
        done("Directory is empty: empty"),
      );
    expect(await use("list_files", { path: "./no" })).toMatchObject(
      failed("Error: Directory not found: ./no"),
    );
    expect(await use("list_files", { path: "a.txt" })).toMatchObject(
      failed("Error: Path is not a directory: a.txt"),
    );
  });

  test("has an end, and does not follow links", async () => {
    const root = folder(files);
    symlinkSync("..", join(root, "c", "up"));
    expect((await using(root)("list_files", { path: "c", recursive: true })).text).toBe(
      "├── only.txt\n└── up",
    );
    expect((await using(root, { maxEntries: 2 })("list_files", { path: "." })).text).toBe(
      ".hidden\na/\n[only the first 2 entries are shown]",
    );
  });
});

describe("execute_command", () => {
  const options: ClassicToolsOptions = { command: { sandbox: "off" } };
  const run = (command: string, more: Args = {}): Promise<Answer> =>
    using(folder({ "a.txt": "hello\n" }), options)("execute_command", { command, ...more });

  test("A6.34 gives stdout, stderr and an exit code that is not 0, line by line", async () => {
    expect(await run("cat a.txt")).toMatchObject(done("[stdout]\nhello"));
    expect(await run("echo no >&2")).toMatchObject(done("[stderr]\nno"));
    expect(await run("cat a.txt; echo no >&2; exit 3")).toMatchObject(
      done("[stdout]\nhello\n[stderr]\nno\n[exit code: 3]"),
    );
    expect(await run("exit 1")).toMatchObject(done("[exit code: 1]"));
    expect(await run("kill -TERM $$")).toMatchObject(done("[exit code: -15]"));
    expect(await run("true")).toMatchObject(done("[Command completed with no output]"));
  });

  test("A6.34 ends a command whose time is up, with everything it started", async () => {
    const root = folder();
    const command = "sleep 1000 & echo $! > pid; sleep 1000";
    const answer = await using(root, options)("execute_command", { command, timeout: 1 });
    expect(answer).toMatchObject(failed("Error: Command timed out after 1 seconds"));
    expect(isAlive(readFileSync(join(root, "pid"), "utf8").trim())).toBe(false);
  });

  test("A6.34 waits 30 seconds unless told otherwise", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let answer: Answer | undefined;
    const running = run("sleep 1000").then((told) => {
      answer = told;
    });
    const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
    while (vi.getTimerCount() === 0) await turn();
    await vi.advanceTimersByTimeAsync(29_999);
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(answer).toBeUndefined();
    while (answer === undefined) {
      await vi.advanceTimersByTimeAsync(1);
      await turn();
    }
    await running;
    expect(answer).toMatchObject(failed("Error: Command timed out after 30 seconds"));
  });

  test("is asked about before it runs, unless told otherwise", () => {
    const permission = (more?: ClassicToolsOptions): unknown =>
      classicTools(folder(), more).find(({ name }) => name === "execute_command")?.permission;
    expect([permission(), permission({ commandPermission: "allow" })]).toEqual(["ask", "allow"]);
    const [one] = classicTools(folder()).filter(({ name }) => name === "execute_command");
    expect(one?.shellArgs).toEqual(["command"]);
  });

  test("runs in the root, and only what can be run", async () => {
    expect((await run("ls")).text).toBe("[stdout]\na.txt");
    expect((await run("a\0b")).text).toBe("Error: the command holds a NUL character");
    expect((await run("x".repeat(100_001))).text).toContain("longer than 100,000 bytes");
  });
});

describe("the root", () => {
  test("no tool leads out of it, by no path and by no link", async () => {
    const base = folder({ "in/a.txt": "a", "out/secret.txt": "SECRET" });
    const root = join(base, "in");
    symlinkSync(join(base, "out"), join(root, "link"));
    symlinkSync(join(base, "out", "secret.txt"), join(root, "file"));
    const use = using(root);
    for (const path of ["../out", "link", join(base, "out")]) {
      const inside = `${path}/secret.txt`;
      for (const answer of [
        await use("list_files", { path }),
        await use("read_file", { path: inside }),
        await use("write_file", { path: inside, content: "x" }),
      ])
        expect([answer.isError, answer.text.startsWith("Error: Path is outside the root")]).toEqual([
          true,
          true,
        ]);
    }
    expect((await use("read_file", { path: "file" })).text).toContain("outside the root");
    expect((await use("list_files", { path: ".", recursive: true })).text).toBe(
      "├── a.txt\n├── file\n└── link",
    );
    expect(readFileSync(join(base, "out", "secret.txt"), "utf8")).toBe("SECRET");
  });

  test("what git runs as programs is not written", async () => {
    const root = folder({ ".git/config": "" });
    const { isError } = await using(root)("write_file", { path: ".git/hooks/pre-commit", content: "x" });
    expect(isError).toBe(true);
  });
});

describe("in the loop", () => {
  test("A6.31 A6.32 A6.33 the model reads their texts; wrong arguments are told in the loop's words", async () => {
    const root = folder();
    put(join(root, "a.txt"), "alpha");
    const model = scripted([
      calls([
        ["write_file", { path: "b.txt", content: "beta" }],
        ["list_files", { path: "." }],
        ["read_file", { path: "b.txt" }],
        ["read_file", { file: "b.txt" }],
      ]),
      [asks("execute_command", { command: "cat a.txt b.txt" })],
      say("done"),
    ]);
    const tools = classicTools(root, { commandPermission: "allow", command: { sandbox: "off" } });
    const { messages, text } = await new Agent(thinkActObserve({ model, tools })).run("go");
    const told = messages.filter(({ role }: Message) => role === "tool").map(textOf);
    expect(told).toEqual([
      "Successfully wrote to b.txt",
      "a.txt\nb.txt",
      "beta",
      'Error: Invalid arguments for read_file: unexpected argument "file"',
      "[stdout]\nalphabeta",
    ]);
    expect(text).toBe("done");
  });
});
