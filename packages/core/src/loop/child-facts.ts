// The room of the facts about sub-agents: what stands in records and in states.

import type { LedgerEntry } from "../context/compact/ledger.ts";
import type { Thrown } from "../errors.ts";
import type { ContentPart, Json, JsonObject, Usage } from "../message.ts";
import type { CallKey } from "./call-key.ts";

/** What may be spent. What is absent has no limit. */
export interface Amounts {
  /** Input and output tokens together. */
  tokens?: number;
  /** US dollars. */
  usd?: number;
  modelCalls?: number;
  /** Sub-agents; in what is reserved for one, those below it. */
  agents?: number;
  /** Milliseconds since 1970. */
  until?: number;
}

/** What the loop knows of a tool whose calls are sub-agents. */
export interface AgentFacts {
  /** How deep it may stand: 1 is right below a run that nobody else started. */
  maxDepth: number;
  /** The most that one call is given, `ms` from its start. Default: its share of what is left. */
  most?: Omit<Amounts, "until"> & { ms?: number };
}

/** Whose sub-agent a run is. */
export interface ParentFacts {
  session: string;
  call: CallKey;
  /** 1: right below a run that nobody else started. */
  depth: number;
  /** What the run may spend, with all it starts. */
  budget: Amounts;
}

/** What a sub-agent spent, with all it started. */
export interface Spent {
  usage: Usage;
  /** Input and output tokens together. */
  tokens: number;
  /** Absent: unknown. */
  usd?: number;
  /** Model calls whose tokens nobody counted. */
  uncounted: number;
  modelCalls: number;
  /** Sub-agents it started, and they did. */
  agents: number;
}

/** A call inside a sub-agent that waits for somebody. `id` is the one it has there; `agents`: the tools it stands under, from the outermost in. */
export interface WaitingCall {
  id: string;
  name: string;
  args: JsonObject;
  session: string;
  agents: string[];
  /** A crash cut it off: its outcome is unknown. */
  interrupted?: true;
}

/** A result that somebody brings for a call: what its tool would have come to. */
export interface BroughtResult {
  content: ContentPart[];
  isError: boolean;
  /** It ends the run; a text is the run's text. */
  done?: boolean | string;
  ledger?: LedgerEntry[];
  /** For programs alone: the model does not read it. */
  details?: Json;
  /** As it was brought, where that is told by the call's own tool, and JSON. Absent: `content` says it all. */
  value?: Json;
  /** It was recorded elsewhere, and told then. */
  recorded?: true;
  /** It is an error that was brought. What the model reads of it is decided where the call is, whose agent may mask it. */
  threw?: Thrown;
}

/** What somebody said to a call inside a sub-agent. */
export interface PassedAnswer {
  /** The call's id in the sub-agent's session. */
  inside: string;
  said:
    | { answer: "approve" }
    | { answer: "deny"; reason?: string; stop?: boolean }
    | { answer: "edit"; args: JsonObject }
    /** The call does not run: this is its result. */
    | ({ answer: "result" } & BroughtResult);
}

/** A sub-agent whose call got its result from somebody else, and that has not come to its end. */
export interface LeftChild {
  readonly call: CallKey;
  /** The tool that it is a call of. */
  readonly name: string;
  readonly session: string;
  /** What it has told of its spending. */
  readonly told: Spent;
  /** How long its run waits for its end, in milliseconds since 1970. */
  readonly until: number;
  /** How often it could not be ended, and when that is tried again, in milliseconds since 1970. */
  readonly failures?: number;
  readonly notBefore?: number;
}

/** A call that is a sub-agent, since it first started. */
export interface ChildCall {
  readonly session: string;
  /** What it may spend. */
  readonly reserved: Amounts;
  /** What it has told of that. */
  readonly spent: Spent;
  /** It has stopped until somebody answers. */
  readonly parked: boolean;
  readonly waiting: readonly WaitingCall[];
  /** What was said to its calls since it last stopped, and how many of them it was started with. */
  readonly answers: readonly PassedAnswer[];
  readonly told: number;
}
