// What a session learns of refused files, and what it leaves out because of it: the pure rooms, on states made by hand.

import { type FilePart, type Message, type Repair, repairOfFile, type State, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { refusedFilesOf } from "../../src/loop/folding/refused-files.ts";
import { Log } from "../../src/loop/log.ts";
import { countFiles } from "../../src/loop/request/omissions.ts";
import { shaped } from "../../src/loop/request.ts";
import { options, rules, stateOf } from "./support.ts";

const model = options().models[0]?.id ?? "";
const file = (data: string): FilePart => ({ type: "file", mediaType: "image/png", data });
const [one, two, three] = [file("AA=="), file("AB=="), file("AC==")];
const showing = (...files: FilePart[]): Message => ({ role: "user", content: files });
const seen: Message[] = [showing(one, two), userText("look"), showing(three)];
const history = (...messages: Message[]): Pick<State, "history"> => ({ history: Log.of(messages) });
const knowing = (files: FilePart[], of: string = model, dropped: Repair[] = []): Partial<State> => ({
  refusedFiles: new Map([[of, { files: new Set(files.map(repairOfFile)), dropped }]]),
});

describe("an answer to a request without some files", () => {
  const learnt = (dropped: Repair[], more: Partial<State> = {}): FilePart[] | undefined => {
    const { refusedFiles } = refusedFilesOf(stateOf({ dropped }, { ...history(...seen), ...more }));
    const files = refusedFiles?.get(model)?.files;
    return files && [one, two, three].filter((file) => files.has(repairOfFile(file)));
  };

  test("teaches which the model refuses: the one, the oldest, or all", () => {
    expect(learnt([repairOfFile(two)])).toStrictEqual([two]);
    expect(learnt(["files.last.1"])).toStrictEqual([one, two]);
    expect(learnt(["files"])).toStrictEqual([one, two, three]);
    expect(learnt(["reasoning", repairOfFile(three), "settings.seed"])).toStrictEqual([three]);
    expect(learnt([repairOfFile(three), "files.last.1"])).toStrictEqual([one, three]);
  });

  test("teaches nothing if no file was left out", () => {
    expect(refusedFilesOf(stateOf({ dropped: ["reasoning"] }, history(...seen)))).toStrictEqual({});
    expect(refusedFilesOf(stateOf({ dropped: [] }, history(...seen)))).toStrictEqual({});
  });

  test("adds to what was known, of which nothing is counted as sent", () => {
    expect(learnt([repairOfFile(two)], knowing([one]))).toStrictEqual([one, two]);
    expect(learnt(["files.last.1"], knowing([three]))).toStrictEqual([one, three]);
  });

  test("teaches nothing new if the run has left out nothing more since", () => {
    const dropped: Repair[] = ["files"];
    const more = { ...history(...seen), ...knowing([one], model, dropped) };
    expect(refusedFilesOf(stateOf({ dropped }, more))).toStrictEqual({});
    expect(learnt(["files"], knowing([one], model, dropped))).toStrictEqual([one, two, three]);
  });

  test("says nothing of other models", () => {
    const { refusedFiles } = refusedFilesOf(
      stateOf({ dropped: [repairOfFile(two)] }, { ...history(...seen), ...knowing([one], "other") }),
    );
    expect([...(refusedFiles ?? [])].map(([id, { files }]) => [id, [...files]])).toStrictEqual([
      ["other", [repairOfFile(one)]],
      [model, [repairOfFile(two)]],
    ]);
  });

  test("does not count a file that is also elsewhere, and was sent there", () => {
    const twice = history(showing(one), showing(two), showing(one));
    const { refusedFiles } = refusedFilesOf(stateOf({ dropped: ["files.last.1"] }, twice));
    expect([...(refusedFiles?.get(model)?.files ?? [])]).toStrictEqual([repairOfFile(two)]);
  });
});

describe("the requests of a session that knows of refused files", () => {
  const state = (more: Partial<State>, messages: Message[] = seen): ReturnType<typeof stateOf> =>
    stateOf({}, { ...history(...messages), ...more });

  test("are without them, and say so", () => {
    const { messages, by } = shaped(state(knowing([two])), rules);
    expect([...messages]).toStrictEqual([
      { role: "user", content: [one, { type: "text", text: "[image/png left out]" }] },
      seen[1],
      seen[2],
    ]);
    expect(by).toStrictEqual(["refused files left out"]);
    // Each message is copied once, and one that is whole is not copied at all.
    const again = shaped(state(knowing([two])), rules);
    expect([...again.messages][2]).toBe([...messages][2]);
  });

  test("are the history itself if it has none of them, or another model refused them", () => {
    for (const more of [knowing([file("AD==")]), knowing([one], "other")]) {
      const whole = state(more);
      const { messages, by } = shaped(whole, rules);
      expect(messages).toBe(whole.history);
      expect(by).toStrictEqual([]);
    }
  });

  test("count as files only those that are still sent", () => {
    expect(countFiles(state({}))).toBe(3);
    expect(countFiles(state(knowing([one, two])))).toBe(1);
    expect(countFiles(state(knowing([one])), (file) => file === one || file === two)).toBe(1);
    expect(countFiles(state(knowing([one], "other")))).toBe(3);
  });
});
