import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type FunctionCallingConfigMode,
  GoogleGenAI,
  type Part as SdkPart,
  type ThinkingLevel,
} from "@google/genai";
import { type AssistantMessage, callsOf, type Json, type Message, userText } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { findRecordings } from "../../../../scripts/recorded/corpus.ts";
import { decode } from "../../../../scripts/recorded/said.ts";
import { checkGoogleRequest } from "../../../testkit/src/wire/rules/google.ts";
import type { Target } from "../../src/codec.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";

const corpus = process.env.RONDO_CORPUS;
const there = corpus !== undefined && existsSync(corpus);
const recordings = there
  ? findRecordings(corpus).flatMap((one) =>
      "recording" in one && one.recording.protocol === "google-generative-ai"
        ? [{ file: one.file, recording: one.recording }]
        : [],
    )
  : [];

/** The conversation after an answer: every call has its result. */
function answered(message: AssistantMessage): Message[] {
  const named: AssistantMessage = {
    ...message,
    content: message.content.map((part, i) => (part.type === "tool_call" ? { ...part, id: `c${i}` } : part)),
  };
  return [
    userText("go"),
    named,
    ...callsOf(named).map(
      (call): Message => ({
        role: "tool",
        callId: call.id,
        name: call.name,
        content: [{ type: "text", text: "ok" }],
        isError: false,
      }),
    ),
    ...(callsOf(named).length === 0 ? [userText("go on")] : []),
  ];
}

describe("Gemini's recorded answers", () => {
  it("are there", ({ skip }) => {
    if (!there) skip("RONDO_CORPUS names no folder of recorded responses");
    expect(recordings.length).toBeGreaterThan(10);
  });

  it.each(recordings)(
    "$file is sent back as a valid request, with every signature it came with",
    ({ recording }) => {
      const message = decode(recording, "frames");
      const { body } = googleGenerativeAi
        .encoder({ origin: message.origin, facts: {}, compat: { needsSignatures: true } })
        .encode({ messages: answered(message), tools: [], toolChoice: "auto", settings: {} });
      expect(checkGoogleRequest(body, { needsSignatures: true })).toEqual([]);
      const wire = recording.frames.map((frame) => new TextDecoder().decode(frame)).join("");
      const signatures = [...wire.matchAll(/"thoughtSignature":\s*"([^"]+)"/g)].map(
        ([, signature]) => signature,
      );
      expect([...body.matchAll(/"thoughtSignature":"([^"]+)"/g)].map(([, signature]) => signature)).toEqual(
        signatures,
      );
      expect(signatures.length).toBeGreaterThan(0);
    },
  );
});

/** What Google's own client sends. */
async function sentBySdk(
  ask: (client: GoogleGenAI) => Promise<unknown>,
): Promise<{ path: string; body: Json }> {
  let seen: { path: string; body: Json } | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      seen = { path: request.url ?? "", body: JSON.parse(Buffer.concat(chunks).toString()) as Json };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        'data: {"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}\r\n\r\n',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await ask(new GoogleGenAI({ apiKey: "none", apiVersion: "v1beta", httpOptions: { baseUrl } }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
  if (seen === undefined) throw new Error("the client sent nothing");
  return seen;
}

describe("a request", () => {
  it("is the one Google's own client sends for the same conversation", async () => {
    const target: Target = {
      origin: { api: "google-generative-ai", provider: "google", model: "gemini-3-pro-preview" },
      facts: {},
    };
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const ours = googleGenerativeAi.encoder(target).encode({
      system: "be brief",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "weather here?" },
            { type: "file", mediaType: "image/png", data: "AAAA" },
          ],
        },
        {
          role: "assistant",
          origin: target.origin,
          stop: { kind: "tool_use", wire: "end_turn" },
          content: [
            { type: "reasoning", text: "hm" },
            {
              type: "tool_call",
              id: "ours",
              name: "weather",
              args: { city: "Bern" },
              rawArgs: '{"city":"Bern"}',
              opaque: { id: "theirs", thoughtSignature: "U2ln" },
            },
          ],
        },
        {
          role: "tool",
          callId: "ours",
          name: "weather",
          content: [{ type: "text", text: "snow" }],
          isError: false,
        },
      ],
      tools: [{ name: "weather", description: "the weather", inputSchema: schema }],
      toolChoice: { tool: "weather" },
      settings: {
        temperature: 0.5,
        maxOutputTokens: 64,
        stop: ["END"],
        reasoning: "low",
        providerOptions: {
          google: { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }] },
        },
      },
      outputSchema: schema,
    });
    const theirs = await sentBySdk((client) =>
      client.models.generateContentStream({
        model: "gemini-3-pro-preview",
        contents: [
          {
            role: "user",
            parts: [{ text: "weather here?" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }],
          },
          {
            role: "model",
            parts: [
              { text: "hm", thought: true } satisfies SdkPart,
              {
                functionCall: { id: "theirs", name: "weather", args: { city: "Bern" } },
                thoughtSignature: "U2ln",
              },
            ],
          },
          {
            role: "user",
            parts: [{ functionResponse: { id: "theirs", name: "weather", response: { output: "snow" } } }],
          },
        ],
        config: {
          systemInstruction: { parts: [{ text: "be brief" }] },
          temperature: 0.5,
          maxOutputTokens: 64,
          stopSequences: ["END"],
          thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" as ThinkingLevel },
          safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT" as never, threshold: "OFF" as never }],
          responseMimeType: "application/json",
          responseJsonSchema: schema,
          tools: [
            {
              functionDeclarations: [
                { name: "weather", description: "the weather", parametersJsonSchema: schema },
              ],
            },
          ],
          toolConfig: {
            functionCallingConfig: {
              mode: "ANY" as FunctionCallingConfigMode,
              allowedFunctionNames: ["weather"],
            },
          },
        },
      }),
    );
    expect(ours.path).toBe(theirs.path);
    expect(JSON.parse(ours.body)).toEqual(theirs.body);
    expect(ours.warnings).toEqual([]);
    expect(checkGoogleRequest(theirs.body, { needsSignatures: true })).toEqual([]);
  });
});
