// The room of the plan: everything about an agent, derived from the seed and its name alone.
//
// No clock and no other agent is involved, so that one agent can be replayed by itself.

import type { Protocol } from "@rondo/testkit/wire";
import { Chance } from "../chance.ts";

export const presets = [
  "default",
  "think_act_observe",
  "step_sequence",
  "steerable",
  "managed_context",
  "agent_strategy",
] as const;
export type PresetName = (typeof presets)[number];

export const protocolNames = [
  "anthropic-messages",
  "openai-chat",
  "openai-responses",
  "google-generative-ai",
  "bedrock-converse",
] as const satisfies readonly Protocol[];

/** Which API the agent's user calls. */
export type Face = "run" | "stream" | "steps" | "session";

/** An outside action, and the event at which it happens: the n-th of a kind. */
export interface Deed {
  on: "step_start" | "tool_start" | "tool_end" | "text_delta" | "retry" | "request";
  nth: number;
  deed: "steer" | "follow_up" | "withdraw" | "abort" | "compact" | "drain" | "break_off";
}

const limits = [
  "none",
  "steps",
  "tokens",
  "ms",
  "calls",
  "usd",
  "session",
  "must_call",
  "must_not_say",
  "failures",
] as const;

export interface Plan {
  name: string;
  /** Its session is killed with its process, repeatedly. */
  mortal: boolean;
  preset: PresetName;
  protocol: Protocol;
  /** Another protocol to fall back to. */
  fallback: Protocol | undefined;
  /** Another protocol, used for some steps but not as a fallback. */
  chosen: Protocol | undefined;
  face: Face;
  journal: "memory" | "sqlite" | "jsonl";
  /** Number of model answers before it wants to stop. */
  length: number;
  /** The share of requests with a fault of the wire, and of odd answers. */
  trouble: number;
  /** Tokens; undefined: unlimited. */
  window: number | undefined;
  tools: readonly string[];
  output: boolean;
  hooks: boolean;
  limits: (typeof limits)[number];
  maxSteps: number;
  onInterrupted: "tell" | "ask";
  followUps: "together" | "one_by_one";
  /** Number of consecutive runs of the session. */
  runs: number;
  deeds: readonly Deed[];
}

const always = ["look", "big", "note", "set"];
const sometimes = ["stamp", "publish", "order", "post", "helper", "done"];

/** @param mortal its process is killed, which only a session survives */
export function planOf(seed: number, name: string, mortal: boolean): Plan {
  const chance = new Chance(seed, name, "plan");
  // The default agent has the most features that can fail.
  const preset = chance.is(0.4) ? "default" : chance.pick(presets);
  const face: Face = mortal ? "session" : chance.pick(["run", "stream", "steps", "session", "session"]);
  const protocol = chance.pick(protocolNames);
  const own = preset === "default";
  return {
    name,
    mortal,
    preset,
    protocol,
    fallback:
      own && chance.is(0.3) ? chance.pick(protocolNames.filter((one) => one !== protocol)) : undefined,
    face,
    journal: chance.pick(mortal ? ["sqlite", "jsonl"] : ["memory", "memory", "sqlite", "jsonl"]),
    length: 1 + chance.below(8),
    trouble: chance.pick([0, 0.05, 0.2, 0.2, 0.5]),
    window: own || preset === "managed_context" ? chance.pick([undefined, 5_000, 12_000, 40_000]) : undefined,
    tools: [...always, ...sometimes.filter(() => chance.is(0.5))],
    output: (own || preset === "step_sequence") && chance.is(0.25),
    hooks: preset !== "step_sequence" && chance.is(0.25),
    limits: own ? chance.pick([...limits, "none" as const]) : "none",
    maxSteps: 2 + chance.below(12),
    onInterrupted: chance.is(0.3) ? "ask" : "tell",
    followUps: own && chance.is(0.3) ? "one_by_one" : "together",
    runs: face === "session" && !mortal && chance.is(0.4) ? 2 : 1,
    deeds: chance.many(chance.is(0.6) ? 1 + chance.below(3) : 0, () => deedOf(chance)),
    chosen: own && chance.is(0.3) ? chance.pick(protocolNames.filter((one) => one !== protocol)) : undefined,
  };
}

function deedOf(chance: Chance): Deed {
  return {
    on: chance.pick(["step_start", "tool_start", "tool_end", "text_delta", "retry", "request"]),
    nth: 1 + chance.few(6),
    deed: chance.pick([
      "steer",
      "steer",
      "follow_up",
      "follow_up",
      "withdraw",
      "abort",
      "compact",
      "drain",
      "break_off",
    ]),
  };
}
