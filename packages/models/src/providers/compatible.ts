// The room of every other server that speaks Chat Completions: hosted, self-hosted, on this machine.

import { type Model, RondoError } from "@rondo/core";
import { checkGiven, membersOf, name as named } from "@rondo/core/checks";
import type { ChatQuirks } from "../codecs/openai-chat/compat.ts";
import { chooseServer, compatibleServers, compatOf, type ServerName, serverFacts } from "../compat/choose.ts";
import { createModel } from "../http-model.ts";
import type { ProviderOptions } from "../model-options.ts";
import { withoutLeakedCalls } from "../prompted/leaked.ts";
import { openaiChat } from "./codecs.ts";
import { keyIn } from "./environment-key.ts";
import { chatOutput } from "./output.ts";
import { watchingCuts } from "./prompt-cut.ts";

export interface CompatibleOptions extends ProviderOptions<ChatQuirks> {
  model: string;
  /** How this server differs from OpenAI's: overrides what is known of it, quirk by quirk. */
  compat?: ChatQuirks;
  /** A server of the table (`groq`, `mistral`, `ollama`, …), whose address, key variables and quirks are used. */
  server?: ServerName;
  /**
   * The provider's name in the model's origin and in `providerOptions`. The name of a known server does what `server` does.
   * Default: the server's name, or `compatible`.
   */
  provider?: string;
  /** Environment variables to look for a key in. Default: the known server's; an unknown server needs no key. */
  keyVariables?: readonly string[];
}

/** Checked before the server is chosen; `createModel` checks the other options. */
const compatibleGiven = membersOf<{ model: string }>({ model: named }, ["model"], "let_pass");

/**
 * A model behind Chat Completions, e.g. `openaiCompatible({ server: "groq", model: "llama-3.3-70b-versatile" })` or
 * `openaiCompatible({ baseURL: "http://127.0.0.1:8000/v1", model: "qwen3" })`. A known server is recognised by its name
 * or by the address; `compat` overrides its quirks one by one.
 */
export function openaiCompatible(options: CompatibleOptions): Model {
  return withoutLeakedCalls(compatibleModel(options));
}

/** The same, but calls that the server left in the text stay text. */
export function compatibleModel(options: CompatibleOptions): Model {
  checkGiven(compatibleGiven, options, "openaiCompatible");
  const { server: asked, provider: called, model, keyVariables: ownVariables, ...rest } = options;
  const { name, server } = chooseServer(asked ?? called, rest.baseURL);
  const provider = called ?? asked ?? name ?? "compatible";
  const baseURL = rest.baseURL ?? server.baseURL;
  if (baseURL === undefined)
    throw new RondoError(
      "invalid_request",
      `${provider}/${model} needs a baseURL: only ${Object.keys(compatibleServers).join(", ")} are known by name`,
    );
  const keyVariables = ownVariables ?? server.keyVariables;
  const compat = compatOf(server, model);
  const facts = serverFacts(server, model);
  const wire = createModel({
    ...rest,
    codec: openaiChat,
    output: chatOutput,
    provider,
    model,
    baseURL,
    defaults: {
      compat,
      ...(facts === undefined ? {} : { facts }),
      ...(server.headers === undefined ? {} : { headers: server.headers }),
    },
    ...keyIn(keyVariables),
    // A server at an address of the user's own may need no key, whatever its name.
    keyless: keyVariables.length === 0 || (rest.baseURL !== undefined && ownVariables === undefined),
  });
  const { cutsPrompts } = { ...compat, ...rest.compat };
  return cutsPrompts === true ? watchingCuts(wire) : wire;
}
