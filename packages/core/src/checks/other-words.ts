// The room of other words: names of options in other loops, and what does the same here.
//
// A user who comes from another library first writes its words. A list of all options does not help then; the one that they
// mean does.

import { meaning, saying, type Words, wordFor, wordsOf } from "./meanings.ts";

const tracing = "onEvent: traced(otel), of @rondo/core/opentelemetry";

const stepCount = [
  "maxTurns",
  "turns",
  "maxIterations",
  "maxRounds",
  "maxLoops",
  "maxCycles",
  "recursionLimit",
];
const told = [
  "onStart",
  "onStepStart",
  "onStepFinish",
  "onStepEnd",
  "onStepError",
  "onAbort",
  "onLanguageModelCallStart",
  "onLanguageModelCallEnd",
  "onToolExecutionStart",
  "onToolExecutionEnd",
  "onToolCallStart",
  "onToolCallFinish",
  "onChunk",
  "onEvent",
  "onError",
  "callbacks",
  "callbackHandler",
  "eventHandler",
  "eventStreamHandler",
  "printer",
];
const things = [
  "deps",
  "depsType",
  "runtimeContext",
  "requestContext",
  "requestContextSchema",
  "experimental_context",
  "toolsContext",
  "contextSchema",
  "stateSchema",
  "appState",
  "invocationState",
];
const thoughts = [
  "thinking",
  "thinkingLevel",
  "thinkingBudget",
  "thinkingBudgets",
  "reasoningEffort",
  "effort",
];

const settings = (): [string, string][] => [
  ...meaning("settings.maxOutputTokens", "maxTokens", "maxOutputTokens", "maxCompletionTokens"),
  ...meaning("settings.reasoning", "reasoning", ...thoughts),
  ...meaning("settings.stop", "stop", "stopSequences"),
  ...["temperature", "topP", "topK", "seed", "frequencyPenalty", "presencePenalty"].flatMap((name) =>
    meaning(`settings.${name}`, name),
  ),
  ...["parallelToolCalls", "headers", "providerOptions"].flatMap((name) => meaning(`settings.${name}`, name)),
  ...meaning("settings", "modelSettings", "modelConfig", "generationConfig", "samplingParams"),
];

/** For an agent. */
export const agentWords: (name: string) => string | undefined = saying(() => [
  ...settings(),
  ...meaning("system", "instructions", "systemPrompt", "prompt", "stateModifier"),
  ...meaning("maxSteps", ...stepCount),
  ...meaning(
    "rules: maxSteps(n), or a function that is a stop rule",
    "stopWhen",
    "stopConditions",
    "shouldStopAfterTurn",
    "finishTurn",
  ),
  ...meaning("hooks.onFinish, which may give more work", "goal", "isTaskComplete"),
  ...meaning("rules: stopAfter(tool), or toolResult(text, { done: text }) of the tool", "stopAtToolNames"),
  ...meaning(
    "dependencies of run(), which hooks see as well; or new Agent({ ...options, … }) for each call",
    "prepareCall",
    "callOptionsSchema",
    "defaultOptions",
    "defaultGenerateOptions",
  ),
  ...meaning("tools, a list: [...toolset]", "toolsets"),
  ...meaning("settings.providerOptions, or providerTools of fromAiSdk()", "builtinTools", "hostedTools"),
  ...meaning("a refined output schema", "outputValidators", "outputValidator"),
  ...meaning("session.steer(text), and session.followUp(text)", "experimental_steering"),
  ...meaning("session.steer(text), and session.followUp(text)", "getSteeringMessages", "getFollowUpMessages"),
  ...meaning("nothing: steering messages that wait come together", "steeringMode"),
  ...meaning('followUps: "one_by_one" or "together"', "followUpMode"),
  ...meaning("rules: maxCalls(n), or maxCalls({ tool: n })", "maxToolCalls", "toolCallsLimit"),
  ...meaning("budget, and maxSteps", "usageLimits", "limits"),
  ...meaning("output", "responseFormat", "outputType", "outputSchema", "structuredOutput", "schema"),
  ...meaning("output", "structuredOutputModel", "structuredOutputSchema", "resultType"),
  ...meaning(
    "hooks.prepareStep",
    "prepareStep",
    "prepareNextTurn",
    "prepareRequest",
    "activeTools",
    "prepareTools",
    "resetToolChoice",
  ),
  ...meaning("hooks.prepareStep, or hooks.transformContext", "beforeModel", "wrapModelCall", "preModelHook"),
  ...meaning("hooks.prepareStep, which may stop the run", "beforeAgent"),
  ...meaning("a rule that judges answers", "afterModel", "postModelHook", "onIterationComplete"),
  ...meaning("hooks.onFinish, or the event run_end", "afterAgent"),
  ...meaning("hooks.beforeTool", "beforeToolCall", "wrapToolCall", "refineToolInput"),
  ...meaning("hooks.afterTool", "afterToolCall"),
  ...meaning("hooks.transformContext", "transformContext", "historyProcessors", "callModelInputFilter"),
  ...meaning("hooks.transformContext", "convertToLlm", "sessionInputCallback"),
  ...meaning("the event run_end, or hooks.onFinish where it gives more work", "onFinish", "onEnd"),
  ...meaning("hooks.transformContext of the agent that goes on", "handoffInputFilter"),
  ...meaning("hooks, or rules", "middleware", "processors", "inputProcessors", "outputProcessors", "plugins"),
  ...meaning("hooks, or rules", "errorProcessors", "interventions", "capabilities"),
  ...meaning("hooks, rules, or a refined output schema", "guardrails", "inputGuardrails", "outputGuardrails"),
  ...meaning("onEvent of run(), or subscribe() of a session", ...told),
  ...meaning(
    "retry: { attempts }, the first one counted",
    "maxRetries",
    "retries",
    "retryStrategy",
    "streamRetries",
  ),
  ...meaning(
    "clocks for an answer, toolTimeoutMs for a tool, budget: { ms } for a run",
    "timeout",
    "timeoutMs",
  ),
  ...meaning("signal of run(), stream() or send()", "abortSignal", "signal", "cancelSignal"),
  ...meaning("end of the result, or throwOnError", "errorHandlers"),
  ...meaning("journal, and agent.open(id)", "checkpointer", "memory", "session", "store", "storage"),
  ...meaning("journal, and agent.open(id)", "sessionManager", "sessionId", "threadId", "memoryManager"),
  ...meaning("journal, and agent.open(id)", "durable", "checkpointing", "savePerStep"),
  ...meaning("journal, and agent.open(id)", "conversationId", "previousResponseId"),
  ...meaning("what run(), stream() or send() is given", "messages", "history", "input", "initialState"),
  ...meaning("what run(), stream() or send() is given", "messageHistory"),
  ...meaning('tools with permission: "ask", or autoExecuteTools: false', "clientTools"),
  ...meaning("subAgent(…) among the tools", "subAgents", "agents"),
  ...meaning("a session that another agent opens, or subAgent(…) among the tools", "handoffs"),
  ...meaning("dependencies: [dependency(…).as(value)]", ...things),
  ...meaning(
    "of subAgent({ name, description, agent }): an agent has none of its own",
    "name",
    "id",
    "description",
    "handoffDescription",
  ),
  ...meaning('permission: "ask" of the tool, or hooks.permission', "toolApproval", "needsApproval"),
  ...meaning('permission: "ask" of the tool, or hooks.permission', "interruptOn", "requireToolApproval"),
  ...meaning('permission: "ask" of the tool, or hooks.permission', "interruptBefore", "interruptAfter"),
  ...meaning("hooks.permission", "canUseTool"),
  ...meaning("coerce, unknownKeys and malformedRetries", "repairToolCall"),
  ...meaning(tracing, "telemetry", "tracing", "tracer", "instrument", "tracingDisabled", "tracingOptions"),
  ...meaning(tracing, "tracingContext", "traceIncludeSensitiveData", "traceAttributes", "workflowName"),
  ...meaning("logger, and the events", "metrics", "verbose"),
  ...meaning("about, which stands in the journal", "metadata", "traceMetadata", "traceId", "groupId"),
  ...meaning(
    "about, which stands in the journal",
    "user",
    "userId",
    "tags",
    "labels",
    "runName",
    "traceName",
  ),
  ...meaning("a judge of yours: it reads the result, or the records of the journal", "scorers"),
  ...meaning("what your reader makes of the events", "transform", "streamTransformers"),
  ...meaning("keepRaw of the model", "include", "includeRawChunks", "rawChunks"),
  ...meaning("fetch of the model, or a model around another", "fetch", "onPayload", "onResponse"),
  ...meaning("model: await modelFromName(…) of @rondo/models", "modelProvider"),
  ...meaning("tools: make one of each of the server's", "mcpServers", "mcpConfig"),
  ...meaning("a program of yours that calls agents", "workflows"),
  ...meaning("context", "conversationManager", "contextManager"),
  ...meaning(
    "toolOrder, and effect and keys of each tool",
    "toolExecution",
    "toolExecutor",
    "sequential",
    "executionMode",
  ),
  ...meaning("maxConcurrentTools", "concurrency", "maxConcurrency", "toolCallConcurrency"),
  ...meaning("maxConcurrentTools", "toolConcurrency", "maxParallelTools", "maxParallelToolCalls"),
  ...meaning("toolResult(text, { done: text }) of the tool", "toolUseBehavior"),
  ...meaning("texts", "toolErrorFormatter", "toolNotFoundBehavior"),
  ...meaning("decodeRetries", "outputRetries"),
  ...meaning("retry: { longestRetryAfterMs }", "maxRetryDelayMs"),
  ...meaning("apiKey, or credentials, of the model", "apiKey", "getApiKey"),
  ...meaning("baseURL of the model", "baseURL", "apiBase"),
  ...meaning("stream() in place of run()", "stream", "streaming"),
  ...meaning("budget: { tokens, usd, … }", "maxBudget", "maxBudgetUsd", "maxCost", "costLimit", "tokenLimit"),
  ...meaning("nothing: what a provider can cache is marked for it", "cache", "caching", "promptCaching"),
  ...meaning("model", "streamFn", "llm"),
]);

/** For the result of the prepareStep hook. */
export const stepWords: (name: string) => string | undefined = saying(() => [
  ...settings(),
  ...meaning("tools", "activeTools"),
  ...meaning("what hooks.transformContext answers", "messages", "input"),
  ...meaning(
    "a message of hooks.transformContext: the prompt stays",
    "system",
    "instructions",
    "systemPrompt",
  ),
]);

/** For `settings`. */
export const settingWords: (name: string) => string | undefined = saying(() => [
  ...meaning("maxOutputTokens", "maxTokens", "maxCompletionTokens"),
  ...meaning("reasoning", ...thoughts),
  ...meaning("toolChoice of the agent", "toolChoice"),
  ...meaning("retry of the agent", "retry", "maxRetries"),
  ...meaning("clocks of the agent", "timeout", "timeoutMs"),
  ...[
    "store",
    "truncation",
    "text",
    "verbosity",
    "user",
    "metadata",
    "logprobs",
    "promptCacheRetention",
  ].flatMap((name) =>
    meaning(`settings.providerOptions: { openai: { ${name} } }, in the provider's own words`, name),
  ),
  ...meaning(
    "providerOptions, by provider",
    "providerData",
    "extraBody",
    "extraArgs",
    "additionalModelRequestFields",
  ),
]);

/** For a budget. */
export const budgetWords: (name: string) => string | undefined = saying(() => [
  ...meaning("tokens", "maxTokens", "totalTokens", "totalTokensLimit", "tokenLimit"),
  ...meaning("modelCalls", "requests", "requestLimit", "maxRequests"),
  ...meaning("usd", "cost", "maxCost", "dollars", "maxBudgetUsd"),
  ...meaning("ms", "seconds", "timeout", "timeoutMs", "time"),
]);

/** For a compaction. */
export const compactionWords: (name: string) => string | undefined = saying(() => [
  ...meaning("at, a share of the window", "threshold", "trigger", "triggerAt", "maxTokens", "reserveTokens"),
  ...meaning("summaryDirectives, a list of texts", "customInstructions", "instructions", "prompt"),
  ...meaning("keepTurns, or keepShare, a share of the window", "keepRecentTokens", "keepLast", "keep"),
]);

/** For hooks. */
export const hookWords: (name: string) => string | undefined = saying(() => [
  ...meaning("prepareStep, or transformContext", "beforeModel", "wrapModelCall", "beforeModelCall"),
  ...meaning("a rule that judges answers", "afterModel", "afterModelCall"),
  ...meaning("permission, beforeTool and afterTool", "wrapToolCall"),
  ...meaning("permission", "canUseTool", "preToolUse"),
  ...meaning("afterTool", "postToolUse"),
  ...meaning("the events: onEvent of run(), or subscribe() of a session", ...told),
  ...meaning("prepareStep, which may stop the run", "beforeInvocation", "beforeAgent"),
  ...meaning("onFinish, or the event run_end", "afterInvocation", "afterAgent", "onEnd"),
]);

/** For a session's next run. */
export const runWords: (name: string) => string | undefined = saying(() => [
  ...meaning("signal", "abortSignal"),
  ...meaning(
    "session",
    "sessionId",
    "threadId",
    "conversationId",
    "thread",
    "resourceId",
    "memory",
    "configurable",
    "runId",
  ),
  ...meaning("the events of stream()", "streamMode"),
  ...meaning("onEvent of run(), or subscribe() of a session", ...told),
  ...meaning("dependencies: [dependency(…).as(value)]", "context", ...things),
  ...meaning("maxSteps of the agent", ...stepCount),
  ...meaning("stream() in place of run()", "stream"),
  ...meaning("the first argument", "prompt", "messages", "history", "input", "messageHistory"),
]);

/** For a single run, including the hints for an agent: an agent's options are not options of a run, whatever they are called. */
export const overrideWords =
  (options: () => object) =>
  (name: string): string | undefined =>
    runWords(name) ??
    (Object.hasOwn(options(), name)
      ? `it is an option of the agent, not of one run: new Agent({ ${name} })`
      : agentWords(name));

/** For a part of a user's message: what another library sends with it would not be sent here. */
const partWords: Words = wordsOf(() => [
  ...meaning("name", "filename"),
  ...meaning("opaque: { detail }", "detail", "imageDetail"),
  ...meaning("opaque: { cache_control }, and the marks are set by themselves", "cacheControl"),
  ...meaning("opaque, or settings.providerOptions of the agent", "providerOptions"),
]);

/** The hint for an unknown member of a part; undefined if no library would obey it, or if it asks for nothing. */
export function foreignWord(part: object): string | undefined {
  for (const [name, value] of Object.entries(part)) {
    const here = value === undefined || value === null ? undefined : wordFor(name, partWords);
    if (here !== undefined) return `a part has no member ${name}: here it is ${here}`;
  }
  return undefined;
}
