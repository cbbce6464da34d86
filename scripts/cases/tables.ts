// The room of tables: cases without a model, which give rows of input to a tool or a reader.

import { join } from "node:path";
import { Agent, cleanOutput, type Model, messageOf, type Tool, userText } from "@rondo/core";
import { openaiCompatible, promptedJson } from "@rondo/models";
import {
  editFile,
  type FileToolSet,
  fileToolSet,
  listFiles,
  readFile,
  searchFiles,
  writeFile,
} from "@rondo/tools";
import { called } from "./called.ts";
import { type Case, type Data, repeated, Unsupported } from "./format.ts";
import { nothingSeen, type Observation } from "./observation.ts";
import { Folder, filesUnder } from "./tools.ts";
import { hasUrls, urlRows } from "./url-rows.ts";

type Row = NonNullable<Observation["rows"]>[number];

/** Whether a case consists of rows, and makes no request. */
export function isTable({ wire, wire_sequence = [], turns = [], given = {} }: Case): boolean {
  const asks = hasUrls(given) || given.requests !== undefined || given.inputs !== undefined;
  const isServed = wire_sequence.length > 0 || turns.length > 0;
  return asks ? Object.keys(wire ?? {}).length === 0 : (wire ?? null) === null && !isServed;
}

export async function playTable(one: Case): Promise<Observation> {
  const seen = nothingSeen();
  try {
    return { ...seen, rows: await rowsOf(one) };
  } catch (thrown) {
    return { ...seen, broke: messageOf(thrown) };
  }
}

async function rowsOf(one: Case): Promise<Row[]> {
  if (hasUrls(one.given ?? {})) return urlRows(one.given ?? {});
  if (one.given?.requests !== undefined) return fileRows(one);
  if (one.given?.inputs !== undefined) return inTurn(one.given.inputs);
  throw new Unsupported("a case without a wire needs given.requests or given.inputs");
}

/** Runs readers one after another, so that the cost of one does not count against the time limit of another. */
async function inTurn(inputs: readonly Data[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const input of inputs) rows.push(await scannerRow(input));
  return rows;
}

type Access = (set: FileToolSet, path: string, others: Data) => [tool: Tool, args: Record<string, string>];

/** Rondo's file tools, by the cases' words for what they do. */
const accesses: readonly (readonly [name: RegExp, access: Access])[] = [
  [/^(?:read|open|cat|get)(?:_file)?$/, (root, path) => [readFile({ root }), { path }]],
  [
    /^(?:write|create|put|save)(?:_file)?$/,
    (root, path, { content = "new" }) => [writeFile({ root }), { path, content: String(content) }],
  ],
  [
    /^(?:edit|replace|patch)(?:_file)?$/,
    (root, path, { old = "1", new: to = "2" }) => [
      editFile({ root }),
      { path, oldText: String(old), newText: String(to) },
    ],
  ],
  [/^(?:list|ls|readdir)(?:_(?:files|dir|directory))?$/, (root, path) => [listFiles({ root }), { path }]],
  [
    /^(?:search|grep|find)(?:_files)?$/,
    (root, path, { pattern = "." }) => [searchFiles({ root }), { path, pattern: String(pattern) }],
  ],
];

/** File accesses under a root, each with whether it should be allowed. */
async function fileRows(one: Case): Promise<Row[]> {
  const { fs = {}, symlinks = {}, root = "/", requests = [] } = one.given ?? {};
  const folder = new Folder(fs, symlinks);
  try {
    const set = fileToolSet(join(folder.path, root));
    const secrets = Object.entries(fs)
      .filter(([name]) => !name.startsWith(`${root.replace(/\/$/, "")}/`))
      .map(([, content]) => content);
    const rows: Row[] = [];
    for (const { op, path, allow, ...others } of requests) {
      const access = accesses.find(([names]) => names.test(op))?.[1];
      if (access === undefined) throw new Unsupported(`given.requests[].op ${JSON.stringify(op)}`);
      const before = outside(folder.path, root);
      // An absolute path in a case is relative to the case's own folder.
      const place = path.startsWith("/") ? join(folder.path, path) : path;
      const { isError, text } = await called(...access(set, place, others));
      const leaked =
        secrets.some((secret) => withoutPath(text, path).includes(secret)) ||
        outside(folder.path, root) !== before;
      rows.push({
        request: `${op} ${JSON.stringify(path)}`,
        allow,
        allowed: !isError || leaked,
        words: text,
      });
    }
    return rows;
  } finally {
    folder.remove();
  }
}

/** A result names the path, and the path may hold the word that is secret. A result that is JSON writes it in JSON's way. */
const withoutPath = (text: string, path: string): string =>
  text.replaceAll(path, "").replaceAll(JSON.stringify(path).slice(1, -1), "");

/** The content of everything outside the root, as one text. */
function outside(folder: string, root: string): string {
  return JSON.stringify(
    Object.entries(filesUnder(folder)).filter(
      ([name]) => !`/${name}`.startsWith(`${root.replace(/\/$/, "")}/`),
    ),
  );
}

type Repeat = { unit: string; count: number };

/** What a reader made of a text: whether it let anything forbidden through, and its output. */
interface ReadBy {
  allowed: boolean;
  words: string;
}

/** Rondo's readers of foreign text, by the cases' words for them. */
const readers: readonly (readonly [name: RegExp, read: (text: string, input: Data) => Promise<ReadBy>])[] = [
  [/fence|json/, readFenced],
  [/think|thought|reasoning/, readThoughts],
  [/grep|search|regex/, grepped],
  [/ansi|terminal|escape|control/, readTerminal],
  [/react|tool|call/, async (text) => ({ allowed: false, words: (await readFrom(text, true)).stop })],
];

/** A reader of model text, given input that is hard for naive readers. */
async function scannerRow(input: Data): Promise<Row> {
  const { scanner, repeat, text_repeat = repeat, text: said = "", suffix = "" } = input;
  const request = `${String(scanner)} ${JSON.stringify(text_repeat ?? said)}`;
  const again = text_repeat === undefined ? "" : repeated(text_repeat as Repeat);
  const read = readers.find(([name]) => name.test(String(scanner)))?.[1];
  if (read === undefined)
    throw new Unsupported(`given.inputs[].scanner ${JSON.stringify(scanner)}: Rondo has no such reader yet`);
  return { request, allow: false, ...(await read(`${String(said)}${again}${String(suffix)}`, input)) };
}

async function readFenced(text: string): Promise<ReadBy> {
  const agent = new Agent({ model: saying(text), output: { type: "object" }, decodeRetries: 0 });
  const { end } = await agent.run("go");
  return { allowed: end?.reason !== "output_invalid", words: end?.error?.message ?? "" };
}

/** Thoughts are parsed in two places: by the codec, and by the reader of tool calls in text. */
async function readThoughts(text: string): Promise<ReadBy> {
  const both = [await readFrom(text, false), await readFrom(text, true)];
  const bare = (said: string): string => said.replaceAll(/<\/?think(?:ing)?>/g, "");
  return {
    allowed: both.some(({ said }) => bare(said) !== bare(text)),
    words: both.map(({ stop }) => stop).join(", "),
  };
}

async function grepped(text: string, { pattern, expect }: Data): Promise<ReadBy> {
  if (expect !== "timeout_error_result")
    throw new Unsupported(`given.inputs[].expect ${JSON.stringify(expect)}`);
  const folder = new Folder({ "a.txt": text });
  try {
    const search = searchFiles({ root: folder.path, timeLimitMs: 100 });
    const found = await called(search, { pattern: String(pattern) });
    return { allowed: !found.isError, words: found.text };
  } finally {
    folder.remove();
  }
}

async function readTerminal(text: string): Promise<ReadBy> {
  const left = cleanOutput(text).replaceAll(/[\n\t]/g, "");
  return { allowed: /\p{Cc}/u.test(left), words: `${left.length} characters are left` };
}

/** What a compatible server's model makes of a text that arrives in pieces. */
async function readFrom(text: string, isPrompted: boolean): Promise<{ said: string; stop: string }> {
  const model = openaiCompatible({
    baseURL: "http://127.0.0.1:1/v1",
    model: "case",
    compat: { thinkTags: isPrompted ? "none" : "leading" },
    fetch: () =>
      Promise.resolve(new Response(streamed(text), { headers: { "content-type": "text/event-stream" } })),
  });
  const tool = { name: "x", description: "", inputSchema: { type: "object" } };
  const answer = await (isPrompted ? promptedJson(model) : model).call(
    { messages: [userText("go")], tools: [tool], toolChoice: "auto", settings: {} },
    { signal: new AbortController().signal, clocks: {}, emit: () => {} },
  );
  const said = answer.content.map((part) =>
    part.type === "text" || part.type === "reasoning" ? part.text : "",
  );
  return { said: said.join(""), stop: answer.stop.kind };
}

/** A Chat Completions stream of a text, cut into pieces regardless of content. */
function streamed(text: string): string {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieceChars)
    pieces.push(chunk({ content: text.slice(at, at + pieceChars) }, null));
  return `${pieces.join("")}${chunk({}, "stop")}data: [DONE]\n\n`;
}

/** Not a multiple of the units that cases repeat, so that tags are cut at every position. */
const pieceChars = 61;

/** A model with one answer. */
function saying(text: string): Model {
  const origin = { api: "case", provider: "case", model: "case" };
  const stop = { kind: "end_turn", wire: "end_turn" } as const;
  return {
    id: "case/case",
    origin,
    call: () => Promise.resolve({ role: "assistant", content: [{ type: "text", text }], origin, stop }),
  };
}
