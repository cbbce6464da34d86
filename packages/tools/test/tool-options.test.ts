// Tools refuse what cannot be used of their options: a bound that is misspelt, or is no number, would be none.

import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import {
  calculate,
  classicTools,
  editFile,
  fileGuard,
  fileToolSet,
  fileTools,
  httpTools,
  listFiles,
  noteProgress,
  readFile,
  runCommand,
  searchFiles,
  writeFile,
} from "../src/index.ts";

const root = tmpdir();

/** What a tool says of options as somebody without types may write them. */
const saidOf = (makes: (options: never) => unknown, given: unknown): string => {
  try {
    makes(given as never);
  } catch (thrown) {
    expect(thrown).toMatchObject({ kind: "invalid_request", retryable: false });
    return (thrown as Error).message;
  }
  return "it was taken";
};

describe("the options of tools", () => {
  test.each([readFile, writeFile, editFile, listFiles, searchFiles, runCommand, fileTools])(
    "of %o name a root, which is a folder or what tools share of one",
    (makes) => {
      expect(saidOf(makes, {})).toContain(
        `${makes.name}: option root: the path of a folder, or a fileToolSet`,
      );
      expect(saidOf(makes, { root: 5 })).toContain("is needed, not 5");
      // Of a variable that is not set: the folder that the process happens to be in is not meant.
      expect(saidOf(makes, { root: "" })).toContain('is needed, not ""');
      expect(saidOf(makes, { root, colour: "red" })).toContain("option colour: there is no such option");
      expect(saidOf(makes, undefined)).toContain("options: an object is needed, not undefined");
      expect(saidOf(makes, { root })).toBe("it was taken");
      expect(saidOf(makes, { root: fileToolSet(root) })).toBe("it was taken");
    },
  );

  test.each<[(options: never) => unknown, Record<string, unknown>, string]>([
    [
      readFile,
      { maxLines: "2000" },
      'readFile: option maxLines: a whole number above 0 is needed, not "2000"',
    ],
    [readFile, { maxByte: 5 }, "readFile: option maxByte: there is no such option; did you mean maxBytes?"],
    [writeFile, { maxBytes: -1 }, "writeFile: option maxBytes: a number of at least 0 is needed, not -1"],
    [editFile, { writeGit: "no" }, 'editFile: option writeGit: true or false is needed, not "no"'],
    [listFiles, { maxEntries: 0 }, "listFiles: option maxEntries: a whole number above 0 is needed, not 0"],
    [searchFiles, { timeLimitMs: Number.NaN }, "searchFiles: option timeLimitMs: a number of at least 0"],
    [searchFiles, { permission: "maybe" }, "option permission: one of allow, ask, deny is needed"],
    [runCommand, { sandbox: true }, "runCommand: option sandbox: one of auto, require, off is needed"],
    [runCommand, { readable: "/opt" }, "runCommand: option readable: a list is needed"],
    [runCommand, { env: { KEY: 5 } }, "runCommand: option env.KEY: a text is needed, not 5"],
    [fileTools, { writePermission: "no" }, "fileTools: option writePermission: one of allow, ask, deny"],
    [fileTools, { read: { maxLines: 0 } }, "readFile: option maxLines: a whole number above 0 is needed"],
  ])("%o refuses %j", (makes, given, says) => {
    expect(saidOf(makes, { root, ...given })).toContain(says);
  });

  test("of commands say how long one may take, also where that is less than what is usual", () => {
    const timeOf = (given: { timeoutMs?: number; maxTimeoutMs?: number }): unknown =>
      runCommand({ root, ...given }).definition.inputSchema.properties;
    const time = (longest: number, usual: number) => ({
      timeoutMs: {
        maximum: longest,
        description: `Time limit in milliseconds. Default: ${usual}.`,
      },
    });
    expect(timeOf({})).toMatchObject(time(600_000, 120_000));
    expect(timeOf({ maxTimeoutMs: 30_000 })).toMatchObject(time(30_000, 30_000));
    expect(timeOf({ timeoutMs: 900_000 })).toMatchObject(time(900_000, 900_000));
    expect(timeOf({ timeoutMs: 5_000, maxTimeoutMs: 2_000 })).toMatchObject(time(5_000, 5_000));
  });

  test("of those without a root are looked at as well", () => {
    expect(saidOf(calculate, { permission: true })).toContain("calculate: option permission: one of");
    expect(saidOf(noteProgress, { keep: 5 })).toContain("noteProgress: option keep: there is no such option");
    expect(saidOf(httpTools, { permission: "maybe" })).toContain("httpTools: option permission: one of");
    expect(saidOf(fileGuard, { maxBytes: "5M" })).toContain("fileGuard: option maxBytes: a number");
    expect(saidOf((given) => classicTools(root, given), { maxEntries: 1.5 })).toContain(
      "classicTools: option maxEntries: a whole number above 0 is needed, not 1.5",
    );
    expect(saidOf((given) => classicTools(root, given), { command: { network: 1 } })).toContain(
      "option command.network: true or false is needed, not 1",
    );
    expect(saidOf(classicTools, undefined)).toContain(
      "the path of a folder, or a fileToolSet() of one, is needed",
    );
  });
});
