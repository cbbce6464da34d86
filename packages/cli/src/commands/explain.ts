// The room of `rondo explain`: why a run continued, and why it stopped.

import { isA, RondoError } from "@rondo/core";
import { explain } from "@rondo/core/explain";
import { Failure, UsageError } from "../console/failure.ts";
import { jsonLine } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { driverOf } from "../invocation.ts";
import { type Command, journalOption } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { renderExplanation } from "../render/explanation.ts";
import { todayOf } from "../runs/current-agent.ts";
import { withJournal } from "../runs/find-run.ts";
import { noRules, summaryOf } from "../summary.ts";

export const explainRun: Command = {
  name: "explain",
  words: "RUN [STEP]",
  does: "Explain why a run continued or stopped: each decision, the rule that made it and what the rule saw",
  maxWords: 2,
  options: {
    json: { type: "boolean", does: "Print one JSON object" },
    ...journalOption,
  },
  async act(args, console) {
    const given = args.words[1];
    if (given !== undefined && !/^\d+$/.test(given))
      throw new UsageError(`a step is a whole number, not ${JSON.stringify(given)}`);
    return withJournal(args, console, "to read", async ({ find, flag }) => {
      const found = await find(args.words[0]);
      const today = todayOf(found);
      const rules = "resolved" in today ? today.resolved.rules : noRules;
      const step = given === undefined ? {} : { step: Number(given) };
      const explanation = explained(() => explain(found.records, { ...step, rules }), found.id, flag);
      if (args.has("json")) console.line(jsonLine(explanation));
      else {
        const { status } = summaryOf(found.id, found.records);
        const driver = status === "running" ? driverOf(found.records)?.pid : undefined;
        const { paint } = console;
        console.write(renderExplanation(explanation, { named: `${found.id}${flag}`, status, driver, paint }));
      }
      return exitCodes.completed;
    });
  },
};

/** A missing step is the command's own failure, and names the run. */
function explained<T>(act: () => T, run: string, flag: string): T {
  try {
    return act();
  } catch (thrown) {
    if (isA(RondoError, thrown) && thrown.kind === "invalid_request")
      throw new Failure(`run ${run}: ${thrown.message}; see ${rondo} show ${run}${flag}`, { cause: thrown });
    throw thrown;
  }
}
