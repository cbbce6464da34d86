// Machines that lack something: a home folder, or room for what the command says.

import { type SpawnOptions, spawn } from "node:child_process";
import { chmodSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { newestRecords, nodeArgs, place, rondo, runWith } from "./command.ts";

/** Runs the command in no folder of its own, as another user where one is named. */
async function apart(
  args: readonly string[],
  options: SpawnOptions,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [...nodeArgs, ...args], {
    ...options,
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stderr };
}

it.each(["", "relative"])(
  "takes a HOME of %j for none, and never keeps runs in the folder it works in",
  async (home) => {
    const at = place({ HOME: home });
    const { XDG_STATE_HOME: _, ...env } = at.env;
    const listed = await rondo({ ...at, env }, ["journal", "check"]);
    expect(listed.stdout + listed.stderr).not.toMatch(/journal (\.local|relative)/);
    expect(existsSync(`${at.root}/.local`)).toBe(false);
  },
);

it("runs where there is no home at all and says that the run is not kept; what needs the journal says what is missing", async ({
  skip,
}) => {
  const { geteuid, setuid } = process;
  if (geteuid?.() !== 0 || setuid === undefined) skip("only root may become a user that does not exist");
  const at = place();
  const { XDG_STATE_HOME: _, HOME: __, ...env } = at.env;
  const as = (args: readonly string[]): Promise<{ code: number | null; stderr: string }> =>
    apart(args, { env, uid: 54_321 });
  const missing =
    "there is no home folder to keep runs in: set HOME or XDG_STATE_HOME, or name a journal with --journal";
  expect(await as(["runs"])).toEqual({ code: 1, stderr: `rondo: ${missing}\n` });
  const ran = await as(["run", "-q", "2 + 2"]);
  expect(ran.stderr).toContain(`rondo: this run is not kept: ${missing}`);
  expect(ran.code).toBe(0);
});

it("reads a journal that somebody else keeps; what writes in it says why it cannot", async () => {
  const at = place();
  await runWith(at, "touches");
  const { id } = newestRecords(at);
  const folder = dirname(at.journal);
  for (const above of [dirname(at.root), at.root, dirname(folder)]) chmodSync(above, 0o755);
  chmodSync(at.journal, 0o444);
  chmodSync(folder, 0o555);
  const who = {
    env: { ...at.env, MIND: "touches" },
    ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
  };
  try {
    for (const command of [["runs"], ["show", id], ["explain", id], ["replay", id], ["journal", "check"]])
      expect(await apart(command, who)).toEqual({ code: 0, stderr: "" });
    const resumed = await apart(["resume", id], who);
    expect(resumed.code).toBe(1);
    expect(resumed.stderr).toContain(`the journal ${at.journal}: `);
    expect(resumed.stderr).toContain("permission denied");
  } finally {
    chmodSync(folder, 0o755);
  }
});

it("says so and fails when what it says cannot be written", async ({ skip }) => {
  if (!existsSync("/dev/full")) skip("there is no /dev/full");
  const at = place();
  await runWith(at, "answers");
  const child = spawn(process.execPath, [...nodeArgs, "show", "last"], {
    cwd: at.root,
    env: at.env,
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(stderr).toMatch(/^rondo: the output cannot be written: ENOSPC/);
  expect(code).toBe(1);
});
