import { existsSync } from "node:fs";
import { join } from "node:path";
import { Agent, subAgent } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { newestRecords, type Place, place, rondo, runWith } from "./command.ts";

const again = { MIND: "again" };

/** A run whose model asks for `echo number-0`, `number-1` and `number-2`, one after the other, and waits for the first. */
async function parked(at: Place, mind: string = "again"): Promise<string> {
  expect((await runWith(at, mind)).code).toBe(5);
  return newestRecords(at).id;
}

const commandsRun = (at: Place): unknown[] =>
  newestRecords(at).records.flatMap((record) =>
    record.type === "model_finished"
      ? record.message.content.flatMap((part) => (part.type === "tool_call" ? [part.args.command] : []))
      : [],
  );

const started = (at: Place): number =>
  newestRecords(at).records.filter((record) => record.type === "tool_started").length;

describe("rondo allow", () => {
  it("lets a run go on without asking, so often as was said, and lists what it has let run", async () => {
    const at = place();
    const id = await parked(at);
    const given = await rondo(at, ["allow", id, "run_command", "--uses", "2"], again);
    expect(given).toMatchObject({ code: 0, stderr: expect.stringContaining(`rondo resume ${id}`) });
    expect(given.stdout).toMatch(/^allowed: run_command with any arguments, 2 times \(grant (\S+)\)\n$/);
    expect(started(at)).toBe(0);
    expect((await rondo(at, ["allow", id], again)).stdout).toContain("2 times");
    expect((await rondo(at, ["resume", id], again)).code).toBe(5);
    expect([started(at), commandsRun(at)]).toEqual([2, ["echo number-0", "echo number-1", "echo number-2"]]);
    const left = await rondo(at, ["allow", id]);
    expect(left).toMatchObject({ code: 0, stdout: "", stderr: `nothing is allowed in run ${id}\n` });
  });

  it("covers these arguments with --args, and those like them with --like, and no others", async () => {
    const at = place();
    const id = await parked(at);
    await rondo(at, ["allow", id, "run_command", "--args", '{"command":"echo number-0"}'], again);
    expect((await rondo(at, ["resume", id], again)).code).toBe(5);
    expect(started(at)).toBe(1);
    const like = ["allow", id, "run_command", "--like", '{"command":"echo number-?"}', "--json"];
    const grant = JSON.parse((await rondo(at, like, again)).stdout) as object;
    expect(grant).toMatchObject({ tool: "run_command", args: { like: { command: "echo number-?" } } });
    expect((await rondo(at, ["resume", id], again)).code).toBe(0);
    expect(started(at)).toBe(3);
  });

  it("covers no other command with a wildcard of --like", async () => {
    const at = place();
    expect((await runWith(at, "touches")).code).toBe(5);
    const { id } = newestRecords(at);
    const mind = { MIND: "touches" };
    const like = (command: string) => ["allow", id, "run_command", "--like", JSON.stringify({ command })];
    for (const command of ["touch **", "touch touched.txt*"]) await rondo(at, like(command), mind);
    expect((await rondo(at, ["resume", id], mind)).code).toBe(5);
    expect(started(at)).toBe(0);
    await rondo(at, like("touch *; pwd"), mind);
    expect((await rondo(at, ["resume", id], mind)).code).toBe(0);
    expect(started(at)).toBe(1);
  });

  it("holds until its time, and not when it was revoked", async () => {
    const at = place();
    const id = await parked(at);
    const before = Date.now();
    const given = await rondo(at, ["allow", id, "run_command", "--until", "1h", "--json"], again);
    const grant = JSON.parse(given.stdout) as { id: string; until: number };
    expect(grant.until).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(grant.until).toBeLessThanOrEqual(Date.now() + 3_600_000);
    const revoked = await rondo(at, ["revoke", id, grant.id], again);
    expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining(grant.id) });
    expect((await rondo(at, ["resume", id], again)).code).toBe(5);
    expect(started(at)).toBe(0);
    const unknown = await rondo(at, ["revoke", id, "grant_9_9"], again);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no grant "grant_9_9"') });
    expect((await rondo(at, ["show", id])).stdout).toContain(`revoked`);
  });

  it("says what is wrong with the words, and gives no leave then", async () => {
    const at = place();
    const id = await parked(at);
    const mistakes: [string[], string][] = [
      [["allow", id, "run_comand"], "Did you mean run_command?"],
      [["allow", id, "run_command", "--args", "{}", "--like", "{}"], "exclude each other"],
      [["allow", id, "run_command", "--like", "[]"], "--like cannot be used"],
      [["allow", id, "run_command", "--uses", "0"], "--uses takes a whole number"],
      [["allow", id, "run_command", "--until", "yesterday"], "--until takes a time to come"],
      [["allow", id, "run_command", "--until", "2001-01-01"], "--until takes a time to come"],
      [["allow", id, "--uses", "1"], "name the TOOL"],
      [["revoke", id], "which grant?"],
      [["approve", id, "--uses", "1"], "give --always with it"],
      [["approve", id, "--always", "--args", "{}"], "exclude each other"],
    ];
    for (const [words, text] of mistakes)
      expect(await rondo(at, words, again)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    expect(newestRecords(at).records.some((record) => record.type === "allowed")).toBe(false);
  });
});

describe("rondo approve --always", () => {
  it("lets the same call run again without asking, and another one asks", async () => {
    const at = place();
    const id = await parked(at, "insists");
    const env = { MIND: "insists" };
    expect((await rondo(at, ["approve", id, "--always"], env)).code).toBe(5);
    expect(commandsRun(at)).toEqual(["touch one", "touch one", "touch two"]);
    expect([started(at), existsSync(join(at.root, "two"))]).toEqual([2, false]);
    expect((await rondo(at, ["allow", id])).stdout).toContain('{"exact":{"command":"touch one"}}');
  });

  it("holds for so many later calls with --uses", async () => {
    const at = place();
    const id = await parked(at, "insists");
    expect((await rondo(at, ["approve", id, "--always", "--uses", "1"], { MIND: "insists" })).code).toBe(5);
    expect(started(at)).toBe(2);
    expect((await rondo(at, ["allow", id])).stdout).toBe("");
  });
});

describe("rondo runs", () => {
  it("lists sub-agents under the run they work for, which `last` and the beginning of an id mean", async () => {
    const at = place();
    await runWith(at, "answers");
    const journal = sqliteJournal(at.journal);
    const helper = (agent: Agent): ReturnType<typeof subAgent> =>
      subAgent({ name: "helper", description: "Helps", agent });
    const below = new Agent({ model: scripted(() => say("helped")) });
    const middle = new Agent({
      model: scripted((request) =>
        request.messages.at(-1)?.role === "tool" ? say("passed on") : call("helper", { task: "deep down" }),
      ),
      tools: [helper(below)],
    });
    const top = new Agent({
      model: scripted([
        call("helper", { task: "the one" }),
        call("helper", { task: "the other" }),
        say("done"),
      ]),
      tools: [helper(middle)],
      journal,
    });
    await (await top.open("parent")).send("all of it");
    await journal.close();
    const lines = (await rondo(at, ["runs"])).stdout.trimEnd().split("\n");
    expect(lines.map((line) => /^ *└?/.exec(line)?.[0].length)).toEqual([0, 3, 5, 3, 5, 0]);
    expect(lines.map((line) => line.split(/ {2,}/).at(-1))).toEqual([
      "all of it",
      "the one",
      "deep down",
      "the other",
      "deep down",
      "do it",
    ]);
    expect((await rondo(at, ["runs", "-n", "1"])).stdout.trimEnd().split("\n")).toHaveLength(5);
    const json = (await rondo(at, ["runs", "--json"])).stdout.trimEnd().split("\n");
    const listed = json.map((line) => JSON.parse(line) as { id: string; parent?: string });
    expect(listed[1]?.parent).toBe("parent");
    expect(listed[2]?.parent).toBe(listed[1]?.id);
    for (const name of ["last", "par"])
      expect((await rondo(at, ["show", name])).stdout).toContain("all of it");
  });
});
