// The room of the window's usage: what fills the window, by source.
//
// Each part is estimated; if the provider has counted the same messages, the estimates are scaled so that they add up to
// its count. So the total is the provider's, and only the shares are estimated.

import type { Message, Part } from "../message.ts";
import type { Estimator } from "./estimate.ts";

/** Sources of tokens. `calls`: tool calls with their arguments. `results`: what tools returned. `files`: images and other files. */
export const contextSources = [
  "system",
  "tools",
  "user",
  "text",
  "reasoning",
  "calls",
  "results",
  "files",
] as const;

export type ContextSource = (typeof contextSources)[number];

/** What the next request consists of, in tokens. */
export interface ContextAccount {
  /** All of it. */
  tokens: number;
  /** The size of the window, input and output together; absent if unknown. */
  window?: number;
  /** What is left of the window; absent if its size is unknown. */
  left?: number;
  /** How many of the tokens the provider counted itself, with its last answer. 0: everything is estimated. */
  counted: number;
  bySource: Record<ContextSource, number>;
  /** Message by message, in the order of the conversation. */
  messages: { role: Message["role"]; tokens: number }[];
}

/** What the account is about: the estimates of the system prompt and the tools, and the provider's count up to a message. */
export interface AccountOf {
  messages: Iterable<Message>;
  system: number;
  tools: number;
  window?: number | undefined;
  counted?: { tokens: number; length: number } | undefined;
}

/** The account of a conversation. Takes one pass over it. */
export function contextAccount(of: AccountOf, estimator: Estimator): ContextAccount {
  const rows = [...of.messages].map((message) => ({
    role: message.role,
    shares: sharesOf(message, estimator),
  }));
  const known = of.counted;
  const estimated = rows
    .slice(0, known?.length ?? 0)
    .reduce((sum, { shares }) => sum + total(shares), of.system + of.tools);
  const factor = known === undefined || estimated === 0 ? 1 : known.tokens / estimated;
  const bySource = Object.fromEntries(contextSources.map((source) => [source, 0])) as Record<
    ContextSource,
    number
  >;
  bySource.system = of.system * factor;
  bySource.tools = of.tools * factor;
  const messages = rows.map(({ role, shares }, at) => {
    const scale = at < (known?.length ?? 0) ? factor : 1;
    for (const [source, tokens] of shares) bySource[source] += tokens * scale;
    return { role, tokens: Math.round(total(shares) * scale) };
  });
  const tokens = Math.round(contextSources.reduce((sum, source) => sum + bySource[source], 0));
  for (const source of contextSources) bySource[source] = Math.round(bySource[source]);
  return {
    tokens,
    counted: known?.tokens ?? 0,
    ...(of.window === undefined ? {} : { window: of.window, left: of.window - tokens }),
    bySource,
    messages,
  };
}

type Shares = readonly (readonly [ContextSource, number])[];

const total = (shares: Shares): number => shares.reduce((sum, [, tokens]) => sum + tokens, 0);

/** A message's tokens, part by part; what it has beyond its parts goes to the first source of its role. */
function sharesOf(message: Message, estimator: Estimator): Shares {
  const whole = estimator.message(message);
  const parts = message.content.map((part): [ContextSource, number] => [
    sourceOf(message.role, part),
    message.content.length === 1 ? whole : estimator.message({ ...message, content: [part] } as Message),
  ]);
  const sum = total(parts);
  if (sum === 0) return [[sourceOf(message.role, { type: "text", text: "" }), whole]];
  return parts.map(([source, tokens]) => [source, (tokens * whole) / sum]);
}

function sourceOf(role: Message["role"], part: Part): ContextSource {
  if (part.type === "file") return "files";
  if (part.type === "reasoning") return "reasoning";
  if (part.type === "tool_call" || part.type === "native") return "calls";
  if (role === "assistant") return "text";
  if (role === "tool") return "results";
  return role;
}
