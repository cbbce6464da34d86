// Any conversation, well or badly formed, to every provider over a socket: what goes out keeps its provider's rules, and
// what the server means to say is what comes back.

import { type AssistantMessage, type JsonObject, type Message, type Part, textOf } from "@rondo/core";
import { call, say, stop, type Turn, think } from "@rondo/testkit";
import type { Chunks } from "@rondo/testkit/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { request } from "../anthropic/conversations.ts";
import { rows, serve } from "./stack.ts";

interface Meant {
  reasoning: string;
  text: string;
  calls: { name: string; args: JsonObject }[];
  stop: "end_turn" | "max_tokens";
}

const words = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    "data: [DONE]\n\n",
    "\r\n\r\nevent: ping",
    "日本 😀",
    "\u2028 and \u2029",
    "}{",
    "\\u0000 \u0000",
  ),
);
const args = fc
  .dictionary(
    fc.oneof(fc.string({ maxLength: 6 }), fc.constant("__proto__")),
    fc.jsonValue({ maxDepth: 3 }),
    {
      maxKeys: 4,
    },
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const meant: fc.Arbitrary<Meant> = fc
  .record({
    reasoning: fc.option(words, { nil: "" }),
    text: fc.option(words, { nil: "" }),
    calls: fc.array(fc.record({ name: fc.constantFrom("weather", "a-b_C9", "x"), args }), { maxLength: 3 }),
    stop: fc.constantFrom("end_turn" as const, "max_tokens" as const),
  })
  .map((one) => (one.calls.length > 0 ? { ...one, stop: "end_turn" } : one));

function turnOf(one: Meant): Turn {
  return [
    one.reasoning === "" ? [] : think(one.reasoning),
    one.text === "" ? [] : say(one.text),
    one.calls.map(({ name, args: given }) => call(name, given)),
    one.calls.length > 0 ? [] : stop(one.stop),
  ];
}

function heard(message: AssistantMessage): Omit<Meant, "stop"> & { stop: string } {
  const reasoning = message.content
    .map((part: Part) => (part.type === "reasoning" ? part.text : ""))
    .join("");
  const calls = message.content.flatMap((part) =>
    part.type === "tool_call" ? [{ name: part.name, args: part.args }] : [],
  );
  return { reasoning, text: textOf(message), calls, stop: message.stop.kind };
}

/** The loop asks nothing before somebody has said something. */
const wild = request.filter(({ messages }) => [...messages].some(({ role }) => role === "user"));

/** As the loop stores it: ids are unique, and every call has its one result behind it. */
const canonical = wild.map((one) => {
  const stored: Message[] = [];
  let calls = 0;
  for (const message of one.messages) {
    if (message.role === "tool") continue;
    if (message.role !== "assistant") {
      stored.push(message);
      continue;
    }
    const content = message.content.map(
      (part): Part =>
        part.type === "tool_call" ? { ...part, id: `call_${++calls}`, name: part.name || "unnamed" } : part,
    );
    stored.push({ ...message, content });
    for (const part of content)
      if (part.type === "tool_call")
        stored.push({
          role: "tool",
          callId: part.id,
          name: part.name,
          content: calls % 3 === 0 ? [] : [{ type: "text", text: `result of ${part.id} \ud800` }],
          isError: calls % 2 === 0,
        });
  }
  return { ...one, messages: stored };
});

describe.each(rows)("a conversation with $name", (row) => {
  // OpenAI's encoders take the loop's promises for granted; the others mend what breaks them.
  const forms = { canonical, ...(row.name.startsWith("openai") ? {} : { wild }) };
  it.each(Object.entries(forms))(
    "of %s form follows the provider's rules, and the answer is the intended one",
    async (_, asked) => {
      let next: Turn = [];
      const wires = await Promise.all(
        (["frame", "byte", "whole"] as const).map((chunks: Chunks) =>
          serve(() => next, { chunks, chunk: 3 }),
        ),
      );
      await fc.assert(
        fc.asyncProperty(asked, meant, fc.nat(2), fc.boolean(), async (conversation, one, at, stream) => {
          const wire = wires[at];
          if (wire === undefined) throw new Error("no wire");
          next = turnOf(one);
          const before = wire.violations.length;
          const deltas: string[] = [];
          const answer = await row
            .model(wire, { stream })
            .call(conversation, {
              signal: new AbortController().signal,
              emit: (event) => {
                if (event.type === "text_delta") deltas.push(event.text);
              },
            })
            .catch((thrown: unknown) => {
              // The rule that was broken says more than the status.
              expect(wire.violations.slice(before)).toEqual([]);
              throw thrown;
            });
          expect(heard(answer)).toEqual({ ...one, stop: one.calls.length > 0 ? "tool_use" : one.stop });
          expect(deltas.join("")).toBe(one.text);
          const ids = answer.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
          // Google gives its calls none: the loop does.
          if (row.name !== "google")
            expect(new Set(ids.filter((id) => id !== "")).size).toBe(one.calls.length);
        }),
        { numRuns: 150 },
      );
      for (const wire of wires) expect([wire.violations, wire.problems]).toEqual([[], []]);
    },
  );
});
