// The room of what is fuzzed: a table.

import { mistakenTargets } from "./mistakes.ts";
import type { FuzzTarget } from "./target.ts";
import { codecTargets } from "./target-codec.ts";
import { framingTargets } from "./target-framing.ts";
import { journalTargets } from "./target-journal.ts";
import { partialTarget } from "./target-partial.ts";
import { schemaTarget } from "./target-schema.ts";
import { redactionTarget, summaryTarget } from "./target-text.ts";
import { promptedTarget, silentTarget, thoughtTarget } from "./target-thoughts.ts";

export const targets: readonly FuzzTarget[] = [
  ...framingTargets,
  ...codecTargets,
  partialTarget,
  thoughtTarget,
  silentTarget,
  promptedTarget,
  schemaTarget,
  summaryTarget,
  redactionTarget,
  ...journalTargets,
];

/** By name, those that are wrong on purpose among them. */
export function targetOf(name: string): FuzzTarget | undefined {
  return [...targets, ...mistakenTargets].find((target) => target.name === name);
}
