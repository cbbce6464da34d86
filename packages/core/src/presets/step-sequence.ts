// The room of the step sequence: an agent that is pulled step by step and ends in a value of a type.
//
// A preset sets options and nothing else: few steps, and an error past them; a policy that distrusts the stop reason
// and counts repeats; tools one after another; then, with the tools put away, the output in its schema, asked for
// again a bounded number of times. What the user pulls of it is `agent.steps()`.

import {
  anything,
  callable,
  checkGiven,
  either,
  flag,
  membersOf,
  oneOf,
  orNull,
  text,
  whole,
} from "../checks.ts";
import { noContext } from "../context/options.ts";
import { RondoError } from "../errors.ts";
import type { RunEnd } from "../loop/records.ts";
import type { AssistantMessage, Part } from "../message.ts";
import { isAnswerLike, type Model, modelFace, type Settings } from "../model.ts";
import { type AgentOptions, agentChecks } from "../options/agent-options.ts";
import { type Retry, retryOptions } from "../rules/retry.ts";
import {
  continueBy,
  duplicateDetection,
  maxCalls,
  type Policy,
  standardPolicy,
  stepLimited,
} from "../rules/stop/policy.ts";
import type { Texts } from "../rules/texts.ts";
import { retold, toolWith } from "../tool/derive.ts";
import { resultWith, type Tool, ToolResult } from "../tool.ts";
import { besides } from "./common-options.ts";
import { soleRule } from "./sole-rule.ts";
import { stepSequenceError } from "./step-sequence/errors.ts";
import { retryPolicies } from "./step-sequence/retry.ts";

export interface StepSequenceOptions<Output = unknown> {
  model: Model;
  system?: string;
  tools?: readonly Tool[];
  /** Schema of the value the sequence ends in. Default: it ends in a text. */
  output?: AgentOptions<Output>["output"];
  /** Model answers, those that give the output among them; asking once more is an error. Default: 10. */
  maxSteps?: number;
  /** `in_policy`: the answer that reaches `maxSteps` is thrown away and the sequence ends without an error. Default: `before_request`. */
  stepLimit?: "before_request" | "in_policy";
  /** `false`: the sequence ends at the first answer with calls, which are then `result.pending`. Default: true. */
  autoExecuteTools?: boolean;
  /** Equal calls that run; one more ends the sequence. Default: 2. */
  maxDuplicateToolCalls?: number;
  /** Calls of one tool that run, whatever their arguments; one more ends the sequence. `null`: any number. Default: 5. */
  maxToolCallsPerTool?: number | null;
  /** In place of the standard policy; repeats are counted around it. */
  policy?: Policy;
  /** How often the output is asked for again once the tools are put away. Without tools it is never. Default: 2, which makes 3 attempts. */
  maxDecodeRetries?: number;
  /** What is thrown when the output does not fit: `Failed to decode output: ...`, or what is wrong as it is. Default: `wrapped`. */
  decodingErrors?: "wrapped" | "raw";
  /** See `AgentOptions`. Default: `auto`. */
  outputWay?: AgentOptions["outputWay"];
  /** A policy by name, or your own. Default: `standard`: 5 retries, 1 s doubled up to 60 s. */
  retry?: keyof typeof retryPolicies | Retry;
  /** Default: at most 4,096 tokens an answer. */
  settings?: Settings;
}

const optionChecks = membersOf<StepSequenceOptions>(
  {
    model: agentChecks.model,
    system: text,
    tools: agentChecks.tools,
    output: anything,
    maxSteps: whole,
    stepLimit: oneOf("before_request", "in_policy"),
    autoExecuteTools: flag,
    maxDuplicateToolCalls: maxCalls,
    maxToolCallsPerTool: orNull(maxCalls),
    policy: callable,
    maxDecodeRetries: whole,
    decodingErrors: oneOf("wrapped", "raw"),
    outputWay: agentChecks.outputWay,
    retry: either(oneOf(...Object.keys(retryPolicies)), retryOptions),
    settings: agentChecks.settings,
  },
  ["model"],
  besides("stepSequence"),
);

/**
 * The options of a step sequence. Spread them to add a journal, hooks or a clock.
 * @throws RondoError `invalid_request` naming the first option that cannot be used
 */
export function stepSequence<Output = unknown>(options: StepSequenceOptions<Output>): AgentOptions<Output> {
  checkGiven(optionChecks, options);
  const { tools = [], maxSteps = 10, retry = "standard", output } = options;
  const counted = duplicateDetection(options.policy ?? standardPolicy, {
    maxDuplicates: options.maxDuplicateToolCalls ?? 2,
    maxToolCallsPerTool: options.maxToolCallsPerTool === undefined ? 5 : options.maxToolCallsPerTool,
  });
  const limited = options.stepLimit === "in_policy" ? stepLimited(counted, maxSteps) : counted;
  return {
    model: options.model,
    adapt: { model: plainly, tool: namingErrors },
    ...(options.system === undefined ? {} : { system: options.system }),
    tools,
    toolOrder: "sequential",
    // A batch runs whole; what is said meanwhile comes before the next request.
    steering: "after_calls",
    maxCallsPerTurn: Number.MAX_SAFE_INTEGER,
    autoExecuteTools: options.autoExecuteTools ?? true,
    continueRule: continueBy("step_sequence", limited),
    maxSteps,
    onLimit: "error",
    throwOnError: (end) => errorOf(end, options.decodingErrors ?? "wrapped"),
    retry: typeof retry === "string" ? retryPolicies[retry] : retry,
    ...(output === undefined ? {} : { output }),
    decodeRetries: { afterTools: options.maxDecodeRetries ?? 2 },
    outputWay: options.outputWay ?? "auto",
    outputTools: "none",
    // Calls run in every phase, also in the answer to the request for the output.
    disallowedCalls: "run",
    outputRequest: "stored",
    outputReading: { wholeText: true, camelCaseKeys: true },
    texts: stepSequenceTexts,
    settings: { maxOutputTokens: 4_096, ...options.settings },
    // The policy hears of every answer.
    ...soleRule,
    refusals: null,
    // What was refused is not tried again.
    repairs: null,
    context: noContext,
  };
}

const errorOf = (end: RunEnd, decoding: "wrapped" | "raw"): Error => {
  const { wrapped, raw } = stepSequenceError(end);
  return decoding === "raw" && end.reason === "output_invalid" ? raw : wrapped;
};

const stepSequenceTexts: Partial<Texts> = {
  unknownTool: (name) => `Error: Tool not found: ${name}`,
  invalidArgs: (_name, error) => `Error: ${error}`,
  badJson: (_name, error) => `Error: ${error}`,
  threw: (_name, message) => `Error: ${message}`,
  finalOutput: () => "Please provide your final response in the required JSON format.",
};

/** The tool, whose own error results say that they are errors. Those of a sub-agent do. */
const namingErrors = (tool: Tool): Tool =>
  tool.agent === undefined ? toolWith(tool, retold(tool, namedError)) : tool;

function namedError(result: unknown): unknown {
  if (!(result instanceof ToolResult) || !result.isError) return result;
  const [first, ...rest] = result.content;
  const said = first?.type === "text" ? rest : result.content;
  const text = `Error: ${first?.type === "text" ? first.text : ""}`;
  return resultWith(result, [{ type: "text", text }, ...said]);
}

/**
 * The model, of whose answers neither empty texts nor generated files are kept, and whose refusals are texts: no other words
 * are known. Where there is no tool it is told that it may call none: which there are, only a run knows.
 */
function plainly(model: Model): Model {
  return {
    ...modelFace(model),
    call: async (request, io) => {
      try {
        const chooses = request.tools.length > 0;
        return storable(await model.call(chooses ? request : { ...request, toolChoice: "none" }, io));
      } catch (thrown) {
        if (!isNothing(thrown, model)) throw thrown;
        return {
          role: "assistant",
          content: [],
          origin: model.origin,
          stop: { kind: "unknown", wire: "unknown" },
        };
      }
    },
  };
}

/** Whether it is Gemini without a candidate, which is an answer here: the policy says what follows. */
function isNothing(thrown: unknown, { origin }: Model): boolean {
  const kind = thrown instanceof RondoError ? thrown.kind : undefined;
  return kind === "empty_response" && origin.api === "google-generative-ai";
}

function storable(message: AssistantMessage): AssistantMessage {
  if (!isAnswerLike(message)) return message;
  const content = message.content.flatMap((part): Part[] => {
    if (part.type === "file") return [];
    if (part.type === "refusal") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    return part.type === "text" && part.text === "" && part.opaque === undefined ? [] : [part];
  });
  const same =
    content.length === message.content.length && content.every((part, at) => part === message.content[at]);
  return same ? message : { ...message, content };
}
