// The room of choosing a row of the table: by the provider's name, or by the address.
//
// The address says more than the name: a request to api.z.ai is answered by Z.ai, whatever its caller calls it. A name
// decides if the address is the user's own (a proxy, this machine). Then the models' own differences are applied, and last,
// field by field, what the user set.

import type { Json, ModelFacts } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { hostedServers } from "./hosted.ts";
import { selfHostedServers, unknownServer } from "./self-hosted.ts";
import type { CompatibleServer, HostedServer, SelfHostedServer } from "./server.ts";

/** Every known server, by the name before the slash in `provider/model`. */
export const compatibleServers: { readonly [provider: string]: CompatibleServer } = {
  ...hostedServers,
  ...selfHostedServers,
};

/** A server of the table. */
export type ServerName = HostedServer | SelfHostedServer;

/** Aliases of the same servers, as people and other tools write them. */
export const serverAliases: { readonly [name: string]: ServerName } = {
  "azure-openai": "azure",
  "github-copilot": "copilot",
  glm: "zai",
  "z.ai": "zai",
  zhipu: "zai",
  bigmodel: "zai",
  grok: "xai",
  "x.ai": "xai",
  kimi: "moonshot",
  moonshotai: "moonshot",
  qwen: "alibaba",
  dashscope: "alibaba",
  "siliconflow-cn": "siliconflow",
  siliconcloud: "siliconflow",
  mimo: "xiaomi",
  "xiaomi-mimo": "xiaomi",
  xiaomimimo: "xiaomi",
  hf: "huggingface",
  "hugging-face": "huggingface",
  togetherai: "together",
  "together-ai": "together",
  "fireworks-ai": "fireworks",
  "llama.cpp": "llamacpp",
  "llama-cpp": "llamacpp",
  "lm-studio": "lmstudio",
};

export interface Chosen {
  /** The row's name; undefined for an unknown server. */
  name: string | undefined;
  server: CompatibleServer;
}

/** The row for a provider's name and an address, either of which may be unknown. */
export function chooseServer(provider: string | undefined, baseURL: string | undefined): Chosen {
  const host = hostOf(baseURL);
  for (const [name, server] of Object.entries(compatibleServers))
    if (server.hosts.some((known) => host === known || host.endsWith(`.${known}`))) return { name, server };
  const given = provider?.toLowerCase() ?? "";
  const name = ownMember(serverAliases, given) ?? given;
  const server = ownMember(compatibleServers, name);
  return server === undefined ? { name: undefined, server: unknownServer } : { name, server };
}

/** Quirks of models, wherever they are served. */
const anywhere: NonNullable<CompatibleServer["models"]> = [
  { match: /kimi/i, compat: { idForm: "functions" } },
  // They write their thinking into the text, and at a router it depends on the host whether that is taken apart.
  { match: /minimax-?m\d/i, compat: { thinkTags: "leading" } },
];

/** A server's quirks for one model. */
export function compatOf(server: CompatibleServer, model: string): { [quirk: string]: Json } {
  const compat: { [quirk: string]: Json } = { endTokens: true, ...server.compat };
  for (const { match, compat: more } of [...anywhere, ...(server.models ?? [])])
    if (match.test(model)) for (const [quirk, value] of Object.entries(more)) compat[quirk] = value;
  return compat;
}

/** What is known of a server's model, if anything is. */
export function serverFacts(server: CompatibleServer, model: string): ModelFacts | undefined {
  const more = (server.models ?? []).flatMap(({ match, facts }) =>
    facts !== undefined && match.test(model) ? [facts] : [],
  );
  return more.length === 0 ? server.facts : Object.assign({}, server.facts, ...more);
}

function hostOf(baseURL: string | undefined): string {
  try {
    return baseURL === undefined ? "" : new URL(baseURL).hostname.toLowerCase();
  } catch {
    return "";
  }
}
