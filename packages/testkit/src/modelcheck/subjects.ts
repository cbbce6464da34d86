// The room of subjects: the loops that are checked, each under options that open other rows of the table.

import { type AgentOptions, type RunOptions, resolve } from "@rondo/core";
import { scripted } from "../scripted.ts";
import type { Subject } from "./explore.ts";
import { checkedOptions, type Fuel } from "./world.ts";

const fuel: Fuel = { abort: 1, steer: 1, followUp: 1, crash: 2 };

function subject(name: string, change: Partial<RunOptions>, agent: Partial<AgentOptions> = {}): Subject {
  const { rules } = resolve({ model: scripted([]), maxSteps: 3, retry: { attempts: 2 }, ...agent });
  return { name, options: checkedOptions(change), rules, fuel };
}

/** The loop as it is, in its several shapes. */
export function subjects(): Subject[] {
  return [
    subject("by effect", {}),
    subject("in sequence", { toolOrder: "sequential" }),
    subject("in parallel", { toolOrder: "parallel", maxConcurrentTools: 3 }),
    subject("with every hook", {
      hooks: ["permission", "prepareStep", "beforeTool", "afterTool", "transformContext", "onFinish"],
    }),
    subject("with typed output", { output: { schema: { type: "object" }, decodeRetries: 1 } }),
    subject("against the clock", {}, { budget: { ms: 500 } }),
    subject("on a token budget", {}, { budget: { tokens: 5 }, onLimit: "stop" }),
    subject("refusing tools at the limit", {}, { onLimit: "refuse_tools" }),
    subject("failing at the limit", {}, { onLimit: "error", onTruncated: "run_complete" }),
    subject("not running tools", { autoExecuteTools: false }, { onTruncated: "ignore_calls" }),
    subject("watching for repeats", {}, { maxSteps: 8, repeats: { nudgeAt: 2, hideAt: 3, landAt: 4 } }),
  ];
}
