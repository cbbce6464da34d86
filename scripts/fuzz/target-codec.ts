// The room of the codec targets: any body becomes an answer or a typed error, the same for every chunking.
//
// It goes through `receive`, like every call. An error that `receive` wraps because a decoder threw it still counts as
// broken: a codec must be prepared for any frame.

import { type Json, RondoError } from "@rondo/core";
import type { Codec } from "../../packages/models/src/codec.ts";
import { anthropicMessages } from "../../packages/models/src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../../packages/models/src/codecs/bedrock-converse.ts";
import { googleClassic } from "../../packages/models/src/codecs/google-classic.ts";
import { googleGenerativeAi } from "../../packages/models/src/codecs/google-generative-ai.ts";
import { ollamaChat } from "../../packages/models/src/codecs/ollama-chat.ts";
import { openaiChat } from "../../packages/models/src/codecs/openai-chat.ts";
import { openaiResponses } from "../../packages/models/src/codecs/openai-responses.ts";
import { receive } from "../../packages/models/src/receive.ts";
import type { Chance } from "../chance.ts";
import { anyJson, isObject, mutateJson, mutateList, mutateText } from "./mutate.ts";
import { type SeedApi, type SeedFrame, seedsOf } from "./seeds.ts";
import { bytesOf, cuts, type FuzzTarget, outcomeLater, outcomeOf, same, utf8 } from "./target.ts";
import { messageBytes, sseText } from "./wire-bytes.ts";

interface Subject {
  name: string;
  codec: Codec;
  seeds: SeedApi;
  compats?: readonly { readonly [quirk: string]: Json }[];
}

const subjects: readonly Subject[] = [
  {
    name: "anthropic",
    codec: anthropicMessages,
    seeds: "anthropic-messages",
    compats: [{}, { unsignedThinking: true }, { endTokens: true }],
  },
  {
    name: "bedrock",
    codec: bedrockConverse,
    seeds: "bedrock-converse",
    compats: [{}, { unsignedThinking: true }, { endTokens: true, thinkTags: "leading" }],
  },
  {
    name: "google",
    codec: googleGenerativeAi,
    seeds: "google-generative-ai",
    compats: [{}, { endTokens: true }],
  },
  { name: "google-classic", codec: googleClassic, seeds: "google-generative-ai" },
  { name: "ollama", codec: ollamaChat, seeds: "openai-chat", compats: [{}, { endTokens: true }] },
  {
    name: "openai-chat",
    codec: openaiChat,
    seeds: "openai-chat",
    compats: [
      {},
      { thinkTags: "leading" },
      { thinkTags: "starts_inside", splitChoices: true },
      { harmony: true, endTokens: true },
      { endTokens: true },
      { idForm: "mistral9", cutsPrompts: true },
    ],
  },
  {
    name: "openai-responses",
    codec: openaiResponses,
    seeds: "openai-responses",
    compats: [{}, { endTokens: true, thinkTags: "leading" }],
  },
];

/** A frame with its data changed or replaced. */
function mutateFrame(chance: Chance, frame: SeedFrame): SeedFrame {
  let { data } = frame;
  try {
    data = JSON.stringify(mutateJson(chance, JSON.parse(frame.data) as Json));
  } catch {
    // Not JSON: its text is changed below.
    data = mutateText(chance, data);
  }
  if (chance.is(0.05)) data = mutateText(chance, data);
  return { ...frame, data };
}

function body(chance: Chance, { codec, seeds }: Subject): string {
  const known = seedsOf(seeds);
  if (chance.is(0.15)) {
    let whole = known.wholes.length === 0 ? anyJson(chance) : chance.pick(known.wholes);
    for (let left = chance.few(5); left > 0; left -= 1) whole = mutateJson(chance, whole);
    const text = utf8(JSON.stringify(whole));
    return chance.is(0.1) ? mutateText(chance, text) : text;
  }
  let frames = chance.pick(known.streams);
  if (chance.is(0.3)) frames = mutateList(chance, frames);
  if (chance.is(0.1)) frames = [...frames, ...chance.pick(known.streams)];
  for (let left = chance.few(5) - 1; left > 0 && frames.length > 0; left -= 1) {
    const at = chance.below(frames.length);
    frames = frames.with(at, mutateFrame(chance, frames[at] as SeedFrame));
  }
  if (chance.is(0.03)) frames = chance.many(3, () => ({ data: JSON.stringify(anyJson(chance)) }));
  const text =
    codec.framing === "aws_event_stream"
      ? frames.map((frame) => messageBytes(frame, chance)).join("")
      : codec.framing === "ndjson"
        ? utf8(frames.map((frame) => `${chance.is(0.8) ? ofOllama(frame.data) : frame.data}\n`).join(""))
        : utf8(sseText(frames));
  return chance.is(0.15) ? mutateText(chance, text) : text;
}

/** Chat Completions converted to Ollama's format: there are too few recordings of its own. */
function ofOllama(data: string): string {
  try {
    const { choices } = JSON.parse(data) as { choices?: { delta?: Json; finish_reason?: Json }[] };
    const choice = choices?.[0];
    const done = choice?.finish_reason ?? null;
    return JSON.stringify({
      model: "m",
      message: choice?.delta ?? {},
      done: done !== null,
      ...(done === null ? {} : { done_reason: done }),
    });
  } catch {
    return data;
  }
}

/** Removes generated ids, which differ from run to run. */
const unmade = (value: unknown): string => {
  const ids = new Map<string, string>();
  return JSON.stringify(value).replace(/call_[0-9a-f]{8}(?:[0-9a-f]{16})?(?![0-9a-f])/g, (id) => {
    const known = ids.get(id) ?? `made_${ids.size}`;
    ids.set(id, known);
    return known;
  });
};

function codecTarget(subject: Subject): FuzzTarget {
  const { name, codec, compats = [{}] } = subject;
  return {
    name: `codec-${name}`,
    make: (chance) => ({
      body: body(chance, subject),
      compat: chance.pick(compats),
      ...(chance.is(0.1) ? { breaks: true } : {}),
      ...(chance.is(0.1) ? { stream: false } : {}),
    }),
    async run(input) {
      if (!isObject(input) || typeof input.body !== "string") return undefined;
      const target = {
        origin: { api: codec.api, provider: "fuzz", model: "m" },
        facts: {},
        compat: isObject(input.compat) ? input.compat : {},
        ...(isObject(input.compat) && input.compat.endTokens === true ? { isSpokenOf: () => false } : {}),
        ...(input.stream === false ? { stream: false } : {}),
      };
      const results: unknown[] = [];
      for (const pieces of cuts(bytesOf(input.body))) {
        const events: unknown[] = [];
        const end = await outcomeLater(() =>
          receive(
            {
              status: 200,
              header: () => null,
              discard: () => {},
              read: async (sink) => {
                for (const piece of pieces) if (sink(piece) === false) return;
                if (input.breaks === true) throw new RondoError("network", "the connection broke");
              },
            },
            codec,
            target,
            { emit: (event) => void events.push(event) },
          ),
        );
        results.push(JSON.parse(unmade({ events, end })));
      }
      same(results, "chunking");
      return results[0];
    },
  };
}

/** The error that an HTTP error body becomes. */
function errorTarget({ name, codec, seeds }: Subject): FuzzTarget {
  const names = ["retry-after", "retry-after-ms", "x-should-retry", "content-type", "x-amzn-errortype"];
  const values = ["", "1", "-1", "1e9", "Wed, 21 Oct 2099 07:28:00 GMT", "true", "false", "text/html", "a:b"];
  return {
    name: `error-${name}`,
    share: 0.2,
    make: (chance) => {
      const { wholes } = seedsOf(seeds);
      const whole = wholes.length > 0 && chance.is(0.7) ? chance.pick(wholes) : { error: anyJson(chance) };
      const text = JSON.stringify(chance.is(0.8) ? mutateJson(chance, whole) : whole);
      return {
        status: chance.pick([200, 400, 401, 402, 403, 404, 408, 413, 422, 429, 498, 500, 503, 529, 600]),
        body: chance.is(0.2) ? mutateText(chance, text) : text,
        headers: Object.fromEntries(
          chance.many(chance.below(3), () => [chance.pick(names), chance.pick(values)]),
        ),
      };
    },
    run(input) {
      if (!isObject(input) || typeof input.body !== "string" || typeof input.status !== "number")
        return undefined;
      const headers = isObject(input.headers) ? input.headers : {};
      const response = {
        status: input.status,
        body: input.body,
        header: (wanted: string) => {
          const value = headers[wanted];
          return typeof value === "string" ? value : null;
        },
      };
      const target = { origin: { api: codec.api, provider: "fuzz", model: "m" }, facts: {} };
      return outcomeOf(() => {
        const answer = codec.answerOf?.(response, target);
        if (answer !== undefined) return answer;
        throw codec.errorOf(response);
      });
    },
  };
}

export const codecTargets: readonly FuzzTarget[] = [
  ...subjects.map(codecTarget),
  ...subjects.map(errorTarget),
];
