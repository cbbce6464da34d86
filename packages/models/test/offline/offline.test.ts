import {
  callsOf,
  type Message,
  type ModelEvent,
  type ModelRequest,
  RondoError,
  type ToolDefinition,
  textOf,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offline } from "../../src/index.ts";
import { numberOf } from "../../src/offline/lexicon.ts";

const definition = (name: string, ...properties: string[]): ToolDefinition => ({
  name,
  description: name,
  inputSchema: { type: "object", properties: Object.fromEntries(properties.map((one) => [one, {}])) },
});

const list = definition("list_files", "path", "recursive", "pattern", "includeIgnored");
const read = definition("read_file", "path", "offset", "limit");
const search = definition("search_files", "pattern", "path", "glob", "ignoreCase", "literal");
const tools = [list, read, search, definition("calculate", "expression")];

async function step(
  messages: Message[],
  more: Partial<ModelRequest> = {},
  signal = new AbortController().signal,
) {
  const events: ModelEvent[] = [];
  const answer = await offline().call(
    { messages, tools, toolChoice: "auto", settings: {}, ...more },
    { signal, emit: (event) => events.push(event) },
  );
  return { answer, events, calls: callsOf(answer), text: textOf(answer) };
}

/** Asks, answers every call with what `reply` says, and goes on to the text. */
async function run(
  task: string | Message[],
  reply: (name: string, args: Record<string, unknown>) => string | Error,
  more: Partial<ModelRequest> = {},
) {
  const messages: Message[] = typeof task === "string" ? [userText(task)] : [...task];
  const made: { name: string; args: Record<string, unknown> }[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const { answer, calls, text } = await step(messages, more);
    messages.push(answer);
    if (calls.length === 0) return { text, made, messages };
    for (const call of calls) {
      made.push({ name: call.name, args: call.args });
      const said = reply(call.name, call.args);
      messages.push({
        role: "tool",
        callId: call.id,
        name: call.name,
        content: [{ type: "text", text: said instanceof Error ? said.message : said }],
        isError: said instanceof Error,
      });
    }
  }
  throw new Error("no answer");
}

describe("the offline model", () => {
  it("is free, known by name, and says what it is", () => {
    const model = offline();
    expect(model.id).toBe("offline/planner");
    expect(model.origin).toEqual({ api: "offline", provider: "rondo", model: "planner" });
    expect(model.facts?.price).toEqual({ input: 0, output: 0 });
  });

  it("takes only numbers for numbers, not the names of inherited members", () => {
    const words = [
      "seven",
      "forty",
      "twenty-five",
      "1,200",
      "3.5",
      "constructor",
      "constructor-five",
      "ten-ten",
    ];
    expect(words.map(numberOf)).toEqual([7, 40, 25, 1200, 3.5, undefined, undefined, undefined]);
  });

  it.each([
    ["what licence does this project have?", { license: "MIT" }, "`license` is **MIT**"],
    ["what license does this project have?", { licence: "MIT" }, "`licence` is **MIT**"],
    ["what license does this project have?", { name: "garden" }, "says nothing about “license”"],
  ])(
    "finds a value however its key is spelled, and says if there is none: %s %j",
    async (task, data, said) => {
      const { text } = await run(task, () => JSON.stringify(data));
      expect(text).toContain(said);
    },
  );

  it("recognises a list of objects in JSON, whatever their members are called", async () => {
    const people = [{ toString: 1, valueOf: 1 }, "Ann"];
    const { text } = await run("what are the people in data.json?", () => JSON.stringify({ people }), {
      outputSchema: { type: "array", items: { type: "string" } },
    });
    expect(JSON.parse(text)).toEqual(['{"toString":1,"valueOf":1}', "Ann"]);
  });

  it("does not confuse keys without Latin letters", async () => {
    const told = (key: string) =>
      run(`what does data.json say about "${key}"?`, () => JSON.stringify({ 版本: 1, "*": 2 }));
    expect((await told("名前")).text).toContain("says nothing about “名前”");
    expect((await told("版本")).text).toContain("is **1**");
    expect((await told("@")).text).toContain("says nothing about “@”");
  });

  it("never cuts a quotation inside a character", async () => {
    const line = `${"x".repeat(159)}😀 foo_bar`;
    const { text } = await run("find foo_bar in src", () => `1 matching line in 1 file\nsrc/a.ts:1: ${line}`);
    expect(text).toContain(`${"x".repeat(159)}…`);
    expect(text.isWellFormed()).toBe(true);
  });

  it("counts the methods of a class, but no branches, fast at any depth of its lines", async () => {
    const lines = [
      "class A {",
      "    public static void main(String[] args) {",
      "        if (args.length > 0) {",
      "        while (true) {",
      "    List<String> names(int most) throws Exception {",
      `${" ".repeat(2000)}x;`,
    ];
    const { text } = await run(
      "how many functions are in A.java?",
      () => `${lines.join("\n")}\n[6 lines, 2200 bytes, the whole file]`,
    );
    expect(text).toContain("**2 functions**");
    expect(text).toContain("function `main`, line 2");
    expect(text).toContain("function `names`, line 5");
  });

  it("reads a long text that is no task fast", async () => {
    const prose = Array.from({ length: 3000 }, (_, at) => `Then the quick fox ${at} jumps over a dog`);
    await step([userText(prose.join(". "))]);
    for (const sign of ["!", "(", '"', "1"]) await step([userText(sign.repeat(200_000))]);
  });

  it("refuses an invalid option", () => {
    expect(() => offline({ maxCalls: Number.NaN })).toThrow(/maxCalls/);
    expect(() => offline({ maxCals: 3 } as never)).toThrow(/maxCals/);
  });

  it("streams its answer in pieces that join to the whole, and leaves the unknown usage out", async () => {
    const { answer, events, text } = await step([userText("hello")]);
    const deltas = events.filter((event) => event.type === "text_delta");
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.map((event) => event.text).join("")).toBe(text);
    expect(answer.usage).toBeUndefined();
    expect(answer.stop.kind).toBe("end_turn");
    expect(text).toContain("not a language model");
  });

  it("gives the same answer to the same request", async () => {
    const first = await step([userText("how many .ts files are in src, and list docs")]);
    const second = await step([userText("how many .ts files are in src, and list docs")]);
    expect(second).toEqual(first);
    expect(first.calls).toHaveLength(2);
    expect(new Set(first.calls.map((call) => call.id)).size).toBe(2);
    expect(first.answer.stop.kind).toBe("tool_use");
  });

  it("makes one call a message where parallel calls are off", async () => {
    const { calls } = await step([userText("how many .ts files are in src, and list docs")], {
      settings: { parallelToolCalls: false },
    });
    expect(calls).toHaveLength(1);
  });

  it("rejects an aborted call, before it starts and in the middle of its text", async () => {
    const gone = AbortSignal.abort("enough");
    await expect(step([userText("hello")], {}, gone)).rejects.toMatchObject({ kind: "aborted" });
    const stop = new AbortController();
    let said = 0;
    const call = offline().call(
      { messages: [userText("hello")], tools, toolChoice: "auto", settings: {} },
      { signal: stop.signal, emit: () => ++said === 3 && stop.abort() },
    );
    const thrown: unknown = await call.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(RondoError);
    expect((thrown as RondoError).kind).toBe("aborted");
    expect((thrown as RondoError).partial?.content[0]).toMatchObject({ type: "text" });
    expect(said).toBe(3);
  });

  it("warns of settings that it ignores", async () => {
    const { events } = await step([userText("hello")], { settings: { temperature: 0 } });
    expect(events[0]).toMatchObject({ type: "warning", code: "unsupported_setting" });
    const thinking = await step([userText("hello")], { settings: { reasoning: "low" } });
    expect(thinking.events[0]).toMatchObject({
      type: "warning",
      message: expect.stringMatching(/ignores reasoning$/),
    });
    const off = await step([userText("hello")], { settings: { reasoning: "off", seed: 7 } });
    expect(off.events[0]).not.toMatchObject({ type: "warning" });
  });
});

describe("results", () => {
  it("uses the tool's total if the list is cut", async () => {
    const { text } = await run(
      "how many .ts files are in src?",
      () => "4,321 files, 0 folders in src and below\nsrc/a.ts\nsrc/b.ts\n[the first 2 entries of 4,321]",
    );
    expect(text).toContain("**4321**");
  });

  const cut = (shown: string): string => `4,321 files, 100 folders\n${shown}\n[the first 2 entries of 4,421]`;
  const src = "3 files, 2 folders\nsrc/a/\nsrc/b/\nsrc/c.ts\nsrc/d.md\nsrc/e.ts";

  it.each([
    ["how many items are in src?", "**5 entries** directly in it: 3 files and 2 folders"],
    ["how many files are directly in src?", "**3** files directly in it (4321 counting subfolders)"],
    ["how many .ts files are directly in src?", "**2** `.ts` files directly in it"],
    ["how many folders are in src?", "**2 folders** (100 counting nested ones)"],
    ["how many folders are in src, recursively?", "**100 folders** (2 directly in it)"],
    ["how many files are in src?", "**4321** files, counting its subfolders"],
    ["how many config files are in src?", "At least 1 file with “config” in the name"],
    ["how many test files are in src?", "At least 0 test files"],
    ["list the config files in src", "at least **1** file with “config” in the name"],
    ["list the test files in src", "I see no test files in `src`. The listing was cut"],
  ])("counts nothing in a cut list as if it were complete: %s", async (task, said) => {
    const { text } = await run(task, (_, { recursive }) =>
      recursive === true ? cut("src/a/\nsrc/config.ts") : src,
    );
    expect(text).toContain(said);
  });

  it("says what it knows with the subfolders of a folder that cannot be listed alone", async () => {
    const answers = await Promise.all(
      [
        "how many items are in src?",
        "how many files are directly in src?",
        "how many folders are in src?",
      ].map((task) =>
        run(task, (_, { recursive }) =>
          recursive === true ? cut("src/a/\nsrc/config.ts") : new Error("Error: too busy"),
        ),
      ),
    );
    expect(answers.map(({ text }) => text.split("\n")[0])).toEqual([
      "`src` has **4421 entries**, counting its subfolders: 4321 files and 100 folders.",
      "`src` has **4321** files, counting its subfolders.",
      "`src` has **100 folders**, counting nested ones.",
    ]);
  });

  it("compares two folders by what it saw of them, and says if that is not all", async () => {
    const { text } = await run("compare src and lib", (_, { path }) =>
      path === "src" ? cut("src/a.ts\nsrc/b.ts") : "2 files, 0 folders\nlib/a.ts\nlib/c.ts",
    );
    expect(text).toContain("1 name in both that I saw");
    expect(text).toContain("Only in `lib`, as far as I saw:\n\n- `c.ts`");
    expect(text).toContain("The listing was cut");
  });

  it("reads totals at the end, and paths relative to the folder too", async () => {
    const { text } = await run(
      "how many .ts files are in src?",
      () => "a.ts\nlib/\nlib/b.ts\n2 files, 1 folder",
    );
    expect(text).toContain("**2** `.ts` files");
    expect(text).toContain("1 directly in it");
  });

  it("counts lines if the tool gives no total", async () => {
    expect(
      (await run("how many .ts files are in src?", () => "src/a.ts\nsrc/b.ts\nsrc/c.ts")).text,
    ).toContain("**3**");
  });

  it("takes only notes for notes, not names or found lines", async () => {
    const listed = await run("list files", () => "2 files, 0 folders\na.ts\nempty.ts");
    expect(listed.text).toContain("- `empty.ts`");
    const nothing = await run("list files", () => "(empty)");
    expect(nothing.text).toContain("no files");
    const found = await run(
      "where is truncated used in src?",
      () =>
        "2 matching lines in 2 files\nsrc/a.ts:1: if (truncated) go();\nsrc/truncated.ts:7: f(truncated);",
    );
    expect(found.text).toContain("2 lines in 2 files");
    expect(found.text).toContain("`src/truncated.ts:7`");
  });

  it("shows a tool's error in its answer", async () => {
    const { text } = await run("read notes.txt", () => new Error("Error: Permission denied: notes.txt"));
    expect(text).toContain("Permission denied");
  });

  it("suggests similar paths for one that does not exist", async () => {
    const { text } = await run("how many lines does src/mian.ts have?", (name) =>
      name === "list_files"
        ? "2 files, 1 folder\nsrc/\nsrc/main.ts\nsrc/other.ts"
        : new Error("Error: File not found: src/mian.ts"),
    );
    expect(text).toContain("no `src/mian.ts`");
    expect(text).toContain("`src/main.ts`");
  });

  it("suggests a file that cannot be read only for itself", async () => {
    const { text } = await run("show the file locked.txt", (name) =>
      name === "list_files" ? "a.txt\nlocked.txt" : new Error("Permission denied: locked.txt"),
    );
    expect(text).toContain("`locked.txt` could not be read: Permission denied: locked.txt.");
    expect(text).not.toContain("Near it");
  });

  it("reads the next pages of a file that comes in parts", async () => {
    const { text, made } = await run("how many words are in big.txt?", (_, args) =>
      args.offset === undefined
        ? `${"one two\n".repeat(3)}[lines 1 to 3 of 5 lines, 40 bytes; it goes on at offset 4]`
        : `${"three four five\n".repeat(2)}[lines 4 to 5 of 5 lines, 40 bytes]`,
    );
    expect(made.map((one) => one.args.offset)).toEqual([undefined, 4]);
    expect(text).toContain("**12 words**");
  });

  it("says so if a tool that it needs is missing", async () => {
    const { text } = await run("what is 2+2?", () => "", { tools: [read] });
    expect(text).toContain("no tool for arithmetic");
    const none = await run("list docs", () => "", { tools: [definition("launch_rocket", "speed")] });
    expect(none.text).toMatch(/no tool/i);
    expect(none.made).toEqual([]);
  });

  it("sends only arguments that the tool declares, under the tool's names", async () => {
    const { calls } = await step([userText("read a.txt")], { tools: [definition("read_file", "file_path")] });
    expect(calls[0]?.args).toEqual({ file_path: "a.txt" });
  });

  it("stays within its limit of calls and says what it did not see", async () => {
    const files = Array.from({ length: 200 }, (_, at) => `src/f${at}.ts`);
    const { text, made } = await run("what is the longest file in src?", (name, args) =>
      name === "list_files"
        ? `200 files, 0 folders\n${files.join("\n")}`
        : `x\n[lines 1 to 1 of ${String(args.path).length} lines, 9 bytes]`,
    );
    expect(made.length).toBeLessThanOrEqual(26);
    expect(text).toContain("of the 200 files");
  });
});

describe("the conversation", () => {
  it("lands with a text if tools are switched off, with what is known and what is not", async () => {
    const { messages } = await run(
      "how many .ts files are in src?",
      () => "3 files, 0 folders\nsrc/a.ts\nsrc/b.ts\nsrc/c.ts",
    );
    const midway = messages.slice(0, 3);
    const known = await step(
      [
        ...midway,
        userText(
          "The run has reached a limit (max_steps) and no more tools can be used. Give the best answer you can.",
        ),
      ],
      { toolChoice: "none" },
    );
    expect(known.calls).toEqual([]);
    expect(known.text).toContain("**3**");
    const unknown = await step([userText("list docs")], { toolChoice: "none" });
    expect(unknown.text).toMatch(/left undone/);
  });

  it("lets a message during the task replace it, or add to it", async () => {
    const first = await step([userText("list docs")]);
    const middle: Message[] = [
      userText("list docs"),
      first.answer,
      {
        role: "tool",
        callId: first.calls[0]?.id ?? "",
        name: "list_files",
        content: [{ type: "text", text: "1 file, 0 folders\ndocs/a.md" }],
        isError: false,
      },
    ];
    const over = await step([...middle, userText("no, read LICENSE instead")]);
    expect(over.calls.map((call) => call.name)).toEqual(["read_file"]);
    const joined = await step([...middle, userText("also read LICENSE")]);
    expect(joined.calls.map((call) => call.name)).toEqual(["read_file"]);
    const both = await run(
      [...middle, userText("also read LICENSE")],
      () => "MIT\n[1 line, 4 bytes, the whole file]",
    );
    expect(both.text).toContain("docs");
    expect(both.text).toContain("MIT");
  });

  it("does not take an order that contains the loop's words for a note of the loop's", async () => {
    const first = await run("how many files are in src?", () => "1 file, 0 folders\nsrc/a.ts");
    const order = userText('find "final answer" in docs');
    const { text } = await run(
      [...first.messages, order],
      () => "1 matching line in 1 file\ndocs/a.md:3: the final answer",
    );
    expect(text).toContain("`docs/a.md:3`");
  });

  it("looks again if the same question is asked again", async () => {
    const first = await run("how many files are in src?", () => "1 file, 0 folders\nsrc/a.ts");
    const second = await run(
      [...first.messages, userText("how many files are in src?")],
      () => "2 files, 0 folders\nsrc/a.ts\nsrc/b.ts",
    );
    expect(second.made).toHaveLength(1);
    expect(second.text).toContain("**2**");
  });

  it("repeats calls that the loop skipped, but only once", async () => {
    const { made } = await run(
      "list docs",
      () => new Error("list_files was skipped: a new message from the user came first."),
    );
    expect(made.filter((one) => JSON.stringify(one) === JSON.stringify(made[0]))).toHaveLength(2);
  });

  it("works at the end of a long history", async () => {
    const past: Message[] = Array.from({ length: 5000 }, (_, at) =>
      at % 2 === 0
        ? userText(`what is ${at}+1?`)
        : {
            role: "assistant",
            content: [{ type: "text", text: "done" }],
            origin: { api: "x", provider: "y", model: "z" },
            stop: { kind: "end_turn", wire: "end_turn" },
          },
    );
    const { calls } = await step([...past, userText("list docs")]);
    expect(calls[0]?.args).toMatchObject({ path: "docs" });
  });
});

describe("typed answers", () => {
  const schema = (
    properties: Record<string, { type: string; items?: { type: string } }>,
    required = Object.keys(properties),
  ) => ({ type: "object", properties, required });
  const three = (): string => "3 files, 0 folders\nsrc/a.ts\nsrc/b.ts\nsrc/c.ts";

  it("fills a simple schema with what was found", async () => {
    const { text } = await run("how many .ts files are in src?", three, {
      outputSchema: schema({
        count: { type: "integer" },
        answer: { type: "string" },
        files: { type: "array", items: { type: "string" } },
      }),
    });
    expect(JSON.parse(text)).toMatchObject({ count: 3, files: ["src/a.ts", "src/b.ts", "src/c.ts"] });
  });

  it("gives the answer as JSON if the loop requests it after the text", async () => {
    const first = await run("how many .ts files are in src?", three);
    const note = userText("Please provide your final response in the required JSON format.");
    const { text, calls } = await step([...first.messages, note], {
      outputSchema: schema({ count: { type: "integer" } }),
      toolChoice: "none",
    });
    expect(calls).toEqual([]);
    expect(JSON.parse(text)).toEqual({ count: 3 });
  });

  it("fails with a clear text if it cannot", async () => {
    await expect(
      run("how many .ts files are in src?", three, { outputSchema: schema({ when: { type: "boolean" } }) }),
    ).rejects.toMatchObject({ kind: "capability" });
    await expect(
      run("write a poem", three, { outputSchema: schema({ poem: { type: "string" } }) }),
    ).rejects.toMatchObject({ kind: "capability" });
  });
});

it("answers any text with calls or text, and within its limit", async () => {
  const words = fc.constantFrom(
    "how",
    "many",
    "files",
    "in",
    "src",
    "the",
    "`a.ts`",
    "and",
    "which",
    "is",
    "longer",
    "count",
    "'x y'",
    "*.ts",
    "where",
    "defined",
    "first",
    "3",
    "lines",
    "of",
    "?",
    ",",
    "than",
    "(",
    "..",
    "/",
    "word",
    "named",
    "replace",
    "with",
    "about",
    "it",
    "12*(3",
    "%",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 14 }).map((list_) => list_.join(" ")),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const { made, text: answer } = await run(text, (name) =>
        name === "list_files"
          ? "2 files, 1 folder\nsrc/\nsrc/a.ts\nb.md"
          : name === "read_file"
            ? "x\n[1 line, 2 bytes, the whole file]"
            : new Error("Error: no"),
      );
      expect(made.length).toBeLessThanOrEqual(26);
      expect(answer).toContain("not a language model");
      const keys = made.map((one) => one.name + JSON.stringify(one.args));
      expect(new Set(keys).size).toBe(keys.length);
    }),
    { numRuns: 300 },
  );
});
