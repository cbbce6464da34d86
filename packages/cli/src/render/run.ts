// The room of the whole run: shows what the records say, for a person to read.
//
// From the records alone: no model, no tool, no clock. Every record has a line, so what is not shown did not
// happen; `full` only shows longer texts. Times are relative to the start of the run.

import { type CallView, emptyState, type LogRecord, type Run, reduce, type State } from "@rondo/core";
import { pendingIn } from "@rondo/core/driving";
import { type Paint, plain } from "../console/console.ts";
import { callName, noRules } from "../summary.ts";
import { countsText } from "./ending.ts";
import { RunPage } from "./page.ts";
import { recordLines } from "./records.ts";

export interface RenderOptions {
  /** Show texts and results in full. Default: a few lines of each. */
  full?: boolean;
  /** Default: no colours. */
  paint?: Paint;
  /** Line width in characters for texts that are cut. Default: 100. */
  width?: number;
}

/** The records of a session as readable text, at least one line per record. */
export function renderRun(records: readonly LogRecord[], options: RenderOptions = {}): string {
  const page = new RunPage({
    full: options.full ?? false,
    paint: options.paint ?? plain,
    width: options.width ?? 100,
  });
  let state: State = emptyState;
  for (const record of records) {
    const before = state;
    state = reduce(state, record, noRules);
    recordLines(record, before, state, page);
    if (record.type === "run_ended" && state.run !== undefined && before.run?.end === undefined)
      page.note(countsText(state.run, record.at - state.run.startedAt));
  }
  const { run } = state;
  if (run !== undefined && run.end === undefined) openLines(run, state, page);
  return page.text();
}

const waitText = (call: CallView): string =>
  `an ${call.question === undefined ? "approval" : "answer"} of ${callName(call)} ${call.name}`;

/** What a run that has not ended waits for. */
function openLines(run: Run, state: State, page: RunPage): void {
  const waiting = pendingIn(state);
  page.blank();
  if (waiting.length === 0) page.plain("not ended: it is being driven, or was interrupted (rondo resume)");
  else page.plain(`waits for ${waiting.map(waitText).join(", ")}`);
  page.note(countsText(run, state.now - run.startedAt));
}
