// The real node-llama-cpp with a real, tiny and random model. It is installed apart from everything else, in
// native/llama, the first time this runs.

import { execFile } from "node:child_process";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Agent, type JsonObject, type ModelRequest, tool } from "@rondo/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type LlamaLibrary, type LlamaModel, type LlamaOptions, llama } from "../../src/index.ts";
import { ask, hear, weather } from "../prompted/model.ts";
import { errorFrom } from "../transport/loopback.ts";
import { writeTinyModel } from "./llama-tiny-gguf.ts";

const folder = fileURLToPath(new URL("../../../../native/llama/", import.meta.url));
const entry = join(folder, "node_modules/node-llama-cpp/dist/index.js");
const binary = join(folder, "node_modules/@node-llama-cpp/linux-x64/package.json");

/** Why the library cannot be had here; undefined when it is there. */
async function missing(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `native/llama pins the binary of linux-x64, and this is ${process.platform}-${process.arch}`;
  const there = (): Promise<boolean> =>
    Promise.all([access(entry), access(binary)]).then(
      () => true,
      () => false,
    );
  if (await there()) return undefined;
  try {
    await promisify(execFile)("npm", ["install", "--prefix", folder, "--omit=optional", "--ignore-scripts"], {
      timeout: 200_000,
    });
  } catch (thrown) {
    return `node-llama-cpp could not be installed into native/llama: ${(thrown as Error).message.slice(0, 300)}`;
  }
  return (await there()) ? undefined : "npm installed native/llama without the binary of linux-x64";
}

let reason: string | undefined;
let place = "";
let modelPath = "";
const open: LlamaModel[] = [];

beforeAll(async () => {
  reason = await missing();
  if (reason !== undefined) return;
  place = await mkdtemp(join(tmpdir(), "rondo-llama-"));
  modelPath = join(place, "tiny.gguf");
  await writeTinyModel(modelPath);
}, 230_000);

afterEach(async () => {
  for (const model of open.splice(0)) await model.dispose();
});

afterAll(async () => {
  if (place !== "") await rm(place, { recursive: true, force: true });
});

function tiny(options: Partial<LlamaOptions> = {}): LlamaModel {
  const library = async (): Promise<LlamaLibrary> =>
    (await import(pathToFileURL(entry).href)) as unknown as LlamaLibrary;
  // Two threads are many times slower than one for a model this small.
  const model = llama({ modelPath, contextSize: 4096, threads: 1, gpu: false, library, ...options });
  open.push(model);
  return model;
}

const lively = (seed: number): ModelRequest["settings"] => ({ temperature: 1, seed, maxOutputTokens: 700 });

/** Another kind of tool: what grammars carry, and what only the check afterwards can. */
const search: ModelRequest["tools"][number] = {
  name: "search",
  description: "Searches",
  inputSchema: {
    type: "object",
    properties: {
      words: { type: "array", items: { type: "string", maxLength: 12 }, maxItems: 3 },
      limit: { type: "integer", minimum: 1 },
      mode: { enum: ["fast", "deep"] },
      where: { anyOf: [{ type: "string", maxLength: 20 }, { type: "null" }] },
    },
    required: ["words", "mode"],
  } satisfies JsonObject,
};

describe("llama, with a real model file in this process", () => {
  it("answers in the required form however random it is: every answer is a call of a known tool, or a response", async ({
    skip,
  }) => {
    if (reason !== undefined) skip(reason);
    const model = tiny();
    const kinds = new Map<string, number>();
    for (let seed = 1; seed <= 24; seed++) {
      const { answer, calls, text, warnings } = await hear(model, {
        ...ask,
        tools: [weather, search],
        settings: lively(seed),
      });
      const { kind } = answer.stop;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      expect(["tool_use", "end_turn", "max_tokens"], JSON.stringify(answer)).toContain(kind);
      if (kind === "max_tokens") continue;
      expect(warnings, JSON.stringify(answer)).toEqual([]);
      if (kind === "end_turn") expect([calls, typeof text]).toEqual([[], "string"]);
      for (const { name, args, argsError } of calls) {
        expect(["weather", "search"]).toContain(name);
        // The grammar of a number takes any digits, also of one that nothing can keep.
        if (argsError === "a number in the arguments is larger than any that can be kept") continue;
        expect(argsError).toBeUndefined();
        const own = args as { city?: unknown; mode?: unknown; words?: unknown };
        if (name === "weather") expect(typeof own.city).toBe("string");
        else
          expect([["fast", "deep"].includes(String(own.mode)), Array.isArray(own.words)]).toEqual([
            true,
            true,
          ]);
      }
      expect(answer.usage?.inputTokens).toBeGreaterThan(100);
      expect(answer.usage?.outputTokens).toBeGreaterThan(1);
    }
    expect(kinds.get("tool_use") ?? 0).toBeGreaterThan(0);
  });

  it("calls a forced tool, and none if none may be called", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const model = tiny();
    const forced = await hear(model, { ...ask, toolChoice: { tool: "list" }, settings: lively(3) });
    expect(forced.calls.map(({ name }) => name)).toEqual(["list"]);
    const free = await hear(model, { ...ask, toolChoice: "none", settings: lively(3) });
    expect([free.calls, free.answer.stop.kind]).toEqual([
      [],
      expect.stringMatching(/^(?:end_turn|max_tokens)$/),
    ]);
  });

  it("accepts tools with a minimal or recursive schema", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const node: JsonObject = { anyOf: [{ type: "string", maxLength: 5 }, { $ref: "#/$defs/pair" }] };
    const pair: JsonObject = { type: "object", properties: { a: { $ref: "#/$defs/node" } }, required: ["a"] };
    const tools = [
      { name: "free", description: "Takes anything", inputSchema: { type: "object" } },
      {
        name: "tree",
        description: "Takes a tree",
        inputSchema: { $ref: "#/$defs/pair", $defs: { node, pair } } satisfies JsonObject,
      },
    ];
    const model = tiny();
    for (const { name } of tools) {
      const { calls, warnings, answer } = await hear(model, {
        ...ask,
        tools,
        toolChoice: { tool: name },
        settings: lively(9),
      });
      if (answer.stop.kind === "max_tokens") continue;
      expect([calls.map((call) => call.name), warnings]).toEqual([[name], []]);
    }
  });

  it("holds typed output to its schema", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const outputSchema = {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
    } as const;
    const { text } = await hear(tiny(), {
      ...ask,
      tools: [],
      outputSchema: { ...outputSchema, required: ["ok"] },
      settings: lively(5),
    });
    expect(typeof (JSON.parse(text) as { ok: unknown }).ok).toBe("boolean");
  });

  it("streams, and the same seed gives the same answer", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const model = tiny();
    const request: ModelRequest = { ...ask, tools: [], settings: { ...lively(11), maxOutputTokens: 40 } };
    const first = await hear(model, request);
    const second = await hear(model, request);
    expect(first.text).toBe(second.text);
    expect(first.text.startsWith(first.shown.trimEnd())).toBe(true);
    expect(
      first.events.filter((event) => event.type === "text_delta" || event.type === "progress").length,
    ).toBeGreaterThan(3);
    expect(first.answer.usage?.outputTokens).toBeLessThanOrEqual(40);
  });

  it("stops when it is aborted, during the answer and in the queue, and answers the next call", async ({
    skip,
  }) => {
    if (reason !== undefined) skip(reason);
    const model = tiny();
    const long: ModelRequest = {
      ...ask,
      tools: [],
      settings: { temperature: 1, seed: 1, maxOutputTokens: 3000 },
    };
    const controller = new AbortController();
    const waiting = new AbortController();
    const first = errorFrom(
      model.call(long, { signal: controller.signal, emit: () => controller.abort(new Error("enough")) }),
    );
    const second = errorFrom(model.call(long, { signal: waiting.signal, emit: () => {} }));
    waiting.abort();
    expect([(await second).kind, (await first).kind]).toEqual(["aborted", "aborted"]);
    const next = await hear(model, { ...long, settings: { ...long.settings, maxOutputTokens: 5 } });
    expect(next.answer.stop.kind).toMatch(/^(?:max_tokens|end_turn)$/);
  });

  it("refuses a prompt that does not fit, and drops nothing silently", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const messages = [
      { role: "user" as const, content: [{ type: "text" as const, text: "word ".repeat(2000) }] },
    ];
    const error = await errorFrom(hear(tiny({ contextSize: 1024 }), { ...ask, tools: [], messages }));
    expect([error.kind, error.message]).toEqual(["context_overflow", expect.stringContaining("1024")]);
  });

  it("drives the loop: tools run with arguments the grammar made, and the run ends", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const cities: unknown[] = [];
    const agent = new Agent({
      model: tiny(),
      tools: [
        tool({
          name: "weather",
          description: "Current weather",
          effect: "read",
          inputSchema: weather.inputSchema,
          execute: (args) => {
            cities.push((args as { city: unknown }).city);
            return "sunny";
          },
        }),
      ],
      toolChoice: { tool: "weather" },
      maxSteps: 2,
      onLimit: "stop",
      settings: lively(2),
    });
    const { end } = await agent.run("Weather in Oslo?");
    expect(cities.length).toBeGreaterThan(0);
    expect(cities.every((city) => typeof city === "string")).toBe(true);
    expect(end?.reason).toBe("max_steps");
  });

  it("says why it cannot load a file, and loads a good one after a disposal", async ({ skip }) => {
    if (reason !== undefined) skip(reason);
    const error = await errorFrom(hear(tiny({ modelPath: join(place, "nothing.gguf") }), ask));
    expect([error.kind, error.message]).toEqual(["invalid_request", expect.stringContaining("nothing.gguf")]);
    const model = tiny();
    const request: ModelRequest = { ...ask, tools: [], settings: { maxOutputTokens: 3 } };
    await hear(model, request);
    await model.dispose();
    expect((await hear(model, request)).answer.stop.kind).toMatch(/^(?:max_tokens|end_turn)$/);
  });
});
