// The room of other words for a tool and its results: what other loops call their members, and what does the same here.
//
// Unknown members of a tool belong to its host. But a word that another loop would obey there is refused: an approval that
// is never asked for is worse than an error.

import { meaning, saying, type Words, wordFor, wordsOf } from "./meanings.ts";
import { nearest } from "./nearest.ts";

/** For a tool's result. */
export const resultWords: (name: string) => string | undefined = saying(() => [
  ...meaning("done", "terminate", "returnDirect", "stop", "final"),
  ...meaning("isError", "error", "failed"),
  ...meaning("details", "metadata", "artifact", "structuredContent"),
  ...meaning("spent: { usage, usd }", "usage", "cost", "usd"),
]);

/** Members that another loop would obey on a tool, and that would do nothing here. */
const obeyed: Words = wordsOf(() => [
  ...meaning(
    'permission: "ask", or a function of the arguments',
    "needsApproval",
    "requireApproval",
    "requiresApproval",
    "approvalRequired",
  ),
  ...meaning("timeoutMs", "timeout"),
  ...meaning('when: "offered", or searchable(tools) of @rondo/tools', "deferLoading", "defer_loading"),
  ...meaning("effect, and keys", "executionMode", "sequential", "replay"),
  ...meaning("effect, and keys", "readOnly", "readOnlyHint", "idempotentHint"),
  ...meaning("toolResult(text, { details }), returned by execute", "responseFormat", "customDataExtractor"),
  ...meaning("a tool around it: toolWith(tool, { execute })", "retries", "maxRetries", "retryPolicy"),
  ...meaning("tools of run(), or the tools that hooks.prepareStep answers", "isEnabled", "enabled"),
  ...meaning("toolResult(text, { done: text }), returned by execute", "returnDirect", "terminate"),
  ...meaning("what execute returns, and details of toolResult() for what is your own", "toModelOutput"),
  ...meaning("hooks.beforeTool and hooks.afterTool of the agent", "inputGuardrails", "outputGuardrails"),
  ...meaning("texts.threw of the agent", "errorFunction"),
  ...meaning("texts.timeout of the agent", "timeoutBehavior", "timeoutErrorFunction"),
  ...meaning("the events tool_args_delta and tool_start", "onInputStart", "onInputDelta", "onInputAvailable"),
  ...meaning("the event tool_end", "onOutput"),
  ...meaning("coerce, or a transform in inputSchema", "prepareArguments"),
  ...meaning("the description, or examples in inputSchema", "inputExamples"),
  ...meaning("dependency(…), and resolve(key) in execute", "contextSchema", "requestContextSchema"),
  ...meaning("waitForAnswer(…), and a check in resume", "suspendSchema", "resumeSchema"),
]);

/** For a sub-agent. */
export const subAgentWords: (name: string) => string | undefined = saying(() => [
  ...meaning("name", "id", "toolName"),
  ...meaning("description", "toolDescription", "handoffDescription"),
  ...meaning("inputSchema", "parameters", "schema"),
  ...meaning("task, a function of the arguments", "prompt", "inputBuilder"),
  ...meaning('permission: "ask", or a function of the arguments', "needsApproval", "requireApproval"),
  ...meaning("tools of run(), or the tools that hooks.prepareStep answers", "isEnabled", "enabled"),
  ...meaning("hooks.afterTool of the agent that calls it", "customOutputExtractor", "toModelOutput"),
  ...meaning("the event child", "onStream"),
  ...meaning("maxSteps of its agent", "maxSteps", "maxTurns"),
  ...meaning("budget", "limits", "usageLimits"),
  ...["model", "system", "tools", "output", "rules", "hooks"].flatMap((name) =>
    meaning(`${name} of its agent: agent: new Agent({ ${name} })`, name),
  ),
  ...meaning("system of its agent: agent: new Agent({ system })", "instructions", "systemPrompt"),
]);

/** Members that another loop has in place of those that a tool needs. */
const instead: Words = wordsOf(() => [
  ...meaning("inputSchema", "parameters", "schema", "input", "args", "input_schema", "argsSchema"),
  ...meaning("execute", "func", "function", "handler", "callback", "run", "call", "invoke"),
  ...meaning("name", "id", "toolName"),
]);

/**
 * The hint for an unknown member of a tool's options: if another loop would obey it, if it replaces one that is missing,
 * or if it is misspelt. Undefined: it belongs to the tool's host, and is accepted.
 */
export function toolWords(
  given: object,
  known: readonly string[],
): { name: string; says: string } | undefined {
  for (const name of Object.keys(given)) {
    // A member without a value asks for nothing.
    if (known.includes(name) || (given as Record<string, unknown>)[name] === undefined) continue;
    const missing = wordFor(name, instead);
    const isMissing = missing !== undefined && (given as Record<string, unknown>)[missing] === undefined;
    const word = wordFor(name, obeyed) ?? (isMissing ? missing : undefined);
    if (word !== undefined) return { name, says: `there is no such option; here it is ${word}` };
    const [meant] = name.length < 4 ? [] : nearest(name, known, 1);
    // A word that begins with another letter is a word of its own, and not a misspelt one.
    if (meant?.[0] === name[0] && missing === undefined)
      return { name, says: `there is no such option; did you mean ${meant}?` };
  }
  return undefined;
}
