// A journal on a network drive, where it may be damaged without a word, is warned of. The file system is what its statfs says.

import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rondo-network-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { statfsSync } = fs;
const onFileSystem = (stat: () => { type: number }): void => {
  Object.assign(fs, { statfsSync: stat });
  syncBuiltinESMExports();
};
afterEach(() => {
  Object.assign(fs, { statfsSync });
  syncBuiltinESMExports();
  vi.restoreAllMocks();
});

const kinds: [kind: string, open: (place: string, warn: (message: string) => void) => { close(): void }][] = [
  [
    "SQLite",
    (place, warn) => {
      vi.spyOn(process, "emitWarning").mockImplementation((message) => warn(String(message)));
      return sqliteJournal(`${place}.db`);
    },
  ],
  ["JSONL", (place, warn) => jsonlJournal(place, { warn })],
];

describe.each(kinds)("a journal (%s)", (_kind, open) => {
  const warnings = (place: string): string[] => {
    const told: string[] = [];
    open(join(folder, place), (message) => void told.push(message)).close();
    return told;
  };

  it.runIf(process.platform === "linux")("on a network drive is warned of, once, with what to do", () => {
    onFileSystem(() => ({ type: 0x6969 }));
    const [warning, ...more] = [...warnings("nfs"), ...warnings("nfs")];
    expect(more).toEqual([]);
    expect(warning).toContain(join(folder, "nfs"));
    expect(warning).toMatch(/is on a network drive \(NFS\).*Keep it on a local disk/);
    onFileSystem(() => ({ type: 0xfe534d42 }));
    expect(warnings("smb")[0]).toContain("(SMB)");
  });

  it("on a local disk is not, nor where nobody can tell", () => {
    onFileSystem(() => ({ type: 0xef53 }));
    expect(warnings("local")).toEqual([]);
    onFileSystem(() => {
      throw new Error("no such call");
    });
    expect(warnings("unknown")).toEqual([]);
  });
});
