// The room of checking rules: whether what a rule returned is valid for the method.
//
// A rule may be user code, and JavaScript does not enforce types. A call with an unknown verdict would neither run nor be
// answered, and its run would wait for ever. So an invalid return value is a failure of the rule, reported with its name.

import { needed } from "../checks.ts";
import { errorKinds } from "../errors.ts";
import { isObject } from "../json/object.ts";
import { endReasons, resultCodes } from "../loop/records.ts";

/** What a method may return: in words, and a check. */
interface Form {
  readonly words: string;
  fits(said: unknown): boolean;
}

const membersThat = (
  words: string,
  fits: (said: { readonly [member: string]: unknown }) => boolean,
): Form => ({ words, fits: (said) => isObject(said) && fits(said) });

const isText = (value: unknown): boolean => typeof value === "string";
const isOneOf = (value: unknown, ...words: readonly string[]): boolean => words.includes(value as string);

/** An error must be data: the message of an `Error` object would be lost in JSON. */
const isError = (value: unknown): boolean =>
  isObject(value) &&
  !(value instanceof Error) &&
  isOneOf(value.kind, ...errorKinds) &&
  isText(value.message) &&
  typeof value.retryable === "boolean";

/** Checks the end of a run: it needs a reason, and must be valid in a record. */
const isEnd = ({ do: does, reason, text, error }: { readonly [member: string]: unknown }): boolean =>
  isOneOf(does, "land", "stop") &&
  isText(reason) &&
  (text === undefined || isText(text)) &&
  (error === undefined || isError(error));

/** Checks the members of `ask_again`. */
const askedAgain: { readonly [name: string]: (value: unknown) => boolean } = {
  // An invalid time would never come.
  until: Number.isFinite,
  note: isText,
  model: Number.isInteger,
  maxOutputTokens: Number.isFinite,
  drop: isText,
  reduce: (value) => isOneOf(value, "compact", "cut"),
};

/** Refuses unknown members of `ask_again`: a misspelt `note` would be lost, and the same answer would come again. */
const isAskedAgain = ({ do: does, ...how }: { readonly [member: string]: unknown }): boolean =>
  does === "ask_again" &&
  Object.entries(how).every(
    ([name, value]) =>
      Object.hasOwn(askedAgain, name) && (value === undefined || askedAgain[name]?.(value) === true),
  );

const forms: {
  readonly [moment in "decide" | "hear" | "judge" | "judgeCall" | "judgeStart" | "wakeAt"]: Form;
} = {
  decide: membersThat(
    '{ do: "land" or "stop", reason, evidence }, "stop" at most with an error ({ kind, message, retryable }, no Error), { do: "nudge", text, evidence } or { do: "hide_tool", tool, evidence }',
    (said) =>
      isEnd(said) ||
      (said.do === "nudge" && isText(said.text)) ||
      (said.do === "hide_tool" && isText(said.tool)),
  ),
  hear: { words: "a text that says why the rest is not wanted", fits: isText },
  judge: membersThat(
    '{ follows: { do: "act", "ask_again", "finish", "land" or "stop" }, evidence }, "land" and "stop" with a reason, "stop" at most with a text and an error ({ kind, message, retryable }, no Error), "finish" at most with a text, "ask_again" at most with until (a time in milliseconds since 1970), note (a text), model (its place among the models), maxOutputTokens (a number), drop, reduce',
    ({ follows }) =>
      isObject(follows) &&
      (follows.do === "act" ||
        (follows.do === "finish" && (follows.text === undefined || isText(follows.text))) ||
        isAskedAgain(follows) ||
        isEnd(follows)),
  ),
  judgeCall: membersThat(
    '{ do: "run" } or { do: "answer", code, text }',
    ({ do: does, code, text }) => does === "run" || (does === "answer" && isText(code) && isText(text)),
  ),
  judgeStart: membersThat("{ code, text }", ({ code, text }) => isText(code) && isText(text)),
  // An invalid time would never come, unnoticed.
  wakeAt: {
    words: "a time in milliseconds since 1970",
    fits: (time) => typeof time === "number" && !Number.isNaN(time),
  },
};

/**
 * What a rule returned, if it is valid for that method.
 * @throws TypeError saying what was returned, and what is needed
 */
export function heard<Said>(moment: keyof typeof forms, said: Said): Said {
  const { words, fits } = forms[moment];
  const wrong = needed(`${words}, or nothing,`, fits)(said);
  if (wrong === undefined) return withCode(withReason(said));
  const word = isObject(said) ? said.do : undefined;
  throw new TypeError(
    typeof word === "string" ? `${wrong.says} with do: ${JSON.stringify(word)}` : wrong.says,
  );
}

/** The reasons are a closed list, so that programs can know all of them. @throws TypeError for another */
function withReason<Said>(said: Said): Said {
  const { follows = said } = said as { follows?: unknown };
  const ending = follows as { readonly [member: string]: unknown };
  if (isEnd(ending)) demandOneOf("reason", endReasons, ending.reason);
  return said;
}

/** So are the codes: other rules, and whoever reads the records, go by them. @throws TypeError for another */
function withCode<Said>(said: Said): Said {
  const { code, answerAll } = said as { code?: unknown; answerAll?: { code?: unknown } };
  const given = answerAll === undefined ? code : answerAll.code;
  if (given !== undefined) demandOneOf("code", resultCodes, given);
  return said;
}

function demandOneOf(what: string, words: readonly string[], given: unknown): void {
  if (isOneOf(given, ...words)) return;
  throw new TypeError(`one of ${words.join(", ")} is needed for a ${what}, not ${JSON.stringify(given)}`);
}
