// Scripts as files: everything that a script can say, and what is said of one that cannot be read.

import type { AssistantMessage, LogRecord, Stop, TextPart, ToolCallPart } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { badArgs, call, empty, fail, part, refuse, say, stop, think, usage } from "../src/index.ts";
import {
  chunked,
  contentType,
  corrupt,
  cutAt,
  delayed,
  duplicate,
  frames,
  garbage,
  plainJson,
  raw,
  recordedScript,
  reset,
  slow,
  stallAfter,
  status,
} from "../src/wire/index.ts";
import { readScript } from "../src/wire/script-json.ts";

describe("a script file", () => {
  it("says everything that a script can say", () => {
    const { script, ...rest } = readScript(
      JSON.stringify({
        strict: false,
        repeatLast: true,
        chunks: "byte",
        chunk: 3,
        key: "k",
        models: ["m"],
        turns: [
          "text",
          [
            { think: "hm", opaque: { signature: "s" } },
            { say: "a", chunk: 2 },
            { call: "x", args: { y: 1 }, id: "c1" },
            { badArgs: "x", text: '{"a' },
            { usage: { inputTokens: 1 } },
            { stop: "max_tokens", raw: "cut" },
          ],
          [{ refuse: "no" }, { native: { type: "odd" } }, { empty: true }],
          { fail: "rate_limit", retryAfterMs: 5, message: "m" },
          {
            status: 429,
            retryAfterMs: 5,
            form: "ms",
            code: "c",
            message: "m",
            headers: { a: "b" },
            body: {},
          },
          [{ cutAt: 9, how: "reset" }, { cutAt: { frames: 2 } }, { stallAfter: 3, pings: true }],
          [
            { slow: 2, ms: 1 },
            { delay: 4 },
            { chunks: "whole" },
            { garbage: "g", afterFrames: 2 },
            { duplicate: 1 },
          ],
          [{ corrupt: 7 }, { contentType: "text/plain" }, { plainJson: true }, { reset: true }],
          { raw: "body", code: 201, headers: { x: "y" } },
          { frames: [{ event: "e", data: { a: 1 } }] },
        ],
      }),
    );
    expect(rest).toEqual({
      strict: false,
      repeatLast: true,
      chunks: "byte",
      chunk: 3,
      key: "k",
      models: ["m"],
    });
    const odd = { type: "native" as const, kind: "odd", opaque: { type: "odd" } };
    expect(script).toEqual([
      say("text"),
      [
        think("hm", { opaque: { signature: "s" } }),
        say("a", { chunk: 2 }),
        call("x", { y: 1 }, { id: "c1" }),
        badArgs("x", '{"a'),
        usage({ inputTokens: 1 }),
        stop("max_tokens", { raw: "cut" }),
      ],
      [refuse("no"), part(odd), empty()],
      fail("rate_limit", { retryAfterMs: 5, message: "m" }),
      status(429, { retryAfterMs: 5, form: "ms", code: "c", message: "m", headers: { a: "b" }, body: {} }),
      [cutAt(9, "reset"), cutAt({ frames: 2 }), stallAfter(3, { pings: true })],
      [slow(2, 1), delayed(4), chunked("whole"), garbage("g", 2), duplicate(1)],
      [corrupt(7), contentType("text/plain"), plainJson(), reset()],
      raw("body", { status: 201, headers: { x: "y" } }),
      frames([{ event: "e", data: { a: 1 } }]),
    ]);
  });

  it.each([
    ["{", /not JSON/],
    ["{}", /"turns"/],
    ['{"turns":[],"strct":true}', /no member "strct"; there are strict/],
    ['[["a",{"sya":"b"}]]', /turns\[0\]\[1\].*holds no word; there are say,/],
    ['[{"say":1}]', /turns\[0\]\.say: "say" is 1; needed is a text/],
    ['[{"call":"x","arg":{}}]', /no member "arg"/],
    ['[{"fail":"tired"}]', /needed is one of rate_limit,/],
    ['[{"cutAt":-1}]', /a number of bytes/],
    ["[7]", /an object is needed, not 7/],
    ['[{"reset":false}]', /"reset" is false; needed is true/],
    ['["a",[{"say":"b","chunk":0}]]', /turns\[1\]\[0\]: say: option chunk: .* above 0 is needed, not 0/],
    ['["a",{"status":42}]', /turns\[1\]: status: .*from 200 to 599 is needed, not 42/],
    ['[{"badArgs":"x"}]', /turns\[0\]: badArgs: .*a text is needed, not undefined/],
    ['[[{"usage":{"inputTokens":"9"}}]]', /turns\[0\]\[0\]: usage: option inputTokens/],
    ['["a",{"plainJson":false}]', /turns\[1\]\.plainJson: "plainJson" is false; needed is true/],
  ])("%s is refused, naming the place", (text, words) => {
    expect(() => readScript(text)).toThrow(words);
  });
});

describe("a recorded script", () => {
  const answer = (content: AssistantMessage["content"], stop: Stop): LogRecord =>
    ({
      type: "model_finished",
      message: { role: "assistant", content, origin: { api: "a", provider: "b", model: "c" }, stop },
    }) as unknown as LogRecord;
  const text: TextPart = { type: "text", text: "so far" };
  const read: ToolCallPart = { type: "tool_call", id: "c1", name: "read", args: {}, rawArgs: "{}" };

  it.each<[string, LogRecord, unknown[]]>([
    [
      "a refusal that has no part of its own",
      answer([text], { kind: "refusal", wire: "refusal", raw: "refusal", detail: "not that" }),
      [{ say: "so far" }, { stop: "refusal", detail: "not that" }],
    ],
    [
      "a refusal that has one",
      answer([{ type: "refusal", text: "no" }], { kind: "refusal", wire: "end_turn" }),
      [{ refuse: "no" }],
    ],
    [
      "a word that is new",
      answer([text], { kind: "unknown", wire: "unknown", raw: "tired" }),
      [{ say: "so far" }, { stop: "unknown", raw: "tired" }],
    ],
    [
      "a limit of one provider's, in a word that all know",
      answer([text], { kind: "max_tokens", wire: "max_tokens", raw: "length" }),
      [{ say: "so far" }, { stop: "max_tokens" }],
    ],
    [
      "calls, and nothing to say of their end",
      answer([text, read], { kind: "tool_use", wire: "end_turn" }),
      [{ say: "so far" }, { call: "read", args: {}, id: "c1" }],
    ],
  ])("tells how an answer ended: %s", (_, record, turn) => {
    expect(recordedScript([record])).toEqual([turn]);
    expect(readScript(JSON.stringify([turn])).script).toHaveLength(1);
  });
});
