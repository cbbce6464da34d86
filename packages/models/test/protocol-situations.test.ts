// The same situation over every protocol: it ends alike, or the table says where it cannot, and the row why.

import { type AssistantMessage, type Json, type JsonObject, type Part, RondoError } from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { Frame, Target } from "../src/codec.ts";
import { objectIn } from "../src/json-values.ts";
import { receiveFrames } from "../src/receive.ts";
import { type Name, names, protocols, type Step, type Told } from "./situations.ts";

const targetOf = (name: Name): Target => {
  const { codec, model } = protocols[name];
  return { origin: { api: codec.api, provider: "p", model }, facts: {} };
};

function framesOf(name: Name, script: readonly Step[]): Frame[] {
  let at = 0;
  return script.flatMap((step) => {
    const isBlock =
      step === "hologram" ||
      (typeof step === "object" && ("text" in step || "call" in step || "thought" in step));
    const frames = protocols[name].frames(step, at);
    if (isBlock) at += 1;
    return frames.map(({ data, ...rest }) => ({
      ...rest,
      data: typeof data === "string" ? data : JSON.stringify(data),
    }));
  });
}

function worded(part: Part): string {
  if (part.type === "text") return part.text.trim();
  if (part.type === "reasoning") return `(${part.text})`;
  if (part.type === "tool_call")
    return `${part.name}:${part.argsError === undefined ? JSON.stringify(part.args) : "fault"}`;
  return part.type === "native" ? part.kind : part.type;
}

const told = ({ content, stop }: AssistantMessage): string =>
  [...content.map(worded), `[${stop.kind}]`].join(" ");

/** What comes of a script: the answer, or the error with what had come before it. */
function outcome(name: Name, script: readonly Step[]): string {
  return outcomeOf(name, framesOf(name, script));
}

function outcomeOf(name: Name, frames: readonly Frame[]): string {
  const decoder = protocols[name].codec.decoder(targetOf(name), () => {});
  try {
    for (const one of frames) if (!decoder.finished) decoder.push(one);
    return told(decoder.end());
  } catch (thrown) {
    if (!(thrown instanceof RondoError)) throw thrown;
    const before = thrown.partial ?? decoder.partial();
    return `${thrown.kind}${thrown.retryable ? "" : " for good"}${before === undefined ? "" : ` after ${told(before)}`}`;
  }
}

const whole: Told = { id: "c1", name: "f", args: '{"a":1}' };
const cut: Told = { id: "c1", name: "f", args: '{"a":', open: true };
const hi: Step = { text: "hi" };

type Row = [situation: string, script: Step[], outcome: string, but?: { [name in Name]?: string }];

const rows: Row[] = [
  ["a text, and no end", [hi], "stream_truncated after hi [error]"],
  ["a whole call, and no end", [{ call: whole }], "stream_truncated"],
  // Google streams members that are whole each: only its end says that there are no more.
  [
    "a cut call under a word for calls",
    [{ call: cut }, { stop: "tool" }, "end"],
    "f:fault [tool_use]",
    { google: 'f:{"a":1} [tool_use]' },
  ],
  ["a cut call at the limit", [{ call: cut }, { stop: "max" }, "end"], "f:fault [max_tokens]"],
  // Chat Completions does not say where a call ends.
  [
    "a whole call at the limit",
    [{ call: whole }, { stop: "max" }, "end"],
    'f:{"a":1} [max_tokens]',
    { chat: "f:fault [max_tokens]" },
  ],
  ["nothing at all", [{ stop: "end" }, "end"], "[end_turn]"],
  ["nothing under a word for calls", [{ stop: "tool" }, "end"], "[end_turn]"],
  ["nothing at the limit", [{ stop: "max" }, "end"], "[max_tokens]"],
  ["nothing, filtered", [{ stop: "filter" }, "end"], "[content_filter]"],
  ["nothing, as the window is full", [{ stop: "overflow" }, "end"], "context_overflow for good"],
  ["reasoning alone", [{ thought: "hm" }, { stop: "end" }, "end"], "(hm) [end_turn]"],
  // Ollama's lines have no place for blocks.
  [
    "a block that nobody knows",
    ["hologram", hi, { stop: "end" }, "end"],
    "hologram hi [end_turn]",
    { ollama: "hi [end_turn]" },
  ],
  ["an event that nobody knows", ["news", hi, "news", { stop: "end" }, "end"], "hi [end_turn]"],
  [
    "a word that nobody knows",
    [hi, { stop: "odd" }, "end"],
    "hi [unknown]",
    { responses: "hi [max_tokens]" },
  ],
  ["an error before anything", [{ error: "Overloaded" }], "overloaded"],
  ["an error after a text", [hi, { error: "Overloaded" }], "overloaded after hi [error]"],
  ["an error after a whole call", [{ call: whole }, { error: "Overloaded" }], "overloaded"],
  // Over these two the word is the end: nothing behind it is read.
  [
    "an error behind the end of a text",
    [hi, { stop: "end" }, { error: "Overloaded" }, "end"],
    "overloaded after hi [error]",
    { responses: "hi [end_turn]", ollama: "hi [end_turn]" },
  ],
  [
    "an error behind the end of a call",
    [{ call: whole }, { stop: "tool" }, { error: "Overloaded" }, "end"],
    "overloaded",
    { responses: 'f:{"a":1} [tool_use]', ollama: 'f:{"a":1} [tool_use]' },
  ],
  [
    "a frame that is no JSON",
    [hi, { line: "{broken" }, { stop: "end" }, "end"],
    "stream_error after hi [error]",
  ],
  ["a frame that is no object", [hi, { line: "7" }, { stop: "end" }, "end"], "stream_error after hi [error]"],
  ["a heartbeat in a payload", [hi, { line: ": keep-alive" }, { stop: "end" }, "end"], "hi [end_turn]"],
  [
    "two calls under one id",
    [{ call: whole }, { call: { ...whole, name: "g" } }, { stop: "tool" }, "end"],
    'f:{"a":1} g:{"a":1} [tool_use]',
  ],
  [
    "calls without ids",
    [{ call: { name: "f", args: "{}" } }, { call: { name: "g", args: "{}" } }, { stop: "tool" }, "end"],
    "f:{} g:{} [tool_use]",
  ],
  [
    "a call without a name",
    [{ call: { id: "c1", args: '{"a":1}' } }, { stop: "tool" }, "end"],
    ":fault [tool_use]",
  ],
  [
    "a call without a name behind a whole one",
    [{ call: whole }, { call: { id: "c2", args: '{"a":2}' } }, { stop: "tool" }, "end"],
    'f:{"a":1} :fault [tool_use]',
  ],
  [
    "a list for arguments",
    [{ call: { ...whole, args: "[1]" } }, { stop: "tool" }, "end"],
    "f:fault [tool_use]",
  ],
  [
    "arguments in a text of their own",
    [{ call: { ...whole, args: '"{\\"a\\":1}"' } }, { stop: "tool" }, "end"],
    'f:{"a":1} [tool_use]',
  ],
  ["no arguments", [{ call: { ...whole, args: "null" } }, { stop: "tool" }, "end"], "f:{} [tool_use]"],
  ["a call under the word for an end", [{ call: whole }, { stop: "end" }, "end"], 'f:{"a":1} [tool_use]'],
  ["a filtered call", [{ call: whole }, { stop: "filter" }, "end"], 'f:{"a":1} [content_filter]'],
  // What a proxy's parser left on a name is no part of it, whoever speaks.
  [
    "a name with what a parser left on it",
    [{ call: { ...whole, name: " f<|channel|>commentary" } }, { stop: "tool" }, "end"],
    'f:{"a":1} [tool_use]',
  ],
];

describe.each(rows)("%s", (_situation, script, expected, but = {}) => {
  test.each(names)("%s", (name) => {
    expect(outcome(name, script)).toBe(but[name] ?? expected);
  });
});

/** The frames in which a call's arguments come in pieces, over the protocols that have pieces: texts or values. */
const pieced: { readonly [name: string]: (pieces: readonly Json[]) => Frame[] } = {
  chat: (pieces) =>
    pieces.map((piece) =>
      bare({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }] }),
    ),
  responses: (pieces) =>
    pieces.map((delta) => bare({ type: "response.function_call_arguments.delta", output_index: 0, delta })),
  anthropic: (pieces) =>
    pieces.map((partial_json) =>
      bare({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } }),
    ),
  bedrock: (pieces) =>
    pieces.map((input) => ({
      ...bare({ contentBlockIndex: 0, delta: { toolUse: { input } } }),
      event: "contentBlockDelta",
    })),
};
const bare = (data: Json): Frame => ({ event: undefined, data: JSON.stringify(data) });

describe.each(Object.entries(pieced))("an empty value after pieces erases nothing: %s", (name, pieces) => {
  test.each([
    ["whole", ['{"a":', "1}", {}], 'f:{"a":1} [tool_use]'],
    ["cut", ['{"a":', {}], "f:fault [tool_use]"],
    ["alone", [{}], "f:{} [tool_use]"],
  ])("%s", (_where, given, expected) => {
    const script = framesOf(name as Name, [
      { call: { id: "c1", name: "f", args: "", open: true } },
      { stop: "tool" },
      "end",
    ]);
    const at = script.findIndex(({ data }) => data.includes('"f"')) + 1;
    expect(outcomeOf(name as Name, script.toSpliced(at, 0, ...pieces(given)))).toBe(expected);
  });
});

describe.each(Object.entries(pieced))(
  "a piece of arguments that a server read as JSON: %s",
  (name, pieces) => {
    test.each([
      ["a number", 5],
      ["a truth value", false],
    ])("%s", (_what, piece) => {
      const script = framesOf(name as Name, [
        { call: { id: "c1", name: "f", args: "", open: true } },
        { stop: "tool" },
        "end",
      ]);
      const at = script.findIndex(({ data }) => data.includes('"f"')) + 1;
      const frames = script.toSpliced(at, 0, ...pieces(['{"a":', piece, "}"]));
      expect(outcomeOf(name as Name, frames)).toBe(`f:{"a":${piece}} [tool_use]`);
    });
  },
);

describe.each(["7", "0", "true", "false"])("a text that a server read as JSON: %s", (word) => {
  test.each(names)("%s", (name) => {
    const frames = framesOf(name, [{ thought: word }, { text: word }, { stop: "end" }, "end"]);
    const read = frames.map(({ data, ...rest }) => ({ ...rest, data: data.replaceAll(`"${word}"`, word) }));
    expect(outcomeOf(name, read)).toBe(`(${word}) ${word} [end_turn]`);
  });
});

/** What proxies and servers in other languages make of a frame's JSON. */
const rewritten: readonly (readonly [how: string, rewrite: (json: string) => string])[] = [
  ["quoted once more", (json) => JSON.stringify(json)],
  ["in a list", (json) => `[${json}]`],
  ["with a number that is none", (json) => json.replace("{", '{"score":NaN,')],
  ["with an unescaped control character", (json) => json.replace("{", `{"note":"a${"\u001b"}b",`)],
  ["with an escape that is none", (json) => json.replace("{", String.raw`{"note":"\d\\\"\u0041",`)],
];

describe.each(rewritten)("a frame %s", (_how, rewrite) => {
  test.each(names)("%s", (name) => {
    const frames = framesOf(name, [{ text: "hi" }, { call: whole }, { stop: "tool" }, "end"]);
    const odd = frames.map(({ data, ...rest }) => ({
      ...rest,
      data: data.startsWith("{") ? rewrite(data) : data,
    }));
    expect(outcomeOf(name, odd)).toBe('hi f:{"a":1} [tool_use]');
  });
});

test.each(names)("two frames without anything between them: %s", (name) => {
  const frames = framesOf(name, [{ text: "hi" }, { stop: "end" }, "end"]);
  const glued = frames
    .map(({ data, event }) => (name === "bedrock" ? `{"${event}":${data}}` : data))
    .join("");
  expect(outcomeOf(name, [{ event: undefined, data: glued }])).toBe("hi [end_turn]");
});

/** The members of which a delta, a block or a part has one. */
const oneOf: { readonly [name in Name]?: readonly string[] } = {
  chat: [
    ..."content reasoning_content reasoning_details thinking_blocks refusal".split(" "),
    ..."tool_calls function_call audio images annotations executed_tools".split(" "),
  ],
  anthropic: ["text", "thinking", "signature", "partial_json", "citation"],
  google: ["text", "functionCall", "inlineData", "fileData", "executableCode", "codeExecutionResult"],
  bedrock: ["text", "toolUse", "reasoningContent", "citation", "image"],
};

describe.each(Object.entries(oneOf))("a server that writes all members: %s", (name, members) => {
  const script: readonly Step[] = [
    { thought: "hm" },
    { text: "hi" },
    { call: whole },
    { stop: "tool" },
    "end",
  ];
  test.each<[Json]>([[null], [""], [{}], [{ type: "", name: null, data: [] }], [[{}]]])(
    "as %j",
    (nothing) => {
      const all = Object.fromEntries(members.map((member) => [member, nothing]));
      const withAll = (_key: string, value: Json): Json => {
        const given = objectIn(value);
        return given === undefined || !members.some((member) => member in given)
          ? value
          : { ...all, ...given };
      };
      const frames = framesOf(name as Name, script).map(({ data, ...rest }) => ({
        ...rest,
        data: data.startsWith("{") ? JSON.stringify(JSON.parse(data, withAll)) : data,
      }));
      expect(outcomeOf(name as Name, frames)).toBe('(hm) hi f:{"a":1} [tool_use]');
    },
  );
});

/** A member for errors that says of none, as some servers send it with everything. */
const noErrors: readonly [Json][] = [[null], [""], [false], [0], [{}], [[]]];

describe.each(noErrors)("a member for errors with %j", (error) => {
  test.each(names)("is not an error: %s", (name) => {
    const frames = framesOf(name, [hi, { stop: "end" }, "end"]).map(({ data, ...rest }) => ({
      ...rest,
      data: data.startsWith("{") ? JSON.stringify({ ...(JSON.parse(data) as JsonObject), error }) : data,
    }));
    expect(outcomeOf(name, frames)).toBe("hi [end_turn]");
  });
});

/** Words of Google's and Amazon's that gateways leave as they are in whatever frames they put the answer. */
const handedOn: readonly (readonly [word: string, kind: string])[] = [
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"].map(
    (word) => [word, "malformed_call"] as const,
  ),
  ...["malformed_tool_use", "malformed_model_output"].map((word) => [word, "malformed_call"] as const),
  ...["LANGUAGE", "JAILBREAK", "IMAGE_SAFETY"].map((word) => [word, "content_filter"] as const),
  ["model_armor", "content_filter"],
];

describe.each(handedOn)("another vendor's word %s after a call", (word, kind) => {
  test.each(names)("%s", (name) => {
    const odd = { ...protocols[name], words: { ...protocols[name].words, odd: word } };
    const frames = [
      ...framesOf(name, [{ call: whole }]),
      ...odd.frames({ stop: "odd" }, 1).map(({ data, ...rest }) => ({ ...rest, data: JSON.stringify(data) })),
      ...framesOf(name, ["end"]),
    ];
    const told = outcomeOf(name, frames);
    // Over Chat Completions such a call is an error: nothing of the answer is kept.
    expect(told).toMatch(name === "chat" && kind === "malformed_call" ? /^malformed_tool_call/ : `[${kind}]`);
  });
});

test.each(names.filter((name) => name !== "responses"))(
  "an abort inside a call tells what was counted before it: %s",
  async (name) => {
    const decoder = protocols[name].codec.decoder(targetOf(name), () => {});
    const stop = new AbortController();
    async function* frames(): AsyncGenerator<Frame> {
      yield* framesOf(name, [{ usage: [11, 2] }, { call: cut }]);
      stop.abort("enough");
      await new Promise(() => {});
    }
    const answer = receiveFrames(frames(), decoder, stop.signal);
    const thrown: unknown = await answer.catch((error: unknown) => error);
    expect(thrown).toMatchObject({ kind: "aborted", usage: { inputTokens: 11, outputTokens: 2 } });
    expect((thrown as RondoError).partial).toBeUndefined();
  },
);
