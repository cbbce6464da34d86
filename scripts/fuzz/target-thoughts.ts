// The room of the streamed text targets: thoughts, silent replies, and answers of models that use a protocol in text.

import {
  type AssistantMessage,
  type Json,
  type Model,
  type ModelEvent,
  type ModelRequest,
  SilentFilter,
} from "@rondo/core";
import { splitThoughts, stripThoughts, ThoughtSplitter } from "../../packages/core/src/prompt/thoughts.ts";
import { ThinkSplitter } from "../../packages/models/src/codecs/leaks/think.ts";
import { promptedJson } from "../../packages/models/src/prompted/prompted-json.ts";
import { ThoughtSplitter as HeadSplitter } from "../../packages/models/src/prompted/thoughts.ts";
import type { Chance } from "../chance.ts";
import { anyJson, anyText, isObject, mutateText } from "./mutate.ts";
import { cuts, demand, type FuzzTarget, outcomeLater, same } from "./target.ts";

const tags = [
  "<think>",
  "</think>",
  "<THINK>",
  "<thinking>",
  "</thinking>",
  "[THINK]",
  "[/THINK]",
  "<th",
  "ink>",
  "<",
  "</",
  " ",
  "\n",
  "so",
];

interface Piece {
  kind: string;
  text: string;
}

/** Joins adjacent pieces of one kind. */
function merged(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const { kind, text } of pieces) {
    const last = all.at(-1);
    if (text === "") continue;
    if (last?.kind === kind) last.text += text;
    else all.push({ kind, text });
  }
  return all;
}

/** All ways to separate thoughts from text. */
const splitters: { readonly [name: string]: (pieces: readonly string[]) => Piece[] } = {
  ...Object.fromEntries(
    [
      {},
      { startsInThought: true },
      { blocks: "leading" as const },
      { blocks: "leading" as const, startsInThought: true },
    ].map((options) => [
      `core ${JSON.stringify(options)}`,
      (pieces: readonly string[]): Piece[] => {
        const splitter = new ThoughtSplitter(options);
        const all = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
        return all.map(({ type, text }) => ({ kind: type, text }));
      },
    ]),
  ),
  ...Object.fromEntries(
    [false, true].flatMap((inside) => [
      [
        `chat ${inside}`,
        (pieces: readonly string[]): Piece[] => {
          const all: Piece[] = [];
          const splitter = new ThinkSplitter(
            (kind, text) => all.push({ kind, text }),
            inside ? "starts_inside" : "leading",
          );
          for (const piece of pieces) splitter.push(piece);
          splitter.end();
          return all;
        },
      ],
      [
        `head ${inside}`,
        (pieces: readonly string[]): Piece[] => {
          const splitter = new HeadSplitter(inside);
          return [...pieces.map((piece) => splitter.push(piece)), splitter.end()].flatMap(
            ({ reasoning, body }) => [
              { kind: "reasoning", text: reasoning },
              { kind: "text", text: body },
            ],
          );
        },
      ],
    ]),
  ),
};

const text = (chance: Chance, words: readonly string[]): string =>
  chance.is(0.02)
    ? chance.pick(words).repeat(20_000)
    : chance.is(0.5)
      ? anyText(chance, words, 40)
      : mutateText(chance, anyText(chance, words, 20), words);

export const thoughtTarget: FuzzTarget = {
  name: "thoughts",
  make: (chance) => text(chance, tags),
  run(input) {
    if (typeof input !== "string") return undefined;
    const all = Object.entries(splitters).map(([name, split]) => {
      const results = cuts(input).map((pieces) => merged(split(pieces)));
      same(results, `${name}: cutting`);
      const length = (results[0] ?? []).reduce((sum, piece) => sum + piece.text.length, 0);
      demand(length <= input.length, `${name}: more text came out than went in`);
      return results[0];
    });
    const atOnce = splitThoughts(input).map(({ type, text: piece }) => ({ kind: type, text: piece }));
    same([all[0], merged(atOnce)], "in pieces and at once, of which");
    demand(stripThoughts(input).length <= input.length, "stripping made it longer");
    return all;
  },
};

export const silentTarget: FuzzTarget = {
  name: "silent",
  make: (chance) =>
    text(chance, ["NO_REPLY", "NO_", "REPLY", "__SILENT__", "no_reply", "**", " ", "\n", ".", "x"]),
  run(input) {
    if (typeof input !== "string") return undefined;
    return [{}, { anyCase: true }].map((options) => {
      const results = cuts(input).map((pieces) => {
        const filter = new SilentFilter(options);
        const shown = pieces.map((piece) => filter.push(piece)).join("");
        const { text: rest, silent } = filter.end();
        return { shown: shown + rest, silent };
      });
      same(results, "cutting");
      return results[0];
    });
  },
};

const origin = { api: "text", provider: "fuzz", model: "m" };
const request: ModelRequest = {
  messages: [{ role: "user", content: [{ type: "text", text: "go" }] }],
  tools: [
    { name: "look", description: "", inputSchema: { type: "object", properties: { a: { type: "string" } } } },
  ],
  toolChoice: "auto",
  settings: {},
};
const protocol = [
  '{"tool_call": {"name": "look", "input": {"a": "b"}}}',
  '{"response": "hi',
  '{"response": "done"}',
  "<tool_call>",
  "</tool_call>",
  "[TOOL_CALLS]",
  "```json\n",
  "```",
  '{"name": "look", "arguments": {}}',
  "<|channel|>",
  "analysis",
  "<|message|>",
  "<|end|>",
  "Action: look\n",
  "Action Input: {}",
  "<function=look>",
  "<parameter=a>",
  "</parameter>",
  "</function>",
  '<invoke name="look">',
  "look<arg_key>a</arg_key><arg_value>",
  "[look(a='",
  "<|tool_call>call:look{a:",
  "<|tool_call_begin|>look<|tool_call_argument_begin|>",
  "\nresult: ",
  "\n",
  "{",
  "}",
  '"',
  "\\",
];

export const promptedTarget: FuzzTarget = {
  name: "prompted",
  make: (chance) => ({
    text: chance.is(0.8)
      ? text(chance, chance.is(0.7) ? protocol : [...protocol, ...tags])
      : mutateText(chance, JSON.stringify({ tool_call: { name: "look", input: anyJson(chance) } }), protocol),
    mode: chance.pick(["tolerant", "strict"]),
    wire: chance.pick(["end_turn", "max_tokens"]),
    inside: chance.is(0.2),
  }),
  async run(input) {
    if (!isObject(input) || typeof input.text !== "string") return undefined;
    const { text: said, mode, wire } = input;
    const results: unknown[] = [];
    for (const pieces of cuts(said)) {
      const inner: Model = {
        id: "fuzz/m",
        origin,
        facts: {},
        call: async (_, io) => {
          for (const piece of pieces) io.emit({ type: "text_delta", index: 0, text: piece });
          return {
            role: "assistant",
            content: said === "" ? [] : [{ type: "text", text: said }],
            origin,
            stop: {
              kind: wire === "max_tokens" ? "max_tokens" : "end_turn",
              wire: wire === "max_tokens" ? "max_tokens" : "end_turn",
            },
          } satisfies AssistantMessage;
        },
      };
      const model = promptedJson(inner, {
        mode: mode === "strict" ? "strict" : "tolerant",
        startsInThought: input.inside === true,
      });
      const events: ModelEvent[] = [];
      const end = await outcomeLater(() =>
        model.call(request, { signal: new AbortController().signal, emit: (event) => events.push(event) }),
      );
      const of = (kind: string): string =>
        events.map((event) => (event.type === kind && "text" in event ? event.text : "")).join("");
      const made: Json = JSON.parse(JSON.stringify(end).replace(/call_[0-9a-f]{24}/g, "made")) as Json;
      results.push({ end: made, text: of("text_delta"), reasoning: of("reasoning_delta") });
    }
    same(results, "cutting");
    return results[0];
  },
};
