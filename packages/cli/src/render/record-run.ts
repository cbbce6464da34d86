// The room of the lines about a run: how it starts, what it is told, how its course changes, and how it ends.

import { changeText, type State, textOf } from "@rondo/core";
import { ruleText } from "../console/shorten.ts";
import { taskOf } from "../summary.ts";
import { endStyle, endText } from "./ending.ts";
import { grantText } from "./grant.ts";
import type { RunPage } from "./page.ts";
import { because, byText, errorText, type RecordOf } from "./record-words.ts";
import { counted, timeText } from "./usage.ts";

function givenWith({ history, input, only }: RecordOf<"run_started">): string {
  if (only === "clearing") return "none: the conversation was cleared";
  if (history !== undefined) return `with a given history of ${counted(history.length, "message")}`;
  return input.length > 0 || only !== undefined ? "" : "none: the conversation goes on";
}

export function runStarted(
  record: RecordOf<"run_started">,
  page: RunPage,
  _before: State,
  after: State,
): void {
  page.startAt(record.at);
  page.heading(`run ${after.run?.number ?? 1}, ${timeText(record.at)}`);
  if (record.parent !== undefined)
    page.fact(
      record.at,
      "parent",
      `a sub-agent of session ${record.parent.session}, call ${record.parent.call}, ${record.parent.depth} deep`,
      "dim",
    );
  page.fact(record.at, "task", givenWith(record));
  page.more(taskOf(record));
  const { options } = record;
  if (options === undefined) {
    page.fact(record.at, "options", "as in the run before");
    return;
  }
  page.fact(record.at, "models", options.models.map((model) => model.id).join(", then "));
  const tools = options.tools.map(
    ({ definition, permission }) => `${definition.name}${permission === "allow" ? "" : ` (${permission})`}`,
  );
  page.fact(record.at, "tools", tools.length === 0 ? "none" : tools.join(", "));
  page.fact(record.at, "rules", options.rules.map(({ name }) => name).join(", "));
  if (options.hooks.length > 0) page.fact(record.at, "hooks", options.hooks.join(", "));
  if (options.system !== undefined) {
    page.fact(record.at, "system", "");
    page.more(options.system, "dim");
  }
}

export function opened({ at, from, options, changed }: RecordOf<"opened">, page: RunPage): void {
  if (from === undefined) {
    page.fact(at, "opened", "a process took the session over; what was in flight is lost", "yellow");
    if (changed !== undefined) page.more(changed.map(changeText).join("; "), "yellow");
    return;
  }
  const step = from.step === undefined ? "" : ` at step ${from.step}`;
  page.fact(
    at,
    "forked",
    `from ${from.session}${step}, after its first ${counted(from.seq, "record")}`,
    "yellow",
  );
  if (from.edited !== undefined) page.more(`with another result of call ${from.edited}`);
  if (options !== undefined) {
    page.more(`goes on with ${options.models.map((model) => model.id).join(", ")}`);
    if (options.system !== undefined) page.more(`system: ${options.system}`, "dim");
  }
}

export function queued({ at, lane, id, message }: RecordOf<"queued">, page: RunPage): void {
  page.fact(at, "queued", `a message (${lane}, ${id})`);
  page.more(textOf(message));
}

export function delivered({ at, lane, ids }: RecordOf<"delivered">, page: RunPage): void {
  page.fact(at, "delivered", `${lane}: ${ids.join(", ")}`);
}

export function withdrawn({ at, id }: RecordOf<"withdrawn">, page: RunPage): void {
  page.fact(at, "withdrawn", `the message ${id}`, "yellow");
}

export function noted(record: RecordOf<"noted">, page: RunPage): void {
  page.fact(record.at, "note", `to the model${because(record)}`, "yellow");
  page.more(record.text);
}

export function allowed(record: RecordOf<"allowed">, page: RunPage): void {
  page.fact(record.at, "allowed", `${grantText(record.grant)}${byText(record)}`, "green");
}

export function revoked(record: RecordOf<"revoked">, page: RunPage): void {
  page.fact(record.at, "revoked", `grant ${record.id}${byText(record)}`, "yellow");
}

export function woke({ at }: RecordOf<"woke">, page: RunPage): void {
  page.fact(at, "woke", "a wait ran out", "dim");
}

export function abortAsked({ at, reason, error }: RecordOf<"abort_asked">, page: RunPage): void {
  if (error === undefined) page.fact(at, "abort", `asked: ${reason}`, "yellow");
  else page.fact(at, "abort", `the run could not go on: ${errorText(error)}`, "red");
}

export function outputChecked({ at, ok, error, value }: RecordOf<"output_checked">, page: RunPage): void {
  page.fact(at, "output", ok ? "fits its schema" : `does not fit: ${error ?? "no reason given"}`);
  if (value !== undefined) page.more(JSON.stringify(value));
}

export function modeChanged(record: RecordOf<"mode">, page: RunPage): void {
  const { at } = record;
  const cancels = "cancel" in record && record.cancel ? "; what is in flight is cancelled" : "";
  switch (record.mode) {
    case "landing":
      page.fact(
        at,
        "limit",
        `${record.reason}: lands with one last answer${because(record)}${cancels}`,
        "yellow",
      );
      return;
    case "stopping":
      page.fact(at, "limit", `${record.reason}: stops${because(record)}${cancels}`, "yellow");
      return;
    case "output":
      page.fact(at, "output", `asked for, attempt ${record.attempt + 1}${because(record)}`);
      return;
    case "compacting":
      page.fact(at, "compaction", `decided on${because(record)}`);
      return;
    case "hide_tool":
      page.fact(at, "rule", `the tool ${record.tool} is no longer offered${because(record)}`, "yellow");
      return;
  }
}

export function runEnded(record: RecordOf<"run_ended">, page: RunPage): void {
  const { end } = record;
  page.heading("end");
  // Even if the reason is obvious: shows which rule decided it, and from what evidence.
  const how = endText(end);
  page.fact(record.at, "end", how.includes("rule ") ? how : `${how}, ${ruleText(end)}`, endStyle(end));
  if (end.landed) page.more("landed: one last answer was asked for, without tools", "dim");
  page.more(
    end.resumable
      ? "the session can go on from here"
      : "another message may be sent, but what was refused goes with it again",
    "dim",
  );
  if (record.keep !== undefined) {
    page.more("what had arrived of an answer that will not be finished:");
    page.more(textOf(record.keep), "dim");
  }
  if (record.text) {
    page.fact(record.at, "text", "");
    page.more(record.text, undefined, true);
  }
}
