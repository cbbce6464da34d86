// The room of results: what a tool may return or throw besides a plain value.

import { resultWords } from "../checks/tool-words.ts";
import {
  anything,
  checkGiven,
  data,
  either,
  finite0,
  flag,
  json,
  listOf,
  membersOf,
  needed,
  some,
  text,
  whole,
} from "../checks.ts";
import type { LedgerEntry } from "../context/compact/ledger.ts";
import { knownAcrossCopies } from "../copies.ts";
import { jsonCopy } from "../json/copy.ts";
import type { Spent } from "../loop/child-facts.ts";
import type { CallResult } from "../loop/records.ts";
import { type ContentPart, type Json, tokensOf, type Usage } from "../message.ts";
import { outputParts, type ToolOutput } from "./outputs.ts";

/** A result with more than a plain value. Made by `toolResult`. */
export class ToolResult {
  readonly content: ContentPart[];
  readonly isError: boolean;
  /** Ends the run with reason `done_tool`; a string becomes the run's text. */
  readonly done: boolean | string;
  /** What was done, as entries of the ledger, which survive a compaction of the history. Not part of what the model reads as the result. */
  readonly ledger: readonly LedgerEntry[];
  /** Names of tools that the model is offered from now on. */
  readonly offers: readonly string[];
  /** What it cost: of a sub-agent, since it was last started or resumed. */
  readonly spent: Spent | undefined;
  /** For programs alone: the model does not read it. */
  readonly details: Json | undefined;

  constructor(
    content: ContentPart[],
    isError: boolean,
    done: boolean | string,
    ledger: readonly LedgerEntry[] = [],
    spent?: Spent,
    details?: Json,
    offers: readonly string[] = [],
  ) {
    this.content = content;
    this.isError = isError;
    this.done = done;
    this.ledger = ledger;
    this.spent = spent;
    this.details = details;
    this.offers = offers;
  }
}

/** What a call of a tool cost, e.g. for models that it called itself. It counts in the run's budgets and sums. */
export interface ToolSpending {
  /** Tokens. Default: none. */
  usage?: Usage;
  /** US dollars. Default: unknown if tokens were used, else 0. */
  usd?: number;
  /** Model calls. Default: 1 if tokens were used, else 0. */
  modelCalls?: number;
}

type ResultOptions = {
  isError?: boolean;
  done?: boolean | string;
  ledger?: readonly LedgerEntry[];
  spent?: ToolSpending;
  details?: Json;
  offers?: readonly string[];
};

const usage = membersOf<Usage>({
  inputTokens: finite0,
  outputTokens: finite0,
  cachedInputTokens: finite0,
  cacheWriteTokens: finite0,
  cacheWrite1hTokens: finite0,
  reasoningTokens: finite0,
});
const spending = some(
  membersOf<ToolSpending>({ usage: some(usage, "tokens"), usd: finite0, modelCalls: whole }),
  "usage, usd or modelCalls",
);

/** Refuses unknown options: if `done` were misspelt, the run would continue. */
const resultOptions = membersOf<ResultOptions>(
  {
    isError: flag,
    done: either(text, flag),
    ledger: anything,
    spent: spending,
    details: data,
    offers: listOf(text),
  },
  [],
  resultWords,
);

const outputs = either(text, needed("a text, or a list of outputs,", Array.isArray));
const resultGiven = membersOf<{ content: unknown }>({ content: outputs }, ["content"]);

const questionGiven = membersOf<{ question: Json }>({ question: json }, ["question"]);

/**
 * Makes a tool result with content parts, an error mark, `done` (ends the run), entries for the ledger, what the call
 * spent, `details` for programs (plain JSON in the `tool_end` event and the history, which the model does not read), or
 * `offers`: names of tools with `when: "offered"` that the model is offered from now on. A name of no such tool is ignored.
 * @param content a string, or outputs: texts, links, JSON, images, blobs, files
 */
export function toolResult(content: string | readonly ToolOutput[], options: ResultOptions = {}): ToolResult {
  checkGiven(resultOptions, options, "toolResult");
  checkGiven(resultGiven, { content }, "toolResult");
  const parts: ContentPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : outputParts(content);
  const { isError = false, done = false, ledger = [], spent, details, offers = [] } = options;
  return new ToolResult(
    parts,
    isError,
    done,
    ledger,
    spent === undefined ? undefined : spentIn(spent),
    details === undefined ? undefined : jsonCopy(details),
    [...offers],
  );
}

function spentIn({ usage = {}, usd, modelCalls }: ToolSpending): Spent {
  const tokens = tokensOf(usage) ?? 0;
  const cost = usd ?? (tokens === 0 ? 0 : undefined);
  return {
    usage: jsonCopy(usage),
    tokens,
    ...(cost === undefined ? {} : { usd: cost }),
    uncounted: 0,
    modelCalls: modelCalls ?? (tokens === 0 ? 0 : 1),
    agents: 0,
  };
}

/** The same result with other content for the model; the members for the loop and for programs stay. */
export function resultWith(result: ToolResult, content: ContentPart[]): ToolResult {
  const { isError, done, ledger, spent, details, offers } = result;
  return new ToolResult(content, isError, done, ledger, spent, details, offers);
}

/** A recorded result, which is neither rendered nor cut again. For tools that play back records. */
export class RecordedResult {
  readonly result: CallResult;

  constructor(result: CallResult) {
    this.result = result;
  }
}

/** Returned or thrown in place of a result, it ends the run with reason `done_tool`; the call's result is `Task complete`. */
export class DoneSignal {
  /** Becomes the run's text. Absent: the text of the answer that made the call. */
  readonly finalMessage: string | undefined;

  constructor(finalMessage?: string) {
    this.finalMessage = finalMessage;
  }
}

/** Returned in place of a result: the tool has begun, and waits for an answer. Made by `waitForAnswer`. */
export class WaitForAnswer {
  readonly question: Json;

  /** @throws RondoError `invalid_request` if the question is not plain JSON */
  constructor(question: Json) {
    checkGiven(questionGiven, { question }, "waitForAnswer");
    this.question = jsonCopy(question);
  }
}

/**
 * What `execute` returns if somebody must answer a question before the call can be finished. The run parks, for any time and
 * across crashes, until `session.answer` gives the answer. That goes to the tool's `resume`, or is the call's result if
 * the tool has none. Nothing that has run runs again.
 * @param question plain JSON, for whoever answers: `{ text: "Buy it for 12 €?", price: 12 }`. `resume` gets it back
 * @throws RondoError `invalid_request` if it is not plain JSON
 */
export function waitForAnswer(question: Json): WaitForAnswer {
  return new WaitForAnswer(question);
}

/** Like `DoneSignal`, for code that can only throw. */
export class TaskComplete extends Error {
  override readonly name: string = "TaskComplete";
  readonly finalMessage: string | undefined;

  constructor(finalMessage?: string) {
    super("Task complete");
    this.finalMessage = finalMessage;
  }
}

knownAcrossCopies({ ToolResult, RecordedResult, DoneSignal, TaskComplete, WaitForAnswer });
