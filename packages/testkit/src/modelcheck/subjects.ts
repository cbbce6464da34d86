// The room of subjects: the loops that are checked, each under options that open other rows of the table.

import {
  type AgentOptions,
  contextFacts,
  loopDetection,
  maxCalls,
  maxFailures,
  mustCall,
  mustNotSay,
  type Rule,
  type RunOptions,
  resolve,
  skipRepeatedFailures,
  stopAfter,
} from "@rondo/core";
import { managedContext, steerable, stepSequence } from "@rondo/core/presets";
import { scripted } from "../scripted.ts";
import { plainWorld } from "./answers.ts";
import {
  checkedOptions,
  cuttingOptions,
  offeringOptions,
  parentOptions,
  reconcilingTools,
} from "./checked-options.ts";
import type { Fuel } from "./disturbances.ts";
import type { Subject } from "./explore.ts";

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

/** A rule that would look for its tool among those of the agent, which has none: a subject's tools are in its options. */
const untied = (rule: Rule): Rule => ({ ...rule, verify: () => undefined });

/** So small that a few answers fill it. */
const small = contextFacts({ window: 120, compaction: { at: 0.5, minSummaryCharacters: 1 } });
/** Thresholds that a short run meets. */
const tight = { window: 6, warnAt: 2, unknownToolAt: 2, criticalAt: 3, globalAt: 4 };

/** The steerable preset, its ceiling low enough to be met. */
function steered(name: string, fuel: Fuel): Subject {
  const agent = steerable({ model: scripted([]), ceiling: 4, loopDetection: tight });
  return subject(name, { toolOrder: "sequential" }, agent, fuel);
}

/** The loop as it is, in its several shapes. */
export function subjects(): Subject[] {
  return [
    subject("by effect", {}, {}, all),
    subject("aborted", {}, {}, { ...calm, abort: 1 }),
    subject("spoken to", {}, {}, { ...calm, steer: 1, followUp: 1 }),
    subject("spoken to, and words taken back", {}, {}, { ...calm, steer: 1, followUp: 1, withdraw: 2 }),
    subject(
      "spoken to, one by one",
      { followUps: "one_by_one" },
      {},
      { ...calm, steer: 1, followUp: 2, abort: 1, withdraw: 1 },
    ),
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
    subject("with few calls", {}, { rules: [maxCalls(1)] }),
    subject("with a call that must come", {}, { rules: [untied(mustCall("read", { max: 1 }))] }),
    subject("with a tool that ends the run", {}, { rules: [untied(stopAfter("read"))] }),
    subject("with a tool that may not fail again", {}, { rules: [maxFailures(2)] }),
    subject(
      "with words that must not be said",
      {},
      { rules: [mustNotSay(/writ|so far/, { max: 1 }) as Rule] },
    ),
    subject(
      "in a small window",
      { context: small },
      { maxSteps: 6 },
      { ...calm, steer: 1, abort: 1, crash: 1 },
    ),
    subject(
      "in a small window, with typed output",
      { context: small, output: { schema: { type: "object" }, decodeRetries: 1 } },
      { maxSteps: 6, budget: { ms: 500 } },
    ),
    subject(
      "compacting at the end",
      {
        context: contextFacts({
          window: 100,
          guard: null,
          trim: { budgetTokens: 5, keep: "none" },
          compaction: { format: "tagged", at: 0.01 },
        }),
      },
      { maxSteps: 4, onTruncated: "ignore_calls" },
    ),
    { ...subject("for a compaction alone", { context: small }, {}, all), only: "compaction" },
    {
      ...subject("going on with what waits", {}, { maxSteps: 3 }, { ...all, withdraw: 2 }),
      waiting: ["follow_up", "steer"],
    },
    subject(
      "asked to compact",
      { context: contextFacts({ window: 2_000 }), hooks: ["prepareStep", "onFinish"] },
      { maxSteps: 4 },
      { ...all, compact: 2 },
    ),
    subject(
      "asked to compact, with typed output",
      {
        context: contextFacts({ window: 2_000 }),
        output: { schema: { type: "object" }, decodeRetries: 1 },
        hooks: ["transformContext", "beforeTool"],
      },
      { maxSteps: 4, budget: { ms: 500 } },
      { ...calm, crash: 1, compact: 1 },
    ),
    subject("shortening what is sent", {
      hooks: ["transformContext"],
      context: contextFacts({ window: 400, guard: { results: "truncate" }, compaction: { at: 0.9 } }),
    }),
    subject("cutting what does not fit", {
      context: contextFacts({ window: 200, compaction: null, trim: { budgetTokens: 5 } }),
    }),
    steered("steerable", all),
    ...(["block", "land", "stop"] as const).map((onCritical) =>
      subject(
        `detecting loops, to ${onCritical}`,
        { toolOrder: "sequential" },
        { maxSteps: 8, rules: [loopDetection({ ...tight, onCritical }) as Rule], repeats: null },
      ),
    ),
    subject("with one sub-agent", parentOptions(), { maxSubAgents: 1 }, calm),
    subject("under grants", {}, {}, { ...calm, crash: 1, grant: 2 }),
    subject(
      "under grants, with every hook",
      { hooks: ["permission", "beforeTool", "afterTool"], toolOrder: "sequential" },
      {},
      { ...calm, grant: 2, abort: 1 },
    ),
    subject("reconciling", { tools: reconcilingTools() }, {}, { ...all, grant: 1 }),
    subject("asking about what was cut off", { onInterrupted: "ask" }, { budget: { ms: 500 } }, all),
    subject(
      "reconciling, and asking about the rest",
      { onInterrupted: "ask", tools: reconcilingTools(), toolOrder: "sequential" },
      {},
      { ...calm, crash: 2, grant: 1, steer: 1 },
    ),
    subject(
      "with sub-agents",
      parentOptions(),
      { budget: { tokens: 20, modelCalls: 6, ms: 500 }, maxSubAgents: 1 },
      all,
    ),
    {
      ...subject(
        "leaving sub-agents behind",
        { ...parentOptions(), context: small, abortGraceMs: 2_000 },
        { maxSteps: 6 },
        { ...calm, crash: 4 },
      ),
      world: plainWorld,
    },
    subject("cutting results", cuttingOptions()),
    subject("with a tool that is offered later", offeringOptions()),
    subject(
      "as a managed context",
      { toolOrder: "sequential", landing: { omitTools: true, keepOut: true } },
      managedContext({
        model: scripted([]),
        maxIterations: 3,
        requireDoneTool: true,
        llmRetry: "by_kind",
        llmMaxRetries: 1,
      }),
      { ...calm, crash: 1, abort: 1 },
    ),
    subject("as a step sequence", {}, stepSequence<unknown>({ model: scripted([]), maxSteps: 3 }), {
      ...calm,
      steer: 1,
      followUp: 1,
    }),
    subject("watching for repeats", {}, { maxSteps: 8, repeats: { nudgeAt: 2, hideAt: 3, landAt: 4 } }),
  ];
}
