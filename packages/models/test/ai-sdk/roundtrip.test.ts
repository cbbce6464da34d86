// Our model, given to the AI SDK and taken back from it: whatever it answered comes back to it with the next request.

import {
  callsOf,
  type Message,
  type Model,
  type ModelEvent,
  type Part,
  type ToolMessage,
  textOf,
  userText,
} from "@rondo/core";
import { fromAiSdk, toAiSdk } from "@rondo/models";
import { part, scripted } from "@rondo/testkit";
import { generateText, streamText } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const origin = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-5" };

const opaque = fc.option(
  fc
    .dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((value) => JSON.parse(JSON.stringify(value))),
  { nil: undefined },
);
const withOpaque = <T extends Part>(parts: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.tuple(parts, opaque).map(([one, told]) => (told === undefined ? one : { ...one, opaque: told }));
const word = fc.oneof(
  fc.constantFrom("a", "ab", "aba", "\ud83d half", "日本 😀"),
  fc.string({ minLength: 1 }),
);
const json = fc
  .dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)));

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  withOpaque(word.map((text): Part => ({ type: "text", text }))),
  withOpaque(word.map((text): Part => ({ type: "reasoning", text }))),
  json.map((redacted): Part => ({ type: "reasoning", text: "", opaque: { redacted } })),
  withOpaque(
    json.map(
      (args): Part => ({ type: "tool_call", id: "", name: "lookup", args, rawArgs: JSON.stringify(args) }),
    ),
  ),
  json.map((told): Part => ({ type: "native", kind: "server_tool_use", opaque: { told } })),
  word.map((text): Part => ({ type: "refusal", text })),
  fc.base64String({ minLength: 4 }).map((data): Part => ({ type: "file", mediaType: "image/png", data })),
);

/** An answer whose calls have ids of their own. */
const answer = fc
  .array(anyPart, { minLength: 1, maxLength: 6 })
  .map((parts) => parts.map((one, at) => (one.type === "tool_call" ? { ...one, id: `call_${at}` } : one)));

const results = (message: Message): ToolMessage[] =>
  message.role === "assistant"
    ? callsOf(message).map(({ id, name }, at) => ({
        role: "tool",
        callId: id,
        name,
        content: [{ type: "text", text: `result of ${id}` }],
        isError: at % 2 === 1,
      }))
    : [];

const call = (model: Model, messages: readonly Message[], events: ModelEvent[] = []) =>
  model.call(
    {
      system: "Be brief.",
      messages,
      tools: [{ name: "lookup", description: "", inputSchema: { type: "object" } }],
      toolChoice: "auto",
      settings: {},
    },
    { signal: new AbortController().signal, emit: (event) => events.push(event) },
  );

describe("round trips", () => {
  it.each([
    [true, "v4"],
    [false, "v4"],
    [true, "v3"],
    [false, "v3"],
  ] as const)(
    "a model gets its own answer back, part by part and byte for byte (streamed: %s, specification %s)",
    async (stream, specification) => {
      await fc.assert(
        fc.asyncProperty(answer, fc.integer({ min: 1, max: 4 }), async (given, chunk) => {
          // The version before has no place for blocks of a provider's own.
          const parts = specification === "v4" ? given : given.filter(({ type }) => type !== "native");
          fc.pre(parts.length > 0);
          const inner = scripted([parts.map(part), part({ type: "text", text: "done" })], { origin, chunk });
          const sdk = specification === "v4" ? toAiSdk(inner) : toAiSdk(inner, { specification });
          const outer = fromAiSdk(sdk, { stream });
          const events: ModelEvent[] = [];
          const first = await call(outer, [userText("go")], events);
          const told = results(first);
          await call(outer, [userText("go"), first, ...told, userText("on")]);
          const { messages, system } = inner.lastRequest;
          expect(system).toBe("Be brief.");
          // Where nothing opaque is in it, nobody needs to know whose it was.
          if (parts.some((one) => "opaque" in one))
            expect(messages[1]).toMatchObject({ role: "assistant", origin });
          expect(messages[1]?.content).toEqual(parts);
          // The outer answer holds calls in the order they were announced: so do their results.
          expect(new Set(messages.slice(2, -1).map((one) => JSON.stringify(one)))).toEqual(
            new Set(told.map((one) => JSON.stringify(one))),
          );
          expect(messages.at(-1)).toEqual(userText("on"));
          // What was shown while it came is what the answer says.
          const shown = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : [])).join("");
          expect([...shown].sort()).toEqual([...textOf(first)].sort());
        }),
        { numRuns: 200 },
      );
    },
  );

  it("a whole conversation arrives as it was sent", async () => {
    const text = fc.string().map((words) => ({ type: "text" as const, text: words }));
    const file = fc.record(
      {
        type: fc.constant("file" as const),
        mediaType: fc.constantFrom("image/png", "application/pdf", "text/plain"),
        data: fc.base64String({ minLength: 4 }),
        name: fc.string({ minLength: 1 }),
      },
      { requiredKeys: ["type", "mediaType", "data"] },
    );
    const content = fc.array(fc.oneof(text, file), { minLength: 1, maxLength: 3 });
    const failed = text.map((one) => ({ content: [one], isError: true }));
    // Several texts alone would become one: a documented loss.
    const worked = fc
      .tuple(content, file)
      .map(([before, last]) => ({ content: [...before, last], isError: false }));
    const turn = fc.oneof(
      content.map((parts): Message[] => [{ role: "user", content: parts }]),
      text.map((one): Message[] => [{ role: "system", content: [one] }]),
      fc
        .array(fc.tuple(json, fc.oneof(failed, worked)), { minLength: 1, maxLength: 3 })
        .map((list): Message[] => {
          const content = list.map(
            ([args], at): Part => ({
              type: "tool_call",
              id: `call_${at}`,
              name: "lookup",
              args,
              rawArgs: JSON.stringify(args),
            }),
          );
          const stop = { kind: "tool_use", wire: "tool_use" } as const;
          const told = list.map(
            ([, result], at): Message => ({ role: "tool", callId: `call_${at}`, name: "lookup", ...result }),
          );
          return [
            {
              role: "assistant",
              content,
              stop,
              origin: { api: "ai-sdk", provider: "unknown", model: "unknown" },
            },
            ...told,
          ];
        }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 5 }), async (turns) => {
        const messages = [userText("go"), ...turns.flat()];
        const inner = scripted([part({ type: "text", text: "ok" })]);
        await call(fromAiSdk(toAiSdk(inner)), messages);
        expect(inner.lastRequest).toMatchObject({ system: "Be brief.", messages });
      }),
      { numRuns: 200 },
    );
  });

  it("the AI SDK itself returns an answer in its own order, streamed or not", async () => {
    const parts: Part[] = [
      { type: "reasoning", text: "", opaque: { redacted: "x" } },
      { type: "native", kind: "server_tool_use", opaque: { id: "s" } },
      { type: "text", text: "found" },
      { type: "file", mediaType: "image/png", data: "aGk=" },
      { type: "reasoning", text: "so", opaque: { signature: "s" } },
      { type: "text", text: "done" },
    ];
    for (const streamed of [true, false]) {
      const inner = scripted([parts.map(part), part({ type: "text", text: "ok" })], { origin });
      const model = toAiSdk(inner);
      const first = streamed
        ? streamText({ model, prompt: "go" })
        : await generateText({ model, prompt: "go" });
      const said = await first.responseMessages;
      await generateText({
        model,
        messages: [{ role: "user", content: "go" }, ...said, { role: "user", content: "on" }],
      });
      expect(inner.lastRequest.messages[1]).toMatchObject({ origin, content: parts });
      expect(inner.lastRequest.messages[1]?.content).toHaveLength(parts.length);
    }
  });
});
