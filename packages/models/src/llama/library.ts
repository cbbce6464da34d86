// The room of node-llama-cpp, as far as it is needed here: its types, and how it is loaded.
//
// It is an optional peer of 85 MB: its types are structural and it is imported on the first call. It never downloads or
// builds anything during a run: without a prebuilt binary the error says what to install.

import { messageOf, RondoError } from "@rondo/core";

/** The part of `import("node-llama-cpp")` that is used. */
export interface LlamaLibrary {
  getLlama(options: {
    gpu: boolean | "auto" | "metal" | "cuda" | "vulkan";
    build: "never";
    skipDownload: true;
    logLevel: "error";
  }): Promise<LlamaRuntime>;
  LlamaChat: new (options: { contextSequence: LlamaSequence }) => LlamaChatLike;
}

export interface LlamaRuntime {
  loadModel(options: { modelPath: string; gpuLayers?: number }): Promise<LlamaWeights>;
  createGrammarForJsonSchema(schema: never): Promise<object>;
  dispose(): Promise<void>;
}

export interface LlamaWeights {
  readonly trainContextSize: number;
  readonly tokenizer: object;
  createContext(options: {
    contextSize?: number;
    threads?: number;
    batchSize?: number;
    sequences: number;
  }): Promise<LlamaContextLike>;
  dispose(): Promise<void>;
}

export interface LlamaContextLike {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

export type LlamaSequence = object;

export type LlamaTurn =
  | { type: "system"; text: string }
  | { type: "user"; text: string }
  | { type: "model"; response: string[] };

export interface LlamaChunk {
  type: "segment" | undefined;
  text: string;
  tokens: readonly number[];
}

export interface LlamaGenerate {
  signal: AbortSignal;
  stopOnAbortSignal: true;
  maxTokens: number;
  onResponseChunk(chunk: LlamaChunk): void;
  grammar?: object;
  temperature?: number;
  topP?: number;
  topK?: number;
  seed?: number;
  customStopTriggers?: readonly string[];
  repeatPenalty?: { penalty: number; frequencyPenalty?: number; presencePenalty?: number };
  budgets?: { thoughtTokens: number };
}

export interface LlamaChatLike {
  readonly chatWrapper: {
    generateContextState(options: { chatHistory: LlamaTurn[] }): {
      contextText: { tokenize(tokenizer: never): readonly number[] };
    };
  };
  generateResponse(
    history: LlamaTurn[],
    options: LlamaGenerate,
  ): Promise<{
    response: string;
    fullResponse: (string | { type: "segment"; text: string })[];
    metadata: { stopReason: string };
  }>;
  dispose(): void;
}

/**
 * The library, if it is installed.
 * @throws RondoError `capability` that says what to install
 */
export async function installedLibrary(): Promise<LlamaLibrary> {
  // A name in a variable, so that neither a compiler nor a bundler tries to resolve it.
  const name = "node-llama-cpp";
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as LlamaLibrary;
  } catch (thrown) {
    throw new RondoError(
      "capability",
      `llama() needs the package node-llama-cpp (3.22 or later): npm install node-llama-cpp. It could not be imported: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}
