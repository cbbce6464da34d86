// The room of the digest of texts: whether the loop's texts are still the same.
//
// Texts are functions, so they are compared by what they return: each is called once with sample arguments.

import { digest } from "../json/digest.ts";
import type { Texts } from "./texts.ts";

const samples: { readonly [name in keyof Texts]: Parameters<Texts[name]> } = {
  unknownTool: ["a", ["b"], "c"],
  invalidArgs: ["a", "b"],
  badJson: ["a", "b", "c"],
  threw: ["a", "b"],
  masked: ["a"],
  notAllowed: ["a", "b"],
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
  emptyAnswer: [true],
  degenerateAnswer: [],
  malformedCall: ["a"],
  finalOutput: ["a"],
  compacted: [],
  childLanded: ["a"],
  childFailed: ["a", "b", "c", "d"],
  outputSchema: ["a"],
};

/** The digest of the loop's texts. */
export function textsDigest(texts: Texts): string {
  const said = Object.entries(samples).map(([name, args]) => {
    try {
      return `${name}: ${String((texts[name as keyof Texts] as (...args: unknown[]) => unknown)(...args))}`;
    } catch {
      // A text that fails with sample arguments may still work when it is needed.
      return `${name}!`;
    }
  });
  return digest(said.join("\n"));
}
