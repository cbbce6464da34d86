// The room of how an Ollama server may differ from another.

import type { OpenCompat } from "../shared-compat.ts";

/** The quirks that Ollama's own protocol reads from `Target.compat`, besides those that all protocols share. */
export interface OllamaOwnCompat {
  /** Tokens of context to load the model with. Default: the option `contextSize`. */
  numCtx: number;
  /** How long the model stays loaded. Default: the option `keepAlive`. */
  keepAlive: string | number;
  /** `json` constrains every answer to JSON. Default: the option `format`. */
  format: "json";
  /** Whether the model has levels of thinking, and not only thinking. Default: true. */
  thinkLevels: boolean;
  /** The last message may not be the assistant's: a short user message is added. Default: false (F127). */
  noAssistantLast: boolean;
}

/** The quirks of an Ollama server. */
export interface OllamaCompat extends OllamaOwnCompat, OpenCompat {}
