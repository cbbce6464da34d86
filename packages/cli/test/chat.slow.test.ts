// `rondo chat`, on a terminal and off one.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { mind, newestRecords, place, rondo, start } from "./command.ts";
import { type Terminal, terminalOf, whyNoTerminal } from "./terminal.ts";

const why = whyNoTerminal();
const esc = String.fromCharCode(27);
const chat = ["chat", "--no-color", "--model", mind];

const talk = (
  at: Parameters<typeof terminalOf>[0],
  name: string,
  options: readonly string[] = [],
): Terminal => terminalOf(at, [...chat, ...options], { MIND: name });

describe("rondo chat on a terminal", () => {
  beforeEach(({ skip }) => {
    if (why !== undefined) skip(why);
  });

  it("takes turn after turn in one session, and tells what fills the window", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows("> ");
    terminal.type("hello\r");
    await terminal.shows("you said: hello");
    await terminal.shows("> ");
    terminal.type("/context\r");
    await terminal.shows("messages");
    terminal.type("/contxt\r");
    await terminal.shows("Did you mean /context?");
    terminal.type("again\r");
    await terminal.shows("you said: again");
    await terminal.shows("> ");
    terminal.type("/quit\r");
    const { code, screen } = await terminal.outcome;
    const { id, records } = newestRecords(at);
    expect(code).toBe(0);
    expect(screen).toContain(`go on with rondo chat --resume ${id}`);
    expect(records.filter((record) => record.type === "run_started")).toHaveLength(2);

    const later = terminalOf(at, ["chat", "--no-color", "--resume", id], { MIND: "talks" });
    await later.shows("> ");
    later.type("third\r");
    await later.shows("you said: third");
    later.type("\u0004");
    expect((await later.outcome).code).toBe(0);
    expect(newestRecords(at).records.filter((record) => record.type === "run_started")).toHaveLength(3);
  });

  it("takes what is pasted as one message, however many lines it has, and sends it when told to", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows(`${esc}[?2004h`);
    await terminal.shows("> ");
    terminal.type(`${esc}[200~first\rsecond\r${esc}[201~`);
    await terminal.shows("(2 lines pasted; Enter sends them)");
    terminal.type("third\r");
    await terminal.shows("you said: first\r\nsecond\r\nthird");
    await terminal.shows("> ");
    terminal.type(`${esc}[200~one\rtwo${esc}[201~`);
    await terminal.shows("two");
    terminal.type("\u0003");
    await terminal.shows("> ");
    terminal.type("/usr/bin/env is a path\r");
    await terminal.shows("you said: /usr/bin/env is a path");
    await terminal.shows("> ");
    terminal.type("/quit\r");
    const { screen } = await terminal.outcome;
    expect(screen.lastIndexOf(`${esc}[?2004l`)).toBeGreaterThan(screen.lastIndexOf(`${esc}[?2004h`));
    const { records } = newestRecords(at);
    expect(records.filter((record) => record.type === "run_started")).toHaveLength(2);
  });

  it("delivers what is typed while it works at its next step, and /later when it is done", async () => {
    const at = place();
    const terminal = talk(at, "waits", ["--yes"]);
    await terminal.shows("> ");
    terminal.type("begin\r");
    await until(() => existsSync(join(at.root, "begun")));
    terminal.type("be quick\r");
    terminal.type("/later and then this\r");
    await terminal.shows("kept for later");
    writeFileSync(join(at.root, "go"), "");
    await terminal.shows("message delivered: be quick");
    await terminal.shows("heard: begin");
    await terminal.shows("message delivered: and then this");
    await terminal.shows("> ");
    terminal.type("/quit\r");
    expect((await terminal.outcome).code).toBe(0);
    const lanes = newestRecords(at).records.flatMap((record) =>
      record.type === "delivered" ? [record.lane] : [],
    );
    expect(lanes).toEqual(["steer", "follow_up"]);
  });

  it("does not write over a line that is being typed: it comes back below", async () => {
    const at = place();
    const terminal = talk(at, "waits", ["--yes"]);
    await terminal.shows("> ");
    terminal.type("begin\r");
    await until(() => existsSync(join(at.root, "begun")));
    terminal.type("half a");
    await terminal.shows("half a");
    writeFileSync(join(at.root, "go"), "");
    await terminal.shows("heard: begin");
    await terminal.shows("> half a");
    terminal.type(" line\r");
    await terminal.shows("half a line");
    terminal.type("\u0004");
    expect((await terminal.outcome).code).toBe(0);
  });

  it("lets another process answer while the question stands, and says so to whoever answers second", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows("> ");
    terminal.type("run touch once\r");
    await terminal.shows("[y]es, [n]o");
    const out = await rondo(at, ["approve", "last"], { MIND: "talks" });
    expect([out.code, out.stderr]).toEqual([0, expect.stringContaining("goes on")]);
    expect(existsSync(join(at.root, "once"))).toBe(true);
    terminal.type("y\r");
    await terminal.shows("any more: another process has answered it");
    await terminal.shows("> ");
    // The chat goes on from what the other has done.
    terminal.type("run touch again\r");
    await terminal.shows("[y]es, [n]o");
    terminal.type("n\r");
    await terminal.shows("why not?");
    terminal.type("enough\r");
    await terminal.shows("Permission denied: enough");
    await terminal.shows("> ");
    terminal.type("\u0004");
    expect((await terminal.outcome).code).toBe(0);
    expect(newestRecords(at).records.filter((record) => record.type === "tool_started")).toHaveLength(1);
  });

  it("asks about a call in place: no, yes, and other arguments", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows("> ");
    terminal.type("run touch denied\r");
    await terminal.shows("[y]es, [n]o");
    terminal.type("n\r");
    await terminal.shows("why not?");
    terminal.type("not now\r");
    await terminal.shows("Permission denied: not now");
    await terminal.shows("> ");
    terminal.type("run touch approved\r");
    await terminal.shows("[y]es, [n]o");
    terminal.type("y\r");
    await terminal.shows("done:");
    await terminal.shows("> ");
    expect([existsSync(join(at.root, "denied")), existsSync(join(at.root, "approved"))]).toEqual([
      false,
      true,
    ]);
    terminal.type("/quit\r");
    expect((await terminal.outcome).code).toBe(0);
  });

  it("ends what it is doing at the first Ctrl-C and goes on talking; twice leaves", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows("> ");
    terminal.type("hang\r");
    await terminal.shows("I am thinking");
    terminal.type("\u0003");
    await terminal.shows("aborted");
    await terminal.shows("> ");
    terminal.type("still there?\r");
    await terminal.shows("you said: still there?");
    await terminal.shows("> ");
    terminal.type("\u0003");
    await terminal.shows("Ctrl-C again to leave");
    terminal.type("\u0003");
    expect((await terminal.outcome).code).toBe(130);
  });

  it("says what was typed and not read when it was interrupted, and sends it with the next message", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows("> ");
    terminal.type("hang\r");
    await terminal.shows("I am thinking");
    terminal.type("and why?\r");
    await terminal.shows("and why?");
    terminal.type("\u0003");
    await terminal.shows("not read yet, and goes with your next message: and why?");
    await terminal.shows("> ");
    terminal.type("still there?\r");
    await terminal.shows("message delivered: and why?");
    await terminal.shows("you said: ");
    await terminal.shows("> ");
    terminal.type("\u0004");
    expect((await terminal.outcome).code).toBe(0);
  });

  it("leaves what it is doing at a safe point when its terminal goes away", async () => {
    const at = place();
    const terminal = talk(at, "waits", ["--yes"]);
    await terminal.shows("> ");
    terminal.type("begin\r");
    await until(() => existsSync(join(at.root, "begun")));
    terminal.hangUp();
    await terminal.outcome;
    writeFileSync(join(at.root, "go"), "");
    await until(() => newestRecords(at).records.some((record) => record.type === "tool_finished"));
    const { records } = newestRecords(at);
    expect(records.filter((record) => record.type === "model_started")).toHaveLength(1);
    expect(records.at(-1)?.type).not.toBe("run_ended");
  });

  it("leaves what it is doing at a safe point with /quit, and says of no signal that none has sent", async () => {
    const at = place();
    const terminal = talk(at, "waits", ["--yes"]);
    await terminal.shows("> ");
    terminal.type("begin\r");
    await until(() => existsSync(join(at.root, "begun")));
    terminal.type("/quit\r");
    await terminal.shows("/quit");
    writeFileSync(join(at.root, "go"), "");
    const { code, screen } = await terminal.outcome;
    const { id } = newestRecords(at);
    expect([code, screen]).toEqual([
      0,
      expect.stringContaining(`run ${id} was left after 1 step; go on with: rondo resume ${id}`),
    ]);
  });

  it("leaves a call that waits to another process at the end of input", async () => {
    const at = place();
    const terminal = talk(at, "talks");
    await terminal.shows("> ");
    terminal.type("run touch later\r");
    await terminal.shows("[y]es, [n]o");
    // While it waits here, somebody may answer elsewhere.
    expect((await rondo(at, ["runs"])).stdout).toContain("waiting");
    terminal.type("\u0004");
    const { code, screen } = await terminal.outcome;
    expect([code, screen]).toEqual([5, expect.stringContaining("rondo approve")]);
    expect((await rondo(at, ["approve", "last"], { MIND: "talks" })).code).toBe(0);
    expect(existsSync(join(at.root, "later"))).toBe(true);
  });

  it("sends nothing of a model to the terminal that it would obey", async () => {
    const terminal = talk(place(), "speaks", ["go"]);
    await terminal.shows("txt");
    terminal.type("\u0004");
    const { screen } = await terminal.outcome;
    expect(screen).not.toContain("evil");
    expect(screen).not.toContain(`${esc}[31m`);
    expect(screen).not.toContain(`${esc}]`);
  });
});

describe("rondo chat off a terminal", () => {
  it("takes its lines one by one, each when the one before is done", async () => {
    const at = place();
    const out = await piped(at, "one\n/model\ntwo\n//slash\n");
    expect(out.code).toBe(0);
    expect(out.stdout.match(/you said: \S+/g)).toEqual([
      "you said: one",
      "you said: two",
      "you said: /slash",
    ]);
    expect(out.stdout).toContain("model: mind-talks");
  });

  it.each([
    ["fails", "hi\n", 1],
    ["refuses", "hi\n/quit\n", 4],
    ["wanders", "hi\n", 3],
    ["answers", "hi\n/nonsense\n", 0],
  ])("%s: exits with the code of how its last message ended", async (name, input, code) => {
    expect((await piped(place(), input, ["--max-steps", "1"], name)).code).toBe(code);
  });

  it("exits as interrupted when Ctrl-C ended its last message", async () => {
    const running = start(place(), [...chat, "hang"], { MIND: "talks" }, "ignore");
    await running.says("I am thinking");
    running.child.kill("SIGINT");
    expect((await running.outcome).code).toBe(130);
  });

  it("says on stderr what it could not do, and exits with 1", async () => {
    // No file can be made in this folder, and the first message makes one.
    const out = await piped(place(), "hi\n", ["--journal", "jsonl:/proc/self/fd"]);
    expect([out.code, out.stdout]).toEqual([1, ""]);
    expect(out.stderr).toMatch(/\nrondo: .*\n$/);
  });

  it("is listed by what was last said in it, whatever was compacted or forgotten since", async () => {
    const at = place();
    for (const input of ["one\ntwo\n/compact\n", "one\ntwo\n/clear\n"]) {
      expect((await piped(at, input)).code).toBe(0);
      expect((await rondo(at, ["runs", "-n", "1"])).stdout).toMatch(/completed {5}two\n$/);
    }
  });

  it("ends with what waits for an approval, and is left by SIGTERM at a safe point", async () => {
    const at = place();
    const waiting = await piped(at, "run touch x\nnever said\n");
    expect([waiting.code, waiting.stderr]).toEqual([5, expect.stringContaining("waits for an approval")]);

    const other = place();
    const left = start(other, [...chat, "hang"], { MIND: "talks", RONDO_DRAIN_MS: "20" });
    await left.says("I am thinking");
    left.child.kill("SIGTERM");
    const out = await left.outcome;
    expect([out.code, out.stderr]).toEqual([143, expect.stringContaining("go on with: rondo resume")]);
    expect(newestRecords(other).records.at(-1)?.type).toBe("model_started");
  });

  it.each([
    ["SIGHUP", [], 143, "(SIGHUP); go on with: rondo resume"],
    ["SIGTERM", ["--no-journal"], 130, ""],
  ] as const)(
    "%s %j: a chat that is kept nowhere is ended, any other is left",
    async (name, more, code, words) => {
      const left = start(place(), [...chat, ...more, "hang"], { MIND: "talks", RONDO_DRAIN_MS: "20" });
      await left.says("I am thinking");
      left.child.kill(name);
      const out = await left.outcome;
      expect([out.code, out.stderr]).toEqual([code, expect.stringContaining(words)]);
      expect(out.stderr.includes("rondo resume")).toBe(code === 143);
    },
  );
});

async function piped(
  at: ReturnType<typeof place>,
  input: string,
  options: readonly string[] = [],
  name = "talks",
) {
  const running = start(at, [...chat, ...options], { MIND: name }, "pipe");
  running.child.stdin?.end(input);
  return await running.outcome;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}
