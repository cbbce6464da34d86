import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { mind, newestRecords, nodeArgs, place, rondo, runWith, start } from "./command.ts";

/** One clear line, nothing on stdout, no stack. */
function expectLine(out: { stdout: string; stderr: string }, ...words: readonly string[]): void {
  expect(out.stdout).toBe("");
  expect(out.stderr).toMatch(/^rondo: .+\n$/);
  expect(out.stderr).not.toContain("    at ");
  for (const word of words) expect(out.stderr).toContain(word);
}

describe("mistakes on the command line", () => {
  it.each([
    [["rum"], 'there is no command "rum". Did you mean run?'],
    [["--json"], "must follow a command"],
    [["run", "--modle", "x"], "there is no option --modle of rondo run. Did you mean --model?"],
    [["run", "--max-steps"], "--max-steps needs a value: --max-steps N"],
    [["run", "--max-steps", "none"], '--max-steps takes a whole number of at least 1, not "none"'],
    [["run", "--max-steps=-1"], "--max-steps takes a whole number"],
    [["run", "--budget-usd", "0"], "--budget-usd takes a number above 0"],
    [["run", "--timeout", "soon"], "--timeout takes a time above 0"],
    [["run", "--model", "--yes"], "--yes looks like an option"],
    [["run", "--yes=no"], "--yes takes no value"],
    [["run", ""], "the task is empty"],
    [["run", "--allow", "run_comand"], "Did you mean run_command?"],
    [["run", "--model", "claude-sonnet-5"], "Did you mean anthropic/claude-sonnet-5?"],
    [["run", "--journal", "a", "--no-journal"], "exclude each other"],
    [["run", "--view", "film"], '--view takes live or trace, not "film"'],
    [["run", "--json", "--quiet"], "--json and --quiet exclude each other"],
    [["run", "--view", "trace", "--json"], "--view and --json exclude each other"],
    [["resume", "--view", "live", "--quiet"], "--view and --quiet exclude each other"],
    [["runs", "extra"], 'rondo runs cannot use "extra"'],
    [["run", "--journal", "http://localhost:8080", "x"], "write restate:http://localhost:8080"],
    [
      ["runs", "--journal", "postgres://db/x"],
      '"postgres://db/x" names no journal: a SQLite file, jsonl:DIR',
    ],
    [["runs", "--journal", "file://elsewhere/x.db"], '"file://elsewhere/x.db" names no file'],
  ])("%j is a usage error", async (args, words) => {
    const out = await rondo(place(), args);
    expectLine(out, words);
    expect(out.code).toBe(2);
  });

  it.each([
    [["--json"], "e.g. npx rondo run --json; see npx rondo --help"],
    [["rum"], 'a task is given by npx rondo run "TASK"'],
    [["runs", "extra"], "see npx rondo runs --help"],
    [["runs", "--none"], "See npx rondo runs --help"],
    [["run", ""], "e.g. npx rondo run "],
    [["diff", "last"], "e.g. npx rondo diff abc123 last; `npx rondo runs` lists them"],
    [["fork", "last", "--edit", "x"], "`npx rondo show` names the calls"],
    [["journal"], "needs a word: npx rondo journal check [FILE|DIR]"],
  ])("%j behind npm is told by commands that can be typed there", async (args, words) => {
    const out = await rondo(place({ npm_command: "run-script" }), args);
    expectLine(out, words);
  });

  it.each(["jsonl:/proc/none/here", "/proc/none/here", "sqlite:/proc/none/here"])(
    "a journal that cannot be made is refused, and not asked for again and again: %s",
    async (journal) => {
      const out = await rondo(place(), ["run", "--model", "offline", "--journal", journal, "do it"]);
      expect(out.stderr).toMatch(/^rondo: cannot open the journal \/proc\/none.*\n$/);
      expect([out.code, out.stdout]).toEqual([1, ""]);
    },
  );

  it("says early which server of Restate it waits for", async () => {
    const { child, outcome } = start(place(), ["runs", "--journal", "restate:http://127.0.0.1:9"]);
    let said = "";
    for await (const piece of child.stderr ?? []) {
      said += String(piece);
      if (said.includes("\n")) break;
    }
    child.kill("SIGKILL");
    await outcome;
    expect(said).toBe("warning: waiting for the Restate server at http://127.0.0.1:9, for at most 30 s\n");
  });

  it("a folder for a SQLite journal is refused with how it is named; an address of a file is that file", async () => {
    const at = place();
    const out = await rondo(at, ["run", "--journal", ".", "do it"]);
    expectLine(out, `${at.root} is a folder; write jsonl:${at.root} for a journal of text files`);
    expect(out.code).toBe(1);
    for (const kind of ["", "sqlite:", "jsonl:"]) {
      const named = `${kind}${pathToFileURL(join(at.root, `a b${kind.slice(0, -1)}`)).href}`;
      expect((await runWith(at, "answers", ["--journal", named, "do it"])).code).toBe(0);
      expect((await rondo(at, ["runs", "--journal", named])).stdout).toContain("do it");
    }
    expect(readdirSync(at.root).toSorted()).toEqual(["a b", "a bjsonl", "a bsqlite"]);
  });

  it("--journal sqlite: needs a file", async () => {
    const out = await rondo(place(), ["run", "--journal", "sqlite:", "do it"]);
    expectLine(out, "sqlite: names no file; write sqlite:FILE");
    expect(out.code).toBe(2);
  });

  it.each(["budget", "session"])("--%s-usd without a price says which model has none", async (option) => {
    const out = await runWith(place(), "answers", [`--${option}-usd`, "1", "do it"]);
    expectLine(out, `--${option}-usd needs the price of the model, and none is known for mind-answers`);
    expect(out.code).toBe(2);
  });

  it("shows its help for --help, and its version for --version", async () => {
    const at = place();
    expect(await rondo(at, ["--help"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("approve RUN"),
    });
    const help = await rondo(at, ["run", "--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    for (const option of [
      "--model",
      "--root",
      "--max-steps",
      "--budget-usd",
      "--budget-tokens",
      "--session-usd",
      "--session-tokens",
      "--timeout",
      "--system",
      "--yes",
      "--allow",
      "--deny",
      "--journal",
      "--no-journal",
      "--quiet",
      "--json",
      "--no-color",
    ])
      expect(help.stdout).toContain(option);
    expect(await rondo(at, ["--version"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await rondo(at, [])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("what the machine lacks", () => {
  it("a missing folder, and a file in place of one", async () => {
    const at = place();
    writeFileSync(join(at.root, "file"), "");
    const missing = await rondo(at, ["run", "--root", "nowhere", "do it"]);
    expectLine(missing, `there is no folder ${at.root}/nowhere`);
    expect(missing.code).toBe(1);
    expectLine(await rondo(at, ["run", "--root", "file", "do it"]), "is not a folder");
    const unset = await rondo(at, ["run", "--root", "", "do it"]);
    expectLine(unset, "--root needs the name of a folder");
    expect(unset.code).toBe(2);
  });

  it("the folder that it was started in", () => {
    const at = place();
    const inGone = (...args: string[]): { stdout: string; stderr: string; status: number | null } => {
      const command = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
      const given = ["-c", command, process.execPath, ...nodeArgs, ...args];
      return spawnSync("/bin/sh", given, { cwd: at.root, env: at.env, encoding: "utf8" });
    };
    for (const args of [
      ["run", "--model", "offline", "do it"],
      ["runs", "--journal", "x.db"],
    ]) {
      const out = inGone(...args);
      expectLine(out, "the folder that you are in does not exist any more", "cd", "--root");
      expect(out.status).toBe(1);
    }
    const elsewhere = inGone("run", "--root", at.root, "--quiet", "--model", "offline", "what is 6*7?");
    expect(elsewhere).toMatchObject({ status: 0, stdout: expect.stringContaining("42") });
  });

  it("a system prompt that cannot be read, and a model module that is none", async () => {
    const at = place();
    writeFileSync(join(at.root, "empty.mjs"), "export default 42;");
    const out = await rondo(at, ["run", "--system", "@nowhere.txt", "do it"]);
    expectLine(out, "nowhere.txt", "cannot be read");
    expect(out.code).toBe(1);
    expectLine(await rondo(at, ["run", "--model", "./empty.mjs", "do it"]), "empty.mjs", "default export");
    expectLine(await rondo(at, ["run", "--model", "./nowhere.mjs", "do it"]), "there is no file");
    writeFileSync(join(at.root, "utf16.txt"), Buffer.from("\ufeffbe short", "utf16le"));
    expectLine(
      await rondo(at, ["run", "--system", "@utf16.txt"]),
      "--system @utf16.txt",
      "not valid UTF-8 text",
    );
    expectLine(await rondo(at, ["fork", "last", "--edit", "2.0=@"]), "--edit 2.0=@ names no file");
  });

  it("commands that are told lead back to the journal that was named", async () => {
    const at = place();
    const flag = ["--journal", join(at.root, "other.db")];
    expect((await runWith(at, "touches", [...flag, "do it"])).code).toBe(5);
    const explained = await rondo(at, ["explain", "last", ...flag]);
    expect(explained.stdout).toMatch(/go on with rondo resume \w{8} --journal \S+other\.db\n$/);
    expectLine(await rondo(at, ["explain", "last", "9", ...flag]), `see rondo show`, flag.join(" "));
    expectLine(
      await rondo(at, ["show", "nothing", ...flag]),
      `\`rondo runs ${flag.join(" ")}\` lists them all`,
    );
  });

  it("a journal that is none, one of another program, and one of a newer version: each left as it is", async () => {
    const at = place();
    const text = join(at.root, "notes.txt");
    writeFileSync(text, "no database at all, but long enough to look at".repeat(10));
    const none = await runWith(at, "answers", ["--journal", text, "do it"]);
    expectLine(none, text, "not a SQLite database");
    expect(none.code).toBe(1);
    const newer = join(at.root, "newer.db");
    expect((await runWith(at, "answers", ["--journal", newer, "do it"])).code).toBe(0);
    const db = new DatabaseSync(newer);
    db.exec("PRAGMA user_version = 99");
    db.close();
    const out = await rondo(at, ["show", "last", "--journal", newer]);
    expectLine(out, newer, "newer");
    expect(out.code).toBe(1);
    expectLine(
      await rondo(at, ["runs", "--journal", `jsonl:${text}`]),
      `${text} is not a folder; write ${text}`,
    );
  });

  it("no journal, no such run, a run that is not unique: with what there is", async () => {
    const at = place();
    const none = await rondo(at, ["show", "last"]);
    expectLine(none, `there is no journal ${at.journal}`);
    expect(none.code).toBe(1);
    expect(await rondo(at, ["runs"])).toMatchObject({ code: 0, stdout: "" });
    const first = /run (\w{8}):/.exec((await runWith(at, "answers")).stdout)?.[1] ?? "";
    const misspelt = `${first[1]}${first[0]}${first.slice(2)}`;
    const out = await rondo(at, ["show", misspelt === first ? `${first}x` : misspelt]);
    expectLine(out, `Did you mean ${first}?`);
    expect(out.code).toBe(1);
    expect((await rondo(at, ["show", first.slice(0, 3)])).stdout).toContain("The answer is 42.");
    expectLine(await rondo(at, ["show"]), "which run?");
    expectLine(await rondo(at, ["show", ""]), "which run?");
  });

  it("a run whose records are damaged does not hide the others", async () => {
    const at = place();
    await runWith(at, "answers", ["the first"]);
    const { id } = newestRecords(at);
    await runWith(at, "answers", ["the second"]);
    const db = new DatabaseSync(at.journal);
    db.exec(
      `UPDATE records SET record = 'torn' WHERE seq = 1 AND session = (SELECT key FROM sessions WHERE id = '${id}')`,
    );
    db.close();
    const out = await rondo(at, ["runs"]);
    expect(out.stdout).toContain("the second");
    expect(out.stderr).toMatch(new RegExp(`^rondo: record 1 of session "${id}" .* is damaged .*\\n$`));
    expect(out.code).toBe(1);
  });

  it("runs of a folder that cannot be read are named, each with what is wrong, and the exit code is that of an error", async () => {
    const at = place();
    const folder = join(at.root, "j");
    const flag = ["--journal", `jsonl:${folder}`];
    for (const task of ["one", "two"]) await runWith(at, "answers", [...flag, task]);
    const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    expect(files).toHaveLength(2);
    for (const name of files) writeFileSync(join(folder, name), "no session\n");
    const out = await rondo(at, ["runs", ...flag]);
    const lines = files.map(
      (name) =>
        `warning: the journal ${join(folder, name)} is not listed: line 1 is damaged: it does not begin with a checksum; see what is left with \`rondo journal check\`, or restore a copy of the file\n`,
    );
    expect(out.stderr.split(/(?<=\n)/).toSorted()).toEqual(lines.toSorted());
    expect([out.code, out.stdout]).toEqual([1, ""]);
    // Whoever asks for one of them hears the same.
    const shown = await rondo(at, ["show", "last", ...flag]);
    expect([shown.code, shown.stderr.split("\n").length]).toEqual([1, 4]);
  });

  it("goes on without a journal where the usual place cannot be written, and says so", async () => {
    const at = place();
    mkdirSync(dirname(dirname(at.journal)), { recursive: true });
    writeFileSync(dirname(at.journal), "a file where the folder should be");
    const out = await runWith(at, "answers");
    expect(out.code).toBe(0);
    expect(out.stderr).toContain("rondo: this run is not kept:");
    expect(out.stdout).toContain("The answer is 42.");
  });

  it("shows a stack trace only with RONDO_DEBUG=1", async () => {
    const out = await rondo(place(), ["run", "--model", mind, "do it"], { MIND: "nobody", RONDO_DEBUG: "1" });
    expect(out.stderr).toContain("there is no mind");
    expect(out.stderr).toContain("    at ");
    expectLine(
      await rondo(place(), ["run", "--model", mind, "do it"], { MIND: "nobody" }),
      "there is no mind",
    );
  });
});
