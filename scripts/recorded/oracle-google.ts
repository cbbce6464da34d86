// The room of Google's own client. It yields chunks and does not combine them.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GoogleGenAI } from "@google/genai";
import { isObject, type Loose, type Recording } from "./corpus.ts";
import { counted, type Said } from "./said.ts";

export async function googleSaid(recording: Recording): Promise<Said> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": recording.contentType });
    for (const frame of recording.frames) response.write(frame);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
    const ask = { model: "m", contents: "x" };
    const chunks: Loose[] = [];
    if (recording.whole) chunks.push((await client.models.generateContent(ask)) as unknown as Loose);
    else
      for await (const chunk of await client.models.generateContentStream(ask))
        chunks.push(chunk as unknown as Loose);
    return added(chunks);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function added(chunks: readonly Loose[]): Said {
  const said: Said = { text: "", reasoning: "", calls: [], stop: undefined, usage: {} };
  let usage: Loose = {};
  let grows = false;
  for (const chunk of chunks) {
    if (isObject(chunk.usageMetadata)) usage = { ...usage, ...chunk.usageMetadata };
    const [candidate] = (chunk.candidates ?? []) as Loose[];
    if (candidate === undefined) continue;
    if (typeof candidate.finishReason === "string") said.stop = candidate.finishReason;
    const content = isObject(candidate.content) ? candidate.content : {};
    for (const part of (content.parts ?? []) as Loose[]) {
      if (typeof part.text === "string") said[part.thought === true ? "reasoning" : "text"] += part.text;
      if (!isObject(part.functionCall)) continue;
      const call = part.functionCall;
      if (typeof call.name === "string") said.calls.push({ name: call.name, args: call.args ?? {} });
      else if (!grows) continue;
      grows = call.willContinue === true;
      for (const piece of (call.partialArgs ?? []) as Loose[]) put(said.calls.at(-1)?.args as Loose, piece);
    }
  }
  const number = (name: string): number => Number(usage[name] ?? 0);
  said.usage = counted({
    inputTokens:
      usage.promptTokenCount === undefined
        ? undefined
        : number("promptTokenCount") + number("toolUsePromptTokenCount"),
    outputTokens:
      usage.candidatesTokenCount === undefined && usage.thoughtsTokenCount === undefined
        ? usage.promptTokenCount === undefined || usage.totalTokenCount === undefined
          ? undefined
          : number("totalTokenCount") - number("promptTokenCount") - number("toolUsePromptTokenCount")
        : number("candidatesTokenCount") + number("thoughtsTokenCount"),
    reasoningTokens: usage.thoughtsTokenCount,
    cachedInputTokens: usage.cachedContentTokenCount,
  });
  return said;
}

/** Inserts one piece of streamed arguments at its path. */
function put(args: Loose, piece: Loose): void {
  const steps = [...String(piece.jsonPath).matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[['"](.*?)['"]\]/g)].map(
    ([, name, index, quoted]) => (index === undefined ? (name ?? quoted ?? "") : Number(index)),
  );
  const last = steps.pop();
  if (last === undefined) return;
  let at = args as { [step: string | number]: unknown };
  steps.forEach((step, i) => {
    at[step] ??= typeof (steps[i + 1] ?? last) === "number" ? [] : {};
    at = at[step] as { [step: string | number]: unknown };
  });
  const value = piece.stringValue ?? piece.numberValue ?? piece.boolValue ?? null;
  at[last] = typeof value === "string" ? `${(at[last] as string | undefined) ?? ""}${value}` : value;
}
