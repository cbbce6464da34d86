// The room of the shell: what a driver acts with. The world, as far as a run may touch it.

import type { Clock } from "../../clock.ts";
import type { BlobStore } from "../../journal/blobs.ts";
import type { Journal } from "../../journal.ts";
import type { Model } from "../../model.ts";
import type { Rules } from "../../rules/rule.ts";
import type { Given, PassedOn } from "../../tool/dependency.ts";
import type { Tool } from "../../tool.ts";
import type { Fact } from "../records.ts";
import type { Asked } from "./ask-hooks.ts";

/** What a driver acts with. */
export interface Shell {
  session: string;
  journal: Pick<Journal, "append">;
  /** Where the whole texts of cut results are kept. Absent: nowhere. */
  blobs?: BlobStore | undefined;
  rules: Rules;
  tools: ReadonlyMap<string, Tool>;
  /** In the order of the run's models. */
  models: readonly Model[];
  /** Sums up what is compacted, when it is not the model in use. */
  compactor?: Model | undefined;
  hooks: Asked;
  /** Checks a text against the output schema. */
  checkOutput(text: string): Promise<Fact & { type: "output_checked" }>;
  /** Asked before each model call; while it says no, the driver waits for `open` to be called. */
  gate?: { pass(): boolean; open: (() => void) | undefined };
  clock: Clock;
  /** What was given for the keys of tools. */
  given: Given;
  /** The same, as sub-agents are handed it. Absent: they are handed nothing. */
  passedOn?: PassedOn;
  /** Whether the model reads a fixed text where a tool threw. */
  maskToolErrors: boolean;
  /** Where sub-agents keep their sessions. */
  journalOfChildren: Journal;
  /** Ends a sub-agent whose tool is gone. Absent: it stays where it is. */
  endChild?: Tool["endChild"];
  /** Takes secrets out of a fact before it is one. */
  redact?: ((fact: Fact) => Fact) | undefined;
}
