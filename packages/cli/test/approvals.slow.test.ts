import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Agent, tool, waitForAnswer } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { mind, newestRecords, type Place, place, rondo, runWith } from "./command.ts";

async function parked(at: Place, name: string): Promise<{ id: string; call: string }> {
  const out = await runWith(at, name);
  expect(out.code).toBe(5);
  const [, id = "", call = ""] = /rondo approve (\w{8}) (\d+\.\d+)/.exec(out.stderr) ?? [];
  expect(out.stderr).toContain(`run ${id} waits for an approval:`);
  expect(out.stderr).toContain(`rondo deny ${id} ${call} "why not"`);
  return { id, call };
}

describe("a run that waits for an approval", () => {
  it("is told of without a terminal, and has run nothing", async () => {
    const at = place();
    const out = await runWith(at, "touches");
    expect(out.stdout).toContain("→ run_command touch touched.txt; pwd needs approval");
    expect(out.stderr).toContain('run_command {"command":"touch touched.txt; pwd"}');
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
    expect((await rondo(at, ["runs"])).stdout).toMatch(/1 step {2}waiting {7}do it\n/);
    const again = await rondo(at, ["resume", "last"], { MIND: "touches" });
    expect(again.code).toBe(5);
    expect(again.stderr).toContain("waits for an approval");
  });

  it("is one that would write a file: nothing stands there before somebody said yes, or said so beforehand", async () => {
    const at = place();
    const file = join(at.root, "written.txt");
    const { id, call } = await parked(at, "writes");
    expect(existsSync(file)).toBe(false);
    expect((await rondo(at, ["approve", id, call], { MIND: "writes" })).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("a line\n");
    const other = place();
    expect((await runWith(other, "writes", ["--allow", "write_file", "do it"])).code).toBe(0);
    expect(existsSync(join(other.root, "written.txt"))).toBe(true);
  });

  it.each([["--yes"], ["--allow", "run_command"]])(
    "goes on in a chat with %s, which approves what waits as well, and says so",
    async (...options) => {
      const at = place();
      const { id } = await parked(at, "touches");
      const out = await rondo(at, ["chat", "--resume", id, ...options], { MIND: "touches" });
      expect(out.code).toBe(0);
      expect(out.stderr).toContain('approved in advance: run_command {"command":"touch touched.txt; pwd"}');
      expect(existsSync(join(at.root, "touched.txt"))).toBe(true);
    },
  );

  it("goes on in a fork with --yes, at once or when that is resumed", async () => {
    const at = place();
    const { id } = await parked(at, "touches");
    const fork = await rondo(at, ["fork", id, "--yes"], { MIND: "touches" });
    for (const words of [
      ["fork", id, "--yes", "--go"],
      ["resume", fork.stdout.trim()],
    ]) {
      rmSync(join(at.root, "touched.txt"), { force: true });
      const out = await rondo(at, words, { MIND: "touches" });
      expect([out.code, out.stderr]).toEqual([0, expect.stringContaining("approved in advance")]);
      expect(existsSync(join(at.root, "touched.txt"))).toBe(true);
    }
  });

  it("still waits in a chat that permits another tool, or denies its own", async () => {
    const at = place();
    const { id } = await parked(at, "touches");
    for (const options of [
      ["--allow", "write_file"],
      ["--yes", "--deny", "run_command"],
    ]) {
      const out = await rondo(at, ["chat", "--resume", id, ...options], { MIND: "touches" });
      expect(out.code).toBe(5);
      expect(out.stderr).not.toContain("in advance");
    }
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("goes on in the folder and with the model it was started with, wherever it is approved", async () => {
    const at = place();
    const { id, call } = await parked(at, "touches");
    const elsewhere: Place = { ...at, root: place().root };
    const out = await rondo(elsewhere, ["approve", id, call], { MIND: "touches" });
    expect(out.code).toBe(0);
    expect(out.stdout).toContain("run_command approved");
    expect(out.stdout).toContain("completed");
    expect(existsSync(join(at.root, "touched.txt"))).toBe(true);
    expect(existsSync(join(elsewhere.root, "touched.txt"))).toBe(false);
    const again = await rondo(at, ["approve", id, call], { MIND: "touches" });
    expect(again.code).toBe(1);
    expect(again.stderr).toBe(
      `rondo: run ${id} has ended already: completed; see it with rondo show ${id}, say more with rondo chat --resume ${id}\n`,
    );
  });

  it("is not approved with arguments that do not fit its tool: that is told in the command's words, and the call still waits", async () => {
    const at = place();
    const { id, call } = await parked(at, "touches");
    const out = await rondo(at, ["approve", id, call, "--args", '{"comand":"pwd"}'], { MIND: "touches" });
    expect(out.code).toBe(2);
    expect(out.stderr).toMatch(/^rondo: --args do not fit run_command: .*command.*; the call still waits$/m);
    expect((await rondo(at, ["approve", id, call], { MIND: "touches" })).code).toBe(0);
  });

  it("tells the model why it was denied", async () => {
    const at = place();
    const { id, call } = await parked(at, "touches");
    const out = await rondo(at, ["deny", id.slice(0, 4), call, "not", "on", "a", "Friday"], {
      MIND: "touches",
    });
    expect(out.code).toBe(0);
    expect(out.stdout).toContain("Permission denied: not on a Friday");
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("takes the result that somebody brings, and runs nothing", async () => {
    const at = place();
    const { id, call } = await parked(at, "touches");
    const none = await rondo(at, ["answer", id, call], { MIND: "touches" });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("a result is missing")]);
    const out = await rondo(at, ["answer", id, call, "done", "by", "hand", "--error"], { MIND: "touches" });
    expect(out.code).toBe(0);
    expect(out.stdout).toContain("done by hand");
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
    expect((await newestRecords(at)).records.find(({ type }) => type === "tool_finished")).toMatchObject({
      result: { code: "answered", isError: true },
    });
  });

  it("ends when it is denied with --stop", async () => {
    const at = place();
    const { id } = await parked(at, "touches");
    const out = await rondo(at, ["deny", id, "--stop"], { MIND: "touches" });
    expect(out.stdout).toContain("(turn_stopped)");
    expect(out.code).toBe(3);
  });

  it("runs with other arguments, which are checked like the model's own", async () => {
    const at = place();
    const { id } = await parked(at, "touches");
    const bad = await rondo(at, ["approve", id, "--args", "[1]"], { MIND: "touches" });
    expect(bad.code).toBe(2);
    const out = await rondo(at, ["approve", id, "--args", '{"command":"echo another"}'], { MIND: "touches" });
    expect(out.stdout).toContain("→ run_command echo another\n");
    expect(out.stdout).toContain("completed");
    expect(existsSync(join(at.root, "touched.txt"))).toBe(false);
  });

  it("asks which call is meant when several wait, and names them", async () => {
    const at = place();
    const { id, call } = await parked(at, "twice");
    const which = await rondo(at, ["approve", id], { MIND: "twice" });
    expect(which).toMatchObject({ code: 2, stderr: expect.stringContaining("several calls wait") });
    const { records: before } = newestRecords(at);
    const wrong = await rondo(at, ["approve", id, "99.9"], { MIND: "twice" });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining(`${call} (run_command)`) });
    expect([wrong.stderr, which.stderr].join("")).toMatch(/^rondo: no call .*\nrondo: several calls .*\n$/);
    // Nobody took the run over for that.
    expect(newestRecords(at).records).toEqual(before);
    expect(before.filter((record) => record.type === "opened")).toEqual([]);
    expect(await rondo(at, ["approve", id, call], { MIND: "twice" })).toMatchObject({ code: 5 });
    const out = await rondo(at, ["approve", id], { MIND: "twice" });
    expect(out.code).toBe(0);
    expect(out.stdout).toContain("second");
    const { records } = newestRecords(at);
    expect(records.filter((record) => record.type === "tool_started")).toHaveLength(2);
  });

  it("says that nobody can approve what is kept nowhere", async () => {
    const out = await runWith(place(), "touches", ["--no-journal", "do it"]);
    expect(out.code).toBe(5);
    expect(out.stderr).toContain("--allow run_command");
    expect(out.stderr).not.toContain("rondo approve");
  });

  it("parks with --json, its last event the request for approval", async () => {
    const out = await rondo(place(), ["run", "--json", "--model", mind, "do it"], { MIND: "touches" });
    const lines = out.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.at(-1)?.type).toBe("approval_request");
    expect(out.code).toBe(5);
  });

  it("is shown with the question, the answer and the result", async () => {
    const at = place();
    const { id, call } = await parked(at, "echoes");
    expect((await rondo(at, ["show", id])).stdout).toContain(`waits for an approval of ${call} run_command`);
    await rondo(at, ["approve", id], { MIND: "echoes" });
    const shown = (await rondo(at, ["show", "last"])).stdout;
    expect(shown).toContain(`asked for ${call} run_command`);
    expect(shown).toContain(`${call} run_command approved`);
    expect(shown).toContain("from-the-tool");
    const lines = (await rondo(at, ["show", id, "--json"])).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(newestRecords(at).records);
    const listed = JSON.parse((await rondo(at, ["runs", "--json"])).stdout) as object;
    expect(listed).toMatchObject({ id, steps: 2, status: "completed", task: "do it" });
  });
});

describe("a run whose tool asks a question", () => {
  /** The journal of a program of somebody's own, whose tool waits for an answer. */
  async function asked(at: Place): Promise<string> {
    const journal = sqliteJournal(at.journal);
    const ask = tool({
      name: "ask_person",
      description: "Asks",
      inputSchema: { type: "object" },
      execute: () => waitForAnswer({ text: "Which colour?" }),
    });
    const agent = new Agent({ model: scripted([call("ask_person"), say("never")]), tools: [ask], journal });
    const { session } = await agent.run("paint it");
    await journal.close();
    return session;
  }

  it("is shown with the question, and goes on where its program is", async () => {
    const at = place();
    const id = await asked(at);
    expect((await rondo(at, ["runs"])).stdout).toContain("waiting");
    const shown = await rondo(at, ["show", id]);
    expect(shown.stdout).toContain('asks {"text":"Which colour?"}');
    expect(shown.stdout).toMatch(/waits for an answer of \d+\.0 ask_person/);
    const out = await rondo(at, ["resume", id]);
    expect(out.stderr).toContain("go on with it there");
  });
});
