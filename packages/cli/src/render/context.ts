// The room of context notes: what each stage did to the history, in readable numbers.

import type { CallResult, StageNote } from "@rondo/core";
import { counted } from "./usage.ts";

const names: { readonly [stage in StageNote["stage"]]: string } = {
  cap: "one result cut",
  trim: "old results trimmed",
  prune: "pruned for this request",
  guard: "cut to fit the window",
  compaction: "history compacted",
};

/** What a stage did: `9,000 tokens became 4,000: 3 results …`. */
export function stageText({ stage, before, after, note }: StageNote): string {
  const unit = stage === "cap" ? "byte" : "token";
  const size =
    before === after
      ? `about ${counted(before, unit)}`
      : `about ${counted(before, unit)} became ${counted(after, unit)}`;
  return `${size}: ${note}`;
}

/** The same for the live view: with the stage's name. */
export const stageLine = (note: StageNote): string => `${names[note.stage]}, ${stageText(note)}`;

/** What was cut off a result on arrival; empty for nothing. */
export function cappedText({ capped, ref }: CallResult): string {
  if (capped === undefined) return "";
  const whole = `${counted(capped.bytes, "byte")} in ${counted(capped.lines, "line")}`;
  return `cut from ${whole} to ${counted(capped.keptBytes, "byte")}${ref === undefined ? "; the rest is gone" : `; kept whole as ${ref}`}`;
}
