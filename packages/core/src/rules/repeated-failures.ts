// The room of repeated failures: a call that threw does not run again in the same run.
//
// Calls are equal if they have the same tool and the same arguments, in any order of keys. Only what a tool throws counts:
// after invalid arguments or a returned error the model may well try again. This holds until the run ends; with one
// argument changed it is another call.

import { type Check, checkGiven, text as isText, membersOf, object, recordOf } from "../checks.ts";
import { canonical } from "../json/digest.ts";
import { Names } from "../loop/log.ts";
import type { Call } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import { onFinished } from "./call-results.ts";
import type { Rule } from "./rule.ts";

export interface SkipRepeatedFailures {
  /** Parameters that a tool gets besides the call's arguments, by the tool's name: two calls with different ones are not equal. */
  runtimeParameters?: Readonly<Record<string, JsonObject>>;
  /** What the model reads. */
  text?: string;
}

const ownOptions: Check = membersOf<SkipRepeatedFailures>({
  runtimeParameters: recordOf(object),
  text: isText,
});

const defaultText = "tool invoke error: repeated failure detected; skipped duplicate call";

/** Answers calls that threw before in this run, instead of running them again. Of two equal calls in one answer, the second is answered only if they run one after the other (`toolOrder: "sequential"`). */
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
      tool_finished: onFinished((failed, call, { code }) =>
        code === "threw" ? failed.add(nameOf(call)) : failed,
      ),
    },
    judgeCall(failed, call) {
      if (!failed.has(nameOf(call))) return undefined;
      return { do: "answer", code: "repeated", text, evidence: { tool: call.name } };
    },
    judgeStart(failed, call) {
      return failed.has(nameOf(call)) ? { code: "repeated", text, evidence: { tool: call.name } } : undefined;
    },
  };
  return rule;
}
