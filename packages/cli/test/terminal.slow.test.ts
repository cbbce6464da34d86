import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { newestRecords, place, rondo } from "./command.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";

const why = whyNoTerminal();

const question = "[a]lways (any run_command in this run)? ";
const esc = String.fromCharCode(27);

describe("rondo run on a terminal", () => {
  beforeEach(({ skip }) => {
    if (why !== undefined) skip(why);
  });

  it("shows the call whole and runs it after a yes, and after nothing else", async () => {
    const at = place();
    const terminal = onTerminal(at, "touches");
    await terminal.shows("run_command wants to run:");
    await terminal.shows("command: touch touched.txt; pwd");
    await terminal.shows(question);
    terminal.type("\r");
    await terminal.shows(question);
    terminal.type("maybe\r");
    await terminal.shows(question);
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
    terminal.type("y\r");
    const { code, screen } = await terminal.outcome;
    expect(screen).toContain("completed");
    expect(code).toBe(0);
    expect(existsSync(join(at.root, "touched.txt"))).toBe(true);
  });

  it("tells the model why not", async () => {
    const at = place();
    const terminal = onTerminal(at, "touches");
    await terminal.shows(question);
    terminal.type("nope\r");
    await terminal.shows("answer y, n, e or a");
    await terminal.shows(question);
    terminal.type("n\r");
    await terminal.shows("why not?");
    terminal.type("too late\r");
    const { code, screen } = await terminal.outcome;
    expect(screen).toContain("Permission denied: too late");
    expect(code).toBe(0);
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("runs edited arguments, and asks again when they do not fit", async () => {
    const at = place();
    const terminal = onTerminal(at, "touches");
    await terminal.shows(question);
    terminal.type("e\r");
    await terminal.shows("arguments as JSON:");
    terminal.type('\u0015{"comand":1}\r');
    await terminal.shows("these arguments cannot be used:");
    await terminal.shows(question);
    terminal.type("e\r");
    await terminal.shows('"touch touched.txt; pwd"}');
    terminal.type('\u0015{"command":"touch edited.txt"}\r');
    const { code } = await terminal.outcome;
    expect(code).toBe(0);
    expect(existsSync(join(at.root, "edited.txt"))).toBe(true);
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("asks no more about a tool that was approved for the whole run", async () => {
    const at = place();
    const terminal = onTerminal(at, "again");
    await terminal.shows(question);
    terminal.type("a\r");
    const { code, screen } = await terminal.outcome;
    expect(code).toBe(0);
    expect(screen.split("wants to run").length).toBe(2);
    expect(screen).toContain("number-2");
    expect(newestRecords(at).records.filter((record) => record.type === "approval_given")).toHaveLength(3);
  });

  it("asks about each of several calls, and runs those that were approved", async () => {
    const at = place();
    const terminal = onTerminal(at, "twice");
    await terminal.shows("command: echo first");
    await terminal.shows(question);
    terminal.type("n\r");
    await terminal.shows("why not?");
    terminal.type("\r");
    await terminal.shows("command: echo second");
    await terminal.shows(question);
    terminal.type("y\r");
    const { code, screen } = await terminal.outcome;
    expect(code).toBe(0);
    expect(screen).toContain("Permission denied.");
    expect(newestRecords(at).records.filter((record) => record.type === "tool_started")).toHaveLength(1);
  });

  it("aborts the run at Ctrl-C while the question stands", async () => {
    const at = place();
    const terminal = onTerminal(at, "touches");
    await terminal.shows(question);
    terminal.type("\u0003");
    const { code, screen } = await terminal.outcome;
    expect(screen).toContain("aborted, rule abort: reason interrupted by SIGINT");
    expect(code).toBe(130);
    expect(newestRecords(at).records.at(-1)).toMatchObject({ type: "run_ended", end: { reason: "aborted" } });
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("aborts the run at Ctrl-C while a command works", async () => {
    const at = place();
    const terminal = onTerminal(at, "sleeps", ["--yes"]);
    await terminal.shows("run_command");
    terminal.type("\u0003");
    const { code } = await terminal.outcome;
    expect(code).toBe(130);
    expect(newestRecords(at).records.at(-1)).toMatchObject({ type: "run_ended", end: { reason: "aborted" } });
  });

  it("leaves the call waiting at the end of input, for another process to answer", async () => {
    const at = place();
    const terminal = onTerminal(at, "touches");
    await terminal.shows(question);
    terminal.type("\u0004");
    const { code, screen } = await terminal.outcome;
    expect(code).toBe(5);
    expect(screen).toContain("rondo approve");
    const out = await rondo(at, ["approve", "last"], { MIND: "touches" });
    expect(out.code).toBe(0);
    expect(existsSync(join(at.root, "touched.txt"))).toBe(true);
  });

  it("has colours, unless somebody wants none", async () => {
    const colourful = await onTerminal(place(), "answers").outcome;
    expect(colourful.screen).toContain(`${esc}[32mcompleted`);
    expect((await onTerminal(place(), "answers", [], { NO_COLOR: "1" }).outcome).screen).not.toContain(esc);
    expect((await onTerminal(place(), "answers", ["--no-color"]).outcome).screen).not.toContain(esc);
  });

  it("sends nothing of a model to the terminal that it would obey", async () => {
    const { screen } = await onTerminal(place(), "speaks", ["--no-color"]).outcome;
    expect(screen).toContain("red: red");
    expect(screen).not.toContain("evil");
    expect(screen).not.toContain(esc);
  });
});
