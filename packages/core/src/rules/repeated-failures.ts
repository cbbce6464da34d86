// The room of repeated failures: a call that threw once is not made again in the same run.
//
// The same tool with the same arguments, whatever the order of their keys. Only what a tool throws counts: arguments
// that did not fit and errors a tool returned are words to the model, which may well try again. There is no way back
// within a run; with one argument changed it is another call.

import { type Check, checkGiven, text as isText, membersOf, object, recordOf } from "../checks.ts";
import { canonical } from "../json/digest.ts";
import { Names } from "../loop/log.ts";
import { type Call, callIn } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import type { Rule } from "./rule.ts";

export interface SkipRepeatedFailures {
  /** Parameters that a tool gets beside the call's arguments, by the tool's name: they belong to what was tried. */
  runtimeParameters?: Readonly<Record<string, JsonObject>>;
  /** What the model reads. */
  text?: string;
}

const ownOptions: Check = membersOf<SkipRepeatedFailures>({
  runtimeParameters: recordOf(object),
  text: isText,
});

const defaultText = "tool invoke error: repeated failure detected; skipped duplicate call";

/** Answers calls that failed before in this run, instead of making them again. Two equal calls of one answer are told apart only when they run one after the other (`toolOrder: "sequential"`). */
export function skipRepeatedFailures(options: SkipRepeatedFailures = {}): Rule {
  checkGiven(ownOptions, options, "skipRepeatedFailures");
  const { runtimeParameters = {}, text = defaultText } = options;
  const nameOf = (call: Call): string => {
    const runtime = Object.hasOwn(runtimeParameters, call.name) ? runtimeParameters[call.name] : {};
    return `${call.name}:${canonical({ ...runtime, ...call.args })}`;
  };
  const rule: Rule<Names> = {
    name: "skip_repeated_failures",
    version: 1,
    init: () => Names.empty(),
    fold: {
      tool_finished(failed, { call: key, result }, { run }) {
        const call = result.code === "threw" ? callIn(run, key) : undefined;
        return call === undefined || call.result !== undefined ? failed : failed.add(nameOf(call));
      },
    },
    judgeCall(failed, call) {
      if (!failed.has(nameOf(call))) return undefined;
      return { do: "answer", code: "repeated", text, evidence: { tool: call.name } };
    },
    judgeStart(failed, call) {
      return failed.has(nameOf(call)) ? { code: "repeated", text } : undefined;
    },
  };
  return rule;
}
