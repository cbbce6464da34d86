// The room of the lines about the context: what was cut, and what was summarized.

import { textOf } from "@rondo/core";
import { stageText } from "./context.ts";
import type { RunPage } from "./page.ts";
import { attemptText, errorText, type RecordOf } from "./record-words.ts";
import { usageText } from "./usage.ts";

export function trimmed(record: RecordOf<"trimmed">, page: RunPage): void {
  page.fact(record.at, record.stage, stageText(record));
}

export function summaryStarted({ at, part, of, attempt }: RecordOf<"summary_started">, page: RunPage): void {
  page.fact(at, "summary", `part ${part} of ${of} asked for${attemptText(attempt)}`, "dim");
}

export function summaryFinished({ at, message }: RecordOf<"summary_finished">, page: RunPage): void {
  page.fact(at, "summary", usageText(message.usage));
  page.more(textOf(message), "dim");
}

export function summaryFailed({ at, error }: RecordOf<"summary_failed">, page: RunPage): void {
  page.fact(at, "summary", errorText(error), "yellow");
}

export function compacted(record: RecordOf<"compacted">, page: RunPage): void {
  page.fact(record.at, record.edit === undefined ? "as it was" : "compacted", stageText(record));
}
