// The room of the step sequence: an agent that is pulled step by step and ends with a typed value.
//
// A preset only sets options. There are few steps, and an error after the last one. A policy does not trust the stop reason
// and counts repeats. Tools run one after another. At the end, without tools, the model gives the output in its schema, and
// is asked for it again a limited number of times. The user pulls the steps with `agent.steps()`.

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
import { resultWith, ToolResult } from "../tool/tool-result.ts";
import type { Tool } from "../tool.ts";
import { besides } from "./common-options.ts";
import { soleRule } from "./sole-rule.ts";
import { stepSequenceError } from "./step-sequence/errors.ts";
import { retryPolicies } from "./step-sequence/retry.ts";

export interface StepSequenceOptions<Output = unknown> {
  model: Model;
  system?: string;
  tools?: readonly Tool[];
  /** Schema of the value the sequence ends with. Default: it ends with a text. */
  output?: AgentOptions<Output>["output"];
  /** The most model answers, including those that give the output; asking for one more is an error. Default: 10. */
  maxSteps?: number;
  /** `in_policy`: the answer that reaches `maxSteps` is dropped, and the sequence ends without an error. Default: `before_request`. */
  stepLimit?: "before_request" | "in_policy";
  /** `false`: the sequence ends at the first answer with calls, which are then in `result.pending`. Default: true. */
  autoExecuteTools?: boolean;
  /** How many equal calls run; one more ends the sequence. Default: 2. */
  maxDuplicateToolCalls?: number;
  /** How many calls of one tool run, whatever their arguments are; one more ends the sequence. `null`: any number. Default: 5. */
  maxToolCallsPerTool?: number | null;
  /** Replaces the standard policy. Repeats are still counted. */
  policy?: Policy;
  /**
   * How often the output is asked for again, after the tools were taken away. Without tools it is never asked for again.
   * Default: 2, which makes 3 attempts.
   */
  maxDecodeRetries?: number;
  /** What is thrown if the output does not fit: `Failed to decode output: ...`, or the plain reason. Default: `wrapped`. */
  decodingErrors?: "wrapped" | "raw";
  /** See `AgentOptions`. Default: `auto`. */
  outputWay?: AgentOptions["outputWay"];
  /** The name of a retry policy, or your own. Default: `standard`: 5 retries, waits from 1 s doubled up to 60 s. */
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
 * The options of a step sequence. Spread them into your own to add a journal, hooks or a clock.
 * @throws RondoError `invalid_request` naming the first invalid option
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
    // All calls of an answer run; messages that come meanwhile are delivered before the next request.
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
    // The policy sees every answer.
    ...soleRule,
    refusals: null,
    // A refused request is not tried again in another form.
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

/** The tool, with error results that say that they are errors. Those of a sub-agent already do. */
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
 * The model, whose answers are kept without empty texts and generated files, and whose refusals become texts: the sequence
 * knows no other parts. Where there is no tool, the request says that none may be called: only a run knows which tools
 * there are.
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

/** Whether this is Gemini's error for an answer without a candidate. Here that is an answer, and the policy decides what follows. */
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
