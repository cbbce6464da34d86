import { Agent, type JsonObject, type SchemaLike, tool } from "@rondo/core";
import { expect, it } from "vitest";
import { z } from "zod";
import type { LlamaLibrary } from "../../src/index.ts";
import { llama, modelFromName } from "../../src/index.ts";
import { ask, hear } from "../prompted/model.ts";
import { errorFrom } from "../transport/loopback.ts";

it("llama costs nothing until it is called, and then names the package it needs", async () => {
  const model = llama({ modelPath: "/models/Qwen3-4B-Q4_K_M.gguf" });
  expect([model.id, model.origin.api, model.facts?.tools]).toEqual(["llama/Qwen3-4B-Q4_K_M", "llama", true]);
  const error = await errorFrom(hear(model, ask));
  expect([error.kind, error.retryable]).toEqual(["capability", false]);
  expect(error.message).toContain("npm install node-llama-cpp");
  await model.dispose();
});

/** The library, as far as it makes grammars: it keeps the schemas, and its model says always the same. */
function played(text: string): { library: () => Promise<LlamaLibrary>; schemas: JsonObject[] } {
  const schemas: JsonObject[] = [];
  class LlamaChat {
    readonly chatWrapper = { generateContextState: () => ({ contextText: { tokenize: () => [] } }) };
    generateResponse = () =>
      Promise.resolve({ response: text, fullResponse: [text], metadata: { stopReason: "eogToken" } });
    dispose(): void {}
  }
  const weights = {
    trainContextSize: 4_096,
    tokenizer: {},
    createContext: async () => ({ contextSize: 4_096, getSequence: () => ({}) }),
    dispose: async () => {},
  };
  const getLlama = async () => ({
    loadModel: async () => weights,
    createGrammarForJsonSchema: async (schema: JsonObject) => {
      schemas.push(schema);
      return {};
    },
    dispose: async () => {},
  });
  return { library: async () => ({ getLlama, LlamaChat }) as unknown as LlamaLibrary, schemas };
}

it("a model file whose context cannot be created leaves nothing in memory", async () => {
  const held: string[] = [];
  const holding = (name: string) => {
    held.push(name);
    return { dispose: async () => void held.splice(held.indexOf(name), 1) };
  };
  const weights = {
    trainContextSize: 4_096,
    tokenizer: {},
    createContext: () => Promise.reject(new Error("the context does not fit into memory")),
  };
  const getLlama = async () => ({
    ...holding("runtime"),
    loadModel: async () => ({ ...weights, ...holding("weights") }),
  });
  const library = async (): Promise<LlamaLibrary> => ({ getLlama }) as unknown as LlamaLibrary;
  const model = llama({ modelPath: "/m.gguf", library });
  for (const attempt of ["first", "second"]) {
    const error = await errorFrom(hear(model, ask));
    expect(error.message, attempt).toContain("the context does not fit into memory");
    expect(held, attempt).toEqual([]);
  }
});

/** Words of a schema that the library's grammars do not know: it makes nothing of a node that has no other. */
const unknownTo = (schema: unknown): string[] => {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(unknownTo);
  const own = Object.keys(schema).filter((word) => ["anyOf", "allOf", "$ref", "$defs", "not"].includes(word));
  return [...own, ...Object.values(schema).flatMap(unknownTo)];
};

it.each<[string, SchemaLike, string, unknown]>([
  ["null", z.object({ zip: z.string().nullable() }), '{"zip":null}', { zip: null }],
  ["alternatives", z.object({ at: z.union([z.string(), z.number()]) }), '{"at":1}', { at: 1 }],
  [
    "a member that may be absent",
    z.object({ city: z.string(), zip: z.string().optional() }),
    '{"city":"Rome","zip":null}',
    { city: "Rome" },
  ],
  ["a list at its top", z.array(z.string()), '{"value":["Rome"]}', ["Rome"]],
  ["a tuple", z.object({ at: z.tuple([z.string(), z.number()]) }), '{"at":["x",1]}', { at: ["x", 1] }],
  [
    "what holds itself",
    {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#" } } },
      required: ["kids"],
      additionalProperties: false,
    },
    '{"kids":[]}',
    { kids: [] },
  ],
])("a typed output with %s is held to by a grammar that can be made", async (_, output, text, value) => {
  const { library, schemas } = played(text);
  const agent = new Agent({ model: llama({ modelPath: "/m.gguf", library }), output });
  expect((await agent.run("where?")).output).toEqual(value);
  expect(schemas).toHaveLength(1);
  expect(unknownTo(schemas[0])).toEqual([]);
});

it("a level of reasoning, which no model file supports, is left out with a warning; a number of tokens is not", async () => {
  const { library } = played('{"response":"hi"}');
  const model = llama({ modelPath: "/m.gguf", library });
  const told = async (reasoning: "off" | "high" | { budgetTokens: number }) =>
    (await hear(model, { ...ask, settings: { reasoning } })).warnings;
  expect(await told("high")).toEqual(["unsupported_setting"]);
  expect(await told("off")).toEqual([]);
  expect(await told({ budgetTokens: 64 })).toEqual([]);
});

it("the protocol's grammar enforces tools, however many there are", async () => {
  const { library, schemas } = played('{"response":"done"}');
  const many = Array.from({ length: 60 }, (_, at) =>
    tool({
      name: `t${at}`,
      description: "",
      inputSchema: z.object(Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`p${n}`, z.string()]))),
      execute: () => "",
    }),
  );
  const agent = new Agent({ model: llama({ modelPath: "/m.gguf", library }), tools: many });
  expect((await agent.run("go")).text).toBe("done");
  expect((schemas[0] as { oneOf: JsonObject[] }).oneOf).toHaveLength(61);
  expect(JSON.stringify(schemas[0])).toContain('"p9":{"type":"string"}');
});

it("llama names an unknown or missing option, instead of failing because of it", () => {
  const given = (options: unknown) => () => llama(options as Parameters<typeof llama>[0]);
  expect(given({ model: "/m.gguf" })).toThrow(
    "llama: option model: there is no such option; did you mean modelPath?",
  );
  expect(given({})).toThrow("llama: option modelPath: a text is needed");
  expect(given("/m.gguf")).toThrow('an object is needed, not "/m.gguf"');
});

it("facts of a model file can be given, as for any model", async () => {
  const model = await modelFromName("llama//m.gguf", {}, { facts: { contextWindow: 1234 } });
  expect(model.facts?.contextWindow).toBe(1234);
});

it("a chat template that refuses the conversation is a permanent error", async () => {
  const { library } = played("hi");
  const refusing = async (): Promise<LlamaLibrary> => {
    const given = await library();
    class LlamaChat {
      readonly chatWrapper = {
        generateContextState: () => {
          throw new Error("roles must alternate");
        },
      };
      dispose(): void {}
    }
    return { ...given, LlamaChat } as unknown as LlamaLibrary;
  };
  const error = await errorFrom(hear(llama({ modelPath: "/m.gguf", library: refusing }), ask));
  expect([error.kind, error.retryable]).toEqual(["invalid_request", false]);
  expect(error.message).toContain("chat template: roles must alternate");
});

it("a call that waits for the one before does not run into the first-byte timeout", async () => {
  const { library } = played('{"response":"hi"}');
  const loading = Promise.withResolvers<void>();
  const model = llama({
    modelPath: "/m.gguf",
    library: async () => {
      await loading.promise;
      return library();
    },
  });
  const turns: string[] = [];
  const call = (name: string) =>
    model.call(ask, {
      signal: new AbortController().signal,
      emit: () => {},
      queued: (turn) => void turn.then(() => turns.push(name)),
    });
  const first = call("first");
  const second = call("second");
  await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toEqual(["first"]);
  loading.resolve();
  await Promise.all([first, second]);
  expect(turns).toEqual(["first", "second"]);
});

it("a grammar is used only in the runtime that created it", async () => {
  const { library, schemas } = played('{"value":["Rome"]}');
  const loading = Promise.withResolvers<void>();
  const told = () => {
    loading.resolve();
    return library();
  };
  const model = llama({ modelPath: "/m.gguf", library: told });
  const outputSchema = { type: "array", items: { type: "string" } };
  const first = hear(model, { ...ask, tools: [], outputSchema });
  // It is disposed of while the call is on its way: what it makes then is of the runtime that goes.
  await loading.promise;
  const gone = model.dispose();
  await Promise.all([first, gone]);
  await hear(model, { ...ask, tools: [], outputSchema });
  expect(schemas).toHaveLength(2);
});
