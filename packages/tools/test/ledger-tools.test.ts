// What tools say of what they did, beside what the model reads.

import { createHash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { Agent, emptyLedger, foldLedger, memoryJournal, renderLedger } from "@rondo/core";
import { call as callTool, say, scripted } from "@rondo/testkit";
import { fileTools, noteProgress, runCommand } from "@rondo/tools";
import { describe, expect, test } from "vitest";
import { call, folder } from "./calling.ts";

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

describe("the file tools", () => {
  test("name the file they read, with the hash of all of it, whatever part was asked for", async () => {
    const root = folder({ "src/a.txt": "one\ntwo\nthree\n" });
    symlinkSync(join(root, "src/a.txt"), join(root, "link"));
    const tools = fileTools({ root });
    const { ledger, text } = await call(tools, "read_file", { path: "src/a.txt", offset: 2, limit: 1 });
    expect(text).toMatch(/^two\n/);
    expect(ledger).toEqual([{ kind: "file_read", path: "src/a.txt", hash: sha256("one\ntwo\nthree\n") }]);
  });

  test("say nothing of a file that could not be read", async () => {
    const tools = fileTools({ root: folder({ "a.txt": "one\n" }) });
    expect((await call(tools, "read_file", { path: "b.txt" })).ledger).toEqual([]);
    expect((await call(tools, "read_file", { path: "a.txt", offset: 9 })).ledger).toEqual([]);
    expect((await call(tools, "edit_file", { path: "a.txt", oldText: "x", newText: "y" })).ledger).toEqual(
      [],
    );
  });

  test("name the file they wrote with the hash of what is in it now", async () => {
    const tools = fileTools({ root: folder({ "a.txt": "one\n" }) });
    expect((await call(tools, "write_file", { path: "n/b.txt", content: "new" })).ledger).toEqual([
      { kind: "file_written", path: "n/b.txt", hash: sha256("new") },
    ]);
    expect((await call(tools, "write_file", { path: "n/b.txt", content: "new" })).ledger).toEqual([
      { kind: "file_written", path: "n/b.txt", hash: sha256("new") },
    ]);
    expect(
      (await call(tools, "edit_file", { path: "a.txt", oldText: "one", newText: "two" })).ledger,
    ).toEqual([{ kind: "file_written", path: "a.txt", hash: sha256("two\n") }]);
  });
});

describe("run_command", () => {
  test("names the command and its exit code, and none when it was ended by force", async () => {
    const tool = runCommand({ root: folder(), sandbox: "off", permission: "allow" });
    expect((await call(tool, "run_command", { command: "exit 3" })).ledger).toEqual([
      { kind: "command", command: "exit 3", exitCode: 3 },
    ]);
    const killed = await call(tool, "run_command", { command: "kill -9 $$" });
    expect(killed.ledger).toEqual([{ kind: "command", command: "kill -9 $$", exitCode: null }]);
  });
});

describe("note_progress", () => {
  test("notes decisions, what is done, left and next, and says how much of each", async () => {
    const { ledger, text } = await call(noteProgress(), "note_progress", {
      decisions: ["keep v1: users depend on it"],
      done: ["parser", "lexer"],
      left: [],
      next: ["tests"],
    });
    expect(text).toBe("Noted: 1 decision, 2 items done, 0 items left, 1 next step");
    expect(ledger).toEqual([
      { kind: "decision", text: "keep v1: users depend on it" },
      { kind: "done", text: "parser" },
      { kind: "done", text: "lexer" },
      { kind: "left", text: "" },
      { kind: "next", text: "tests" },
    ]);
    const before = foldLedger(emptyLedger, [{ kind: "left", text: "lexer" }], 1);
    expect(renderLedger(foldLedger(before, ledger, 2))).not.toContain("Left to do");
  });

  test("says so when there is nothing to note", async () => {
    const { isError, text } = await call(noteProgress(), "note_progress", { done: [] });
    expect(isError).toBe(true);
    expect(text).toBe("Error: there is nothing to note: give decisions, done, left or next");
  });

  test("stands in the journal beside its result, and nowhere in what the model reads", async () => {
    const model = scripted([callTool("note_progress", { decisions: ["blue"] }), say("Done.")]);
    const journal = memoryJournal();
    const session = await new Agent({ model, tools: [noteProgress()] }).open("s", { journal });
    const { messages } = await session.send("go");
    const finished = [...journal.read("s")].find((record) => record.type === "tool_finished");
    expect(finished).toMatchObject({
      result: {
        content: [{ type: "text", text: "Noted: 1 decision" }],
        ledger: [{ kind: "decision", text: "blue" }],
      },
    });
    expect(messages.find((message) => message.role === "tool")?.content).toEqual([
      { type: "text", text: "Noted: 1 decision" },
    ]);
  });
});
