// The room of actions: everything `next` may ask of the driver.

import type { StageNote } from "../context/stage.ts";
import type { ModelRequest } from "../model.ts";
import type { Amounts } from "./child-facts.ts";
import type { CallKey, Fact } from "./records.ts";

/** A hook to be run: which, and about what. */
export type HookAsk =
  | { hook: "permission"; call: CallKey }
  | { hook: "beforeTool"; call: CallKey }
  | { hook: "afterTool"; call: CallKey }
  | { hook: "prepareStep"; step: number }
  | { hook: "transformContext"; step: number }
  | { hook: "onFinish" };

/** What makes a request other than the last one with something behind it: for saying what broke its front. */
export interface RequestShape {
  /** The stages that have changed the history since a model was last asked. */
  rewritten: string[];
  /** What makes the messages other than the history, for this request only. */
  by: string[];
  /** Messages at the end that are shown for this once. */
  notes: number;
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
  /** Ask a model to sum up a part of the history. `model` is absent when the run has one for this. */
  | { do: "summarise"; part: number; of: number; attempt: number; model?: number; request: ModelRequest }
  /** `reserved`: what the calls among them that are sub-agents may spend. */
  | { do: "start_tools"; calls: CallKey[]; reserved?: { [call: CallKey]: Amounts } }
  /** Tell whoever watches that these calls need an approval. */
  | { do: "ask"; calls: CallKey[] }
  /** See to it that the tools of these calls are finding out what became of them, and wait for whatever comes first. */
  | { do: "reconcile"; calls: CallKey[]; until?: number }
  /** See to it that the sub-agents of these calls come to their end, and wait for whatever comes first. */
  | { do: "end_children"; calls: CallKey[]; until: number }
  | { do: "check_output"; text: string }
  /** See to it that these hooks are running, and wait for whatever comes first. */
  | { do: "run_hook"; hooks: HookAsk[]; until?: number }
  /** Wait for whatever comes first of all that is in flight. */
  | { do: "wait"; until?: number }
  /** Nothing runs, and somebody outside is awaited. */
  | { do: "park"; until?: number }
  | { do: "done" };

/** What a run is about at a given moment. */
export type Phase =
  | "idle"
  | "ready"
  | "compacting"
  | "thinking"
  | "judging"
  | "acting"
  | "finishing"
  | "cancelling";

/** The action that appends these facts. */
export const record = (...facts: Fact[]): Action => ({ do: "record", facts });
