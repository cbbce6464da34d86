// A disk that fails under a run: the run says so and stops, nothing that was acknowledged is lost, no write is made twice,
// and when the disk is well again the run goes on to its end.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, RondoError } from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { namedJournal } from "./named-journal.ts";
import { ended, programArgs, start } from "./programs.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-faults-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Told {
  reason?: string;
  text?: string;
  status?: string;
  readable: number;
  acknowledged: number;
  error?: { kind: string; message: string };
}

const kinds: [kind: string, name: (place: string) => string][] = [
  ["SQLite", (place) => `${place}.db`],
  ["JSONL", (place) => `jsonl:${place}`],
];

const told = (stdout: string): Told[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Told);

/** Each write that was made, once. */
function writesOf(effects: string): string[] {
  const keys = readFileSync(effects, "utf8").trim().split("\n");
  expect(new Set(keys).size).toBe(keys.length);
  return keys;
}

/** Runs a script as the root of a place of its own, where small disks may be mounted. `$NODE` runs the program. */
function inOwnMounts(script: string, args: readonly string[]): ReturnType<typeof ended> {
  return ended(
    spawn(
      "unshare",
      ["-rm", "sh", "-c", script, "sh", ...args, process.execPath, ...programArgs("agent-run", [])],
      {
        stdio: ["pipe", "pipe", "pipe"],
      },
    ),
  );
}

const mayMount = (): boolean =>
  spawnSync("unshare", ["-rm", "sh", "-c", 'mount -t tmpfs none "$1"', "sh", folder]).status === 0;

const cannot = "this machine does not let a test mount a small disk";

describe.each(kinds)("a run whose disk fails (%s)", (kind, name) => {
  it("by being full ends with an error that says so, and goes on to its end when there is room again", async ({
    skip,
  }) => {
    if (!mayMount()) return skip(cannot);
    const mount = join(folder, `small-${kind}`);
    const effects = join(folder, `full-${kind}`);
    const { stdout, stderr } = await inOwnMounts(
      `place=$1 mount=$2 effects=$3; shift 3; mkdir -p "$mount" && mount -t tmpfs -o size=6m none "$mount" &&
       head -c 6050000 /dev/zero > "$mount/ballast" && exec "$@" "$place" "$effects" 40 "free=$mount/ballast"`,
      [name(join(mount, "j")), mount, effects],
    );
    expect(stderr).toBe("");
    const [first, second] = told(stdout);
    expect(first?.error).toMatchObject({
      kind: "storage",
      message: expect.stringContaining("the disk is full"),
    });
    expect(first?.error?.message).toContain(join(mount, "j"));
    expect(first?.acknowledged).toBeGreaterThan(10);
    expect(first?.readable).toBe(first?.acknowledged);
    expect(second).toMatchObject({ reason: "completed", text: "done after 40", status: "idle" });
    expect(second?.error).toBeUndefined();
    // Each of the writes was made: what was refused came before the effect, not after.
    expect(writesOf(effects).length).toBe(40);
  });

  it("in the middle of a group ends with an error that names it, and goes on in another process", async () => {
    const place = name(join(folder, "limited"));
    const effects = join(folder, `limited-${kind}`);
    const args = programArgs("agent-run", [place, effects, "60"]);
    const limited = spawn(
      "sh",
      ["-c", `trap '' XFSZ; ulimit -f 300; exec "$@"`, "sh", process.execPath, ...args],
      {
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    const [first] = told((await ended(limited)).stdout);
    expect(first?.error).toMatchObject({
      kind: "storage",
      message: expect.stringContaining("the disk failed"),
    });
    expect(first?.readable).toBe(first?.acknowledged);
    const [second] = told((await ended(start("agent-run", [place, effects, "60"]))).stdout);
    expect(second).toMatchObject({ reason: "completed", text: "done after 60" });
    expect(writesOf(effects).length).toBeGreaterThanOrEqual(59);
  });

  it("by becoming read-only is an error where the session is opened, and nothing else; then it goes on", async ({
    skip,
  }) => {
    if (!mayMount()) return skip(cannot);
    const mount = join(folder, `frozen-${kind}`);
    const effects = join(folder, `read-only-${kind}`);
    const { stdout } = await inOwnMounts(
      `place=$1 mount=$2 effects=$3; shift 3; mkdir -p "$mount" && mount -t tmpfs none "$mount" || exit 9
       "$@" "$place" "$effects" 8 die=4
       mount -o remount,ro "$mount" && "$@" "$place" "$effects" 8
       mount -o remount,rw "$mount" && "$@" "$place" "$effects" 8`,
      [name(join(mount, "j")), mount, effects],
    );
    const [frozen, thawed] = told(stdout);
    expect(frozen?.error?.message).toContain(join(mount, "j"));
    expect(frozen?.error?.message).toMatch(/read-only/i);
    // Nobody's permissions are what is wrong.
    expect(frozen?.error?.message).not.toContain("permissions");
    expect(["storage", "invalid_request"]).toContain(frozen?.error?.kind);
    expect(frozen?.acknowledged).toBe(-1);
    expect(thawed).toMatchObject({ reason: "completed", text: "done after 8" });
    // The fourth was made by the process that died of it, and not again.
    expect(writesOf(effects).length).toBe(8);
  });
});

describe("a session whose file is damaged", () => {
  /** A session of 20 steps that a process has left in its 18th. */
  const left = async (place: string): Promise<void> => {
    const { signal } = await ended(start("agent-run", [place, join(folder, "any"), "20", "die=18"]));
    expect(signal).toBe("SIGKILL");
  };

  const refused = async (place: string): Promise<RondoError> => {
    const error = await (async () => {
      const journal = namedJournal(place);
      try {
        return await new Agent({ model: scripted([say("never")]), journal }).open("s").then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      } finally {
        journal.close();
      }
    })().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RondoError);
    return error as RondoError;
  };

  it("by a corrupt page is not opened, and stays as it is (SQLite)", async () => {
    const file = join(folder, "corrupt.db");
    await left(file);
    // All in one file, as after a clean end.
    namedJournal(file).close();
    const bytes = readFileSync(file);
    for (let page = 3; page * 4_096 < bytes.length - 4_096; page += 1)
      bytes.fill(0xa5, page * 4_096, page * 4_096 + 512);
    writeFileSync(file, bytes);
    const error = await refused(file);
    expect(error.kind).toBe("storage");
    expect(error.message).toContain(file);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it("by being cut in half is not opened, and says so (SQLite)", async () => {
    const file = join(folder, "half.db");
    await left(file);
    namedJournal(file).close();
    truncateSync(file, Math.floor(statSync(file).size / 8_192) * 4_096);
    const error = await refused(file);
    expect(error.kind).toBe("storage");
    expect(error.message).toContain(file);
  });

  it("in its middle is not opened, and says in which line (JSONL)", async () => {
    const place = join(folder, "lines");
    await left(`jsonl:${place}`);
    const file = join(place, "s.jsonl");
    const text = readFileSync(file, "utf8");
    const at = Math.floor(text.length / 2);
    writeFileSync(file, `${text.slice(0, at)}~${text.slice(at + 1)}`);
    const error = await refused(`jsonl:${place}`);
    expect(error.kind).toBe("storage");
    expect(error.message).toMatch(/line \d+/);
    expect(error.message).toContain(file);
  });

  it("only at its torn end goes on from the last whole group to the end of its run (JSONL)", async () => {
    const place = join(folder, "torn");
    const effects = join(folder, "torn-effects");
    await ended(start("agent-run", [`jsonl:${place}`, effects, "6", "die=3"]));
    const file = join(place, "s.jsonl");
    writeFileSync(file, `${readFileSync(file, "utf8")}{"half":"of a gr`);
    const [last] = told((await ended(start("agent-run", [`jsonl:${place}`, effects, "6"]))).stdout);
    expect(last).toMatchObject({ reason: "completed", text: "done after 6" });
    expect(writesOf(effects).length).toBe(6);
  });
});
