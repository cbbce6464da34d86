import { existsSync } from "node:fs";
import {
  type AssistantMessage,
  type ContentPart,
  callsOf,
  isPaired,
  type Message,
  repairHistory,
  type ToolDefinition,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findRecordings } from "../../../scripts/recorded/corpus.ts";
import { decode } from "../../../scripts/recorded/said.ts";
import { problemsIn, providers, requestFor } from "./accepting.ts";

const corpus = process.env.RONDO_CORPUS;
const there = corpus !== undefined && existsSync(corpus);

const answers: AssistantMessage[] = (there ? findRecordings(corpus) : []).flatMap((one) => {
  if (!("recording" in one)) return [];
  try {
    return [decode(one.recording, "at once")];
  } catch {
    // A recorded failure is no answer.
    return [];
  }
});

const words = fc.constantFrom("hello", "", " ", "  spaced  ", "ünï😀", "cut \ud83d", "{}", "x\u0000y");
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const file = fc.constantFrom<ContentPart>(
  { type: "file", mediaType: "image/png", data: png },
  { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
  { type: "file", mediaType: "application/pdf", data: "JVBERi0xLjQK", name: "a.pdf" },
  { type: "file", mediaType: "application/pdf", url: "https://example.com/a b.pdf" },
  { type: "file", mediaType: "audio/wav", data: "UklGRiQAAABXQVZF" },
  { type: "file", mediaType: "video/mp4", data: "AAAA" },
  { type: "file", mediaType: "text/plain", data: "aGVsbG8=", name: "we/ird näme(1).txt" },
  { type: "file", mediaType: "application/zip", data: "AAAA" },
  { type: "file", mediaType: "image/svg+xml", data: "PHN2Zy8+" },
  { type: "file", mediaType: "", data: "AAAA" },
);
const content = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: words.map((text): ContentPart => ({ type: "text", text })) },
    { weight: 1, arbitrary: file },
  ),
  { maxLength: 3 },
);
const result = fc.record({ content, isError: fc.boolean() });

/** A recorded answer with results for its calls, or as it would be kept if it had been aborted. */
const turn = fc
  .record({
    at: fc.nat(10_000),
    results: fc.array(result, { minLength: 1, maxLength: 4 }),
    aborted: fc.constantFrom(false, false, false, true),
  })
  .map(({ at, results, aborted }): Message[] => {
    const answer = answers[at % answers.length] as AssistantMessage;
    if (aborted) {
      const kept = answer.content.filter(({ type }) => type !== "tool_call");
      return [{ ...answer, content: kept, stop: { ...answer.stop, kind: "aborted" } }];
    }
    const told = callsOf(answer).map(({ id, name }, index): Message => {
      const one = results[index % results.length] as (typeof results)[number];
      return { role: "tool", callId: id, name, ...one };
    });
    return [answer, ...told];
  });

const conversation = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: turn },
      { weight: 2, arbitrary: content.map((parts): Message[] => [{ role: "user", content: parts }]) },
      {
        weight: 1,
        arbitrary: words.map((text): Message[] => [{ role: "system", content: [{ type: "text", text }] }]),
      },
    ),
    { minLength: 1, maxLength: 7 },
  )
  .map((turns) => [userText("begin"), ...turns.flat()]);

const toolsOf = (messages: readonly Message[]): ToolDefinition[] => {
  const names = messages.flatMap((one) =>
    one.role === "assistant" ? callsOf(one).map(({ name }) => name) : [],
  );
  return [...new Set(names)]
    .filter((name) => name !== "")
    .slice(0, 4)
    .map((name) => ({
      name,
      description: "Does.",
      inputSchema: { type: "object", properties: { a: { type: "string" } } },
    }));
};

describe("a conversation of recorded answers, from any providers in turn", () => {
  it.for(Object.keys(providers))("is accepted by %s", (name, { skip }) => {
    if (!there) skip("RONDO_CORPUS names no folder of recorded responses");
    expect(answers.length).toBeGreaterThan(100);
    fc.assert(
      fc.property(conversation, (given) => {
        const messages = repairHistory(given);
        expect(isPaired(messages)).toBe(true);
        expect(problemsIn(name, requestFor(messages, toolsOf(messages)))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});
