// Where runs are kept, by the option and the environment.

import { resolve } from "node:path";
import { expect, it } from "vitest";
import { Arguments } from "../src/line/arguments.ts";
import { journalPlace } from "../src/runs/journal-place.ts";

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
