// The room of subjects: the loops that are checked, each under options that open other rows of the table.

import { type AgentOptions, type Rule, type RunOptions, resolve, skipRepeatedFailures } from "@rondo/core";
import { scripted } from "../scripted.ts";
import type { Subject } from "./explore.ts";
import { checkedOptions, type Fuel } from "./world.ts";

const all: Fuel = { abort: 1, steer: 1, followUp: 1, crash: 2 };
const calm: Fuel = { abort: 0, steer: 0, followUp: 0, crash: 0 };

function subject(
  name: string,
  change: Partial<RunOptions>,
  agent: Partial<AgentOptions> = {},
  fuel: Fuel = { ...calm, crash: 1 },
): Subject {
  const { rules } = resolve({ model: scripted([]), maxSteps: 3, retry: { attempts: 2 }, ...agent });
  return { name, options: checkedOptions(change), rules, fuel };
}

/** The loop as it is, in its several shapes. */
export function subjects(): Subject[] {
  return [
    subject("by effect", {}, {}, all),
    subject("aborted", {}, {}, { ...calm, abort: 1 }),
    subject("spoken to", {}, {}, { ...calm, steer: 1, followUp: 1 }),
    subject("in sequence", { toolOrder: "sequential" }, {}, all),
    subject("in parallel", { toolOrder: "parallel", maxConcurrentTools: 3 }),
    subject("with every hook", {
      hooks: ["permission", "prepareStep", "beforeTool", "afterTool", "transformContext", "onFinish"],
    }),
    subject("with typed output", { output: { schema: { type: "object" }, decodeRetries: 1 } }, {}, calm),
    subject("with typed output asked for in the history", {
      output: { schema: { type: "object" }, decodeRetries: 1, way: "tool", tools: "none", request: "stored" },
    }),
    subject("against the clock", {}, { budget: { ms: 500 } }, calm),
    subject("on a token budget", {}, { budget: { tokens: 5 }, onLimit: "stop" }),
    subject("refusing tools at the limit", {}, { onLimit: "refuse_tools" }),
    subject("failing at the limit", {}, { onLimit: "error", onTruncated: "run_complete" }),
    subject("not running tools", { autoExecuteTools: false }, { onTruncated: "ignore_calls" }),
    subject("never retrying", {}, { retry: null }),
    subject(
      "skipping repeated failures",
      { toolOrder: "sequential" },
      { rules: [skipRepeatedFailures() as Rule], onTruncated: "run_complete", onLimit: "refuse_tools" },
    ),
    subject("watching for repeats", {}, { maxSteps: 8, repeats: { nudgeAt: 2, hideAt: 3, landAt: 4 } }),
  ];
}
