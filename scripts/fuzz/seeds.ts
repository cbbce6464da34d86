// The room of seeds: valid streams to mutate.
//
// From the failure cases, from what `rondo-wire` itself sends, and, if RONDO_CORPUS names their folder, from recorded
// answers. A stream is a list of frames; the target turns them into bytes.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "@rondo/core";
import { EventStreamDecoder } from "../../packages/models/src/transport/event-stream.ts";
import { protocols, type Reply, render } from "../../packages/testkit/src/wire/index.ts";
import { root } from "../packages.ts";
import { isObject } from "./mutate.ts";

export interface SeedFrame {
  event?: string;
  data: string;
  exception?: boolean;
}

export interface Seeds {
  streams: SeedFrame[][];
  /** Complete answers, and error bodies. */
  wholes: Json[];
}

export type SeedApi = (typeof protocols)[number];

/** The API of a case's provider; for all others it is Chat Completions. */
const apiOf: { readonly [provider: string]: SeedApi } = {
  anthropic: "anthropic-messages",
  gemini: "google-generative-ai",
  bedrock: "bedrock-converse",
  "openai-responses": "openai-responses",
};

/** Maximum length of a seed in frames: longer ones take too long byte by byte. */
const mostFrames = 60;

let made: { readonly [api in SeedApi]: Seeds } | undefined;

export function seedsOf(api: SeedApi): Seeds {
  made ??= gathered();
  return made[api];
}

function gathered(): { readonly [api in SeedApi]: Seeds } {
  const all = Object.fromEntries(
    protocols.map((api) => [api, { streams: [], wholes: [] } satisfies Seeds as Seeds]),
  ) as Record<SeedApi, Seeds>;
  fromCases(all);
  fromWire(all);
  if (process.env.RONDO_CORPUS !== undefined) fromCorpus(all, process.env.RONDO_CORPUS);
  return all;
}

function fromCases(all: Record<SeedApi, Seeds>): void {
  const look = (value: Json, seeds: Seeds): void => {
    if (Array.isArray(value)) for (const item of value) look(item, seeds);
    else if (isObject(value)) {
      for (const item of Object.values(value)) if (item !== undefined) look(item, seeds);
      const { wire } = value;
      if (!isObject(wire)) return;
      if (Array.isArray(wire.sse)) seeds.streams.push(framesIn(wire.sse.filter(isText).join("")));
      if (isText(wire.body_b64)) seeds.streams.push(messagesIn(Buffer.from(wire.body_b64, "base64")));
      if (wire.body !== undefined) seeds.wholes.push(wire.body);
    }
  };
  for (const file of ["cases.jsonl", "own.jsonl"])
    for (const line of readFileSync(join(root, "test", "cases", file), "utf8")
      .split("\n")
      .filter(Boolean)) {
      const one = JSON.parse(line) as JsonObject;
      look(one, all[apiOf[String(one.provider)] ?? "openai-chat"]);
    }
}

const isText = (value: Json | undefined): value is string => typeof value === "string";

/** Frames between blank lines: unknown fields become part of the data. */
function framesIn(text: string): SeedFrame[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.trim() !== "")
    .slice(0, mostFrames)
    .map((block) => {
      const event = /^event: ?(.*)$/m.exec(block)?.[1];
      const data = block
        .split(/\r?\n/)
        .filter((line) => !line.startsWith("event:"))
        .map((line) => line.replace(/^data: ?/, ""))
        .join("\n");
      return { data, ...(event === undefined ? {} : { event }) };
    });
}

function messagesIn(bytes: Uint8Array): SeedFrame[] {
  const frames: SeedFrame[] = [];
  try {
    new EventStreamDecoder(({ event, data, exception }) =>
      frames.push({ data, ...(event === undefined ? {} : { event }), ...(exception && { exception }) }),
    ).push(bytes);
  } catch {
    // Some cases are broken on purpose: the frames before the break are still seeds.
  }
  return frames.slice(0, mostFrames);
}

const call = (id: string, args: JsonObject, broken = ""): Reply["blocks"][number] => ({
  type: "call",
  id,
  name: "look",
  args,
  rawArgs: broken === "" ? JSON.stringify(args) : broken,
  broken: broken !== "",
  pieces: broken === "" ? [JSON.stringify(args).slice(0, 5), JSON.stringify(args).slice(5)] : [broken],
});

const replies: Reply["blocks"][] = [
  [{ type: "text", text: "Hé 🙂 there", pieces: ["Hé 🙂", " there"] }],
  [
    { type: "reasoning", text: "hm, so", pieces: ["hm,", " so"] },
    { type: "text", text: "Let me see.", pieces: ["Let me", " see."] },
    call("call_1", { where: "Ulm", list: [1, { deep: null }] }),
    call("call_2", {}),
  ],
  [call("call_1", { a: "b" }), call("call_1", { a: "c" })],
  [{ type: "text", text: "<think>hm</think>[1]", pieces: ["<thi", "nk>hm</think", ">[1]"] }],
  [call("call_3", {}, '{"where": "Ul')],
];

function fromWire(all: Record<SeedApi, Seeds>): void {
  for (const api of protocols)
    for (const [at, blocks] of replies.entries())
      for (const wire of ["end_turn", "tool_use", "max_tokens"] as const) {
        const reply: Reply = {
          number: at + 1,
          model: "m",
          blocks,
          stop: { wire },
          usage: { inputTokens: 7, outputTokens: 5 },
          tellsUsage: true,
        };
        try {
          const { head, blocks: between, tail, whole } = render(api, reply);
          all[api].streams.push(
            [...head, ...between.flat(), ...tail].filter(({ comment }) => comment !== true),
          );
          all[api].wholes.push(whole);
        } catch {
          // A protocol cannot express everything, and throws.
        }
      }
}

const folderApis: readonly (readonly [folder: string, api: SeedApi])[] = [
  ["anthropic", "anthropic-messages"],
  ["amazon-bedrock", "bedrock-converse"],
  ["google", "google-generative-ai"],
  ["openai/responses", "openai-responses"],
  ["xai/responses", "openai-responses"],
  ["openai/chat", "openai-chat"],
  ["groq", "openai-chat"],
  ["mistral", "openai-chat"],
  ["deepseek", "openai-chat"],
];

/** A line of a recording is a frame's data; in Bedrock's the only member names the event. */
function fromCorpus(all: Record<SeedApi, Seeds>, corpus: string): void {
  for (const [folder, api] of folderApis)
    for (const path of globSync(`{recorded/,}${folder}/*.chunks.txt`, { cwd: corpus }).sort()) {
      const lines = readFileSync(join(corpus, path), "utf8").split("\n").filter(Boolean);
      // The head and the tail: the deltas in between are all alike.
      const half = mostFrames >> 1;
      const some = lines.length <= mostFrames ? lines : [...lines.slice(0, half), ...lines.slice(-half)];
      all[api].streams.push(
        some.map((data) => {
          if (api !== "bedrock-converse") return { data };
          const held = JSON.parse(data) as JsonObject;
          const event = Object.keys(held)[0] ?? "";
          return { event, data: JSON.stringify(held[event]) };
        }),
      );
    }
}
