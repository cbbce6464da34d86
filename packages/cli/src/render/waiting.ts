// The room of waiting: what a person is told when a run waits for them.

import type { CallView } from "@rondo/core";
import { visibleText } from "../console/plain-text.ts";
import { rondo } from "../line/command-name.ts";
import { callName } from "../summary.ts";

/** A call on one line. */
export const callLine = ({ name, args }: CallView): string => visibleText(`${name} ${JSON.stringify(args)}`);

/**
 * What waits, and how to answer it.
 * @param journalOption the option that a command needs to find the run; undefined when the run is not kept
 */
export function waitingLines(
  calls: readonly CallView[],
  run: string,
  journalOption: string | undefined,
): string[] {
  const shown = calls.map((call) => `  ${callName(call)}  ${callLine(call)}`);
  const [first] = calls;
  if (first === undefined)
    return [`run ${run} waits; go on with: ${rondo} resume ${run}${journalOption ?? ""}`];
  if (journalOption === undefined)
    return [
      "waits for an approval:",
      ...shown,
      `nobody can give it, because the run is not kept in a journal. Approve in advance with --allow ${first.name} or --yes, or omit --no-journal`,
    ];
  return [
    `run ${run} waits for an approval:`,
    ...shown,
    "to go on:",
    `  ${rondo} approve ${run} ${callName(first)}${journalOption}`,
    `  ${rondo} deny ${run} ${callName(first)} "why not"${journalOption}`,
  ];
}
