// The room of targets: the table of everything that is fuzzed.

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

/** A target by name, including those that are wrong on purpose. */
export function targetOf(name: string): FuzzTarget | undefined {
  return [...targets, ...mistakenTargets].find((target) => target.name === name);
}
