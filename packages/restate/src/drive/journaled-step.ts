// The room of the journaled step: what it comes to, and how that is written down.

import type { Serde } from "@restatedev/restate-sdk";
import type { Fact } from "@rondo/core";
import { textSerde } from "../state/kv.ts";
import { fitting, maxFactsBytes } from "./message-size.ts";

/** What a journaled step comes to. */
export interface StepOutcome {
  /** Where it ran. */
  by: string;
  at: number;
  facts?: Fact[];
  /** It ran where nothing of what is in flight is known. */
  lost?: true;
  woke?: true;
  /** It lasts, and readers are to see what was appended before it. */
  write?: true;
}

/** A step as text. What is larger than Restate takes is made to fit there: once it was refused, it would be for ever. */
export const stepOutcomeSerde: Serde<StepOutcome> = {
  contentType: "application/json",
  serialize: (came) => {
    const { facts } = came;
    const bytes = textSerde.serialize(JSON.stringify(came));
    if (facts === undefined || bytes.length < maxFactsBytes) return bytes;
    return textSerde.serialize(JSON.stringify({ ...came, facts: fitting(facts) }));
  },
  deserialize: (bytes) => JSON.parse(textSerde.deserialize(bytes)) as StepOutcome,
};
