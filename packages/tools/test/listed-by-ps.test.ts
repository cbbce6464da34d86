// Where there is no /proc, `ps` lists the processes: asked in the way that every system's understands.

import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { listedByPs } from "../src/command/processes.ts";
import { folder } from "./calling.ts";

afterEach(() => vi.unstubAllEnvs());

/** A `ps` first in PATH. */
function withPs(program: string): void {
  const bin = folder({ ps: `#!/bin/sh\n${program}\n` });
  chmodSync(join(bin, "ps"), 0o755);
  vi.stubEnv("PATH", `${bin}${delimiter}${process.env.PATH ?? ""}`);
}

/** As POSIX has it, and FreeBSD: all that follows a `=` in an option is the header of that one column. */
const strict = `
columns=
while [ $# -gt 0 ]; do
  case $1 in
    -o) shift; case $1 in *=?*) echo "\${1#*=}"; columns="$columns \${1%%=*}" ;; *) columns="$columns \${1%=}" ;; esac ;;
  esac
  shift
done
for pid in 7 8; do
  line=
  for column in $columns; do
    case $column in
      pid) line="$line $pid" ;;
      ppid) line="$line 1" ;;
      pgid) line="$line 7" ;;
      stat) line="$line Ss+" ;;
      comm) line="$line /Applications/A Name.app/a" ;;
    esac
  done
  echo "$line"
done`;

test.skipIf(process.platform === "win32")("a ps that keeps to POSIX tells all it is asked for", async () => {
  withPs(strict);
  const entry = { parent: 1, group: 7, session: -1, name: "/Applications/A Name.app/a", started: 0 };
  expect(await listedByPs()).toEqual([
    { pid: 7, ...entry },
    { pid: 8, ...entry },
  ]);
});

test.skipIf(process.platform === "win32")(
  "a ps that lists nothing is no proof that nothing runs",
  async () => {
    withPs("echo PID; echo 1");
    await expect(listedByPs()).rejects.toThrow("ps listed no process");
  },
);

test.skipIf(process.platform === "win32")(
  "this system's ps lists this process, with its parent",
  async ({ skip }) => {
    const found = await listedByPs().catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === "ENOENT") skip("there is no ps here");
      throw thrown;
    });
    expect(found.find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid });
  },
);
