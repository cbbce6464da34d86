// The room of the prompt policy: a system prompt composed of named blocks.
//
// Six blocks in a fixed order, each with a default that an override may replace. What a user wrote is never parsed
// for meaning: a text is a text, a JSON object names blocks, and everything else in it is ignored.

import { jsonIn } from "../json/in-text.ts";
import { isObject } from "../json/object.ts";
import type { JsonObject } from "../message.ts";

/** The blocks that can be overridden, in their order. The instruction comes before them. */
export const policyKeys = [
  "persistence_policy",
  "context_gathering_policy",
  "uncertainty_policy",
  "tool_preamble_policy",
  "extra_policy",
] as const;

export type PolicyKey = (typeof policyKeys)[number];

export interface PromptPolicy {
  /** What the agent is. Blank: `You are a helpful GPT-5 agent.` */
  instruction?: string | null;
  /** Blank: nothing. A JSON object (or its text): blocks by name. Any other text: the extra policy. */
  overrides?: string | Readonly<Record<string, unknown>> | null;
}

/** Tags around the blocks. The extra policy has none. */
const tags: Readonly<Partial<Record<PolicyKey, string>>> = {
  persistence_policy: "persistence",
  context_gathering_policy: "context_gathering",
  uncertainty_policy: "uncertainty_and_ambiguity",
  tool_preamble_policy: "tool_preamble",
};

const defaultInstruction = "You are a helpful GPT-5 agent.";

/** The default text of each block. */
export const defaultPolicy: Readonly<Record<PolicyKey, string>> = {
  persistence_policy: `- Work until the user's task is done in full; only then end your turn.
- Do not hand the task back early, and do not stop because something is unclear.
- Where a choice is open, take the most reasonable assumption, go on, and say in the final answer what you assumed.`,
  context_gathering_policy: `- Begin broad, then narrow down to what the task needs.
- Do not search again for what is known already, and do not explore what the task does not touch.
- As soon as you know enough to act, stop gathering and act.`,
  uncertainty_policy: `- When the task is ambiguous, ask one precise question, or state the assumption you go on with.
- Never invent facts, sources, tool results or figures; say plainly what is not known.`,
  tool_preamble_policy: `- Before you call tools, write one short thought inside <think>...</think>: what you want to learn, and why with this tool.
- In Japanese, write it in plain, polite sentences and without a heading such as 意図：.
- Keep it to one or two sentences, and do not repeat it in the answer.`,
  extra_policy: "",
};

/** The system prompt of a policy: its blocks in order, blank ones left out, a blank line between them. */
export function promptPolicy(policy: PromptPolicy = {}): string {
  const instruction = policy.instruction?.trim() || defaultInstruction;
  const blocks = { ...defaultPolicy, ...overridesOf(policy.overrides) };
  return [instruction, ...policyKeys.map((key) => tagged(key, blocks[key]))]
    .filter((block) => block.trim() !== "")
    .join("\n\n");
}

function overridesOf(given: PromptPolicy["overrides"]): Partial<Record<PolicyKey, string>> {
  if (given === undefined || given === null) return {};
  const named = typeof given === "string" ? objectIn(given) : given;
  if (named === undefined) return typeof given === "string" ? { extra_policy: given.trim() } : {};
  const overrides: Partial<Record<PolicyKey, string>> = {};
  for (const key of policyKeys) {
    const text = Object.hasOwn(named, key) ? textOf(named[key]).trim() : "";
    if (text !== "") overrides[key] = text;
  }
  return overrides;
}

function objectIn(text: string): JsonObject | undefined {
  const value = jsonIn(text)?.value;
  return isObject(value) ? value : undefined;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function tagged(key: PolicyKey, value: string): string {
  const tag = tags[key];
  if (tag === undefined || value === "") return value;
  const wrapped = value.startsWith(`<${tag}>`) && value.endsWith(`</${tag}>`);
  return wrapped ? value : `<${tag}>\n${value}\n</${tag}>`;
}
