// The room of the offline model: the planner as a `Model`.
//
// It is not a language model, and says so in every answer. Its code is loaded on the first call: those who only use other
// models never load it.

import type { Model } from "@rondo/core";
import { checkGiven, from0, membersOf } from "@rondo/core/checks";
import { loadOnce } from "../load-once.ts";
import { origin } from "./origin.ts";

export interface OfflineOptions {
  /** Tool calls that a task may make, except that finding the largest of many files may make 14 more. Default: 12. */
  maxCalls?: number;
}

const optionChecks = membersOf<OfflineOptions>({ maxCalls: from0 });

const planner = loadOnce(() => import("./planner.ts"));

/** The built-in default model: a deterministic planner that needs no key and no network, and uses the tools it is given. */
export function offline(options: OfflineOptions = {}): Model {
  checkGiven(optionChecks, options, "offline");
  const bound = options.maxCalls ?? 12;
  return {
    id: "offline/planner",
    origin,
    facts: {
      contextWindow: 10_000_000,
      maxOutputTokens: 1_000_000,
      price: { input: 0, output: 0 },
      accepts: [],
      tools: true,
      output: "native",
    },
    async call(request, io) {
      const { answerOf } = await planner();
      return answerOf(request, io, bound);
    },
  };
}
