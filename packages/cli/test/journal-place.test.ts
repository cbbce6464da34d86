// Where runs are kept, by the option and the environment.

import { resolve } from "node:path";
import { expect, it } from "vitest";
import { Arguments } from "../src/line/arguments.ts";
import { journalFlag, journalPlace } from "../src/runs/journal-place.ts";

const none = new Arguments([], new Map());

it("the environment names a journal, unless it names it with nothing or with blanks", () => {
  const env = { XDG_STATE_HOME: resolve("/state") };
  const usual = { file: resolve("/state/rondo/runs.db"), kind: "sqlite", named: "default" };
  for (const name of ["", " ", "\t\n"])
    expect(journalPlace(none, { ...env, RONDO_JOURNAL: name })).toEqual(usual);
  expect(journalPlace(none, { ...env, RONDO_JOURNAL: "jsonl:/runs" })).toEqual({
    file: resolve("/runs"),
    kind: "jsonl",
    named: "environment",
  });
});

it("names its journal as the shells of this system read it", () => {
  const flag = (file: string, platform: string): string =>
    journalFlag({ file, kind: "sqlite", named: "option" }, platform);
  expect(flag("/home/ann/runs.db", "linux")).toBe(" --journal /home/ann/runs.db");
  expect(flag("/home/ann's/runs of today.db", "darwin")).toBe(
    " --journal '/home/ann'\\''s/runs of today.db'",
  );
  expect(flag("C:\\Users\\ann\\runs.db", "win32")).toBe(" --journal C:\\Users\\ann\\runs.db");
  // cmd takes a single quote for a letter.
  expect(flag("C:\\Users\\ann o'neill\\runs.db", "win32")).toBe(
    ' --journal "C:\\Users\\ann o\'neill\\runs.db"',
  );
});
