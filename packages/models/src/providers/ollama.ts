// The room of Ollama: its own protocol, with native tools if the model has them and the text protocol if not.
//
// Also here is what only Ollama does: it cuts a prompt that is too long without reporting it, it must be told how much
// context to load, and it has environment variables for its address.

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
import type { OllamaCompat } from "../codecs/ollama/compat.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { type Environment, fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel } from "../http-model.ts";
import { modelText, type ProviderOptions } from "../model-options.ts";
import { neutralTokens } from "../prompted/control-tokens.ts";
import { nativeOrPrompted } from "../prompted/fallback.ts";
import { withoutLeakedCalls } from "../prompted/leaked.ts";
import { type PromptedOptions, promptedJson } from "../prompted/prompted-json.ts";
import { ollamaChat } from "./codecs.ts";
import { keyIn } from "./environment-key.ts";
import { directly } from "./loopback.ts";
import { watchingCuts } from "./prompt-cut.ts";

export interface OllamaOptions extends ProviderOptions<Quirks<OllamaCompat>> {
  /**
   * How tools are sent: `native`, as text (`prompted`), or `auto`: natively until the server reports that the model has no
   * tools, or passes the model's calls on as text. Default: `auto`.
   */
  toolProtocol?: "auto" | "native" | "prompted";
  /** Options of the text protocol: see `promptedJson`. */
  prompted?: Pick<PromptedOptions, "mode" | "startsInThought" | "constrain">;
  /** Tokens of context to load the model with (`num_ctx`). Default: `facts.contextWindow`, else the server's default. */
  contextSize?: number;
  /** How long the model stays loaded, e.g. `10m`; -1 for ever. Default: the server's default. */
  keepAlive?: string | number;
  /** `json` constrains every answer to JSON. Default: unconstrained. */
  format?: "json";
  /** Break up control tokens of chat templates in the texts of users, tools and files. Default: true; false in strict mode. */
  neutralise?: boolean;
  /** What to do when the server cut a prompt without reporting it (F184): warn, or fail the call. Default: `warn`. */
  onPromptCut?: "warn" | "fail";
}

/**
 * A model on an Ollama server, e.g. `ollama("qwen3:8b")`. The server is `baseURL`, else `OLLAMA_BASE_URL`, else
 * `OLLAMA_HOST`, else `http://localhost:11434`.
 */
export function ollama(model: string, options: OllamaOptions = {}): Model {
  return new OllamaModel(model, options);
}

/** Checks of the options that only Ollama has; `promptedJson` checks `prompted`. */
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

/** The address of Ollama in the environment. `OLLAMA_HOST` is the server's own variable and may be an address to listen on. */
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
  // A server that listens on every address is reached at localhost.
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
    checkGiven(ownChecks, own, modelText("ollama", name));
    const numCtx = contextSize ?? rest.facts?.contextWindow;
    const baseURL = (rest.baseURL ?? ollamaURL()).replace(/\/(?:v1|api)\/*$/, "");
    const wire = createModel({
      ...rest,
      ...directly(rest, baseURL),
      codec: ollamaChat,
      provider: "ollama",
      model: name,
      baseURL,
      defaults: {
        facts: {
          tools: true,
          output: "native_without_tools",
          price: { input: 0, output: 0 },
          ...(numCtx === undefined ? {} : { contextWindow: numCtx }),
        },
        compat: {
          endTokens: true,
          ...(numCtx === undefined ? {} : { numCtx }),
          ...(keepAlive === undefined ? {} : { keepAlive }),
          ...(format === undefined ? {} : { format }),
        },
      },
      keyless: true,
      ...keyIn(["OLLAMA_API_KEY"]),
    });
    this.id = wire.id;
    this.origin = wire.origin;
    this.facts = wire.facts ?? {};
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
