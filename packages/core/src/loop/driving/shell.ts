// The room of the shell: what a driver works with (journal, models, tools, hooks, clock). A run reaches the world only through it.

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
  /** Stores the full texts of cut results. Absent: they are not stored. */
  blobs?: BlobStore | undefined;
  rules: Rules;
  tools: ReadonlyMap<string, Tool>;
  /** In the order of the run's models. */
  models: readonly Model[];
  /** The model that summarises. Absent: the run's own. */
  compactor?: Model | undefined;
  hooks: Asked;
  /** Checks a text against the output schema. */
  checkOutput(text: string): Promise<Fact & { type: "output_checked" }>;
  /** Checked before each model call; while it does not pass, the driver waits for `open` to be called. */
  gate?: { pass(): boolean; open: (() => void) | undefined };
  clock: Clock;
  /** The dependencies that the agent and the run give. */
  given: Given;
  /** The same, as it is passed on to sub-agents. Absent: nothing is. */
  passedOn?: PassedOn;
  /** Whether the model reads a fixed text if a tool throws. */
  maskToolErrors: boolean;
  /** The journal of sub-agents' sessions. */
  journalOfChildren: Journal;
  /** Ends a sub-agent whose tool is gone. Absent: it stays where it is. */
  endChild?: Tool["endChild"];
  /** Removes secrets from a fact before it is recorded. */
  redact?: ((fact: Fact) => Fact) | undefined;
}
