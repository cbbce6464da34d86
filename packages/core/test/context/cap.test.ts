// A result that is too large is cut when it arrives, at whole lines; the whole of it is kept first.

import {
  Agent,
  type AgentOptions,
  type BlobOrigin,
  type BlobStore,
  blobRef,
  firstLines,
  type LogRecord,
  memoryBlobs,
  memoryJournal,
  type RondoEvent,
  type Tool,
  type ToolMessage,
  textOf,
  toolResult,
} from "@rondo/core";
import { call, calls, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { capFacts } from "../../src/context/cap/cap-options.ts";
import { projection } from "../../src/context/cap/content.ts";
import { capResult, isTooLarge } from "../../src/context/cap.ts";
import { echo, eventsOf } from "../support.ts";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const linesOf = (count: number, width = 20): string =>
  Array.from({ length: count }, (_, at) => `${at} `.padEnd(width, "x")).join("\n");

/** A tool that says that. */
const saying = (content: unknown, name = "big"): Tool => echo(name, { execute: () => content });

/** The result the model read of one call of a tool. */
async function resultOf(tool: Tool, options: Partial<AgentOptions> = {}): Promise<ToolMessage> {
  const model = scripted([call(tool.name), say("done")]);
  const { messages } = await new Agent({ model, tools: [tool], ...options }).run("go");
  return messages[2] as ToolMessage;
}

describe("in a small window", () => {
  test("the default is at most a quarter of it; a size that was set applies whatever the window is", async () => {
    const text = linesOf(3_000);
    const sizes = await Promise.all(
      [{ window: 8_000 }, { window: 200_000 }, { window: 8_000, cap: { bytes: 20_000 } }].map(
        async (context) => {
          const { content } = await resultOf(saying(text), {
            context: { trim: null, guard: null, ...context },
          });
          return bytesOf(
            textOf({ role: "tool", callId: "", name: "", content, isError: false }).split("\n\n[")[0] ?? "",
          );
        },
      ),
    );
    expect(sizes.map((size, at) => size <= ([8_000, 51_200, 20_000][at] ?? 0))).toEqual([true, true, true]);
    expect(sizes.map((size, at) => size > ([7_900, 51_100, 19_900][at] ?? 0))).toEqual([true, true, true]);
  });
});

describe("full texts", () => {
  test("D9.45 every result's full text is stored with its call's id, its tool and whether it is an error; the store returns its size and lines", async () => {
    const saved: [string, BlobOrigin][] = [];
    const told: unknown[] = [];
    const inner = memoryBlobs();
    const blobs: BlobStore = {
      ...inner,
      put: (session, text, origin) => {
        saved.push([text, origin]);
        const put = inner.put(session, text, origin);
        told.push(put);
        return put;
      },
    };
    const model = scripted([calls([["small"], ["failing"], ["large"]]), say("done")]);
    const tools = [
      saying("a\nb", "small"),
      saying(toolResult("no", { isError: true }), "failing"),
      saying(linesOf(5000), "large"),
    ];
    const { messages } = await new Agent({ model, tools, blobs, context: { cap: { keep: "every" } } }).run(
      "go",
    );
    const ids = messages.slice(2, 5).map((message) => (message as ToolMessage).callId);
    expect(saved).toEqual([
      ["a\nb", { callId: ids[0], tool: "small", isError: false }],
      ["no", { callId: ids[1], tool: "failing", isError: true }],
      [linesOf(5000), { callId: ids[2], tool: "large", isError: false }],
    ]);
    expect(told).toEqual([
      { ok: true, ref: blobRef("a\nb"), bytes: 3, lines: 2 },
      { ok: true, ref: blobRef("no"), bytes: 2, lines: 1 },
      { ok: true, ref: blobRef(linesOf(5000)), bytes: bytesOf(linesOf(5000)), lines: 5000 },
    ]);
    expect((messages[2] as ToolMessage).ref).toBe(blobRef("a\nb"));
    expect(textOf(messages[2] as ToolMessage)).toBe("a\nb");
  });

  test("D9.45 a store that throws, rejects or refuses costs only the ref, and a warning is emitted", async () => {
    const failures: BlobStore["put"][] = [
      () => {
        throw new Error("the disk is on fire");
      },
      async () => Promise.reject(new Error("the disk is on fire")),
      () => ({ ok: false, reason: "the disk is on fire" }),
    ];
    for (const put of failures) {
      const blobs: BlobStore = { ...memoryBlobs(), put };
      const model = scripted([call("big"), say("done")]);
      const agent = new Agent({ model, tools: [saying(linesOf(5000))], blobs });
      const events = await eventsOf(agent, "go");
      const end = events.find((event) => event.type === "tool_end") as RondoEvent & { type: "tool_end" };
      const [part] = end.content;
      expect(part?.type === "text" && part.text.endsWith("\n\n[tool output truncated]")).toBe(true);
      expect(events.find((event) => event.type === "warning")).toMatchObject({
        code: "blob_store",
        message: expect.stringMatching(/of big \(call .*\) could not be kept: the disk is on fire/),
      });
      expect(events.at(-1)).toMatchObject({ type: "run_end", end: { reason: "completed" } });
    }
  });

  test("D9.45 without a store there is no ref", async () => {
    const message = await resultOf(saying(linesOf(5000)), { blobs: null });
    expect(textOf(message).endsWith("\n\n[tool output truncated]")).toBe(true);
    expect(message.ref).toBeUndefined();
  });

  test("D9.45 without a cap every result is unchanged and nothing is stored", async () => {
    const blobs = memoryBlobs({ blobBytes: 0 });
    const text = `first\r\n${linesOf(10_000)}`;
    const message = await resultOf(saying(text), { blobs, context: { cap: null } });
    expect(message.content).toEqual([{ type: "text", text }]);
    expect(message.ref).toBeUndefined();
  });
});

describe("the immediate cut", () => {
  test("D9.46 is at 50 KiB by default: whole lines as far as they fit, then the note with its ref", async () => {
    // 20 bytes a line and 1 for each line end between: 51,200 bytes hold 2,438 lines (51,197 bytes).
    const whole = linesOf(5000);
    const message = await resultOf(saying(whole));
    const kept = linesOf(5000).split("\n").slice(0, 2438).join("\n");
    expect(bytesOf(kept)).toBe(51_197);
    expect(textOf(message)).toBe(`${kept}\n\n[tool output truncated; ref=${blobRef(whole)}]`);
    expect(message.ref).toBe(blobRef(whole));
    const fits = linesOf(2438);
    expect(textOf(await resultOf(saying(fits)))).toBe(fits);
  });

  test("D9.46 counts bytes of UTF-8, one for a line end, exactly", () => {
    expect(firstLines("ab\ncd\nef", 8)).toEqual({ text: "ab\ncd\nef", cut: false });
    expect(firstLines("ab\ncd\nef", 7)).toEqual({ text: "ab\ncd", cut: true });
    expect(firstLines("ab\ncd\nef", 5)).toEqual({ text: "ab\ncd", cut: true });
    expect(firstLines("ab\ncd\nef", 4)).toEqual({ text: "ab", cut: true });
    expect(firstLines("ä\n😀", 7)).toEqual({ text: "ä\n😀", cut: false });
    expect(firstLines("ä\n😀", 6)).toEqual({ text: "ä", cut: true });
    expect(firstLines("a\n\n\nb", 3)).toEqual({ text: "a\n\n", cut: true });
  });

  test("D9.46 leaves only the note if the first line is too long and long lines are left out", async () => {
    const whole = `${"x".repeat(100)}\nshort`;
    const cap = { bytes: 50, longLine: "leave_out" as const };
    const message = await resultOf(saying(whole), { context: { cap } });
    expect(textOf(message)).toBe(`\n\n[tool output truncated; ref=${blobRef(whole)}]`);
  });

  test("keeps the beginning of a line that alone is too long: a result of one JSON line does not become empty", async () => {
    const whole = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ at })));
    const text = textOf(await resultOf(saying(whole)));
    expect(text).toBe(`${whole.slice(0, 51_200)}\n\n[tool output truncated; ref=${blobRef(whole)}]`);
    const cut = (said: string, bytes: number): string => firstLines(said, bytes, "cut").text;
    expect(cut("HTTP 200\n{long long}", 10)).toBe("HTTP 200\n{");
    expect(cut("äöü", 5)).toBe("äö");
    expect(cut("😀😀", 3)).toBe("");
    // What would fit by itself is whole, or not there.
    expect(cut("one\ntwo three\nfour", 9)).toBe("one");
    expect(cut("one\n0123456789", 4)).toBe("one");
  });

  test("D9.46 CRLF becomes LF", async () => {
    const whole = "one\r\ntwo\r\nthree\r\nfour";
    const message = await resultOf(saying(whole), { context: { cap: { bytes: 13 } } });
    expect(textOf(message)).toBe(`one\ntwo\nthree\n\n[tool output truncated; ref=${blobRef(whole)}]`);
    expect(textOf(await resultOf(saying(whole), { context: { cap: { bytes: 18 } } }))).toBe(
      "one\ntwo\nthree\nfour",
    );
  });

  test("D9.46 makes CRLF into LF also in a result that fits, if every text is stored, unless the cap ignores that result", async () => {
    const whole = "one\r\ntwo";
    const cap = { keep: "every", exempt: ["mine"] } as const;
    expect(textOf(await resultOf(saying(whole), { context: { cap } }))).toBe("one\ntwo");
    expect(textOf(await resultOf(saying(whole, "mine"), { context: { cap } }))).toBe(whole);
    expect(textOf(await resultOf(saying(whole)))).toBe(whole);
  });

  test("D9.46 never cuts the reader tools, whatever their names are, nor exempt tools", async () => {
    const whole = linesOf(100);
    const readers = { read: "tool_output_cache", search: "tool_output_cache_grep" };
    const cap = { bytes: 100, readers, exempt: ["mine"] };
    for (const name of ["tool_output_cache", "tool_output_cache_grep", "mine"])
      expect(textOf(await resultOf(saying(whole, name), { context: { cap } }))).toBe(whole);
    expect(textOf(await resultOf(saying(whole, "other"), { context: { cap } }))).toContain(
      "[tool output truncated",
    );
  });

  test("D9.46 can leave a result with files as it is, and stores its text", async () => {
    const content = [
      { type: "text" as const, text: linesOf(100) },
      { type: "file" as const, mediaType: "image/png", data: "AAAA" },
      { type: "file" as const, mediaType: "application/pdf", data: "AAAA" },
    ];
    const blobs = memoryBlobs();
    const journal = memoryJournal();
    const model = scripted([call("big"), say("done")]);
    const cap = { bytes: 100, keep: "every" as const, withFiles: "leave" as const };
    const agent = new Agent({ model, tools: [saying(content)], blobs, journal, context: { cap } });
    const { messages } = await agent.run("go", { session: "s" });
    const message = messages[2] as ToolMessage;
    expect(message.content).toEqual(content);
    expect(blobs.get("s", message.ref ?? "")).toBe(`${linesOf(100)}\n[image]\n[document]`);
  });

  test("keeps the files of a result in their places, and cuts its texts as one, unless told to leave it", async () => {
    const image = { type: "file" as const, mediaType: "image/png", data: "A".repeat(1000) };
    const content = [
      image,
      { type: "text" as const, text: linesOf(10) },
      image,
      { type: "text" as const, text: "more" },
    ];
    const { content: cut } = await resultOf(saying(content), { context: { cap: { bytes: 100 } } });
    expect(cut).toEqual([
      image,
      { type: "text", text: expect.stringMatching(/^0 x+\n1 x+[\s\S]*\[tool output trunc/) },
      image,
    ]);
  });

  test("D9.48 ignores the longest line that a reader shows: a line of any length is kept in full", async () => {
    const whole = `${"x".repeat(5_000)}\n${"y".repeat(5_000)}\n${"z".repeat(50_000)}`;
    const cap = { readers: { maxLineLength: 2_000 } };
    const message = await resultOf(saying(whole), { context: { cap } });
    const kept = `${"x".repeat(5_000)}\n${"y".repeat(5_000)}`;
    expect(textOf(message)).toBe(`${kept}\n\n[tool output truncated; ref=${blobRef(whole)}]`);
  });

  test("emits an event with its sizes in bytes, which are journaled with the result", async () => {
    const journal = memoryJournal();
    const whole = linesOf(5000);
    const model = scripted([call("big"), say("done")]);
    const events: RondoEvent[] = [];
    await new Agent({ model, tools: [saying(whole)], journal }).run("go", {
      session: "s",
      onEvent: (event) => events.push(event),
    });
    const at = events.findIndex((event) => event.type === "context");
    expect(events[at]).toEqual({
      type: "context",
      stage: "cap",
      before: bytesOf(whole),
      after: 51_197,
      note: `the result of big was cut: it had ${bytesOf(whole)} bytes in 5000 lines, kept as ${blobRef(whole)}`,
    });
    expect(events[at + 1]?.type).toBe("tool_end");
    const finished = journal.read("s").find((record) => record.type === "tool_finished");
    expect((finished as LogRecord & { type: "tool_finished" }).result).toMatchObject({
      ref: blobRef(whole),
      capped: { bytes: bytesOf(whole), keptBytes: 51_197, lines: 5000 },
    });
    expect(journal.blobs.get("s", blobRef(whole))).toBe(whole);
  });

  test("stores the full text before the result is journaled", async () => {
    const seen: string[] = [];
    const inner = memoryBlobs();
    const memory = memoryJournal();
    const blobs: BlobStore = {
      ...inner,
      put: async (session, text, origin) => {
        await Promise.resolve();
        seen.push("kept");
        return inner.put(session, text, origin);
      },
    };
    const journal = {
      ...memory,
      append: (session: string, seq: number, records: readonly LogRecord[]): void => {
        if (records.some((record) => record.type === "tool_finished")) seen.push("journaled");
        memory.append(session, seq, records);
      },
    };
    const model = scripted([call("big"), say("done")]);
    await new Agent({ model, tools: [saying(linesOf(5000))], journal, blobs }).run("go");
    expect(seen).toEqual(["kept", "journaled"]);
  });

  test("refuses an invalid size, naming the option", () => {
    const model = scripted([say("done")]);
    expect(() => new Agent({ model, context: { cap: { bytes: 0 } } })).toThrow(
      /context\.cap\.bytes: .* not 0/,
    );
    expect(() => new Agent({ model, context: { cap: { readers: { maxLineLength: -1 } } } })).toThrow(
      /maxLineLength/,
    );
    expect(() => new Agent({ model, context: { window: 0 } })).toThrow(/context\.window/);
    const refused = (cap: object, words: RegExp): void =>
      expect(() => new Agent({ model, context: { cap } })).toThrow(words);
    refused({ mode: "tail" }, /context\.cap\.mode: one of lines, head_tail is needed, not "tail"/);
    refused({ keep: "all" }, /context\.cap\.keep/);
    refused({ withFiles: "drop" }, /context\.cap\.withFiles/);
    refused({ mode: "head_tail", form: "short" }, /context\.cap\.form/);
    refused({ mode: "head_tail", share: Number.NaN }, /context\.cap\.share/);
    refused({ readers: { read: "one", search: "one" } }, /two tools cannot both be named "one"/);
    const tools = [echo("small")];
    expect(() => new Agent({ model, tools, context: { cap: { readers: { read: "a b" } } } })).toThrow(
      /"a b"/,
    );
  });
});

describe("a store that never answers", () => {
  const blobs: BlobStore = { ...memoryBlobs(), put: () => new Promise(() => {}) };

  test("delays neither an abort nor the tool's own timeout", async () => {
    const stop = new AbortController();
    const options = { tools: [saying(linesOf(5000))], blobs, abortGraceMs: 20 };
    const waiting = new Agent({ model: scripted([call("big"), say("done")]), ...options }).run("go", {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === "tool_start") stop.abort("enough");
      },
    });
    await expect(waiting).rejects.toThrow("enough");
    const timed = new Agent({ model: scripted([call("big"), say("done")]), ...options, toolTimeoutMs: 20 });
    const { messages, end } = await timed.run("go");
    expect(end?.reason).toBe("completed");
    expect(textOf(messages[2] as ToolMessage)).toContain("timed out after 20 ms");
  });
});

describe("a large result inside a turn", () => {
  test("F186: 400 KB of a file never get into the next request, whatever tool read it", async () => {
    const model = scripted([calls([["big"], ["big"], ["failing"]]), say("done")]);
    const failing = echo("failing", {
      execute: () => {
        throw new Error(linesOf(20_000));
      },
    });
    await new Agent({ model, tools: [saying(linesOf(20_000)), failing] }).run("read it");
    const request = model.requests[1];
    const results = (request?.messages ?? []).filter((message) => message.role === "tool");
    expect(results.map((message) => bytesOf(textOf(message)) < 51_300)).toEqual([true, true, true]);
    expect(bytesOf(JSON.stringify(request?.messages))).toBeLessThan(170_000);
  });
});

describe("for any result", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 30 });
  const text = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "")), { maxLength: 30 }).map((lines) =>
    lines
      .map(([words, end]) => words + end)
      .join("")
      .toWellFormed(),
  );
  const file = fc.constant({ type: "file" as const, mediaType: "image/png", data: "AAAA" });
  const content = fc.array(
    fc.oneof(
      text.map((words) => ({ type: "text" as const, text: words })),
      file,
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  const place = { tool: "any", callId: "call_1" };

  test("what remains is limited and well-formed, nothing is lost, files are untouched, and a result that fits is the same object", () => {
    fc.assert(
      fc.property(
        content,
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom("cut", "leave_out"),
        (parts, bytes, longLine) => {
          const whole = { content: parts, isError: false };
          const cap = capFacts({ bytes, longLine });
          const isLarge = isTooLarge(whole, cap, place);
          const ref = isLarge ? blobRef(projection(parts)) : undefined;
          const result = capResult(whole, cap, place, ref);
          const joined = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
          if (bytesOf(joined) <= bytes) {
            expect(isLarge).toBe(false);
            expect(result).toBe(whole);
            return;
          }
          expect(result.content.filter((part) => part.type === "file")).toEqual(
            parts.filter((part) => part.type === "file"),
          );
          const left = result.content.find((part) => part.type === "text")?.text ?? "";
          const note = result.capped === undefined ? "" : `\n\n[tool output truncated; ref=${ref}]`;
          expect(left.endsWith(note)).toBe(true);
          const words = left.slice(0, left.length - note.length);
          expect(bytesOf(words)).toBeLessThanOrEqual(bytes);
          expect(words.isWellFormed()).toBe(true);
          // As many lines as fit, not one more.
          const lines = joined.split(/\r?\n/);
          let most = 0;
          while (most < lines.length && bytesOf(lines.slice(0, most + 1).join("\n")) <= bytes) most += 1;
          const begun = words.slice(lines.slice(0, most).join("\n").length).replace(/^\n/, "");
          expect(words.startsWith(lines.slice(0, most).join("\n"))).toBe(true);
          // Of the next one the beginning, where it alone is too long; else nothing.
          const isLong = longLine === "cut" && bytesOf(lines[most] ?? "") > bytes;
          if (!isLong) expect(begun).toBe("");
          else expect(lines[most]?.startsWith(begun) && bytesOf(words) > bytes - 5).toBe(true);
          expect(result.capped === undefined).toBe(most === lines.length);
        },
      ),
      { numRuns: 300 },
    );
  });
});
