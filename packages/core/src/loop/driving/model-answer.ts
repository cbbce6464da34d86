// The room of what a model returned: an answer, or an error, as facts that every journal can hold.
//
// A model may be user code. An invalid answer is the model's failure, and the error names the model and the place of what is
// wrong. If it were taken as it is, it would stay in the history and fail every later request, or one journal would refuse
// it and another change it.

import { type ErrorData, messageOf, RondoError, toRondoError } from "../../errors.ts";
import { inText } from "../../input.ts";
import { jsonCopy } from "../../json/copy.ts";
import { isObject, kindOf } from "../../json/object.ts";
import { type AssistantMessage, holdsFile, type Part, type StopKind, type Usage } from "../../message.ts";
import type { Model } from "../../model.ts";

/**
 * The answer of a model as it stands in the records: a copy, so that the model cannot change it later.
 * @throws RondoError `protocol` naming the model, and what is wrong with the answer
 */
export function answerFrom({ id, origin: asked }: Model, said: unknown): AssistantMessage {
  const shaped = said as Partial<AssistantMessage> | null | undefined;
  const lacking = lackOf(shaped);
  if (lacking !== undefined)
    throw new RondoError(
      "protocol",
      `${id}: the model returned something that is no assistant message: ${lacking} (needed: { role: "assistant", content: [part, …], stop: { kind, wire } })`,
    );
  const { content } = shaped as AssistantMessage;
  const wrong = content.findIndex((part) => !isPart(part));
  if (wrong >= 0)
    throw new RondoError(
      "protocol",
      `${id}: the model returned a message whose part ${wrong} is not valid: ${partForm(content[wrong])} is needed`,
    );
  // NaN would make every sum after it NaN, and no budget would ever be used up: such a number counts as unknown.
  const { usage, raw, ...message } = inText(shaped as AssistantMessage) as AssistantMessage;
  const origin = typeof message.origin === "object" && message.origin !== null ? message.origin : asked;
  try {
    return {
      ...jsonCopy({ ...message, origin }),
      ...(isUsage(usage) ? { usage: jsonCopy(usage) } : {}),
      // `raw` is only for the user who asked for it (`keepRaw`): it is kept as far as it is JSON.
      ...(raw === undefined ? {} : { raw: jsonCopy(raw, "raw", "lenient") }),
    };
  } catch (thrown) {
    throw new RondoError("protocol", `${id}: the model's answer is no JSON: ${messageOf(thrown)}`);
  }
}

const stopKinds = Object.keys({
  end_turn: 1,
  tool_use: 1,
  max_tokens: 1,
  stop_sequence: 1,
  pause: 1,
  refusal: 1,
  content_filter: 1,
  context_overflow: 1,
  malformed_call: 1,
  error: 1,
  aborted: 1,
  unknown: 1,
} satisfies Record<StopKind, 1>);

/** What an assistant message lacks; undefined: it has the shape of one. */
function lackOf(said: Partial<AssistantMessage> | null | undefined): string | undefined {
  if (!isObject(said)) return `it is ${kindOf(said)}`;
  if (Symbol.asyncIterator in said)
    return "it is a stream: call() resolves with the message, and emits what arrives by the emit of its second argument";
  if (said.role !== "assistant") return 'its role is not "assistant"';
  if (!Array.isArray(said.content)) return "its content is no list of parts";
  const kind = said.stop?.kind;
  if (typeof kind !== "string") return "it has no stop.kind";
  // With a provider's own word ("length"), an answer that was cut off would pass for a whole one.
  return stopKinds.includes(kind)
    ? undefined
    : `its stop.kind is ${JSON.stringify(kind)}, and none of ${stopKinds.join(", ")}`;
}

const forms = new Map<string | undefined, string>([
  ["tool_call", '{ type: "tool_call", id, name, args: {}, rawArgs: "{}" }'],
  ["file", '{ type: "file", mediaType, data } or one with a url'],
  ["native", '{ type: "native", kind, opaque: {} }'],
]);

/** What a part of that type must be. */
const partForm = (part: Partial<Part> | null | undefined): string =>
  forms.get(part?.type) ?? '{ type: "text", text } or another of its kind';

/** What a failed call leaves behind. Invalid parts are left out, because the error is what counts. */
export function failureFrom(
  model: Model,
  thrown: unknown,
): { error: ErrorData; partial?: AssistantMessage; usage?: Usage } {
  const error = toRondoError(thrown);
  const partial = partialFrom(model, error.partial);
  return {
    error: error.toJSON(),
    ...(partial === undefined ? {} : { partial }),
    ...(isUsage(error.usage) ? { usage: jsonCopy(error.usage) } : {}),
  };
}

function partialFrom(model: Model, partial: AssistantMessage | undefined): AssistantMessage | undefined {
  try {
    return answerFrom(model, partial);
  } catch {
    return undefined;
  }
}

const isUsage = (usage: unknown): usage is Usage => isObject(usage) && Object.values(usage).every(isAmount);

const isAmount = (value: unknown): boolean =>
  value === undefined || (typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY);

/** Checks the members of a part that later code relies on. In the history an invalid one would fail every later run. */
function isPart(part: Partial<Part> | null | undefined): boolean {
  switch (part?.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return typeof part.text === "string";
    case "tool_call":
      return (
        typeof part.id === "string" &&
        typeof part.name === "string" &&
        typeof part.rawArgs === "string" &&
        isObject(part.args)
      );
    case "file":
      return typeof part.mediaType === "string" && holdsFile(part);
    default:
      return part?.type === "native" && typeof part.kind === "string" && isObject(part.opaque);
  }
}
