import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";
import { expect, it } from "vitest";
import { newestRecords, nodeArgs, place, rondo, runWith } from "./command.ts";

it("keeps runs as text when it is told jsonl:DIR, and finds them there again", async () => {
  const at = place();
  const folder = join(dirname(at.journal), "text");
  const ran = await runWith(at, "answers", ["--journal", `jsonl:${folder}`, "do it"]);
  expect(ran.code).toBe(0);
  expect(ran.stdout).toContain(`--journal jsonl:${folder}`);
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(files).toHaveLength(1);
  const id = (files[0] ?? "").replace(".jsonl", "");
  const listed = await rondo(at, ["runs", "--journal", `jsonl:${folder}`]);
  expect(listed.stdout).toContain(id);
  const shown = await rondo(at, ["show", "last", "--json"], { RONDO_JOURNAL: `jsonl:${folder}` });
  expect(shown.stdout).toContain('"run_ended"');
  expect(existsSync(at.journal)).toBe(false);
  expect((await rondo(at, ["runs", "--journal", "jsonl:"])).code).toBe(2);
});

it("checks a JSONL journal: says what is torn and what is damaged, and repairs the first alone", async () => {
  const at = place();
  const folder = join(dirname(at.journal), "text");
  const name = `jsonl:${folder}`;
  await runWith(at, "answers", ["--journal", name, "do it"]);
  const whole = await rondo(at, ["journal", "check", name]);
  expect(whole).toMatchObject({ code: 0, stderr: "" });
  expect(whole.stdout).toMatch(/text: 1 whole session, \d+ records, [\d,]+ bytes, nothing is wrong\n$/);

  const [file = ""] = readdirSync(folder)
    .filter((one) => one.endsWith(".jsonl"))
    .map((one) => join(folder, one));
  appendFileSync(file, '{"crc":"12');
  const torn = await rondo(at, ["journal", "check", folder]);
  expect(torn.code).toBe(1);
  expect(torn.stdout).toContain("torn tail: ");
  expect(torn.stdout).toContain("10 bytes behind line");
  expect(torn.stderr).toContain("--repair");
  const repaired = await rondo(at, ["journal", "check", file, "--repair"]);
  expect(repaired.code).toBe(0);
  expect(repaired.stdout).toContain("repaired: ");
  expect((await rondo(at, ["journal", "check", "--json"], { RONDO_JOURNAL: name })).stdout).toContain(
    '"findings":[]',
  );

  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace('"seq":0', '"seq":1'));
  const damaged = await rondo(at, ["journal", "check", folder, "--repair"]);
  expect(damaged.code).toBe(1);
  expect(damaged.stdout).toMatch(/damage: .*line 2 .*checksum/);
  expect(readFileSync(file, "utf8")).toBe(text.replace('"seq":0', '"seq":1'));
});

it("names who holds a run, and says with which option it is taken over", async () => {
  const at = place();
  await runWith(at, "echoes");
  const { id } = newestRecords(at);
  const journal = sqliteJournal(at.journal);
  journal.lease(id, { owner: "somebody", ttlMs: 60_000 });
  const held = await rondo(at, ["approve", id], { MIND: "echoes" });
  expect([held.code, held.stderr]).toEqual([1, expect.stringMatching(/is held by somebody .*--force/)]);
  expect((await rondo(at, ["approve", id, "--force"], { MIND: "echoes" })).code).toBe(0);
  journal.close();
});

it("deletes a run by its whole id alone, and says what is gone", async () => {
  const at = place();
  await runWith(at, "answers");
  await runWith(at, "answers");
  const ids = (await rondo(at, ["runs", "--json"])).stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: string }).id);
  const [id = "", other = ""] = ids;
  const journal = sqliteJournal(at.journal);
  journal.append(`${id}:3.0`, 0, [sampleRecord(0)]);
  const lease = journal.lease(id, { owner: "somebody", ttlMs: 60_000 });
  expect(await rondo(at, ["delete", id])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("is held by somebody"),
  });
  await lease.release();
  journal.close();
  for (const [word, code, words] of [
    ["last", 1, `nothing was deleted: give the whole id, rondo delete ${id}`],
    [id.slice(0, -1), 1, "nothing was deleted: give the whole id"],
    ["no-such", 1, 'there is no run "no-such"'],
    [undefined, 2, "which run?"],
  ] as const)
    expect(await rondo(at, ["delete", ...(word === undefined ? [] : [word])])).toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringContaining(words),
    });
  expect(await rondo(at, ["delete", id])).toMatchObject({
    code: 0,
    stdout: `deleted: ${id}, and 1 run of its sub-agents; nothing brings it back\n`,
  });
  const left = await rondo(at, ["runs"]);
  expect(left.stdout).toContain(other);
  expect(left.stdout).not.toContain(id);
  const last = await rondo(at, ["delete", other, "--json"]);
  expect(JSON.parse(last.stdout)).toEqual({ deleted: [other] });
});

it("checks a SQLite journal, the usual one by default, and knows what it is asked", async () => {
  const at = place();
  await runWith(at, "answers");
  expect(await rondo(at, ["journal", "check"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("1 whole session"),
  });
  const db = new DatabaseSync(at.journal);
  db.exec("DELETE FROM records WHERE seq = 1");
  db.close();
  const broken = await rondo(at, ["journal", "check", at.journal]);
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain("record 1 is missing");
  for (const [args, words] of [
    [["journal"], "rondo journal check [FILE|DIR]"],
    [["journal", "mend"], 'cannot "mend"'],
    [["journal", "check", "a", "--journal", "b"], "named once"],
  ] as const) {
    const out = await rondo(at, args);
    expect(out.code).toBe(2);
    expect(out.stderr).toContain(words);
  }
  const none = await rondo(at, ["journal", "check", join(at.root, "none.db")]);
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/there is no journal \S+; name another/),
  });
});

it.for(["", "jsonl:"])(
  "a full disk keeps no command from reading that only reads (%s)",
  async (kind, { skip }) => {
    const at = place();
    const mount = join(dirname(at.root), "small");
    const script = [
      'mkdir -p "$0" && mount -t tmpfs -o size=1m none "$0" || exit 9',
      '"$@" run "answers" >/dev/null 2>&1; head -c 2000000 /dev/zero >"$0/ballast" 2>/dev/null',
      'for words in runs "show last" "explain last" "replay last" "diff last last" "allow last" "journal check"; do',
      '"$@" $words >/dev/null 2>"$0.err" || { echo "$words:"; cat "$0.err"; }',
      "done",
    ].join("\n");
    const done = spawnSync("unshare", ["-rm", "sh", "-c", script, mount, process.execPath, ...nodeArgs], {
      cwd: at.root,
      env: { ...at.env, RONDO_JOURNAL: `${kind}${join(mount, "journal")}` },
      encoding: "utf8",
    });
    if (done.error !== undefined || done.status === 9 || done.stderr.includes("unshare"))
      return skip("this machine does not let a test mount a small disk");
    expect([done.stdout, done.stderr]).toEqual(["", ""]);
  },
);
