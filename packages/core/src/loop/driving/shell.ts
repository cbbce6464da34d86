// The room of the shell: what a driver works with (journal, models, tools, hooks, clock). It is all that a run can reach of the world.

import type { Clock } from "../../clock.ts";
import type { BlobStore } from "../../journal/blobs.ts";
import type { Journal } from "../../journal.ts";
import type { Model } from "../../model.ts";
import type { Rules } from "../../rules/rule.ts";
import type { Given, PassedOn } from "../../tool/dependency.ts";
import type { Tool } from "../../tool.ts";
import type { Fact } from "../records.ts";
import type { Asked } from "./ask-hooks.ts";

/** What a driver works with. */
export interface Shell {
  session: string;
  journal: Pick<Journal, "append">;
  /** Keeps the whole texts of cut results. Absent: they are not kept. */
  blobs?: BlobStore | undefined;
  rules: Rules;
  tools: ReadonlyMap<string, Tool>;
  /** In the order of the run's models. */
  models: readonly Model[];
  /** Summarises in a compaction. Absent: the model in use does. */
  compactor?: Model | undefined;
  hooks: Asked;
  /** Checks a text against the output schema. */
  checkOutput(text: string): Promise<Fact & { type: "output_checked" }>;
  /** Asked before each model call; while it says no, the driver waits for `open` to be called. */
  gate?: { pass(): boolean; open: (() => void) | undefined };
  clock: Clock;
  /** The dependencies that the agent and the run give. */
  given: Given;
  /** The same, as it is passed on to sub-agents. Absent: nothing is. */
  passedOn?: PassedOn;
  /** Whether the model reads a fixed text where a tool threw. */
  maskToolErrors: boolean;
  /** The journal of sub-agents' sessions. */
  journalOfChildren: Journal;
  /** Ends a sub-agent whose tool is gone. Absent: it stays where it is. */
  endChild?: Tool["endChild"];
  /** Takes secrets out of a fact before it is one. */
  redact?: ((fact: Fact) => Fact) | undefined;
}
