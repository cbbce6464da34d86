// A preset refuses what it cannot use by its own names, before it makes an agent's options of it.

import { scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/index.ts";
import {
  type AgentEventsOptions,
  agentStrategy,
  managedContext,
  type StrategyViewOptions,
  steerable,
  stepSequence,
  type TraceOptions,
  thinkActObserve,
} from "../../src/presets.ts";
import { wordsOf } from "../refused.ts";

const model = scripted([]);
const presets = { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } as const;
type Preset = keyof typeof presets;

/** What a preset says of options as somebody without types may write them. */
const saidOf = (preset: Preset, given: unknown): string =>
  wordsOf(() => (presets[preset] as (options: unknown) => unknown)(given));

describe("a preset's options", () => {
  test.each(Object.keys(presets) as Preset[])("of %s need a model, and are an object", (preset) => {
    expect(saidOf(preset, {})).toContain("option model: a Model, e.g. offline()");
    expect(saidOf(preset, { model: "gpt" })).toContain('is needed, not "gpt"');
    expect(saidOf(preset, undefined)).toBe("options: an object is needed, not undefined");
    expect(saidOf(preset, { model, tools: [{ name: "echo" }] })).toContain("option tools[0]: a tool");
    expect(saidOf(preset, { model, colour: "red" })).toContain("option colour: there is no such option");
    expect(saidOf(preset, { model })).toBe("it was taken");
  });

  test.each(Object.keys(presets) as Preset[])(
    "of %s that belong to an agent are refused with where to set them",
    (preset) => {
      expect(saidOf(preset, { model, fallback: [] })).toBe(
        `option fallback: it is an option of the agent and none of the preset: new Agent({ ...${preset}(options), fallback: … })`,
      );
    },
  );

  test("may include all options of its view", () => {
    const ofStrategy: Required<StrategyViewOptions> = {
      ...{ maximumIterations: 3, emitIntermediateThoughts: false, context: null, model, prices: {} },
      ...{ toolProviders: {}, now: Date.now, logData: "full", debugOutput: "none" },
    };
    const ofTrace: Required<TraceOptions> = { to: console.log, colors: false, env: {}, maxIterations: 3 };
    const ofAgentEvents: Required<AgentEventsOptions> = {
      ...{ requireDoneTool: true, displayName: (tool) => tool, clock: { now: Date.now } },
    };
    expect(saidOf("agentStrategy", ofStrategy)).toBe("it was taken");
    expect(saidOf("thinkActObserve", { model, ...ofTrace })).toBe("it was taken");
    expect(saidOf("managedContext", { model, ...ofAgentEvents })).toBe("it was taken");
  });

  test.each<[Preset, JsonObject, string]>([
    ["agentStrategy", { maxIterations: 3 }, "option maxIterations: there is no such option"],
    ["agentStrategy", { maximumIterations: 31 }, "a whole number from 1 to 30 is needed, not 31"],
    [
      "agentStrategy",
      { features: ["sight"] },
      'option features[0]: one of stream_tool_call, vision is needed, not "sight"',
    ],
    ["agentStrategy", { argumentChecks: "lax" }, "option argumentChecks: one of strict, options is needed"],
    ["agentStrategy", { env: "process" }, "option env: an object is needed"],
    ["agentStrategy", { localFiles: "/files" }, "option localFiles: a function is needed"],
    ["managedContext", { maxSteps: 3 }, "option maxSteps: there is no such option"],
    ["managedContext", { maxIteration: 3 }, "there is no such option; did you mean maxIterations?"],
    ["managedContext", { compaction: true }, "option compaction: an object is needed, not true"],
    ["managedContext", { compaction: { at: 0.5 } }, "option compaction.at: there is no such option"],
    [
      "managedContext",
      { toolOutputCache: { maxMessageBytes: "50k" } },
      "option toolOutputCache.maxMessageBytes: a finite number",
    ],
    [
      "managedContext",
      { llmRetryBaseDelayMs: 61_000 },
      "option llmRetryBaseDelayMs: at most 60000 (llmRetryMaxDelayMs) is needed, not 61000",
    ],
    [
      "managedContext",
      { compaction: { thresholdRatio: 80 } },
      "option compaction.thresholdRatio: a number above 0, at most 1, is needed, not 80",
    ],
    [
      "managedContext",
      { toolOutputCache: { contextBudgetTokens: -1 } },
      "option toolOutputCache.contextBudgetTokens: a finite number of at least 0 is needed, not -1",
    ],
    [
      "managedContext",
      { toolOutputCache: { maxBudgetTokens: -1 } },
      "option toolOutputCache.maxBudgetTokens: a finite number of at least 0 is needed, not -1",
    ],
    ["managedContext", { llmRetry: true }, "option llmRetry: one of by_status, by_kind is needed, not true"],
    [
      "managedContext",
      { llmRetryableStatusCodes: ["429"] },
      "option llmRetryableStatusCodes[0]: a whole number of at least 0 is needed",
    ],
    ["managedContext", { canExecuteTool: "no" }, "option canExecuteTool: a function is needed"],
    ["steerable", { maxSteps: 3 }, "option maxSteps: there is no such option"],
    ["steerable", { prompt: "Be brief." }, 'option prompt: an object is needed, not "Be brief."'],
    [
      "steerable",
      { prompt: { skills: [{ name: 1 }] } },
      "option prompt.skills[0].name: a text is needed, not 1",
    ],
    [
      "steerable",
      { guard: { results: "drop" } },
      "option guard.results: one of truncate, truncate_and_replace is needed",
    ],
    ["steerable", { loopDetection: "on" }, "option loopDetection: true or false is needed"],
    ["steerable", { ceiling: 0 }, "option ceiling: a whole number above 0 is needed"],
    ["stepSequence", { retry: "often" }, "option retry: an object is needed"],
    ["stepSequence", { retry: { attempts: -1 } }, "option retry.attempts: a whole number above 0"],
    [
      "stepSequence",
      { maxToolCallsPerTool: "5" },
      'option maxToolCallsPerTool: a whole number of at least 0 is needed, not "5"',
    ],
    ["stepSequence", { stepLimit: "soft" }, "option stepLimit: one of before_request, in_policy is needed"],
    [
      "stepSequence",
      { maxDuplicateToolCalls: 1.5 },
      "option maxDuplicateToolCalls: a whole number of at least 0 is needed, not 1.5",
    ],
    ["stepSequence", { policy: {} }, "option policy: a function is needed, not an object"],
    [
      "thinkActObserve",
      { maxIterations: 2.5 },
      "option maxIterations: a whole number of at least 1 is needed",
    ],
    [
      "thinkActObserve",
      { limitText: "done" },
      "option limitText: one of reached, reached_without_completion is needed",
    ],
    ["thinkActObserve", { system: 5 }, "option system: a text is needed, not 5"],
    ["thinkActObserve", { hooks: { beforeTools: 1 } }, "option hooks.beforeTools: there is no such option"],
  ])("of %s refuse %j", (preset, given, says) => {
    expect(saidOf(preset, { model, ...given })).toContain(says);
  });

  test.each<[Preset, Record<string, unknown>]>([
    ["agentStrategy", { invocationTimeoutSeconds: 5, promptPolicyOverrides: null, features: [] }],
    ["managedContext", { compaction: { thresholdRatio: 1, retainLastTurns: -2.5 }, toolOutputCache: null }],
    ["managedContext", { llmRetryMaxDelayMs: 5, toolOutputCache: { contextBudgetTokens: 0 } }],
    ["managedContext", { compaction: null, toolOutputCache: { enabled: false }, llmRetry: "by_kind" }],
    ["steerable", { prune: { mode: "whatever" }, guard: null, loopDetection: { warnAt: 3 } }],
    ["stepSequence", { retry: "disabled", maxToolCallsPerTool: null, maxDuplicateToolCalls: Infinity }],
    ["thinkActObserve", { maxIterations: null, system: null }],
  ])("of %s take %j", (preset, given) => {
    expect(saidOf(preset, { model, ...given })).toBe("it was taken");
  });
});
