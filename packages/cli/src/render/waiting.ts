// The room of waiting: what a person is told when a run waits for them.

import type { CallView } from "@rondo/core";
import { visibleText } from "../console/plain-text.ts";
import { rondo } from "../line/command-name.ts";
import { callName, questionText } from "../summary.ts";

/**
 * What waits, and how to answer it.
 * @param journalOption the option that a command needs to find the run; undefined when the run is not kept
 */
export function waitingLines(
  calls: readonly CallView[],
  run: string,
  journalOption: string | undefined,
): string[] {
  const shown = calls.map((call) => `  ${callName(call)}  ${visibleText(whatWaits(call))}`);
  const [first] = calls;
  if (first === undefined)
    return [`run ${run} waits; go on with: ${rondo} resume ${run}${journalOption ?? ""}`];
  const what = first.question === undefined ? "an approval" : "an answer";
  if (journalOption === undefined) {
    const way =
      first.question === undefined
        ? `Approve in advance with --allow ${first.name} or --yes, or omit`
        : "Omit";
    return [
      `waits for ${what}:`,
      ...shown,
      `nobody can give it, because the run is not kept in a journal. ${way} --no-journal`,
    ];
  }
  const to = `${run} ${callName(first)}`;
  const ways =
    first.question === undefined
      ? [`approve ${to}${journalOption}`, `deny ${to} "why not"${journalOption}`]
      : [`answer ${to} "the answer"${journalOption}`];
  return [`run ${run} waits for ${what}:`, ...shown, "to go on:", ...ways.map((way) => `  ${rondo} ${way}`)];
}

const whatWaits = (call: CallView): string =>
  call.question === undefined
    ? `${call.name} ${JSON.stringify(call.args)}`
    : `${call.name} asks: ${questionText(call)}`;
