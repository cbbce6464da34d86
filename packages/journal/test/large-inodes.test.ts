// Inodes of 64 bits, as NTFS and overlayfs have them: two files whose numbers differ in the last digits alone are two.

import fs, { copyFileSync, mkdtempSync, renameSync, rmSync, type StatOptions, type Stats } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";

let folder: string;
const { statSync } = fs;

/** Each file's inode in the order of their first sight, from 2^60 on: rounded to a double they are all the same. */
const known: bigint[] = [];
function enlarged<T extends Stats | fs.BigIntStats | undefined>(stat: T): T {
  if (stat === undefined) return stat;
  if (!known.includes(BigInt(stat.ino))) known.push(BigInt(stat.ino));
  const large = 2n ** 60n + BigInt(known.indexOf(BigInt(stat.ino)));
  return Object.assign(stat, { ino: typeof stat.ino === "bigint" ? large : Number(large) });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-inodes-"));
  Object.assign(fs, { statSync: (path: string, options?: StatOptions) => enlarged(statSync(path, options)) });
  syncBuiltinESMExports();
});
afterEach(() => {
  Object.assign(fs, { statSync });
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true, force: true });
});

it("a SQLite journal whose file was replaced by its copy refuses to write into the one that is gone", () => {
  const file = join(folder, "j.db");
  const journal = sqliteJournal(file);
  journal.append("s", 0, sampleRecords(0, 2));
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  expect(() => journal.append("s", 2, sampleRecords(2, 1))).toThrow(
    "is not the file any more that was opened",
  );
  journal.close();
});
