// The file tools against a model of a few lines. Whatever is read, written and edited in whatever order, in files of whatever form, and
// whatever others do to them meanwhile: a file holds what was said, or else what it held before; and what was shown of it, written
// back, leaves it as it was or is refused.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonObject, Tool } from "@rondo/core";
import { fileTools } from "@rondo/tools";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, call } from "./calling.ts";

const names = [
  ...["a.txt", "sub/c", "é.md", "A b.txt", "-rf", "sub/deep/日本 .ts", 'it\'s "q".txt', "100%.txt", "a%20b"],
  ...["x\\y", "#1", "[id].ts", "{a,b}", "!not", "..x", "~y", "CON", "a:b", "line\nbreak"],
];
const path = fc.oneof(fc.constantFrom("a.txt", "sub/c", "é.md"), fc.constantFrom(...names));
const anyPiece = fc.constantFrom(
  ...["a", "b", "ab", "aa", "\n", "\n", "\r\n", "\r", "\t", " ", "é", "e\u0301", "🙂", "\u2028", "\ufeff"],
  ...["\u0085", "\u0096", "$&", "\\n", "\u001b", "\ufffd", "\u241b", "\u007f"],
);
const anyText = fc.array(anyPiece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");
const bytes = fc.oneof(
  anyText.map((text) => Buffer.from(text)),
  anyText.map((text) => Buffer.from(text.replace(/\r?\n/g, "\r\n"))),
  anyText.map((text) => Buffer.from(text, "latin1")),
  anyText.map((text) => Buffer.concat([Buffer.from(text), Buffer.from([0xe9])])),
  anyText.map(utf16),
  anyText.map((text) => utf16(text).swap16()),
);
const edit = { path, newText: anyText, replaceAll: fc.boolean() };
const anyCall = fc.oneof(
  fc.record({ do: fc.constant("read" as const), path }),
  fc.record({ do: fc.constant("write" as const), path, content: anyText }),
  fc.record({ do: fc.constant("edit" as const), ...edit, oldText: anyText }),
);
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("calls" as const),
      calls: fc.array(anyCall, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("put" as const), path, bytes }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("echo" as const), path }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("edit shown" as const), ...edit, from: fc.nat(5), to: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("list" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("search" as const),
      text: fc.constantFrom("a", "ab", "é", "🙂", "$&"),
    }),
  },
);
type Call = typeof anyCall extends fc.Arbitrary<infer One> ? One : never;
type Step = typeof anyStep extends fc.Arbitrary<infer One> ? One : never;

const isUtf16 = (content: Buffer): boolean => ["fffe", "feff"].includes(content.toString("hex", 0, 2));

/** A file's text without its mark. Of what is not UTF-16 each character stands for one byte. */
function textIn(content: Buffer): string {
  if (!isUtf16(content)) return content.toString("latin1").replace(/^\u00ef\u00bb\u00bf/, "");
  const units = Buffer.from(content.subarray(2));
  return (content[0] === 0xff ? units : units.swap16()).toString("utf16le");
}

/** Marks in front are one. */
const linesOf = (content: Buffer): string[] =>
  textIn(content)
    .replace(/^(?:\ufeff|\u00ef\u00bb\u00bf)+/, "")
    .split(/\r?\n/);

/** What a successful write leaves: the content, in the form of what was there. */
function written(before: Buffer | undefined, content: string): Buffer {
  if (before === undefined) return Buffer.from(content);
  const bare = content.replace(/^\ufeff/, "");
  const ends = textIn(before).match(/\r?\n/g) ?? [];
  const isCrlf = ends.length > 0 && ends.every((end) => end === "\r\n") && !bare.includes("\r");
  const text = isCrlf ? bare.replaceAll("\n", "\r\n") : bare;
  if (isUtf16(before)) return before[0] === 0xff ? utf16(text) : utf16(text).swap16();
  const isMarked = before.toString("hex", 0, 3) === "efbbbf" || bare !== content;
  return Buffer.from(isMarked ? `\ufeff${text}` : text);
}

/** What an edit leaves, apart from how its lines end; undefined if the passage is not there. */
function edited(before: string, passage: string, fresh: string, all: boolean): string | undefined {
  if (!before.includes(passage)) return undefined;
  return all ? before.split(passage).join(fresh) : before.replace(passage, () => fresh);
}

function demandEdited(
  before: Buffer,
  after: Buffer,
  { oldText, newText, replaceAll }: Call & { do: "edit" },
): void {
  const textOf = (content: Buffer): string =>
    isUtf16(before) ? textIn(content) : content.toString("latin1");
  const as = (text: string): string => (isUtf16(before) ? text : Buffer.from(text).toString("latin1"));
  const plain = (text: string): string => text.replaceAll("\r\n", "\n");
  const bare = (text: string): string => text.replace(/\r+\n/g, "\n");
  const [was, old, fresh] = [textOf(before), as(oldText), as(newText)];
  // Where the passage stands exactly as it is given, and else whatever its lines end with.
  const exact = oldText.includes("\r") ? edited(was, old, fresh, replaceAll) : undefined;
  const wanted = exact ?? edited(plain(was), plain(old), fresh, replaceAll);
  expect(bare(textOf(after))).toBe(bare(wanted ?? "nothing: the passage is not there"));
}

class Folder {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "rondo-files-")));
  readonly tools: Tool[] = fileTools({ root: this.root });
  /** What should be there. */
  readonly files = new Map<string, Buffer>();

  at(name: string): Buffer | undefined {
    try {
      return readFileSync(join(this.root, name));
    } catch {
      return undefined;
    }
  }

  put(name: string, content: Buffer): void {
    mkdirSync(dirname(join(this.root, name)), { recursive: true });
    writeFileSync(join(this.root, name), content);
    this.files.set(name, content);
  }

  call({ do: what, ...args }: Call): Promise<Answer> {
    return call(this.tools, `${what}_file`, args as JsonObject);
  }

  /** What read_file shows of a file that is there; undefined if that is no text. */
  async shown(name: string): Promise<string | undefined> {
    const { isError, parts } = await this.call({ do: "read", path: name });
    const [first] = parts;
    return isError || parts.length < 2 || first?.type !== "text" ? undefined : first.text;
  }

  async perform(step: Step): Promise<void> {
    switch (step.do) {
      case "put":
        this.put(step.path, step.bytes);
        break;
      case "remove":
        rmSync(join(this.root, step.path), { force: true });
        this.files.delete(step.path);
        break;
      case "calls": {
        // At once if they are about different files: what comes of calls on one file depends on their order.
        const isApart = new Set(step.calls.map((one) => one.path)).size === step.calls.length;
        const coming = isApart ? step.calls.map((one) => this.call(one)) : undefined;
        for (const [i, one] of step.calls.entries()) this.judge(one, await (coming?.[i] ?? this.call(one)));
        break;
      }
      case "echo": {
        const content = await this.shown(step.path);
        const before = this.files.get(step.path);
        if (content === undefined || before === undefined) break;
        const one = { do: "write" as const, path: step.path, content };
        const answer = await this.call(one);
        this.judge(one, answer);
        if (!answer.isError) expect(linesOf(this.files.get(step.path) as Buffer)).toEqual(linesOf(before));
        break;
      }
      case "edit shown": {
        const { from, to, ...rest } = step;
        const content = (await this.shown(step.path)) ?? "";
        const oldText = [...content].slice(from, from + to).join("");
        if (oldText === "") break;
        const one = { ...rest, do: "edit" as const, oldText };
        this.judge(one, await this.call(one));
        break;
      }
      case "list":
        await this.list();
        break;
      case "search":
        await this.search(step.text);
        break;
    }
    for (const name of names) expect([name, this.at(name)]).toEqual([name, this.files.get(name)]);
  }

  async list(): Promise<void> {
    const { text } = await call(this.tools, "list_files", { recursive: true, includeIgnored: true });
    expect(text).toMatch(new RegExp(`^${this.files.size} files?,`));
    for (const name of this.files.keys()) if (!name.includes("\n")) expect(text.split("\n")).toContain(name);
  }

  /** Where all files are in UTF-8: others are told to be searched otherwise. */
  async search(literal: string): Promise<void> {
    const { text } = await call(this.tools, "search_files", { pattern: literal, literal: true });
    const all = [...this.files.values()].map(String);
    if (/binary|not in UTF-8/.test(text) || all.some((one) => one.includes("\ufffd"))) return;
    const lines = all.flatMap((one) => one.split("\n")).filter((line) => line.includes(literal)).length;
    expect(text).toMatch(new RegExp(`^${lines} matching`));
  }

  /** Whether a call did what it says; the model takes over what it left. */
  judge(one: Call, { isError, text }: Answer): void {
    const before = this.files.get(one.path);
    const after = this.at(one.path);
    if (isError || one.do === "read" || text.startsWith("Unchanged")) {
      expect(after, text).toEqual(before);
      return;
    }
    if (after === undefined) throw new Error(`${one.do} left nothing: ${text}`);
    if (one.do === "write") expect(after, text).toEqual(written(before, one.content));
    else if (before === undefined) throw new Error(`nothing was edited: ${text}`);
    else demandEdited(before, after, one);
    this.files.set(one.path, after);
  }
}

test("what is read, written and edited, in whatever order", async () => {
  const play = async (steps: Step[]): Promise<void> => {
    const folder = new Folder();
    try {
      for (const step of steps) await folder.perform(step);
    } finally {
      rmSync(folder.root, { recursive: true, force: true });
    }
  };
  const anySteps = fc.array(anyStep, { minLength: 2, maxLength: 25, size: "max" });
  await fc.assert(fc.asyncProperty(anySteps, play), { numRuns: 20 });
}, 60_000);
