// Replay, fork, diff and explain as commands, over a run that a real process made.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LogRecord } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { describe, expect, it } from "vitest";
import { invocationOf } from "../src/invocation.ts";
import { mind, newestRecords, place, rondo, runWith } from "./command.ts";

describe("a run that is over", () => {
  it("can be replayed, explained, forked with another result, compared, and stays as it was", async () => {
    const at = place();
    writeFileSync(join(at.root, "notes.txt"), "some notes");
    expect((await runWith(at, "echoes", ["--yes", "do it"])).code).toBe(0);
    const { id, records } = newestRecords(at);
    const key = records.find((record) => record.type === "tool_finished")?.call ?? "";

    const replayed = await rondo(at, ["replay", id]);
    expect([replayed.code, replayed.stderr]).toEqual([0, ""]);
    expect(replayed.stdout).toBe(
      `run ${id}: 2 requests rebuilt from the records, byte for byte what the model was sent\na run started today would send the same\n`,
    );

    const explained = await rondo(at, ["explain", id]);
    expect(explained.code).toBe(0);
    expect(explained.stdout).toContain("rule by_content");
    expect(explained.stdout).toContain("why it ended");
    const one = await rondo(at, ["explain", id, "1"]);
    expect(one.stdout).not.toContain("why it ended");
    expect((await rondo(at, ["explain", id, "9"])).stderr).toContain(
      `run ${id}: run 1 has no step 9: it has 1 to 2`,
    );

    const forked = await rondo(at, ["fork", id, "2", "--edit", `${key}=from-the-editor`, "--go"], {
      MIND: "echoes",
    });
    expect([forked.code, forked.stdout]).toEqual([0, expect.stringContaining("from-the-editor")]);
    const fork = newestRecords(at).id;
    expect(fork).not.toBe(id);
    const shown = (await rondo(at, ["show", fork])).stdout;
    expect(shown).toContain(`from ${id} at step 2`);
    expect(shown).toContain(`with another result of call ${key}`);

    const diffed = await rondo(at, ["diff", id, fork]);
    expect(diffed.code).toBe(1);
    expect(diffed.stdout).toContain(`${id} and ${fork} part in step 1`);
    expect(diffed.stdout).toContain("from-the-editor");
    expect((await rondo(at, ["diff", id, id])).code).toBe(0);
    expect(JSON.parse((await rondo(at, ["replay", fork, "--json"])).stdout)).toMatchObject({
      same: 2,
      requests: 2,
    });
    const named = await rondo(at, ["fork", id, "--json"]);
    expect(JSON.parse(named.stdout)).toEqual({ id: newestRecords(at).id, from: id });
    const after = await rondo(at, ["show", id, "--json"]);
    expect(
      after.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(records);
  });

  it("is forked under another prompt for resume to go on with, and replay says what is other", async () => {
    const at = place();
    expect((await runWith(at, "system", ["--system", "be brief", "do it"])).code).toBe(0);
    const { id } = newestRecords(at);
    expect((await rondo(at, ["replay", id])).code).toBe(0);
    const forked = await rondo(at, ["fork", id, "1", "--system", "be long"]);
    expect([forked.code, forked.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-z]{8}\n$/)]);
    const resumed = await rondo(at, ["resume", forked.stdout.trim()], { MIND: "system" });
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringContaining("system: be long")]);
    expect((await rondo(at, ["replay", forked.stdout.trim()])).code).toBe(0);
  });

  it("is forked where a whole text of it is damaged: what the fork lacks is said", async () => {
    const at = place();
    expect((await runWith(at, "says_much", ["--yes", "do it"])).code).toBe(0);
    const { id } = newestRecords(at);
    const db = new DatabaseSync(at.journal);
    db.exec("UPDATE blobs SET text = x'00'");
    db.close();
    const forked = await rondo(at, ["fork", id]);
    expect([forked.code, forked.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-z]{8}\n$/)]);
    expect(forked.stderr).toMatch(/the run has ended there: say more with rondo chat --resume \w{8}\n$/);
    expect(forked.stderr).toMatch(/^warning: the fork \w+ lacks what session \w+ kept as out_\w+: .*damaged/);
  });

  it("tells from what to what a request would change today, with exit code 1", async () => {
    const at = place();
    expect((await runWith(at, "answers", ["--root", at.root, "do it"])).code).toBe(0);
    const { id, records } = newestRecords(at);
    // As an older version would have written it: with another prompt of its own.
    const journal = sqliteJournal(at.journal);
    const older = records.map((record) =>
      record.type === "run_started" && record.options !== undefined
        ? { ...record, options: { ...record.options, system: "You are old." } }
        : record,
    );
    journal.append("older", 0, older);
    journal.close();
    const out = await rondo(at, ["replay", "older"]);
    expect(out.code).toBe(1);
    expect(out.stdout).toContain("0 of 1 request match what the model was sent; the request of step 1");
    expect(out.stdout).toContain("what was sent cannot be shown");
    expect(out.stdout).toContain("system changed:\n    - You are old.");
    expect(id).not.toBe("older");
  });
});

describe("what cannot be", () => {
  it("is a run with a record that does not have its form: every command names the run and what to do", async () => {
    const at = place();
    await runWith(at, "answers");
    const { records } = newestRecords(at);
    const journal = sqliteJournal(at.journal);
    const other = (type: string, members: object): LogRecord[] =>
      records.map((record) => (record.type === type ? { ...record, ...members } : record));
    journal.append("unfolded", 0, other("model_finished", { message: {} }));
    journal.append("unshown", 0, other("run_started", { options: {} }));
    journal.close();
    const cases = [
      ["runs"],
      ...["show", "explain", "replay", "fork", "resume", "approve"].map((name) => [name, "unfolded"]),
      ["allow", "unfolded"],
      ["diff", "unshown", "unfolded"],
      ["show", "unshown"],
      ["explain", "unshown"],
    ];
    const outs = await Promise.all(cases.map((args) => rondo(at, args, { MIND: "answers" })));
    expect(outs.map(({ code }, at) => [cases[at], code])).toEqual(cases.map((args) => [args, 1]));
    for (const [at, { stderr }] of outs.entries())
      expect([cases[at], stderr]).toEqual([
        cases[at],
        expect.stringMatching(
          /^(rondo: run un\w+( or un\w+)? cannot be read, .*`rondo journal check` verifies .*\n)+$/,
        ),
      ]);
    expect((await rondo(at, ["show", "--json", "unfolded"])).code).toBe(0);
  });

  it("is said without what a terminal would obey, whatever the records call their folder and the module its model", async () => {
    const at = place();
    await runWith(at, "answers");
    const { records } = newestRecords(at);
    const journal = sqliteJournal(at.journal);
    const evil = `\u001b]0;evil\u0007x\u001b[2J`;
    journal.append(
      "moved",
      0,
      records.map((record) =>
        record.type === "run_started"
          ? { ...record, about: { ...record.about, invocation: { ...invocationOf(records), root: evil } } }
          : record,
      ),
    );
    journal.close();
    const module = join(at.root, "model.mjs");
    writeFileSync(
      module,
      `export default { id: ${JSON.stringify(evil)}, origin: { api: "a", provider: "p", model: "m" }, async call() {} };`,
    );
    for (const args of [
      ["replay", "moved"],
      ["run", "--no-journal", "--model", module],
    ]) {
      const { stdout, stderr } = await rondo(at, args);
      expect(stdout + stderr).toMatch(/today: there is no folder|model: x/);
      expect(stdout + stderr).not.toContain("\u001b");
    }
  });

  it("is told in one line that says what to do", async () => {
    const at = place();
    await runWith(at, "answers");
    const { id } = newestRecords(at);
    const cases: [string[], number, string][] = [
      [["fork", id, "7"], 1, `run 1 of session ${id} has no step 7: it has step 1 alone`],
      [["fork", id, "x"], 2, 'a step is a whole number of at least 1, not "x"'],
      [["fork", id, "--edit", "nonsense"], 2, "--edit takes CALL=TEXT or CALL=@FILE"],
      [["fork", id, "--edit", "1.0=x"], 1, 'no call "1.0" with a result'],
      [["fork", id, "--go", "--model", mind], 1, "there is nothing to go on with"],
      [["diff", id], 2, "rondo diff takes two runs"],
      [["explain", id, "one"], 2, 'a step is a whole number, not "one"'],
      [["chat", "--resume", id, "--root", "/"], 2, "--root and --resume exclude each other"],
    ];
    await Promise.all(
      cases.map(async ([args, code, message]) => {
        const out = await rondo(at, args, { MIND: "answers" });
        expect([args, out.code, out.stderr]).toEqual([args, code, expect.stringContaining(message)]);
      }),
    );
  });
});
