import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventsOf, mind, newestRecords, place, rondo, runWith, start } from "./command.ts";

const esc = String.fromCharCode(27);

describe("rondo run", () => {
  it("streams the answer, ends with reason, steps and usage, and exits with 0", async () => {
    const at = place();
    const out = await runWith(at, "answers");
    expect(out.stdout).toContain("The answer is 42.");
    expect(out.stdout).toMatch(/completed\n1 step, 0 calls, 1,200 tokens in, 34 out, cost unknown/);
    expect(out.stdout).toMatch(/run (\w{8}): rondo show \1\n$/);
    expect(out.stderr).toBe("model: mind-answers (--model)\n");
    expect(out.code).toBe(0);
  });

  it("says that the usage is unknown where nobody counted", async () => {
    const out = await runWith(place(), "uncounted");
    expect(out.stdout).toContain("1 step, 0 calls, usage unknown,");
    expect(out.stdout).not.toMatch(/\b0 tokens/);
  });

  it("runs the default task with the offline model, says which and why, and leaves nothing in the folder", async () => {
    const at = place();
    writeFileSync(join(at.root, "README.md"), "# A shop for bicycles\n");
    const out = await rondo(at, ["run"]);
    expect(out.stderr).toBe(
      "model: offline (no key is set, and RONDO_LOCAL switches local servers off; another with --model)\n",
    );
    expect(out.stdout).toContain("A shop for bicycles");
    expect(out.stdout).toContain("→ list_files");
    expect(out.code).toBe(0);
    expect(readdirSync(at.root)).toEqual(["README.md"]);
    expect(existsSync(at.journal)).toBe(true);
    expect(statSync(dirname(at.journal)).mode & 0o077).toBe(0);
    const { records } = newestRecords(at);
    expect(JSON.stringify(records[0])).toContain("What is in this folder, and what is it for?");
  });

  it("shows each call and its result in short, with a count of what was cut", async () => {
    const at = place();
    writeFileSync(
      join(at.root, "notes.txt"),
      Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n"),
    );
    const out = await runWith(at, "reads");
    expect(out.stdout).toContain("→ read_file notes.txt\n    line 0\n");
    expect(out.stdout).toMatch(/… 3\d more lines\n/);
    expect(out.stdout).not.toContain("line 30");
  });

  it("keeps the secrets of its environment from the model and the journal with --redact, and in whatever goes on with the run", async () => {
    const secret = "correct-horse-battery";
    const at = place({ SHOP_API_KEY: secret });
    writeFileSync(join(at.root, "notes.txt"), `SHOP_API_KEY=${secret}\n`);
    await runWith(at, "reads", ["--redact", "read it"]);
    const { id, records } = newestRecords(at);
    expect(JSON.stringify(records)).toContain("SHOP_API_KEY=***REDACTED***");
    expect(JSON.stringify(records)).not.toContain(secret);
    const forked = await rondo(at, ["fork", id, "1", "--go"], { MIND: "reads" });
    expect(forked.code).toBe(0);
    const again = newestRecords(at);
    expect(again.id).not.toBe(id);
    expect(JSON.stringify(again.records)).toContain("SHOP_API_KEY=***REDACTED***");
    expect(JSON.stringify(again.records)).not.toContain(secret);
  });

  it.each([
    ["MAIL_PASS", "staple-of-mail"],
    ["PGPASSWD", "staple-of-tables"],
    ["DEPLOY_TOKEN", "staple-of-ships\n"],
  ])(
    "takes what stands in %s for a secret with --redact, without the space about it",
    async (name, value) => {
      const at = place({ [name]: value });
      await runWith(at, "answers", ["--redact", `it is ${value.trim()}, say`]);
      expect(JSON.stringify(newestRecords(at).records)).toContain("it is ***REDACTED***, say");
    },
  );

  it.each([
    ["COMPASS", "plain-words"],
    ["KEY_NAME", "plain-words"],
  ])("takes what stands in %s for none", async (name, value) => {
    const at = place({ [name]: value });
    await runWith(at, "answers", ["--redact", value]);
    expect(JSON.stringify(newestRecords(at).records)).toContain(value);
  });

  it("prints one event a line with --json, and nothing else", async () => {
    const out = await runWith(place(), "answers", ["--json", "do it"]);
    const events = eventsOf(out);
    expect(events[0]?.type).toBe("run_start");
    expect(events.at(-1)).toMatchObject({
      type: "run_end",
      end: { reason: "completed" },
      text: "The answer is 42.",
    });
    expect(events.filter((event) => event.type === "text_delta").length).toBeGreaterThan(3);
    expect(out.code).toBe(0);
  });

  it("traces the run with --view trace, line by line, then gives the answer and the end", async () => {
    const at = place();
    writeFileSync(join(at.root, "notes.txt"), "one\n");
    const out = await runWith(at, "reads", ["--view", "trace", "--max-steps", "5", "read it"]);
    const lines = out.stdout.split("\n");
    expect(lines.slice(0, 9)).toEqual([
      "[HISTORY] Added user message: read it...",
      "[AGENT] Iteration 1/5",
      "[THINK] Calling LLM for next action...",
      "[LLM] Response stop_reason: tool_use",
      "[THINK] Tool call: read_file",
      "[ACT] Executing tool: read_file",
      "[ACT] Tool ID: call_1",
      '[ACT] Input: {"path":"notes.txt"}',
      "[OBSERVE] Result preview: one",
    ]);
    expect(out.stdout).toContain("ending loop\n\nI have read it.\n\n");
    expect(out.stdout).toMatch(/completed\n2 steps, 1 call/);
    expect(out.stdout).not.toContain(esc);
    expect(out.code).toBe(0);
  });

  it("lets nothing a model wrote reach the terminal as a command in a trace either", async () => {
    const out = await runWith(place(), "speaks", ["--view", "trace", "do it"]);
    expect(out.stdout).toContain("[THINK] Text: ");
    for (const hidden of [esc, "\u202e", "evil"]) expect(out.stdout).not.toContain(hidden);
  });

  it("prints the answer alone with --quiet", async () => {
    const out = await runWith(place(), "echoes", ["--quiet", "--yes", "do it"]);
    expect(out.stdout).toMatch(/^the tool said: .*from-the-tool.*\n$/);
    expect(out.stderr).toBe("");
  });

  it("takes what a terminal would obey out of a model's words, however they are cut", async () => {
    const out = await runWith(place(), "speaks");
    expect(out.stdout).toContain("red: red\noverlink txt\n");
    expect(out.stdout).not.toContain(esc);
    expect(out.stdout).not.toContain("evil");
  });

  it("hands on the system prompt and the task, words joined, and reads the prompt from a file", async () => {
    const at = place();
    writeFileSync(join(at.root, "prompt.txt"), "be brief");
    const out = await runWith(at, "system", ["--system", "@prompt.txt", "count", "the", "files"]);
    expect(out.stdout).toContain("system: be brief");
    expect(out.stdout).toContain("count the files");
    const usual = await runWith(at, "system");
    expect(usual.stdout).toContain(`system: You work in the folder ${at.root} with these tools: list_files,`);
  });

  it("says that standard input is not valid UTF-8, and reads what is", async () => {
    const given = start(place(), ["run", "--quiet", "--model", mind, "-"], { MIND: "talks" }, "pipe");
    given.child.stdin?.end(Buffer.from("caf\xe9 na\u00efve", "latin1"));
    expect(await given.outcome).toMatchObject({
      code: 0,
      stdout: "you said: caf\ufffd na\ufffdve\n",
      stderr: expect.stringMatching(/^warning: standard input is not valid UTF-8: .*\n$/),
    });
  });

  it("adds standard input to a task that ends with -, and reads it for no other", async () => {
    const at = place();
    const told = start(
      at,
      ["run", "--quiet", "--model", mind, "explain", "this", "-"],
      { MIND: "talks" },
      "pipe",
    );
    told.child.stdin?.end("first line\nsecond line\n");
    expect((await told.outcome).stdout).toBe("you said: explain this\n\nfirst line\nsecond line\n\n");
    const held = start(at, ["run", "--quiet", "--model", mind, "5", "-", "3"], { MIND: "talks" }, "pipe");
    expect((await held.outcome).stdout).toBe("you said: 5 - 3\n");
  });

  it("prints events alone with --json, whatever a model's module logs", async () => {
    const at = place();
    writeFileSync(
      join(at.root, "model.ts"),
      `import { scripted, say } from "@rondo/testkit";\nconsole.log("loading");\nexport default scripted([say("done")]);\n`,
    );
    symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(at.root, "node_modules"));
    const out = await rondo(at, ["run", "--json", "--model", "./model.ts", "go"]);
    expect(eventsOf(out).at(-1)).toMatchObject({ type: "run_end", text: "done" });
    expect(out.stderr).toContain("loading");
  });

  it("works in the folder of --root", async () => {
    const at = place();
    const other = place();
    writeFileSync(join(other.root, "notes.txt"), "from the other folder");
    const out = await runWith(at, "reads", ["--root", other.root, "do it"]);
    expect(out.stdout).toContain("from the other folder");
  });

  it("tells of commands that can be typed: behind npm, where no shell finds a `rondo`, with npx before them", async () => {
    const at = place();
    expect((await runWith(at, "answers")).stdout).toMatch(/: rondo show \w{8}\n$/);
    const behind = await rondo(at, ["run", "--model", mind, "do it"], {
      MIND: "touches",
      npm_command: "run-script",
    });
    expect(behind.stderr).toMatch(/\n {2}npx rondo approve \w{8} \d/);
  });

  it("keeps nothing with --no-journal", async () => {
    const at = place();
    const out = await runWith(at, "answers", ["--no-journal", "do it"]);
    expect(out.code).toBe(0);
    expect(existsSync(at.journal)).toBe(false);
    expect(out.stdout).not.toContain("rondo show");
  });

  it("keeps its runs where RONDO_JOURNAL says, and where --journal says above all", async () => {
    const at = place({ RONDO_JOURNAL: "by-environment.db" });
    await runWith(at, "answers");
    const out = await runWith(at, "answers", ["--journal", "by option.db", "do it"]);
    expect(readdirSync(at.root).filter((name) => name.endsWith(".db"))).toEqual([
      "by option.db",
      "by-environment.db",
    ]);
    expect(out.stdout).toContain(
      `rondo show ${/run (\w{8})/.exec(out.stdout)?.[1]} --journal '${at.root}/by option.db'`,
    );
  });

  it.each([
    ["max_steps", 3, "wanders", ["--max-steps", "2"]],
    ["token_budget", 3, "tokens", ["--budget-tokens", "100"]],
    ["token_budget", 3, "tokens", ["--session-tokens", "100"]],
    ["deadline", 3, "sleeps", ["--yes", "--timeout", "700ms"]],
    ["refused", 4, "refuses", []],
    ["error", 1, "fails", []],
  ] as const)("ends with %s as exit code %i", async (reason, code, name, options) => {
    const out = await runWith(place(), name, ["--json", ...options, "do it"]);
    expect(eventsOf(out).at(-1)).toMatchObject({ type: "run_end", end: { reason } });
    expect(out.code).toBe(code);
  });

  it("tells the reason of an early end in words, with rule and evidence", async () => {
    const out = await runWith(place(), "wanders", ["--max-steps", "2", "do it"]);
    expect(out.stdout).toContain("stopped at the limit of steps (max_steps), rule max_steps: steps 2, max 2");
    const failed = await runWith(place(), "fails");
    expect(failed.stdout).toContain("auth: the key is wrong");
  });

  it("never runs a tool of --deny, also with --yes", async () => {
    const at = place();
    const out = await runWith(at, "touches", ["--yes", "--deny", "run_command", "do it"]);
    expect(out.stdout).toContain("Permission denied");
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("runs a tool of --allow without asking", async () => {
    const at = place();
    const out = await runWith(at, "touches", ["--allow", "run_command", "do it"]);
    expect(out.code).toBe(0);
    expect(existsSync(join(at.root, "touched.txt"))).toBe(true);
  });

  it("writes no colours to a pipe", async () => {
    const out = await rondo(place(), ["run", "--model", mind, "do it"], {
      MIND: "wanders",
      FORCE_COLOR: "1",
    });
    expect(out.stdout + out.stderr).not.toContain(esc);
  });
});
