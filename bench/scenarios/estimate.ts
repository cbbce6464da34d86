// The room of estimates: how far token estimates are off.
//
// For answers the provider's own count is known: those of the recorded transcripts, whose folder RONDO_CORPUS names. For
// requests there is no count, so a real tokenizer counts the words in our codecs' bodies. It is one provider's, and chat
// templates are left out: these figures show how consistent an estimate is, rather than how accurate.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AssistantMessage,
  charEstimator,
  type Estimator,
  estimateRequest,
  type Message,
  type ModelRequest,
  pruneWeights,
  type ToolDefinition,
  tokenizerEstimator,
  userText,
} from "@rondo/core";
import { countTokens } from "gpt-tokenizer";
import { findRecordings } from "../../scripts/recorded/corpus.ts";
import { codecs, decode } from "../../scripts/recorded/said.ts";
import { median } from "../measure.ts";
import type { Tabled } from "../scenario.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const estimators: Readonly<Record<string, Estimator>> = {
  "by characters": charEstimator(),
  "four characters a token": charEstimator(pruneWeights),
  "o200k (gpt-tokenizer)": tokenizerEstimator(countTokens),
};

interface Sample {
  group: string;
  counted: number;
  estimated(estimator: Estimator): number;
}

/** Answers that report their token count, and show everything that was counted. */
function answers(corpus: string): Sample[] {
  // provider, api, file, kind, bytes, events, models, stops, origin_guess, source: invented transcripts are excluded.
  const recorded = new Set(
    readFileSync(join(corpus, "MANIFEST.tsv"), "utf8")
      .split("\n")
      .map((line) => line.split("\t"))
      .filter(([, , , , , , , , guess]) => guess === "recorded")
      .map(([provider, api, file]) => [provider, api, file].filter(Boolean).join("/")),
  );
  return findRecordings(corpus).flatMap((found) => {
    if (!("recording" in found) || !recorded.has(found.file)) return [];
    let answer: AssistantMessage;
    try {
      answer = decode(found.recording, "frames");
    } catch {
      return [];
    }
    const { outputTokens: counted = 0, reasoningTokens = 0 } = answer.usage ?? {};
    const isHidden = reasoningTokens > 0 || answer.content.some(({ type }) => type === "reasoning");
    if (counted < 20 || isHidden || answer.content.some(({ type }) => type === "native")) return [];
    const calls = answer.content.some(({ type }) => type === "tool_call");
    const group = `answers ${calls ? "with calls" : "of text alone"}, by the provider's count`;
    return [{ group, counted, estimated: (estimator) => estimator.message(answer) }];
  });
}

const source = (...paths: string[]): string =>
  paths.map((path) => readFileSync(join(root, path), "utf8")).join("\n");

/** Typical tool results: each kind from files that are in every clone. */
const kinds: Readonly<Record<string, () => string>> = {
  prose: () => source("README.md", "docs/guide/rules.md", "docs/guide/tools.md", "docs/guide/sessions.md"),
  code: () => source("packages/core/src/loop/next.ts", "packages/core/src/loop/drive.ts"),
  JSON: () => source("package-lock.json").slice(0, 60_000),
  "a log": () =>
    Array.from({ length: 400 }, (_, at) => {
      const time = new Date(1_760_000_000_000 + at * 7_919).toISOString();
      return `${time} INFO [worker-${at % 7}] request ${(at * 2_654_435_761).toString(16)} GET /api/v1/items/${at * 31} 200 ${at % 90}ms`;
    }).join("\n"),
};

const tools: readonly ToolDefinition[] = ["read", "search", "write"].map((name) => ({
  name,
  description: `Does what the word ${name} says to a file under the project's folder, and returns its text.`,
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Path, relative to the root." },
      limit: { type: "integer" },
    },
    required: ["path"],
  },
}));

/** A conversation whose tool results are pieces of one kind of text. */
function conversation(words: string, pieces: number): Message[] {
  const size = Math.floor(words.length / pieces);
  const messages: Message[] = [
    userText("Please read everything and tell me what there is to be said about it."),
  ];
  for (let at = 0; at < pieces; at += 1) {
    const args = { path: `part-${at}.txt`, limit: 1000 + at };
    messages.push(
      {
        role: "assistant",
        content: [
          { type: "text", text: `I look at part ${at}.` },
          { type: "tool_call", id: `call_${at}`, name: "read", args, rawArgs: JSON.stringify(args) },
        ],
        origin: { api: "bench", provider: "bench", model: "m" },
        stop: { kind: "tool_use", wire: "tool_use" },
      },
      {
        role: "tool",
        callId: `call_${at}`,
        name: "read",
        content: [{ type: "text", text: words.slice(at * size, (at + 1) * size) }],
        isError: false,
      },
    );
  }
  return messages;
}

function requests(): Sample[] {
  return Object.entries(kinds).flatMap(([kind, words]) =>
    [1, 4, 16].flatMap((pieces) =>
      Object.values(codecs).map((codec): Sample => {
        const request: ModelRequest = {
          system: "You are a careful reader of files.",
          messages: conversation(words(), pieces),
          tools,
          toolChoice: "auto",
          settings: { maxOutputTokens: 1_000 },
        };
        const target = { origin: { api: codec.api, provider: "bench", model: "m" }, facts: {} };
        const counted = countTokens(
          wordsIn(JSON.parse(codec.encoder(target).encode(request).body)).join("\n"),
        );
        return {
          group: `requests with ${kind}, words by o200k`,
          counted,
          estimated: (estimator) => estimateRequest(request, estimator).tokens,
        };
      }),
    ),
  );
}

/** Every key and value of a body, without JSON punctuation. */
function wordsIn(value: unknown): string[] {
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, member]) => [
      ...(Array.isArray(value) ? [] : [key]),
      ...wordsIn(member),
    ]);
  return [String(value)];
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function row(group: string, name: string, samples: readonly Sample[], estimator: Estimator): string[] {
  const errors = samples.map(({ counted, estimated }) => estimated(estimator) / counted - 1);
  const sizes = errors.map(Math.abs).sort((one, other) => one - other);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  const p90 = sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * 0.9))] ?? Number.NaN;
  return [group, name, String(samples.length), percent(mean), percent(p90), percent(median(errors))];
}

export const estimate: Tabled = {
  about: "how far estimated tokens are from counted ones",
  table: () => {
    const corpus = process.env.RONDO_CORPUS;
    const there = corpus !== undefined && existsSync(join(corpus, "MANIFEST.tsv"));
    if (!there) console.log("RONDO_CORPUS names no folder of recorded responses: answers are left out");
    const samples = [...(there ? answers(corpus) : []), ...requests()];
    const groups = [...new Set(samples.map(({ group }) => group))];
    return Promise.resolve({
      head: ["", "", "samples", "mean error", "p90", "median, signed"],
      rows: groups.flatMap((group) =>
        Object.entries(estimators).map(([name, estimator]) =>
          row(
            group,
            name,
            samples.filter((sample) => sample.group === group),
            estimator,
          ),
        ),
      ),
    });
  },
};
