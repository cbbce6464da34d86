// The room of a model file that runs in this process: node-llama-cpp as a `Model`.
//
// A grammar constrains every answer to the protocol's envelope, so that even the smallest model makes well-formed calls;
// the output is parsed and checked like any other all the same. A file is loaded once and answers one call at a time: calls
// queue. When the context is full, the library silently drops the oldest turns; here the call fails instead.

import {
  type AssistantMessage,
  type JsonObject,
  type Message,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  messageOf,
  modelFace,
  type Origin,
  RondoError,
  type Settings,
  type StopKind,
  textOf,
} from "@rondo/core";
import {
  anything,
  callable,
  checkGiven,
  count,
  flag,
  membersOf,
  object,
  text,
  whole,
} from "@rondo/core/checks";
import { Answer } from "../answer.ts";
import { promptedJson } from "../prompted/prompted-json.ts";
import { abortedError, unlessAborted } from "../transport/network.ts";
import {
  installedLibrary,
  type LlamaChatLike,
  type LlamaGenerate,
  type LlamaLibrary,
  type LlamaRuntime,
  type LlamaTurn,
  type LlamaWeights,
} from "./library.ts";

export interface LlamaOptions {
  /** The GGUF file. */
  modelPath: string;
  /** The model's name. Default: the file's name without `.gguf`. */
  name?: string;
  /** Context size, in tokens. Default: what the model was trained with, at most 8192. */
  contextSize?: number;
  /** CPU threads per answer. Default: the library's choice. Very small models are fastest with 1. */
  threads?: number;
  /** Default: `auto`. */
  gpu?: boolean | "auto" | "metal" | "cuda" | "vulkan";
  /** Number of layers on the GPU. Default: as many as fit. */
  gpuLayers?: number;
  /** Constrain answers to the protocol by a grammar if tools are given. Default: true. */
  grammar?: boolean;
  /** Break up control tokens of chat templates in the texts of users, tools and files. Default: true. */
  neutralise?: boolean;
  facts?: ModelFacts;
  /** Loads the library. Default: `import("node-llama-cpp")`. */
  library?: () => Promise<LlamaLibrary>;
}

/** A model that holds memory until it is disposed of. */
export interface LlamaModel extends Model {
  /** Frees the model's memory. Waits for the call in progress; a later call loads the model again. */
  dispose(): Promise<void>;
}

const llamaOptions = membersOf<LlamaOptions>(
  {
    modelPath: text,
    name: text,
    contextSize: count,
    threads: whole,
    gpu: anything,
    gpuLayers: whole,
    grammar: flag,
    neutralise: flag,
    facts: object,
    library: callable,
  },
  ["modelPath"],
);

/**
 * A model in a GGUF file, e.g. `llama({ modelPath: "qwen3-4b-q4.gguf" })`. Needs the package `node-llama-cpp`.
 * @throws RondoError `invalid_request` naming the option that cannot be used
 */
export function llama(options: LlamaOptions): LlamaModel {
  checkGiven(llamaOptions, options, "llama");
  const file = new LlamaFile(options);
  const model = promptedJson(file, {
    constrain: options.grammar ?? true,
    origin: file.origin,
    ...(options.neutralise === undefined ? {} : { neutralise: options.neutralise }),
  });
  return {
    ...modelFace(model),
    call: (request, io) => model.call(request, io),
    dispose: () => file.dispose(),
  };
}

interface Loaded {
  runtime: LlamaRuntime;
  weights: LlamaWeights;
  chat: LlamaChatLike;
  contextSize: number;
  /** By schema. A grammar belongs to its runtime, and goes with it. */
  grammars: Map<string, Promise<object>>;
}

/** The file as a model with text only, whose output can be constrained to a schema. */
class LlamaFile implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts: ModelFacts;
  readonly #options: LlamaOptions;
  #loaded: Promise<Loaded> | undefined;
  /** Settles when the call before is over. */
  #queue: Promise<void> = Promise.resolve();

  constructor(options: LlamaOptions) {
    const name = options.name ?? fileName(options.modelPath);
    this.id = `llama/${name}`;
    this.origin = { api: "llama", provider: "llama", model: name };
    this.facts = {
      tools: false,
      output: "native",
      price: { input: 0, output: 0 },
      ...(options.contextSize === undefined ? {} : { contextWindow: options.contextSize }),
      ...options.facts,
    };
    this.#options = options;
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    if (io.signal.aborted) throw abortedError(io.signal);
    const before = this.#queue;
    let over: () => void = () => {};
    this.#queue = new Promise((resolve) => {
      over = resolve;
    });
    io.queued?.(before);
    try {
      await unlessAborted(before, io.signal);
      this.#loaded ??= this.#load();
      const loaded = await unlessAborted(this.#loaded, io.signal);
      return await this.#generate(loaded, request, io);
    } finally {
      // A call that left the queue early must not let the next one in before its turn.
      void before.then(over);
    }
  }

  async dispose(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    await this.#queue;
    // A model that failed to load holds nothing.
    const held = await loaded?.catch(() => undefined);
    held?.chat.dispose();
    await held?.weights.dispose();
    await held?.runtime.dispose();
  }

  async #load(): Promise<Loaded> {
    const {
      modelPath,
      contextSize,
      threads,
      gpu = "auto",
      gpuLayers,
      library = installedLibrary,
    } = this.#options;
    const held: { dispose(): Promise<void> }[] = [];
    try {
      const { getLlama, LlamaChat } = await library();
      const runtime = await getLlama({ gpu, build: "never", skipDownload: true, logLevel: "error" });
      held.push(runtime);
      const weights = await runtime.loadModel({
        modelPath,
        ...(gpuLayers === undefined ? {} : { gpuLayers }),
      });
      held.push(weights);
      const context = await weights.createContext({
        contextSize: contextSize ?? Math.min(weights.trainContextSize, defaultContext),
        sequences: 1,
        ...(threads === undefined ? {} : { threads }),
      });
      const chat = new LlamaChat({ contextSequence: context.getSequence() });
      return { runtime, weights, chat, contextSize: context.contextSize, grammars: new Map() };
    } catch (thrown) {
      // A failure is not cached: the file may be there the next time. What was loaded until then would occupy memory.
      this.#loaded = undefined;
      for (const one of held.reverse()) await one.dispose().catch(() => {});
      if (thrown instanceof RondoError) throw thrown;
      throw new RondoError(
        "invalid_request",
        `${this.id}: ${modelPath} could not be loaded: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
  }

  async #generate(loaded: Loaded, request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const { chat, contextSize } = loaded;
    const history = turns(request, io);
    const inputTokens = this.#tokensOf(history, loaded);
    const room = contextSize - inputTokens - spareTokens;
    if (room <= 0)
      throw new RondoError(
        "context_overflow",
        `${this.id}: the prompt has ${inputTokens} tokens and the context holds ${contextSize}: raise contextSize or shorten the conversation`,
        { usage: { inputTokens } },
      );
    const asked = request.settings.maxOutputTokens ?? Number.POSITIVE_INFINITY;
    const grammar = await this.#grammar(loaded, request.outputSchema, io);
    const { reasoning } = request.settings;
    if (typeof reasoning === "string" && reasoning !== "off") {
      const message = `${this.id} has no levels of reasoning: ${reasoning} was left out; { budgetTokens } limits it`;
      io.emit({ type: "warning", code: "unsupported_setting", message });
    }
    const answer = new Answer(this, io.emit);
    let outputTokens = 0;
    try {
      const { fullResponse, metadata } = await chat.generateResponse(history, {
        ...sampling(request.settings),
        ...(grammar === undefined ? {} : { grammar }),
        signal: io.signal,
        stopOnAbortSignal: true,
        maxTokens: Math.max(1, Math.min(asked, room)),
        onResponseChunk: (chunk) => {
          outputTokens += chunk.tokens.length;
          if (chunk.type === "segment") answer.reasoning("thought", chunk.text);
          else answer.text("text", chunk.text);
        },
      });
      if (io.signal.aborted || metadata.stopReason === "abort") throw abortedError(io.signal);
      // The whole text counts: while streaming, the library holds some back and trims the end.
      const text = fullResponse.filter((part) => typeof part === "string").join("");
      if (text !== "" || answer.has("text")) answer.textWhole("text", "text", text);
      answer.count({ inputTokens, outputTokens });
      return answer.finish({ wire: stops[metadata.stopReason] ?? "unknown", raw: metadata.stopReason });
    } catch (thrown) {
      answer.count({ inputTokens, outputTokens });
      throw this.#failed(thrown, answer, io.signal);
    }
  }

  /** How many tokens the conversation has in the model's own chat template, which may refuse it. */
  #tokensOf(history: LlamaTurn[], { chat, weights }: Loaded): number {
    try {
      const { contextText } = chat.chatWrapper.generateContextState({ chatHistory: history });
      return contextText.tokenize(weights.tokenizer as never).length;
    } catch (thrown) {
      throw new RondoError(
        "invalid_request",
        `${this.id}: the conversation does not go into the model's chat template: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
  }

  async #grammar(
    { runtime, grammars }: Loaded,
    schema: JsonObject | undefined,
    io: ModelIo,
  ): Promise<object | undefined> {
    if (schema === undefined) return undefined;
    const key = JSON.stringify(schema);
    let made = grammars.get(key);
    if (made === undefined) {
      if (grammars.size >= maxGrammars) grammars.clear();
      const { forGrammar } = await import("../prompted/envelope.ts");
      made = runtime.createGrammarForJsonSchema(forGrammar(schema) as never);
      grammars.set(key, made);
    }
    try {
      return await made;
    } catch (thrown) {
      io.emit({
        type: "warning",
        code: "unsupported_output_schema",
        message: `${this.id}: no grammar can be made of the schema, the answer is not held to it: ${messageOf(thrown)}`,
      });
      return undefined;
    }
  }

  #failed(thrown: unknown, answer: Answer, signal: AbortSignal): RondoError {
    if (!signal.aborted)
      return answer.failed(
        new RondoError("server_error", `${this.id}: ${messageOf(thrown)}`, { cause: thrown }),
      );
    const error = new RondoError("aborted", "the model call was aborted", { cause: signal.reason });
    return answer.failed(error, "aborted");
  }
}

const defaultContext = 8192;
/** Tokens kept free for what the template adds at the end. */
const spareTokens = 8;
const maxGrammars = 64;

const stops: { readonly [reason: string]: StopKind } = {
  eogToken: "end_turn",
  stopGenerationTrigger: "end_turn",
  customStopTrigger: "stop_sequence",
  maxTokens: "max_tokens",
};

/** The conversation in the library's form. Files are only mentioned. */
function turns(request: ModelRequest, io: ModelIo): LlamaTurn[] {
  const history: LlamaTurn[] = [];
  if (request.system !== undefined && request.system !== "")
    history.push({ type: "system", text: request.system });
  let files = 0;
  for (const message of request.messages) {
    const hidden = message.content.filter((part) => part.type === "file").length;
    files += hidden;
    history.push(turn(message, hidden === 0 ? "" : `\n[${hidden} file(s) are not shown]`));
  }
  if (files > 0)
    io.emit({
      type: "warning",
      code: "unsupported_file",
      message: "llama() reads text only: files are named, not shown",
    });
  return history;
}

function turn(message: Message, more: string): LlamaTurn {
  const text = textOf(message) + more;
  if (message.role === "assistant") return { type: "model", response: [text] };
  return message.role === "system" ? { type: "system", text } : { type: "user", text };
}

function sampling(settings: Settings): Partial<LlamaGenerate> {
  const { temperature, topP, topK, seed, stop, frequencyPenalty, presencePenalty, reasoning } = settings;
  const thoughtTokens =
    reasoning === "off" ? 0 : typeof reasoning === "object" ? reasoning.budgetTokens : undefined;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop === undefined ? {} : { customStopTriggers: stop }),
    ...(frequencyPenalty === undefined && presencePenalty === undefined
      ? {}
      : {
          repeatPenalty: {
            penalty: 1,
            ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
            ...(presencePenalty === undefined ? {} : { presencePenalty }),
          },
        }),
    ...(thoughtTokens === undefined ? {} : { budgets: { thoughtTokens } }),
  };
}

function fileName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.replace(/\.gguf$/i, "");
}
