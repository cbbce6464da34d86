// The room of Ollama: its own protocol, with its own tools where a model has them and the text protocol where not.
//
// Beside the protocol stand here what only Ollama does: it cuts a prompt that is too long and says nothing, it wants to be
// told how much context to load, and it lives where the environment says.

import {
  type AssistantMessage,
  errorWith,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Origin,
  RondoError,
} from "@rondo/core";
import { checkGiven, count, either, flag, membersOf, number, oneOf, text } from "@rondo/core/checks";
import { type Environment, fromEnvironment, processEnvironment } from "../credentials.ts";
import type { ProviderOptions } from "../model-options.ts";
import { neutralTokens } from "../prompted/control-tokens.ts";
import { nativeOrPrompted } from "../prompted/fallback.ts";
import { withoutLeakedCalls } from "../prompted/leaked.ts";
import { type PromptedOptions, promptedJson } from "../prompted/prompted-json.ts";
import { createModel } from "../provider.ts";
import { ollamaChat } from "./codecs.ts";
import { keyIn } from "./environment-key.ts";
import { directly } from "./loopback.ts";
import { watchingCuts } from "./prompt-cut.ts";

export interface OllamaOptions extends ProviderOptions {
  /**
   * How tools are given: `native`, as text (`prompted`), or natively until the server says that the model has none, or
   * hands on as text what the model calls (`auto`). Default: `auto`.
   */
  toolProtocol?: "auto" | "native" | "prompted";
  /** Of the text protocol: see `promptedJson`. */
  prompted?: Pick<PromptedOptions, "mode" | "startsInThought" | "constrain">;
  /** Tokens of context to load the model with (`num_ctx`). Default: `facts.contextWindow`, else the server's own. */
  contextSize?: number;
  /** How long the model stays loaded, e.g. `10m`; -1 for ever. Default: the server's. */
  keepAlive?: string | number;
  /** `json` holds every answer to JSON. Default: not held. */
  format?: "json";
  /** Break up control tokens of chat templates in what users, tools and files say. Default: true; false in strict mode. */
  neutralise?: boolean;
  /** What a prompt comes to that the server has cut without a word (F184). Default: `warn`. */
  onPromptCut?: "warn" | "fail";
}

/**
 * A model on an Ollama server, e.g. `ollama("qwen3:8b")`. The server is `baseURL`, else `OLLAMA_BASE_URL`, else
 * `OLLAMA_HOST`, else `http://localhost:11434`.
 */
export function ollama(model: string, options: OllamaOptions = {}): Model {
  return new OllamaModel(model, options);
}

/** What is no option of every model's; `prompted` is looked at where it is used. */
const ownChecks = membersOf<
  Pick<OllamaOptions, "toolProtocol" | "contextSize" | "keepAlive" | "format" | "neutralise" | "onPromptCut">
>({
  toolProtocol: oneOf("auto", "native", "prompted"),
  contextSize: count,
  keepAlive: either(text, number),
  format: oneOf("json"),
  neutralise: flag,
  onPromptCut: oneOf("warn", "fail"),
});

/** Where the environment says that Ollama is. `OLLAMA_HOST` is the server's own variable and may be an address to listen on. */
export function ollamaURL(env: Environment = processEnvironment()): string {
  const base = fromEnvironment(env, ["OLLAMA_BASE_URL"]);
  if (base !== undefined) return base;
  const host = fromEnvironment(env, ["OLLAMA_HOST"]);
  if (host === undefined) return "http://localhost:11434";
  const hasScheme = /^https?:\/\//i.test(host);
  let url: URL;
  try {
    url = new URL(hasScheme ? host : `http://${host.startsWith(":") ? `localhost${host}` : host}`);
  } catch {
    throw new RondoError("invalid_request", `OLLAMA_HOST is no address: ${JSON.stringify(host)}`);
  }
  // A server that listens everywhere is reached here.
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
  const bare = !/:\d+(?:\/|$)/.test(host.replace(/^https?:\/\//i, ""));
  if (url.port === "" && bare && !hasScheme) url.port = "11434";
  return url.href.replace(/\/+$/, "");
}

class OllamaModel implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts: ModelFacts;
  readonly clocks?: NonNullable<Model["clocks"]>;
  readonly #name: string;
  readonly #model: Model;

  constructor(name: string, options: OllamaOptions) {
    const { toolProtocol, prompted, contextSize, keepAlive, format, neutralise, onPromptCut, ...rest } =
      options;
    const own = { toolProtocol, contextSize, keepAlive, format, neutralise, onPromptCut };
    checkGiven(ownChecks, own, `ollama/${name}`);
    const numCtx = contextSize ?? rest.facts?.contextWindow;
    this.facts = {
      tools: true,
      output: "native_without_tools",
      price: { input: 0, output: 0 },
      ...(numCtx === undefined ? {} : { contextWindow: numCtx }),
      ...rest.facts,
    };
    const baseURL = (rest.baseURL ?? ollamaURL()).replace(/\/(?:v1|api)\/*$/, "");
    const wire = createModel({
      ...rest,
      ...directly(rest, baseURL),
      codec: ollamaChat,
      provider: "ollama",
      model: name,
      baseURL,
      facts: this.facts,
      compat: {
        endTokens: true,
        ...(numCtx === undefined ? {} : { numCtx }),
        ...(keepAlive === undefined ? {} : { keepAlive }),
        ...(format === undefined ? {} : { format }),
        ...rest.compat,
      },
      keyless: true,
      ...keyIn(["OLLAMA_API_KEY"]),
    });
    this.id = wire.id;
    this.origin = wire.origin;
    if (wire.clocks !== undefined) this.clocks = wire.clocks;
    this.#name = name;
    const native = neutralise === false ? wire : neutralTokens(wire);
    const asText = promptedJson(wire, {
      ...prompted,
      ...(neutralise === undefined ? {} : { neutralise }),
      origin: wire.origin,
    });
    const asked =
      toolProtocol === "native"
        ? withoutLeakedCalls(native)
        : toolProtocol === "prompted"
          ? asText
          : nativeOrPrompted(wire, native, asText);
    this.#model = watchingCuts(asked, {
      ...(onPromptCut === undefined ? {} : { onPromptCut }),
      speaker: "Ollama",
      advice: "Set contextSize (num_ctx) to what the conversation needs",
    });
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    try {
      return await this.#model.call(request, io);
    } catch (thrown) {
      throw this.#named(thrown);
    }
  }

  #named(thrown: unknown): unknown {
    if (!(thrown instanceof RondoError) || thrown.kind === "aborted" || thrown.kind === "context_truncated")
      return thrown;
    const missing = thrown.status === 404 ? ` Is the model there? Try: ollama pull ${this.#name}` : "";
    return errorWith(thrown, { message: `Failed to call Ollama API: ${thrown.message}${missing}` });
  }
}
