// The room of what rules say: whether it is anything that a rule may say at that moment.
//
// A rule may be anybody's code, and no JavaScript is held to its types. A call with a verdict that nobody understands
// would neither run nor be answered, and its run would wait for ever, with nobody to ask. So it is a failure of the rule, told with its name.

import { needed } from "../checks.ts";
import { isObject } from "../json/object.ts";

/** What may be said at a moment: in words, and whether it was. */
interface Form {
  readonly words: string;
  fits(said: { readonly [member: string]: unknown }): boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isOneOf = (value: unknown, ...words: readonly string[]): boolean => words.includes(value as string);

const forms: { readonly [moment in "decide" | "judge" | "judgeCall" | "judgeStart"]: Form } = {
  decide: {
    words:
      '{ do: "land" or "stop", reason, evidence }, { do: "nudge", text, evidence } or { do: "hide_tool", tool, evidence }',
    fits: ({ do: does, reason, text, tool }) =>
      (isOneOf(does, "land", "stop") && isText(reason)) ||
      (does === "nudge" && isText(text)) ||
      (does === "hide_tool" && isText(tool)),
  },
  judge: {
    words: '{ follows: { do: "act", "ask_again", "finish", "land" or "stop" }, evidence }',
    fits: ({ follows }) =>
      isObject(follows) && isOneOf(follows.do, "act", "ask_again", "finish", "land", "stop"),
  },
  judgeCall: {
    words: '{ do: "run" } or { do: "answer", code, text }',
    fits: ({ do: does, code, text }) => does === "run" || (does === "answer" && isText(code) && isText(text)),
  },
  judgeStart: {
    words: "{ code, text }",
    fits: ({ code, text }) => isText(code) && isText(text),
  },
};

/**
 * What a rule said, if it is something that it may say at that moment. Nothing said is nothing.
 * @throws TypeError saying what it gave, and what is needed
 */
export function heard<Said>(moment: keyof typeof forms, said: Said | undefined): Said | undefined {
  if (said === undefined) return undefined;
  const { words, fits } = forms[moment];
  const wrong = needed(`${words}, or nothing,`, (given) => isObject(given) && fits(given))(said);
  if (wrong === undefined) return said;
  const word = isObject(said) ? said.do : undefined;
  throw new TypeError(
    typeof word === "string" ? `${wrong.says} with do: ${JSON.stringify(word)}` : wrong.says,
  );
}
