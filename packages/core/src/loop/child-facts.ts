// The room of the facts about sub-agents: their types in records and in the state.

import type { LedgerEntry } from "../context/compact/ledger.ts";
import type { Thrown } from "../errors.ts";
import type { ContentPart, Json, JsonObject, Usage } from "../message.ts";
import type { CallKey } from "./call-key.ts";

/** How much may be spent. An absent member means no limit. */
export interface Amounts {
  /** Input and output tokens together. */
  tokens?: number;
  /** US dollars. */
  usd?: number;
  modelCalls?: number;
  /** Sub-agents; in the share of a sub-agent, those below it. */
  agents?: number;
  /** Milliseconds since 1970. */
  until?: number;
}

/** The loop's facts about a tool whose calls are sub-agents. */
export interface AgentFacts {
  /** How deep it may be nested: a sub-agent of a top-level run has depth 1. */
  maxDepth: number;
  /** The most that one call gets; `ms` counts from its start. Default: its share of what is left. */
  most?: Omit<Amounts, "until"> & { ms?: number };
  /** Its models, and those below it, whose price is unknown. Absent: none, or its agent is made only when it is called. */
  unpriced?: string[];
}

/** The parent of a sub-agent's run. */
export interface ParentFacts {
  session: string;
  call: CallKey;
  /** 1: directly below a top-level run. */
  depth: number;
  /** What the run may spend, including everything below it. */
  budget: Amounts;
}

/** What a tool spent; of a sub-agent including everything below it. */
export interface Spent {
  usage: Usage;
  /** Input and output tokens together. */
  tokens: number;
  /** Absent: unknown. */
  usd?: number;
  /** Model calls without reported usage. */
  uncounted: number;
  /** About how many tokens those took, which budgets count beside `tokens`. Absent: none. */
  estimated?: number;
  modelCalls: number;
  /** Sub-agents started by it and below it. */
  agents: number;
}

/** A call inside a sub-agent that waits for an approval, or for an answer to its tool's question. `id` is its id there; `agents`: the sub-agents' tools above it, outermost first. */
export interface WaitingCall {
  id: string;
  name: string;
  args: JsonObject;
  session: string;
  agents: string[];
  /** A crash interrupted it: its outcome is unknown. */
  interrupted?: true;
  /** What its tool asks. */
  question?: AskedQuestion;
}

/** A question that a tool asks after it has begun (`waitForAnswer`). */
export interface AskedQuestion {
  /** What it asks, as plain JSON. */
  asked: Json;
  /** Which of the call's questions it is, from 1. */
  round: number;
}

/** A result that `answer` gives for a call, in place of running its tool. */
export interface BroughtResult {
  content: ContentPart[];
  isError: boolean;
  /** It ends the run; a string becomes the run's text. */
  done?: boolean | string;
  ledger?: LedgerEntry[];
  offers?: string[];
  /** For programs only: the model does not read it. */
  details?: Json;
  spent?: Spent;
  /** The given value as JSON, if the call's own tool renders it, or goes on with it. Absent: `content` is complete. */
  value?: Json;
  /** It was recorded, and rendered, elsewhere. */
  recorded?: true;
  /** An `Error` was given. The agent of the call decides what the model reads of it, because it may mask errors. */
  threw?: Thrown;
}

/** An answer to a call inside a sub-agent. */
export interface PassedAnswer {
  /** The call's id in the sub-agent's session. */
  inside: string;
  /** Which of the call's questions it answers; absent: a request for approval. */
  round?: number;
  said:
    | { answer: "approve" }
    | { answer: "deny"; reason?: string; stop?: boolean }
    | { answer: "edit"; args: JsonObject }
    /** The call does not run: this is its result. */
    | ({ answer: "result" } & BroughtResult);
}

/** An abandoned sub-agent: its call got a result without it, and it has not ended. */
export interface LeftChild {
  readonly call: CallKey;
  /** Name of its tool. */
  readonly name: string;
  readonly session: string;
  /** What it has reported of its spending. */
  readonly told: Spent;
  /** Until when its parent's run waits for its end, in milliseconds since 1970. */
  readonly until: number;
  /** How often ending it has failed, and when it is tried again, in milliseconds since 1970. */
  readonly failures?: number;
  readonly notBefore?: number;
}

/** The state of a call that is a sub-agent, since it first started. */
export interface ChildCall {
  readonly session: string;
  /** What it may spend. */
  readonly reserved: Amounts;
  /** What it has reported of its spending. */
  readonly spent: Spent;
  /** It is parked until a call of it is answered. */
  readonly parked: boolean;
  readonly waiting: readonly WaitingCall[];
  /** The answers to its calls since it last parked, and how many of them it got when it was resumed. */
  readonly answers: readonly PassedAnswer[];
  readonly told: number;
}
