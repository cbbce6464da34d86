// The room of the lines about a model: its request, its answer, and how the answer was judged.

import { type AssistantMessage, type Follows, type State, textOf } from "@rondo/core";
import { contentText } from "../console/shorten.ts";
import { stageText } from "./context.ts";
import type { RunPage } from "./page.ts";
import { attemptText, because, called, errorText, type RecordOf, since } from "./record-words.ts";
import { spanText, usageText } from "./usage.ts";

export function modelStarted(record: RecordOf<"model_started">, page: RunPage, before: State): void {
  if (record.attempt === 1) page.heading(`step ${record.step}`);
  const model = before.options?.models[record.model]?.id ?? `model ${record.model}`;
  for (const stage of record.stages ?? []) page.fact(record.at, stage.stage, stageText(stage));
  page.fact(record.at, "request", `${model}${attemptText(record.attempt)}, digest ${record.digest}`);
  if (record.broke !== undefined)
    page.more(`the prefix of the requests before it broke: ${record.broke}`, "yellow");
}

export function modelFinished(
  record: RecordOf<"model_finished">,
  page: RunPage,
  before: State,
  after: State,
): void {
  // The message in the state has the calls' final ids.
  const message: AssistantMessage = after.run?.turn?.message ?? record.message;
  const { stop, usage } = message;
  const raw = stop.raw === undefined || stop.raw === stop.kind ? "" : ` (${stop.raw})`;
  const detail = stop.detail === undefined ? "" : `: ${stop.detail}`;
  const took = since(before.run?.call?.startedAt, record.at);
  page.fact(record.at, "answer", `${stop.kind}${raw}${detail}${took}; ${usageText(usage)}`, "green");
  let index = 0;
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        page.more(part.text);
        break;
      case "reasoning":
        page.more(part.text === "" ? "(reasoning that cannot be read)" : part.text, "dim");
        break;
      case "refusal":
        page.more(`refusal: ${part.text}`, "yellow");
        break;
      case "file":
        page.more(contentText([part]));
        break;
      case "native":
        page.more(`(${part.kind}, run by the provider)`, "dim");
        break;
      case "tool_call": {
        const check = record.checks[index];
        page.fact(
          record.at,
          "call",
          `${record.seq}.${index} ${part.name} ${JSON.stringify(part.args)}`,
          "cyan",
        );
        if (part.argsError !== undefined) page.more(`${part.argsError}: ${part.rawArgs}`, "red");
        else if (check?.ok === false) page.more(`${check.code}: ${check.error}`, "red");
        index += 1;
        break;
      }
    }
  }
}

export function modelFailed(record: RecordOf<"model_failed">, page: RunPage, before: State): void {
  const { at, error, usage, partial } = record;
  const took = since(before.run?.call?.startedAt, at);
  page.fact(at, "failed", `${errorText(error)}${took}; ${usageText(usage)}`, "red");
  if (partial === undefined) return;
  page.more("what had arrived:");
  page.more(textOf(partial), "dim");
}

export function turnJudged(record: RecordOf<"turn_judged">, page: RunPage, before: State): void {
  const stored = record.store || before.run?.turn === undefined ? "" : "; the answer is not stored";
  page.fact(record.at, "judged", `${followsText(record.follows, record.at)}${because(record)}${stored}`);
  const seq = before.run?.turn?.seq;
  record.verdicts.forEach((verdict, index) => {
    const call = seq === undefined ? `call ${index}` : called(before, `${seq}.${index}`);
    const by =
      verdict.rule === undefined ? "" : because({ rule: verdict.rule, evidence: verdict.evidence ?? {} });
    if (verdict.do === "run") page.more(`${call}: may run${by}`);
    else page.more(`${call}: not run, ${verdict.code}${by}`, "yellow");
  });
}

function followsText(follows: Follows, at: number): string {
  switch (follows.do) {
    case "act":
      return "the calls are run";
    case "finish":
      return "this is the answer";
    case "land":
      return `${follows.reason}: one last answer`;
    case "stop":
      return `${follows.reason}: the run ends${follows.error === undefined ? "" : `; ${errorText(follows.error)}`}`;
    case "ask_again": {
      const wait =
        follows.until === undefined || follows.until <= at ? "" : ` after ${spanText(follows.until - at)}`;
      const model = follows.model === undefined ? "" : `, model ${follows.model + 1} of the run`;
      const limit = follows.maxOutputTokens === undefined ? "" : `, up to ${follows.maxOutputTokens} tokens`;
      const drop = follows.drop === undefined ? "" : `, without the ${follows.drop} in the history`;
      const note = follows.note === undefined ? "" : `, with the note: ${follows.note}`;
      return `the model is asked again${wait}${model}${limit}${drop}${note}`;
    }
  }
}
