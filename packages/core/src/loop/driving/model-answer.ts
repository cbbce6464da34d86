// The room of what a model gave back: an answer, or an error, as facts that every journal can hold.
//
// A model may be anybody's code. A wrong answer is the model's failure, told with its name and with the place of what is
// wrong, and not the loop's: taken as it is, it would stand in the history and fail every request to come, or be refused
// by one journal and changed by another.

import { type ErrorData, messageOf, RondoError, toRondoError } from "../../errors.ts";
import { inText } from "../../input.ts";
import { jsonCopy } from "../../json/copy.ts";
import { isObject, kindOf } from "../../json/object.ts";
import { type AssistantMessage, holdsFile, type Part, type StopKind, type Usage } from "../../message.ts";
import type { Model } from "../../model.ts";

/**
 * The answer of a model, as it stands in the records: what the model still writes into its own changes nothing.
 * @throws RondoError `protocol` naming the model, and what of the answer is none
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
      `${id}: the model returned a message whose part ${wrong} is none: ${partForm(content[wrong])} is needed`,
    );
  // A number that is none would make every sum after it none, and no budget would ever be used up: it is not known.
  const { usage, raw, ...message } = inText(shaped as AssistantMessage) as AssistantMessage;
  const origin = typeof message.origin === "object" && message.origin !== null ? message.origin : asked;
  try {
    return {
      ...jsonCopy({ ...message, origin }),
      ...(isUsage(usage) ? { usage: jsonCopy(usage) } : {}),
      // The provider's own is nobody's to read but who asked for it: it is kept as far as it can be.
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

/** What of an assistant message is not there; undefined: it has the shape of one. */
function lackOf(said: Partial<AssistantMessage> | null | undefined): string | undefined {
  if (!isObject(said)) return `it is ${kindOf(said)}`;
  if (said.role !== "assistant") return 'its role is not "assistant"';
  if (!Array.isArray(said.content)) return "its content is no list of parts";
  const kind = said.stop?.kind;
  if (typeof kind !== "string") return "it has no stop.kind";
  // In words of a provider's own ("length"), half an answer would pass for a whole one.
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

/** What a failed call leaves behind: whatever of it is none is left out, for the error is what counts. */
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

/** What is read of a part without another look. In the history a wrong one would fail every run to come. */
function isPart(part: Partial<Part> | null | undefined): boolean {
  switch (part?.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return typeof part.text === "string";
    case "tool_call":
      return (
        [part.id, part.name, part.rawArgs].every((one) => typeof one === "string") && isObject(part.args)
      );
    case "file":
      return typeof part.mediaType === "string" && holdsFile(part);
    default:
      return part?.type === "native" && typeof part.kind === "string" && isObject(part.opaque);
  }
}
