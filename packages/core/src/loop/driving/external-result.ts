// The room of external results: a result that was given to `answer` is rendered as the tool's own would be.
//
// Rendering calls the tool's `tell`, which is user code, and may fail like the tool itself.

import { type Thrown, thrownIn } from "../../errors.ts";
import type { Json } from "../../message.ts";
import { inAnyWords } from "../../rules/custom-texts.ts";
import type { Rules } from "../../rules/rule.ts";
import { returnedFor } from "../../tool/external-result.ts";
import { renderTold } from "../../tool/render.ts";
import type { Tool } from "../../tool.ts";
import type { BroughtResult } from "../child-facts.ts";
import type { CallResult, Fact } from "../records.ts";
import { awaitsAnswer, type Call } from "../state.ts";
import { type Failures, reportThrown, resultOfThrown } from "./act.ts";

/** What was given to `answer`, as a fact. */
export type BroughtFact = Fact & { type: "tool_finished" | "tool_answered" };

/** The answer to the question of a call whose tool goes on with it. Undefined: what was given is the call's result. */
export function answerIn(given: BroughtResult, call: Call): Json | undefined {
  const isRaw = call.check.ok && call.check.raw === true;
  return call.tool?.resumes !== true || isRaw || !awaitsAnswer(call) ? undefined : given.value;
}

/** The result as it was given, without the tool's rendering. */
export function externalResult(given: BroughtResult): CallResult {
  const { threw: _threw, value: _value, recorded: _recorded, ...rest } = given;
  return { ...rest, code: "answered" };
}

/** An error from elsewhere, rendered as if the tool had thrown it here. */
export function toldThrown(name: string, thrown: Thrown, rules: Rules, failures: Failures): CallResult {
  reportThrown(thrown, failures);
  return inAnyWords(rules, ({ texts }) => resultOfThrown(name, thrown, { ...failures, texts }));
}

/** The result as the call's tool renders it, if there is such a tool. A promise only if the tool has `tell`. */
export function toldBy(
  tool: Tool | undefined,
  name: string,
  given: BroughtResult,
  rules: Rules,
  failures: Failures,
): CallResult | Promise<CallResult> {
  const whole = externalResult(given);
  const failed = (thrown: Thrown): CallResult => {
    const { content } = toldThrown(name, thrown, rules, failures);
    return { content, isError: true, code: "answered" };
  };
  if (given.threw !== undefined) return failed(given.threw);
  if (tool?.tell === undefined || given.recorded === true) return whole;
  return renderTold(tool, returnedFor(given)).then(
    (told) => ({ ...told, code: "answered" }),
    (thrown: unknown) => failed(thrownIn(thrown)),
  );
}
