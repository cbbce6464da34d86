// The room of the recorded transcripts: where they are, how they become bytes, and how bytes are fed to a decoder.
//
// The transcripts are not part of the project: RONDO_CORPUS names their folder, and where it does not the tests skip.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessage, ModelEvent } from "@rondo/core";
import type { Codec, Target } from "../../src/codec.ts";
import { SseDecoder } from "../../src/transport/sse.ts";

export const corpus: string | undefined =
  process.env.RONDO_CORPUS !== undefined && existsSync(process.env.RONDO_CORPUS)
    ? process.env.RONDO_CORPUS
    : undefined;

const chatFolders = [
  "alibaba",
  "cerebras",
  "deepseek",
  "groq",
  "mistral",
  "moonshotai",
  "openai/chat",
  "openai-compatible",
  "openai-compatible/chat",
  "perplexity",
  "xai",
];
const responsesFolders = ["azure", "open-responses", "openai/responses", "xai/responses"];

export interface Recording {
  name: string;
  path: string;
  whole: boolean;
  part?: number;
}

function recordings(folders: readonly string[]): Recording[] {
  if (corpus === undefined) return [];
  const root = corpus;
  return folders.flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder))
          .filter((file) => /\.(json|chunks\.txt|sse)$/.test(file))
          .map((file) => ({
            name: `${folder}/${file}`,
            path: join(root, folder, file),
            whole: file.endsWith(".json"),
          }))
      : [],
  );
}

const all: Recording[] = recordings([...chatFolders, ...responsesFolders]);
const isChat = (recording: Recording): boolean =>
  !recording.name.includes("responses/") &&
  !/"(?:object": ?"response"|type":"response\.)/.test(readFileSync(recording.path, "utf8"));
export const chatRecordings: Recording[] = all.filter(isChat);
/** Some of these hold the responses of several steps one after the other: one entry each. */
export const responsesRecordings: Recording[] = all
  .filter((one) => !isChat(one))
  .flatMap((one) => {
    if (one.whole) return [one];
    const count = readFileSync(one.path, "utf8").split('"type":"response.created"').length - 1;
    return count < 2
      ? [one]
      : Array.from({ length: count }, (_, part) => ({ ...one, name: `${one.name} #${part}`, part }));
  });

/** A recording as the bytes of its stream. */
export function sseOf(recording: Recording, protocol: "chat" | "responses"): string {
  const text = readFileSync(recording.path, "utf8");
  if (recording.path.endsWith(".sse")) return text;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (protocol === "chat") return `${lines.map((line) => `data: ${line}\n\n`).join("")}data: [DONE]\n\n`;
  let part = -1;
  return lines
    .filter((line) => {
      if (line.includes('"type":"response.created"')) part++;
      return recording.part === undefined || recording.part === part;
    })
    .map((line) => `event: ${(JSON.parse(line) as { type: string }).type}\ndata: ${line}\n\n`)
    .join("");
}

export type Chunking = "frames" | "bytes" | "whole";

function chunked(sse: string, how: Chunking): Uint8Array[] {
  const bytes = new TextEncoder().encode(sse);
  if (how === "whole") return [bytes];
  if (how === "bytes") return Array.from(bytes, (byte) => Uint8Array.of(byte));
  return sse
    .split(/(?<=\n\n)/)
    .filter((frame) => frame !== "")
    .map((frame) => new TextEncoder().encode(frame));
}

export interface Decoded {
  message: AssistantMessage;
  events: ModelEvent[];
}

/** A stream's answer, with its events. */
export function decodeStream(codec: Codec, target: Target, sse: string, how: Chunking = "frames"): Decoded {
  const events: ModelEvent[] = [];
  const decoder = codec.decoder(target, (event) => events.push(event));
  const parser = new SseDecoder((frame) => decoder.push(frame));
  for (const chunk of chunked(sse, how)) parser.push(chunk);
  parser.end();
  return { message: decoder.end(), events };
}

export function target(api: string, more: Partial<Target> = {}): Target {
  return { origin: { api, provider: "test", model: "m" }, facts: {}, ...more };
}
