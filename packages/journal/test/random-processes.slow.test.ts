// Several processes on one journal that do by chance what can be done, and are frozen and killed at any moment: what was acknowledged is
// there once and in its place, nobody has read what is not there, and no call ran twice.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPaired, textOf } from "@rondo/core";
import { checkJournal } from "@rondo/journal";
import { say, scripted } from "@rondo/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { namedJournal } from "./named-journal.ts";
import { ended, start } from "./programs.ts";
import { chanceAgent } from "./random-agent.ts";
import { markOf } from "./random-marks.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const below = (count: number): number => Math.floor(Math.random() * count);

/** Three at a time, one life after the other, each with a name of its own. @returns all that they told */
async function lived<Told>(
  program: string,
  argsOf: (name: string) => string[],
  { lifeMs, ms }: { lifeMs: number; ms: number },
): Promise<Told[]> {
  const told: Told[] = [];
  let lives = 0;
  const until = Date.now() + ms;
  const live = async (): Promise<void> => {
    const one = start(program, argsOf(`p${lives++}`));
    const over = ended(one, (line) => {
      // The last one may not have come whole.
      if (line.endsWith("}")) told.push(JSON.parse(line) as Told);
    });
    await pause(lifeMs + below(lifeMs));
    while (below(2) === 0) {
      one.kill("SIGSTOP");
      await pause(below(400));
      one.kill("SIGCONT");
      await pause(below(100));
    }
    one.kill("SIGKILL");
    expect(await over).toMatchObject({ stderr: "", signal: "SIGKILL" });
    if (Date.now() < until) await live();
  };
  await Promise.all([live(), live(), live()]);
  return told;
}

interface Group {
  did: "begin" | "append" | "read";
  id: string;
  at: number;
  marks: string[];
}

describe.each([
  ["JSONL", "jsonl:"],
  ["JSONL in small files", "small-jsonl:"],
  ["SQLite", ""],
])("processes by chance (%s)", (_kind, prefix) => {
  const newPlace = (): { folder: string; file: string; place: string } => {
    const folder = mkdtempSync(join(tmpdir(), "rondo-by-chance-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, prefix === "" ? "all.db" : "jsonl");
    return { folder, file, place: `${prefix}${file}` };
  };

  test("that write and read", async () => {
    const { file, place } = newPlace();
    const ids = ["s", "t", "u"];
    const argsOf = (name: string): string[] => [place, name, ids.join(",")];
    const told = await lived<Group>("write-by-chance", argsOf, { lifeMs: 1_000, ms: 4_000 });
    const journal = namedJournal(place);
    onTestFinished(() => journal.close());
    const final = new Map(ids.map((id) => [id, journal.read(id).map(markOf)]));
    for (const { did, id, at, marks } of told)
      if (did !== "begin") expect([did, final.get(id)?.slice(at, at + marks.length)]).toEqual([did, marks]);
    const begun = new Map(told.flatMap((one) => (one.did === "begin" ? [[one.marks[0], one]] : [])));
    for (const [id, marks] of final)
      for (let at = 0; at < marks.length; ) {
        const group = begun.get(marks[at]);
        expect(group).toMatchObject({ id, at, marks: marks.slice(at, at + (group?.marks.length ?? 1)) });
        at += group?.marks.length ?? 1;
      }
    expect(checkJournal(file).findings.filter(({ what }) => what !== "torn_tail")).toEqual([]);
  });

  test("that drive one session", async () => {
    const { folder, place } = newPlace();
    const effects = join(folder, "effects");
    const argsOf = (name: string): string[] => [place, name, effects];
    const times = { lifeMs: 1_500, ms: 4_000 };
    const told = await lived<{ did: "say" | "taken"; text: string }>("drive-by-chance", argsOf, times);
    const journal = namedJournal(place);
    onTestFinished(() => journal.close());
    const model = scripted(() => say("the end"));
    const agent = chanceAgent({ journal, model, ran: async () => "done", leaseMs: 1_000 });
    const session = await agent.open("s", { takeOver: true });
    if (session.status !== "idle") await session.resume();
    while (session.pending[0] !== undefined) await session.deny(session.pending[0].id);
    expect(session.status).toBe("idle");
    expect(isPaired(session.messages)).toBe(true);
    expect((await session.replay()).difference).toBeUndefined();
    const texts = [...session.messages, ...session.queued.map(({ message }) => message)].map(textOf);
    for (const { did, text } of told) {
      const count = texts.filter((one) => one.includes(text)).length;
      if (count > 1 || (did === "taken" && count === 0)) throw new Error(`"${text}" is there ${count} times`);
    }
    const keys = existsSync(effects) ? readFileSync(effects, "utf8").trim().split("\n") : [];
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });
});
