// The room of the tool call: a tool is run once and comes to exactly one result.
//
// Runs tools and checks their arguments for the driver. Whatever a tool does (throw, reject, return nonsense) becomes a
// result. Timeouts and aborts are not decided here: the loop records the result it decided on, the driver fires the
// signal, and whatever the tool still returns is late.

import { needed } from "../../checks.ts";
import { causesOf, isA, messageOf, type Thrown, thrownIn } from "../../errors.ts";
import { jsonCopy } from "../../json/copy.ts";
import { type AssistantMessage, callsOf, type JsonObject } from "../../message.ts";
import { areWordsMissing } from "../../rules/custom-texts.ts";
import type { Texts } from "../../rules/texts.ts";
import { isPermission, type Permission } from "../../tool/effect.ts";
import { doneResult, renderThrown, renderTold } from "../../tool/render.ts";
import { DoneSignal, TaskComplete, WaitForAnswer } from "../../tool/tool-result.ts";
import { ChildWaits, type Tool, type ToolContext } from "../../tool.ts";
import { toolNamed } from "../offered-tools.ts";
import type { CallCheck, CallResult } from "../records.ts";
import type { ToolFacts } from "../run-options.ts";
import type { Call, Question } from "../state.ts";

/** How a tool's failure becomes a text for the model: its message, or a fixed text. `report` gets what the model does not read: what was masked, and the cause. */
export type Failures = { texts: Texts; masked: boolean; report(why: string): void };

/** Runs a call that was checked before. Its arguments are checked again, to get the schema's output, which is what `execute` takes. */
export async function act(
  tool: Tool,
  call: Pick<Call, "args" | "rawArgs" | "check" | "question">,
  context: ToolContext,
  failures: Failures,
): Promise<CallResult | ChildWaits | WaitForAnswer> {
  const { texts } = failures;
  try {
    if (call.check.ok && call.check.raw && tool.executeRaw !== undefined) {
      const returned = await tool.executeRaw(call.rawArgs, context);
      return isA(WaitForAnswer, returned) ? returned : await renderTold(tool, returned);
    }
    const checking = tool.check(jsonCopy(call.args));
    const check = await checking;
    if (!check.ok) return renderThrown(texts.invalidArgs(tool.name, check.error));
    // An asynchronous schema may take longer than the run lasts.
    if (checking instanceof Promise && context.signal.aborted)
      return { ...renderThrown(`${tool.name} was not started: the run was cancelled`), code: "aborted" };
    const returned = await run(tool, check.value as never, call.question, context);
    if (isA(WaitForAnswer, returned)) return returned;
    if (returned instanceof ChildWaits) {
      if (context.child !== undefined) return returned;
      throw new Error(
        "the tool returned a ChildWaits, which says that a sub-agent waits: subAgent() makes a tool of an agent",
      );
    }
    // An error that is returned counts like one that is thrown.
    if (isA(Error, returned)) throw returned;
    return await renderTold(tool, returned);
  } catch (thrown) {
    if (areWordsMissing(thrown)) throw thrown;
    if (isA(WaitForAnswer, thrown)) return thrown;
    if (isA(TaskComplete, thrown) || isA(DoneSignal, thrown)) return doneResult(thrown);
    const { signal } = context;
    if (isPassedOn(thrown, signal))
      return { ...renderThrown(texts.aborted(tool.name, tool.effect)), code: "aborted" };
    const inWords = thrownIn(thrown);
    reportThrown(inWords, failures);
    const result = resultOfThrown(tool.name, inWords, failures);
    // What is thrown after the signal has fired is taken as a consequence of it.
    return signal.aborted ? { ...result, code: "aborted" } : result;
  }
}

/** Why the tool of a call's name is not the one that the call was judged for: what was approved, inside a sub-agent or of the agent, was not this. */
export function whyGone({ child }: Call, tool: Tool | undefined): string | undefined {
  if (tool === undefined) return "is not here any more";
  if (child !== undefined && tool.agent === undefined)
    return "was a sub-agent when it was called, and is none any more: it was not run";
  if (child === undefined && tool.agent !== undefined)
    return "was no sub-agent when it was called, and is one now: it was not run";
  return undefined;
}

/** A call that was answered goes on where it asked; any other begins. */
function run(tool: Tool, args: never, question: Question | undefined, context: ToolContext): unknown {
  if (question?.answer === undefined) return tool.execute(args, context);
  if (tool.resume === undefined)
    throw new Error(
      "its question was answered, and the tool cannot go on with the answer any more: it has no resume",
    );
  return tool.resume(args, question.answer.value, context);
}

/** Reports what the model does not read of an error. */
export function reportThrown({ message, why }: Thrown, { masked, report }: Failures): void {
  if (masked || why !== message) report(why);
}

/** What the model reads of an error that a tool threw, or that was given to `answer`. */
export function resultOfThrown(tool: string, { message }: Thrown, { texts, masked }: Failures): CallResult {
  return renderThrown(masked ? texts.masked(tool) : texts.threw(tool, message));
}

/** Whether a tool's error only says that it was aborted: it is the signal's own reason, or wraps it as Node does. That says nothing about the call. */
function isPassedOn(thrown: unknown, { aborted, reason }: AbortSignal): boolean {
  if (!aborted) return false;
  const [first, second] = causesOf(thrown);
  return first === reason || (second === reason && isA(Error, first) && first.name === "AbortError");
}

/** Checks the calls of an answer, in their order. Returns a promise only if a schema is asynchronous. */
export function checkCalls(
  message: AssistantMessage,
  offered: readonly ToolFacts[],
  tools: ReadonlyMap<string, Tool>,
): CallCheck[] | Promise<CallCheck[]> {
  const checks = callsOf(message).map((part) => {
    const isOffered = toolNamed(offered, part.name) !== undefined;
    const tool = isOffered ? tools.get(part.name) : undefined;
    if (tool === undefined) return unknownTool(part.name);
    if (part.argsError !== undefined)
      return tool.executeRaw === undefined || isCutOff(message)
        ? { ok: false as const, code: "invalid_args" as const, error: part.argsError }
        : { ok: true as const, args: { _raw: part.rawArgs }, keys: null, raw: true as const };
    return checkArgs(tool, part.args);
  });
  return checks.some((check) => check instanceof Promise) ? Promise.all(checks) : (checks as CallCheck[]);
}

/** Whether an answer was cut off: half an argument must not be taken for a whole one, even by a tool that takes raw text. */
function isCutOff({ stop }: AssistantMessage): boolean {
  return [stop.kind, stop.wire].some(
    (kind) => !["tool_use", "end_turn", "stop_sequence", "unknown"].includes(kind),
  );
}

/** Checks arguments against a tool's schema, and asks the tool for the call's `keys` and permission. */
export function checkArgs(tool: Tool, args: JsonObject): CallCheck | Promise<CallCheck> {
  const checked = (check: Awaited<ReturnType<Tool["check"]>>): CallCheck =>
    check.ok
      ? { ok: true, args: check.args, keys: keysOf(tool, check.value), ...permissionFor(tool, check.value) }
      : { ok: false, error: check.error, code: "invalid_args" };
  const failed = (thrown: unknown): CallCheck => ({
    ok: false,
    error: messageOf(thrown),
    code: "invalid_args",
  });
  try {
    const check = tool.check(args);
    return check instanceof Promise ? check.then(checked, failed) : checked(check);
  } catch (thrown) {
    return failed(thrown);
  }
}

const unknownTool = (name: string): CallCheck => ({
  ok: false,
  code: "unknown_tool",
  error: `unknown tool ${JSON.stringify(name)}`,
});

const permissionWord = needed("allow, ask or deny, at once,", isPermission);

/** If the tool's function fails, the call is denied. */
function permissionFor(
  { permissionOf }: Tool,
  value: unknown,
): { permission?: Permission; permissionError?: string } {
  if (permissionOf === undefined) return {};
  try {
    const permission: unknown = permissionOf(value as never);
    const wrong = permissionWord(permission);
    return wrong === undefined
      ? { permission: permission as Permission }
      : { permission: "deny", permissionError: wrong.says };
  } catch (thrown) {
    return { permission: "deny", permissionError: messageOf(thrown) };
  }
}

/** If `keys` throws, or returns something other than texts, the call is taken to touch anything. */
function keysOf(tool: Tool, value: unknown): string[] | null {
  try {
    const keys = tool.keys === undefined ? null : [...tool.keys(value as never)];
    return keys?.every((key: unknown) => typeof key === "string") ? keys : null;
  } catch {
    return null;
  }
}
