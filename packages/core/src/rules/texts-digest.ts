// The room of the words' digest: whether the loop still says the same.
//
// Words are functions, and a function has no name for what it says: each is called once with a sample.

import { digest } from "../json/digest.ts";
import type { Texts } from "./texts.ts";

const samples: { readonly [name in keyof Texts]: Parameters<Texts[name]> } = {
  unknownTool: ["a", ["b"], "c"],
  invalidArgs: ["a", "b"],
  badJson: ["a", "b", "c"],
  threw: ["a", "b"],
  masked: ["a"],
  truncatedCall: ["a"],
  tooManyCalls: ["a", 7],
  denied: ["a"],
  permissionFailed: ["a"],
  skippedForMessage: ["a"],
  skippedForEnd: ["a"],
  notExecuted: ["a"],
  aborted: ["a"],
  timeout: ["a", 7],
  outcomeUnknown: ["a"],
  limitRefusal: ["a", "b"],
  landing: ["a"],
  landed: ["a", "b"],
  emptyAnswer: [],
  degenerateAnswer: [],
  malformedCall: ["a"],
  finalOutput: ["a"],
  compacted: [],
  childLanded: ["a"],
  childFailed: ["a", "b", "c", "d"],
  outputSchema: ["a"],
};

/** The name of the words the loop says, by what they say. */
export function textsDigest(texts: Texts): string {
  const said = Object.entries(samples).map(([name, args]) => {
    try {
      return `${name}: ${String((texts[name as keyof Texts] as (...args: unknown[]) => unknown)(...args))}`;
    } catch {
      // Words that fail at a sample may still serve where they are needed.
      return `${name}!`;
    }
  });
  return digest(said.join("\n"));
}
