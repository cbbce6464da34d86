// The room of actions: everything `next` may ask of the driver.

import type { StageNote } from "../context/stage.ts";
import type { ModelRequest } from "../model.ts";
import type { Amounts } from "./child-facts.ts";
import type { CallKey, Fact } from "./records.ts";

/** A hook to be asked: which, and about what. */
export type HookAsk =
  | { hook: "permission"; call: CallKey }
  | { hook: "beforeTool"; call: CallKey }
  | { hook: "afterTool"; call: CallKey }
  | { hook: "prepareStep"; step: number }
  | { hook: "transformContext"; step: number }
  | { hook: "onFinish" };

/** Why a request is not just the last one with something appended: to say what broke its front. */
export interface RequestShape {
  /** The stages that changed the history since a model was last asked. */
  rewritten: string[];
  /** What makes the messages differ from the history, for this request only. */
  by: string[];
  /** How many messages at the end are sent only this once. */
  notes: number;
  /** The model is told of an offered tool where the result is that offered it (`ModelFacts.offersInPlace`). */
  offersInPlace?: true;
}

/** The one thing to do now. `until`: come back at this time even if nothing happened. */
export type Action =
  /** Append these facts, as one group. */
  | { do: "record"; facts: Fact[] }
  | {
      do: "call_model";
      step: number;
      attempt: number;
      model: number;
      request: ModelRequest;
      stages?: StageNote[];
      shape: RequestShape;
    }
  /** Ask a model to summarise a part of the history. `model` is absent if the run has a model for this (`compaction.model`). */
  | { do: "summarise"; part: number; of: number; attempt: number; model?: number; request: ModelRequest }
  /** `reserved`: what each call that is a sub-agent may spend. */
  | { do: "start_tools"; calls: CallKey[]; reserved?: { [call: CallKey]: Amounts } }
  /** Tell listeners that these calls need an approval. */
  | { do: "ask"; calls: CallKey[] }
  /** Ask the tools of these calls what came of them (`reconcile`), unless they are being asked, and wait for whatever comes first. */
  | { do: "reconcile"; calls: CallKey[]; until?: number }
  /** End the sub-agents of these calls, unless that is under way, and wait for whatever comes first. */
  | { do: "end_children"; calls: CallKey[]; until: number }
  | { do: "check_output"; text: string }
  /** Ask these hooks, unless they are being asked, and wait for whatever comes first. */
  | { do: "run_hook"; hooks: HookAsk[]; until?: number }
  /** Wait for whatever comes first of all that is in flight. */
  | { do: "wait"; until?: number }
  /** Nothing runs: the run waits for somebody outside. */
  | { do: "park"; until?: number }
  | { do: "done" };

/** The action that appends these facts. */
export const record = (...facts: Fact[]): Action & { do: "record" } => ({ do: "record", facts });

/** An action after which the loop goes on. */
export type Deed = Exclude<Action, { do: "done" | "park" }>;
