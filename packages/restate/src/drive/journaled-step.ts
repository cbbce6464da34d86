// The room of the journaled step: its outcome, and how that is serialized.

import type { Serde } from "@restatedev/restate-sdk";
import { type Fact, parsedJson } from "@rondo/core";
import { textSerde } from "../state/kv.ts";
import { fitting, maxFactsBytes } from "./message-size.ts";

/** The outcome of a journaled step. */
export interface StepOutcome {
  /** Where it ran. */
  by: string;
  at: number;
  facts?: Fact[];
  /** It ran in a process that knows nothing of what is in flight. */
  lost?: true;
  woke?: true;
  /** The wait continues, but the records appended before should be written for readers. */
  write?: true;
}

/** Serializes a step. What is larger than Restate takes is shrunk here: once refused, it would be refused forever. */
export const stepOutcomeSerde: Serde<StepOutcome> = {
  contentType: "application/json",
  serialize: (came) => {
    const { facts } = came;
    const bytes = textSerde.serialize(JSON.stringify(came));
    if (facts === undefined || bytes.length < maxFactsBytes) return bytes;
    return textSerde.serialize(JSON.stringify({ ...came, facts: fitting(facts) }));
  },
  deserialize: (bytes) => parsedJson<StepOutcome>(textSerde.deserialize(bytes)),
};
