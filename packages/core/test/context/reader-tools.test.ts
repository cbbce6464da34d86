// What was cut can be read: two tools that appear when they are needed, page by page, line by line, match by match.

import {
  Agent,
  type AgentOptions,
  type BlobStore,
  blobRef,
  type Hooks,
  memoryBlobs,
  memoryJournal,
  type RondoEvent,
  readLine,
  readLines,
  replay,
  resolve,
  searchLines,
  type Tool,
  type ToolMessage,
  textOf,
  tool,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { deferred, echo } from "../support.ts";

const cap = { bytes: 100 };
const kept = (text: string, ref = "out_1") => ({ text, ref, readTool: "read_output" });
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const numberedLines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");

/** What the reader tools answer about a text that was cut, call by call. */
async function asked(
  whole: string,
  questions: readonly [name: string, args: Record<string, never> | object][],
  options: Partial<AgentOptions> = {},
): Promise<ToolMessage[]> {
  const ref = blobRef(whole);
  const turns = questions.map(([name, args]) => call(name, { ref_id: ref, ...args }));
  const model = scripted([call("big"), ...turns, say("done")]);
  const tools = [echo("big", { execute: () => whole })];
  const { messages, end } = await new Agent({ model, tools, context: { cap }, ...options }).run("go");
  expect(end?.reason).toBe("completed");
  return messages.filter((message): message is ToolMessage => message.role === "tool").slice(1);
}

describe("the reader tools", () => {
  test("D9.49 are declared from the first cut on; a run that cuts nothing never has them", async () => {
    const model = scripted([call("small"), call("big"), say("done"), say("again")]);
    const tools = [echo("small"), echo("big", { execute: () => numberedLines(100) })];
    const session = await new Agent({ model, tools, context: { cap } }).open("s");
    const events: RondoEvent[] = [];
    session.subscribe((event) => events.push(event));
    await session.send("go");
    await session.send("go on");
    const names = model.requests.map((request) => request.tools.map(({ name }) => name));
    const own = ["small", "big"];
    expect(names).toEqual([
      own,
      own,
      [...own, "read_output", "search_output"],
      [...own, "read_output", "search_output"],
    ]);
    const broke = events.flatMap((event) => (event.type === "request" ? [event.broke] : []));
    expect(broke).toEqual([undefined, undefined, "system or tools", undefined]);
  });

  test("D9.49 have the given names, only read, and their own results are never cut", async () => {
    const whole = numberedLines(200);
    const readers = { read: "tool_output_cache", search: "tool_output_cache_grep" };
    const [read, found] = await asked(
      whole,
      [
        ["tool_output_cache", { offset: 10 }],
        ["tool_output_cache_grep", { pattern: "line 1" }],
      ],
      { context: { cap: { ...cap, readers } } },
    );
    expect(bytesOf(textOf(read as ToolMessage))).toBeGreaterThan(1_000);
    expect(textOf(read as ToolMessage)).toMatch(/^ {3}11 {2}line 11\n[\s\S]*\n {2}200 {2}line 200$/);
    expect(textOf(found as ToolMessage)).toContain(`ref:${blobRef(whole)}\n    1  line 1\n\nref:`);
    const { options } = resolve({ model: scripted([]), tools: [echo("big")], context: { cap: { readers } } });
    expect(
      options.tools.slice(1).map(({ definition, effect, when }) => [definition.name, effect, when]),
    ).toEqual([
      ["tool_output_cache", "read", "capped"],
      ["tool_output_cache_grep", "read", "capped"],
    ]);
  });

  test("D9.49 treat any character of a ref except letters, digits, _ and - as _", async () => {
    const whole = numberedLines(100);
    const [known, mangled, unknown] = await asked(whole, [
      ["read_output", { ref_id: ` ${blobRef(whole)} `, limit: 1 }],
      ["read_output", { ref_id: "../../etc/passwd" }],
      ["search_output", { ref_id: "out_nothing", pattern: "x" }],
    ]);
    expect(textOf(known as ToolMessage)).toMatch(/^ {4}1 {2}line 1\n\n/);
    for (const message of [mangled, unknown]) {
      expect(message?.isError).toBe(true);
      expect(textOf(message as ToolMessage)).toMatch(/^Error: no output is kept under the ref "/);
    }
    expect(readLine(kept("a", "a_b-c"), { line: 1 })).toMatch(/^ref_id=a_b-c\n/);
  });

  test("do not exist without a cap, a store, readers or tools; a user's tool with that name stays", () => {
    const names = (options: Partial<AgentOptions>): string[] =>
      resolve({ model: scripted([]), tools: [echo("big")], ...options }).options.tools.map(
        ({ definition }) => definition.name,
      );
    expect(names({})).toEqual(["big", "read_output", "search_output"]);
    expect(names({ context: { cap: null } })).toEqual(["big"]);
    expect(names({ context: { cap: { readers: null } } })).toEqual(["big"]);
    expect(names({ blobs: null })).toEqual(["big"]);
    expect(names({ tools: [] })).toEqual([]);
    const mine: Tool = echo("read_output");
    expect(resolve({ model: scripted([]), tools: [mine] }).tools.get("read_output")?.definition).toBe(
      mine.definition,
    );
  });

  test("are not offered if the full text could not be stored, nor if the prepareStep hook chose other tools", async () => {
    const tools = [echo("big", { execute: () => numberedLines(100) })];
    const namesSent = async (options: Partial<AgentOptions>): Promise<string[] | undefined> => {
      const model = scripted([call("big"), say("done")]);
      await new Agent({ model, tools, context: { cap }, ...options }).run("go");
      return model.requests[1]?.tools.map(({ name }) => name);
    };
    const full = {
      put: () => ({ ok: false as const, reason: "full" }),
      get: () => undefined,
      delete: () => {},
    };
    expect(await namesSent({ blobs: full })).toEqual(["big"]);
    const hooks: Hooks = { prepareStep: () => ({ tools: ["big"] }) };
    expect(await namesSent({ hooks })).toEqual(["big"]);
  });

  test("do not exist for a model that calls one before it is offered", async () => {
    const model = scripted([call("read_output", { ref_id: "out_1" }), say("done")]);
    const { messages } = await new Agent({ model, tools: [echo("small")] }).run("go");
    expect(textOf(messages[2] as ToolMessage)).toBe(
      'Error: unknown tool "read_output". Available tools: small.',
    );
  });

  test("are offered again after a resume, replay makes the same requests, and a fork reads its own copy", async () => {
    const whole = numberedLines(100);
    const journal = memoryJournal();
    const tools = [echo("big", { execute: () => whole })];
    const agent = (...turns: Parameters<typeof scripted>[0] & unknown[]) => {
      const model = scripted(turns);
      return { model, agent: new Agent({ model, tools, journal, context: { cap } }) };
    };
    const first = await agent(call("big"), say("cut")).agent.open("s");
    await first.send("go");
    await first.fork("t");
    void journal.blobs.delete("s");
    for (const [id, answer] of [
      ["s", /^Error: no output is kept/],
      ["t", /^ {4}3 {2}line 3\n/],
    ] as const) {
      const later = agent(call("read_output", { ref_id: blobRef(whole), offset: 2, limit: 1 }), say("read"));
      const session = await later.agent.open(id);
      const { messages } = await session.send("read");
      expect(later.model.requests[0]?.tools.map(({ name }) => name)).toContain("read_output");
      expect(textOf(messages.at(-2) as ToolMessage)).toMatch(answer);
      const { rules } = resolve({ model: later.model, tools, context: { cap } });
      const { requests, firstDifference } = replay(journal.read(id), rules);
      expect(requests).toHaveLength(4);
      expect(firstDifference).toBeUndefined();
    }
  });

  test("lack only the text that could not be copied into a fork, and the logger gets a warning", async () => {
    const wholes = [numberedLines(100), numberedLines(200)];
    const [lost = "", read = ""] = wholes.map(blobRef);
    const good = memoryBlobs();
    const blobs: BlobStore = {
      ...good,
      get: (session, ref) => {
        if (session === "s" && ref === lost) throw new Error(`the text ${ref} is damaged`);
        return good.get(session, ref);
      },
    };
    const warn = vi.fn();
    const logger = { debug() {}, info() {}, warn, error() {} };
    const model = scripted([
      [call("big"), call("big")],
      say("cut"),
      [call("read_output", { ref_id: lost }), call("read_output", { ref_id: read, offset: 199 })],
      say("read"),
    ]);
    let at = 0;
    const tools = [echo("big", { execute: () => wholes[at++ % 2] ?? "" })];
    const agent = new Agent({ model, tools, journal: memoryJournal(), blobs, logger, context: { cap } });
    const session = await agent.open("s");
    await session.send("go");
    warn.mockClear();
    await agent.fork("s", "u");
    const fork = await session.fork("t");
    expect(warn.mock.calls).toEqual(
      ["u", "t"].map((id) => [
        `the fork ${id} lacks what session s kept as ${lost}: the text ${lost} is damaged`,
        { code: "blob_store" },
      ]),
    );
    void blobs.delete("s");
    await agent.fork("s", "v");
    expect(warn.mock.calls.slice(2).map(([message]) => message)).toEqual([
      `the fork v lacks what session s kept as ${lost}: the text ${lost} is damaged`,
      `the fork v lacks what session s kept as ${read}: it is no longer stored`,
    ]);
    const { messages } = await fork.send("read");
    expect(messages.slice(-3, -1).map((one) => textOf(one as ToolMessage))).toEqual([
      `Error: no output is kept under the ref ${JSON.stringify(lost)}.`,
      "  200  line 200",
    ]);
  });

  test("can read in a fork the full text that reconcile found out for an interrupted call, even if that call has no result yet", async () => {
    const whole = numberedLines(100);
    const journal = memoryJournal();
    const begun = deferred();
    const write = (execute: () => unknown): Tool =>
      tool({
        name: "write",
        description: "write",
        inputSchema: { type: "object", properties: {} },
        execute,
        reconcile: () => ({ done: whole }),
      });
    const given = { journal, blobs: memoryBlobs(), context: { cap } };
    const dies = new Agent({
      ...given,
      model: scripted([call("write")]),
      tools: [
        write(() => {
          begun.resolve();
          return new Promise(() => {});
        }),
      ],
    });
    const first = await dies.open("s");
    // When its call is given up, two minutes later, it finds that another wrote: nobody is left to hear of that.
    first.send("go").catch(() => {});
    await begun.promise;
    const agent = new Agent({ ...given, model: scripted([say("done")]), tools: [write(() => "again")] });
    await (await agent.open("s")).resume();
    const found = journal.read("s").findIndex(({ type }) => type === "reconciled");
    await agent.fork("s", "t", { seq: found + 1 });
    expect(await given.blobs.get("t", blobRef(whole))).toBe(whole);
  });

  test("search all outputs even if one cannot be read, and report that one", async () => {
    const wholes = [numberedLines(100), numberedLines(200)];
    const good = memoryBlobs();
    const blobs: BlobStore = {
      ...good,
      get: (session, ref) => {
        if (ref === blobRef(wholes[0] ?? "")) throw new Error(`the text ${ref} is damaged`);
        return good.get(session, ref);
      },
    };
    let at = 0;
    const tools = [echo("big", { execute: () => wholes[at++ % 2] ?? "" })];
    const model = scripted([
      [call("big"), call("big")],
      call("search_output", { pattern: "line 150" }),
      call("search_output", { pattern: "line 300" }),
      say("done"),
    ]);
    const { messages } = await new Agent({ model, tools, blobs, context: { cap } }).run("go");
    const [, , found, none] = messages.filter((one): one is ToolMessage => one.role === "tool");
    const lost = `(One output could not be searched: the text ${blobRef(wholes[0] ?? "")} is damaged)`;
    expect(textOf(found as ToolMessage)).toBe(`ref:${blobRef(wholes[1] ?? "")}\n  150  line 150\n\n${lost}`);
    expect(textOf(none as ToolMessage)).toBe(`No matches for: line 300\n\n${lost}`);
  });

  test("a fork that can store nothing of its own fails, and can be made again", async () => {
    const good = memoryBlobs();
    let full = true;
    const blobs: BlobStore = {
      ...good,
      put: (session, text, origin) => {
        if (session === "t" && full) throw new Error("the disk is full");
        return good.put(session, text, origin);
      },
    };
    const model = scripted([call("big"), say("cut")]);
    const tools = [echo("big", { execute: () => numberedLines(100) })];
    const agent = new Agent({ model, tools, journal: memoryJournal(), blobs, context: { cap } });
    const session = await agent.open("s");
    await session.send("go");
    await expect(session.fork("t")).rejects.toThrow("the disk is full");
    full = false;
    expect((await session.fork("t")).messages).toEqual(session.messages);
  });

  test("F190: a model reads a large file to its end, page by page, and is never refused", async () => {
    const whole = numberedLines(20_000);
    const ref = blobRef(whole);
    const read: string[] = [];
    const model = scripted(({ messages }, at) => {
      if (at === 1) return call("big");
      const answer = textOf(messages.at(-1) as ToolMessage);
      const [rows = ""] = answer.split("\n\n");
      if (at > 2) read.push(...rows.split("\n").map((row) => row.slice(7)));
      const [, line = "0"] = /Use offset to read beyond line (\d+)/.exec(answer) ?? [];
      if (at > 2 && line === "0") return say("read");
      return call("read_output", { ref_id: ref, offset: Number(line) });
    });
    const tools = [echo("big", { execute: () => whole })];
    const { end } = await new Agent({ model, tools }).run("read it all");
    expect(end?.reason).toBe("completed");
    expect(read.join("\n")).toBe(whole);
  });

  test("any tool can read full texts through its context", async () => {
    const whole = numberedLines(100);
    const seen: unknown[] = [];
    const model = scripted([call("big"), call("count"), say("done")]);
    const counting = echo("count", {
      execute: async (_args, { output }) => {
        seen.push((await output?.(blobRef(whole)))?.length, await output?.("out_none"));
        return "counted";
      },
    });
    const tools = [echo("big", { execute: () => whole }), counting];
    await new Agent({ model, tools, context: { cap } }).run("go");
    expect(seen).toEqual([whole.length, undefined]);
  });
});

describe("pages", () => {
  test("D9.49 have lines with five-digit numbers, from an offset of 0 on, at most so many, and say how to continue", () => {
    const page = kept(numberedLines(5));
    expect(readLines(page)).toBe("    1  line 1\n    2  line 2\n    3  line 3\n    4  line 4\n    5  line 5");
    expect(readLines(page, { offset: 1, limit: 2 })).toBe(
      "    2  line 2\n    3  line 3\n\nOutput has more lines. Use offset to read beyond line 3.",
    );
    expect(readLines(page, { offset: 4 })).toBe("    5  line 5");
    expect(readLines(page, { offset: 5 })).toBe("Offset exceeds output length.");
    expect(readLines(kept(numberedLines(123_456)), { offset: 123_455 })).toBe("123456  line 123456");
    expect(readLines(kept("a\r\nb"))).toBe("    1  a\n    2  b");
  });

  test("D9.49 clip a line at 1,000 graphemes and name the clipped lines, or say that there are many", () => {
    const long = "é".normalize("NFD").repeat(1_001);
    const [row, named, hint] = readLines(kept(`short\n${long}\n${"x".repeat(1_000)}`)).split("\n\n");
    expect(row).toBe(`    1  short\n    2  ${long.slice(0, 2_000)}...\n    3  ${"x".repeat(1_000)}`);
    expect(named).toBe("[truncated lines: 2]");
    expect(hint).toBe(
      'For full long-line content, use read_output({"ref_id":"out_1","line_number":2,"char_offset":0,"char_limit":10000}).',
    );
    expect(readLines(kept(`${long}\n${long}\na\n${long}`))).toContain("\n\n[truncated lines: 1, 2, 4]\n\n");
    expect(readLines(kept(`${long}\n${long}\n${long}\n${long}`))).toContain(
      "\n\n[truncated lines: many]\n\n",
    );
    expect(readLines(kept("abcdef"), { maxLineLength: 3 })).toMatch(/^ {4}1 {2}abc\.\.\.\n/);
  });

  test("D9.49 have at most 64 KiB", () => {
    const page = readLines(kept("ü".repeat(100).concat("\n").repeat(1_000)));
    // 208 bytes a row with its line end: 315 rows.
    const [rows, note] = page.split("\n\n");
    expect(rows?.split("\n")).toHaveLength(315);
    expect(bytesOf(rows ?? "")).toBeLessThanOrEqual(65_536);
    expect(note).toBe("[output truncated at 65536 bytes] Use offset to read beyond line 315.");
    // One line alone that is too much: as much of it as there is room for.
    const family = `a${"\u0301".repeat(100)}`.repeat(999);
    const [row = "", more, clipped] = readLines(kept(`${family}\nnext`)).split("\n\n");
    expect(bytesOf(row)).toBeLessThanOrEqual(65_536);
    expect(row.endsWith("...")).toBe(true);
    expect(more).toBe("[output truncated at 65536 bytes] Use offset to read beyond line 1.");
    expect(clipped).toBe("[truncated lines: 1]");
  });

  test("page after page gives every line, for any text", () => {
    const text = fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (given, limit) => {
        const lines = given.map((line) => line.replaceAll(/[\r\n]/g, " "));
        const read: string[] = [];
        for (let offset = 0; offset < lines.length; offset += limit) {
          const count = Math.min(limit, lines.length - offset);
          const rows = readLines(kept(lines.join("\n")), { offset, limit })
            .split("\n")
            .slice(0, count);
          read.push(...rows.map((row) => row.slice(7)));
        }
        expect(read).toEqual(lines);
      }),
    );
  });
});

describe("a part of a line", () => {
  test("D9.49 has 10,000 graphemes by default, at most 100,000, and says where it is and how to continue", () => {
    const line = kept(`first\n${"x".repeat(250_000)}`);
    expect(readLine(line, { line: 2 })).toBe(
      [
        "ref_id=out_1",
        "line_number=2",
        "line_length=250000",
        "char_range=0..9999",
        "x".repeat(10_000),
        "",
        "Use char_offset=10000 to continue.",
        'read_output({"ref_id":"out_1","line_number":2,"char_offset":10000,"char_limit":10000})',
      ].join("\n"),
    );
    expect(readLine(line, { line: 2, limit: 999_999 })).toContain("\nchar_range=0..99999\n");
    expect(readLine(line, { line: 2, offset: 240_000 })).toBe(
      `ref_id=out_1\nline_number=2\nline_length=250000\nchar_range=240000..249999\n${"x".repeat(10_000)}`,
    );
    expect(readLine(line, { line: 1 })).toBe(
      "ref_id=out_1\nline_number=1\nline_length=5\nchar_range=0..4\nfirst",
    );
    expect(readLine(line, { line: 3 })).toBe("Line number out of range: 3 (total 2)");
    expect(readLine(line, { line: 1, offset: 6 })).toBe("char_offset out of range: 6 (line length 5)");
  });

  test("D9.49 counts graphemes, and cuts none of them", () => {
    const family = "👨‍👩‍👧";
    const line = kept(`${family}e\u0301🇩🇪x`);
    expect(readLine(line, { line: 1, offset: 0, limit: 2 })).toContain(
      `line_length=4\nchar_range=0..1\n${family}e\u0301\n\nUse char_offset=2 to continue.`,
    );
    expect(readLine(line, { line: 1, offset: 2, limit: 2 })).toMatch(/char_range=2\.\.3\n🇩🇪x$/u);
  });

  test("D9.49 is what read_output returns for a line number", async () => {
    const whole = `${"y".repeat(30_000)}\nend`;
    const [part] = await asked(whole, [
      ["read_output", { line_number: 1, char_offset: 29_998, char_limit: 5 }],
    ]);
    expect(textOf(part as ToolMessage)).toBe(
      `ref_id=${blobRef(whole)}\nline_number=1\nline_length=30000\nchar_range=29998..29999\nyy`,
    );
  });
});

describe("a search", () => {
  const page = kept(numberedLines(200));

  test("D9.49 is literal by default, with lines around each match", async () => {
    const text = kept("a.b\naxb\n(c\nend");
    expect(await searchLines(text, { pattern: "a.b" })).toBe("ref:out_1\n    1  a.b");
    expect(await searchLines(text, { pattern: "a.b", regex: true })).toBe(
      "ref:out_1\n    1  a.b\n\nref:out_1\n    2  axb",
    );
    expect(await searchLines(text, { pattern: "(c", before: 1, after: 5 })).toBe(
      "ref:out_1\n    2  axb\n    3  (c\n    4  end",
    );
    expect(await searchLines(text, { pattern: "nothing" })).toBe("No matches for: nothing");
  });

  test("D9.49 returns at most 50 matches, or as many as asked for", async () => {
    const count = (found: string): number => found.split("ref:").length - 1;
    const found = await searchLines(page, { pattern: "line" });
    expect(count(found)).toBe(50);
    expect(found.endsWith("   50  line 50\n... (truncated)")).toBe(true);
    expect(count(await searchLines(page, { pattern: "line", maxMatches: 3 }))).toBe(3);
    expect(await searchLines(page, { pattern: "line 200", maxMatches: 1 })).toBe(
      "ref:out_1\n  200  line 200",
    );
  });

  test("D9.49 returns at most 64 KiB, and says so for a match that alone is too large", async () => {
    const text = kept(
      Array.from({ length: 100 }, (_, at) => `${at === 60 ? "needle" : "hay"}${"x".repeat(3_000)}`).join(
        "\n",
      ),
    );
    const some = await searchLines(text, { pattern: "hay" });
    expect(bytesOf(some)).toBeLessThanOrEqual(65_536 + bytesOf("\n... (truncated)"));
    // However many it asks for.
    expect(await searchLines(text, { pattern: "hay", maxMatches: Number.MAX_SAFE_INTEGER })).toBe(some);
    expect(some.endsWith("\n... (truncated)")).toBe(true);
    expect(some.split("ref:")).toHaveLength(22);
    expect(await searchLines(text, { pattern: "needle", before: 40, after: 40 })).toBe(
      [
        "MATCH_TOO_LARGE_TO_RENDER: match at line 61 exceeded 65536 bytes.",
        "ref_id=out_1",
        "Reduce search context (before/after) or read the matched line directly:",
        'read_output({"ref_id":"out_1","line_number":61,"char_offset":0,"char_limit":10000})',
      ].join("\n"),
    );
  });

  test("matches a pattern in linear time that would block a backtracking engine", async () => {
    const text = kept(`${"a".repeat(50_000)}!\nab`);
    expect(await searchLines(text, { pattern: "^(a+)+$", regex: true })).toBe("No matches for: ^(a+)+$");
    expect(await searchLines(text, { pattern: "^(a|a)*b$", regex: true })).toBe("ref:out_1\n    2  ab");
  });

  test("with a regular expression names the line that it did not read completely; a literal search reads all", async () => {
    const text = kept(`short\n${"a".repeat(100_000)}needle`);
    expect(await searchLines(text, { pattern: "ne+dle", regex: true })).toBe(
      "No matches for: ne+dle\n\n(A regular expression looks at the first 100000 characters of a line; line 2 is longer.)",
    );
    expect(await searchLines(text, { pattern: "needle" })).toMatch(
      /^MATCH_TOO_LARGE_TO_RENDER: match at line 2 /,
    );
  });

  test("with an invalid pattern returns an error for the model", async () => {
    const whole = numberedLines(100);
    const [open, behind, long] = await asked(whole, [
      ["search_output", { pattern: "(", regex: true }],
      ["search_output", { pattern: "(?<=a)b", regex: true }],
      ["search_output", { pattern: "a".repeat(1_001), regex: true }],
    ]);
    for (const message of [open, behind, long]) {
      expect(message?.isError).toBe(true);
      expect(textOf(message as ToolMessage)).toMatch(
        /^Error: the regular expression cannot be used: .*Search literally/,
      );
    }
  });

  test("that is long lets other work run, and ends when it is no longer wanted", async () => {
    const text = kept("x\n".repeat(1_000_000));
    const stop = new AbortController();
    const search = searchLines(text, { pattern: "nothing", regex: true }, stop.signal);
    setTimeout(() => stop.abort(new Error("enough")), 0);
    await expect(search).rejects.toThrow("enough");
  });
});
