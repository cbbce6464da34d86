import {
  type AssistantMessage,
  type Json,
  type JsonObject,
  type Message,
  type Part,
  RondoError,
  type ToolMessage,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkGoogleRequest } from "../../../testkit/src/wire/rules/google.ts";
import type { Target } from "../../src/codec.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";

const origins = [
  { api: "google-generative-ai", provider: "google", model: "gemini-3-pro-preview" },
  { api: "google-generative-ai", provider: "google", model: "gemini-2.5-flash" },
  { api: "anthropic-messages", provider: "anthropic", model: "claude" },
];
const targetOf = (origin: (typeof origins)[number]): Target => ({ origin, facts: {} });

const text = fc.oneof(
  fc.constant(""),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constant("\ud83d half"),
);
const signature = fc.option(fc.constantFrom("S1", "S2"), { nil: undefined });
const opaqueOf = (thoughtSignature: string | undefined): { opaque?: JsonObject } =>
  thoughtSignature === undefined ? {} : { opaque: { thoughtSignature } };
const args = fc.dictionary(fc.constantFrom("a", "__proto__", "b c"), fc.jsonValue() as fc.Arbitrary<Json>, {
  maxKeys: 2,
});

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(text, signature).map(([words, s]): Part => ({ type: "text", text: words, ...opaqueOf(s) })),
  fc.tuple(text, signature).map(([words, s]): Part => ({ type: "reasoning", text: words, ...opaqueOf(s) })),
  text.map((words): Part => ({ type: "refusal", text: words })),
  fc.constant<Part>({ type: "native", kind: "executableCode", opaque: { executableCode: { code: "1" } } }),
  fc.constant<Part>({ type: "native", kind: "server_tool_use", opaque: { type: "server_tool_use" } }),
  fc.constant<Part>({ type: "file", mediaType: "image/png", data: "AAAA" }),
  fc.tuple(fc.constantFrom("read", "9lives", "a b", ""), args, signature, fc.boolean()).map(
    ([name, given, s, broken]): Part => ({
      type: "tool_call",
      id: "",
      name,
      args: broken ? {} : given,
      rawArgs: broken ? '{"a":' : JSON.stringify(given),
      ...(broken ? { argsError: "cut" } : {}),
      ...opaqueOf(s),
    }),
  ),
);

interface Turn {
  user: string | undefined;
  content: Part[];
  origin: (typeof origins)[number];
  result: { words: string; image: boolean; failed: boolean };
  /** What becomes of the results: stored as they should be, out of order, or one missing. */
  stored: "right" | "reversed" | "missing";
}

const turn: fc.Arbitrary<Turn> = fc.record({
  user: fc.option(text, { nil: undefined }),
  content: fc.array(part, { maxLength: 5 }),
  origin: fc.constantFrom(...origins),
  result: fc.record({ words: text, image: fc.boolean(), failed: fc.boolean() }),
  stored: fc.constantFrom("right", "right", "reversed", "missing"),
});

function historyOf(turns: readonly Turn[]): Message[] {
  const messages: Message[] = [];
  let id = 0;
  for (const { user, content, origin, result, stored } of turns) {
    if (user !== undefined) messages.push(userText(user));
    const results: ToolMessage[] = [];
    const named = content.map((one): Part => {
      if (one.type !== "tool_call") return one;
      const callId = `c${id++}`;
      results.push({
        role: "tool",
        callId,
        name: one.name,
        content: [
          { type: "text", text: result.words },
          ...(result.image ? [{ type: "file" as const, mediaType: "image/png", data: "AAAA" }] : []),
        ],
        isError: result.failed,
      });
      return { ...one, id: callId };
    });
    const message: AssistantMessage = {
      role: "assistant",
      content: named,
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    };
    messages.push(message);
    if (stored === "reversed") results.reverse();
    if (stored === "missing") results.pop();
    messages.push(...results);
  }
  return messages;
}

describe("any conversation", () => {
  it("becomes a request that Google's rules allow", () => {
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 4 }),
        fc.constantFrom(...origins.slice(0, 2)),
        (turns, origin) => {
          const encoder = googleGenerativeAi.encoder(targetOf(origin));
          const { body } = encoder.encode({
            messages: historyOf(turns),
            tools: [{ name: "read", description: "", inputSchema: {} }],
            toolChoice: "auto",
            settings: {},
          });
          expect(checkGoogleRequest(body, { needsSignatures: origin.model.startsWith("gemini-3") })).toEqual(
            [],
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  it("sends earlier messages as the same bytes, whatever comes next", () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => {
        const encoder = googleGenerativeAi.encoder(targetOf(origins[0]!));
        const messages = historyOf(turns);
        let before = "";
        messages.forEach((message, i) => {
          const next = messages[i + 1];
          // Requests are made after a user's message or the last result of a turn.
          if (message.role === "assistant" || next?.role === "tool") return;
          const { body } = encoder.encode({
            messages: messages.slice(0, i + 1),
            tools: [],
            toolChoice: "auto",
            settings: {},
          });
          expect(body.startsWith(before)).toBe(true);
          const whole = checkGoogleRequest(body);
          expect(whole).toEqual([]);
          // A conversation that was ended for the wire's sake only ("Continue.") has a longer end than its own.
          before = body.endsWith('[{"text":"Continue."}]}]}') ? "" : body.slice(0, -2);
        });
      }),
      { numRuns: 200 },
    );
  });
});

describe("an encoder that has encoded another conversation", () => {
  it("encodes any other as a new one does: grown, cut, pruned, edited", () => {
    const request = (messages: Message[]) => ({
      messages,
      tools: [],
      toolChoice: "auto" as const,
      settings: {},
    });
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 5 }),
        fc.array(fc.tuple(fc.nat(12), fc.nat(3), fc.boolean()), { maxLength: 5 }),
        (turns, edits) => {
          const used = googleGenerativeAi.encoder(targetOf(origins[0]!));
          const all = historyOf(turns);
          const stages: Message[][] = all.map((_, i) => all.slice(0, i + 1));
          let now = all;
          for (const [at, removed, puts] of edits) {
            now = now.toSpliced(at, removed, ...(puts ? [userText(`edit ${at}`)] : []));
            stages.push(now);
          }
          for (const stage of stages) {
            const fresh = googleGenerativeAi.encoder(targetOf(origins[0]!)).encode(request(stage));
            expect(used.encode(request(stage)).body).toBe(fresh.body);
            expect(checkGoogleRequest(fresh.body)).toEqual([]);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("any answer", () => {
  const signed = (data: JsonObject, thoughtSignature: string | undefined): JsonObject =>
    thoughtSignature === undefined ? data : { ...data, thoughtSignature };
  const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 });
  const wirePart: fc.Arbitrary<JsonObject> = fc.oneof(
    fc.tuple(words, signature).map(([said, s]) => signed({ text: said }, s)),
    fc.constant<JsonObject>({ text: "", thoughtSignature: "tail" }),
    fc.tuple(words, signature).map(([said, s]) => signed({ text: said, thought: true }, s)),
    fc
      .tuple(args, signature, fc.option(fc.constantFrom("id1", "id2"), { nil: undefined }))
      .map(([given, s, id]) =>
        signed({ functionCall: { ...(id === undefined ? {} : { id }), name: "f", args: given } }, s),
      ),
    fc.constant<JsonObject>({ codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } }),
    fc.constant<JsonObject>({ inlineData: { mimeType: "image/png", data: "AAAA" }, thoughtSignature: "I" }),
  );

  /** As decoding has them: neighbours that it joins, joined, and a call that was told twice once. */
  function joined(parts: readonly JsonObject[]): JsonObject[] {
    const out: JsonObject[] = [];
    const told = new Set<string>();
    for (const one of parts) {
      const mark = (one.functionCall as JsonObject | undefined)?.id ?? one.thoughtSignature;
      if (one.functionCall !== undefined && mark !== undefined) {
        const said = JSON.stringify([mark, (one.functionCall as JsonObject).args]);
        if (told.has(said)) continue;
        told.add(said);
      }
      const last = out.at(-1);
      const joins =
        typeof one.text === "string" &&
        typeof last?.text === "string" &&
        one.thought === last.thought &&
        one.thoughtSignature === undefined &&
        last.thoughtSignature === undefined;
      if (joins) out[out.length - 1] = { ...last, text: `${last.text}${one.text}` };
      else out.push(one);
    }
    return out;
  }

  it("is sent back to its origin part for part, with signatures on their parts", () => {
    fc.assert(
      fc.property(fc.array(wirePart, { minLength: 1, maxLength: 6 }), fc.boolean(), (parts, whole) => {
        const target = targetOf(origins[1]!);
        const end = { finishReason: "STOP", index: 0 };
        let message: AssistantMessage;
        if (whole)
          message = googleGenerativeAi.decodeWhole(
            { candidates: [{ ...end, content: { role: "model", parts } }] },
            target,
            () => {},
          );
        else {
          const decoder = googleGenerativeAi.decoder(target, () => {});
          for (const one of parts)
            decoder.push({
              event: undefined,
              data: JSON.stringify({ candidates: [{ content: { role: "model", parts: [one] } }] }),
            });
          decoder.push({ event: undefined, data: JSON.stringify({ candidates: [end] }) });
          message = decoder.end();
        }
        const { body } = googleGenerativeAi
          .encoder(target)
          .encode({ messages: [userText("go"), message], tools: [], toolChoice: "auto", settings: {} });
        expect((JSON.parse(body) as { contents: { parts: Json }[] }).contents[1]?.parts).toEqual(
          joined(parts),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("made of pieces of any shape contains what was sent, and shows only what it contains", () => {
    const leaf = fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, depthSize: "small" },
        leaf as fc.Arbitrary<Json>,
        fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "b", "__proto__", "x y", 'q"'), tie("value"), {
          minKeys: 1,
          maxKeys: 3,
        }) as fc.Arbitrary<JsonObject>,
      ),
    }));
    const object = fc.dictionary(fc.constantFrom("a", "b", "c"), value, { minKeys: 1, maxKeys: 3 });
    const piecesOf = (path: string, at: Json): JsonObject[] => {
      if (typeof at === "string")
        return [
          ...[...at].map((char) => ({ jsonPath: path, stringValue: char, willContinue: true })),
          { jsonPath: path, stringValue: "" },
        ];
      if (typeof at === "number") return [{ jsonPath: path, numberValue: at }];
      if (typeof at === "boolean") return [{ jsonPath: path, boolValue: at }];
      if (at === null) return [{ jsonPath: path, nullValue: "NULL_VALUE" }];
      if (Array.isArray(at)) return at.flatMap((one, i) => piecesOf(`${path}[${i}]`, one));
      return Object.entries(at).flatMap(([key, one]) => piecesOf(`${path}[${JSON.stringify(key)}]`, one));
    };
    fc.assert(
      fc.property(object, (given) => {
        const shown: string[] = [];
        const decoder = googleGenerativeAi.decoder(targetOf(origins[0]!), (event) => {
          if (event.type === "tool_args_delta") shown.push(event.delta);
        });
        const push = (functionCall: Json, finishReason?: string): void =>
          decoder.push({
            event: undefined,
            data: JSON.stringify({ candidates: [{ content: { parts: [{ functionCall }] }, finishReason }] }),
          });
        push({ name: "f", willContinue: true });
        for (const piece of piecesOf("$", given)) push({ partialArgs: [piece], willContinue: true });
        push({}, "STOP");
        const [call] = decoder.end().content;
        if (call?.type !== "tool_call") throw new Error("no call");
        expect(JSON.stringify(call.args)).toBe(JSON.stringify(given));
        expect(shown.join("")).toBe(call.rawArgs);
      }),
      { numRuns: 300 },
    );
  });

  it("of any shape becomes an answer with valid parts, or an error of ours", () => {
    const key = fc.constantFrom(
      ..."candidates content parts text thought thoughtSignature functionCall name id args partialArgs jsonPath stringValue willContinue finishReason promptFeedback blockReason usageMetadata promptTokenCount inlineData mimeType citationMetadata citations safetyRatings groundingMetadata index".split(
        " ",
      ),
    );
    const { json } = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 7 },
        fc.constantFrom<Json>(null, true, 0, 7, "", "STOP", "$.a", "$.__proto__.b", {}, []),
        { weight: 2, arbitrary: fc.array(tie("json"), { maxLength: 3 }) },
        { weight: 4, arbitrary: fc.dictionary(key, tie("json"), { maxKeys: 4 }) as fc.Arbitrary<JsonObject> },
      ),
    }));
    const piece = fc.dictionary(key, json, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
    const shaped = fc
      .array(
        fc.oneof(json, piece, fc.record({ functionCall: fc.oneof(json, piece) }) as fc.Arbitrary<Json>),
        { maxLength: 4 },
      )
      .map((parts): Json => ({ candidates: [{ content: { parts } }] }));
    fc.assert(
      fc.property(fc.array(fc.oneof(json, shaped), { maxLength: 4 }), (chunks) => {
        const target = targetOf(origins[0]!);
        const decoder = googleGenerativeAi.decoder(target, () => {});
        let message: AssistantMessage;
        try {
          for (const chunk of chunks) decoder.push({ event: undefined, data: JSON.stringify(chunk) });
          decoder.push({ event: undefined, data: '{"candidates":[{"finishReason":"STOP"}]}' });
          message = decoder.end();
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(RondoError);
          return;
        }
        for (const one of message.content) {
          if ("text" in one) expect(typeof one.text).toBe("string");
          if (one.type === "file") expect(typeof one.mediaType).toBe("string");
          if (one.type === "tool_call") {
            expect([typeof one.name, typeof one.id, typeof one.rawArgs]).toEqual([
              "string",
              "string",
              "string",
            ]);
            expect(Array.isArray(one.args) || typeof one.args !== "object").toBe(false);
          }
        }
        for (const value of Object.values(message.usage ?? {})) expect(typeof value).toBe("number");
        const { body } = googleGenerativeAi
          .encoder(target)
          .encode({ messages: [userText("go"), message], tools: [], toolChoice: "auto", settings: {} });
        expect(() => JSON.parse(body)).not.toThrow();
      }),
      { numRuns: 1500 },
    );
  });
});
