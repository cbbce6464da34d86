// The room of the story: what a run did, read from whatever the test has of it.
//
// A result, a session, its records, the events a watcher heard: each tells some of it. What one does not tell is
// undefined, which is not nothing: a matcher that needs it says so.

import {
  type CallView,
  callsOf,
  type JsonObject,
  type LogRecord,
  type Message,
  type RondoEvent,
  type RunEnd,
  type RunResult,
  reduceAll,
  resolve,
  Session,
  textOf,
  type Usage,
} from "@rondo/core";
import { isPromise } from "@rondo/core/checks";
import { scripted } from "../scripted.ts";

/** What the matchers take: a run's result, a session, its records, or the events of a run. */
export type RunSubject = RunResult | Session | readonly LogRecord[] | readonly RondoEvent[];

/** A call that a model made. */
export interface ToldCall {
  id: string;
  name: string;
  args: JsonObject;
  /** What the model reads of it. Absent: it has no result yet. */
  result?: { text: string; isError: boolean };
}

/** Numbers that are absent were counted by nobody, or are not told by this subject. */
export interface ToldSpending extends Usage {
  /** Model answers. */
  steps?: number;
  /** Requests to models, failed ones among them. */
  modelCalls?: number;
  toolCalls?: number;
  /** Input and output tokens together. */
  tokens?: number;
  /** US dollars. */
  usd?: number;
}

export interface Story {
  /** What it was read from, in words. */
  from: string;
  calls: ToldCall[];
  /** Absent: it has not ended. */
  end?: RunEnd;
  text: string;
  output?: unknown;
  /** Calls that somebody was asked about. */
  asked: { name: string; args: JsonObject }[];
  /** Only those that still wait are told. */
  askedNow: boolean;
  spent: ToldSpending;
}

/** @throws TypeError for what is none of these */
export function storyOf(subject: unknown): Story {
  if (subject instanceof Session) return ofSession(subject);
  const records = recordsIn(subject);
  if (records !== undefined) return ofRecords(records);
  if (isTyped(subject)) return ofEvents(subject as unknown as RondoEvent[]);
  if (isResult(subject)) return ofResult(subject, "the result");
  throw new TypeError(
    `a run is needed: a RunResult (await it), a Session, or a list of its records or events; this is ${kindOf(subject)}`,
  );
}

/** What a thing is that is not what is needed, in words. */
export function kindOf(thing: unknown): string {
  if (isPromise(thing)) return "a promise";
  if (Array.isArray(thing)) return thing.length === 0 ? "an empty list" : "a list of something else";
  return thing === null ? "null" : typeof thing;
}

/** A list of records or of events. */
const isTyped = (list: unknown): list is readonly { type: string; seq?: unknown }[] =>
  Array.isArray(list) && list.length > 0 && list.every((one) => typeof one?.type === "string");

/**
 * A session's records; undefined for anything else.
 * @throws TypeError for a part of them: it would fold to another story, or to none
 */
export function recordsIn(subject: unknown): LogRecord[] | undefined {
  if (!isTyped(subject) || typeof subject[0]?.seq !== "number") return undefined;
  const wrong = subject.findIndex(({ seq }, at) => seq !== at);
  if (wrong < 0) return subject as unknown as LogRecord[];
  throw new TypeError(
    `all records of one session are needed, from its first on and in order; number ${wrong} of these has the sequence number ${String(subject[wrong]?.seq)}`,
  );
}

function isResult(subject: unknown): subject is RunResult {
  const one = subject as Partial<RunResult> | null | undefined;
  return Array.isArray(one?.messages) && typeof one.steps === "number";
}

function ofResult(result: RunResult, from: string): Story {
  const { end, parked, output, usage, usd, steps, modelCalls, toolCalls } = result;
  return {
    from,
    calls: callsIn(result.messages, parked?.pending ?? []),
    ...(end === undefined ? {} : { end }),
    text: result.text,
    ...(output === undefined ? {} : { output }),
    asked: (parked?.pending ?? []).map(({ name, args }) => ({ name, args })),
    askedNow: true,
    spent: { ...counted(usage), steps, modelCalls, toolCalls, ...(usd === undefined ? {} : { usd }) },
  };
}

function ofSession(session: Session): Story {
  const { result } = session;
  return result === undefined
    ? { from: "the session", calls: [], text: "", asked: [], askedNow: true, spent: {} }
    : ofResult(result, "the session");
}

function ofRecords(records: readonly LogRecord[]): Story {
  const { rules } = resolve({ model: scripted([]) });
  const asked: Story["asked"] = [];
  let state = reduceAll([], rules);
  for (const record of records) {
    // Folded as far as the question: later the call is gone from the open turn.
    state = reduceAll([record], rules, state);
    const keys =
      record.type === "approval_asked" ? record.calls : record.type === "tool_waits" ? [record.call] : [];
    for (const call of state.run?.turn?.calls ?? [])
      if (keys.includes(call.key)) asked.push({ name: call.name, args: call.args });
  }
  const { run, history } = state;
  const open = run?.turn?.calls ?? [];
  const { usd, usage, tokens } = run?.spend ?? {};
  return {
    from: "the records",
    calls: callsIn([...history], open),
    ...(run?.end === undefined ? {} : { end: run.end }),
    text: run?.text ?? run?.lastText ?? "",
    ...(run?.checked?.ok === true ? { output: run.checked.value } : {}),
    asked,
    askedNow: false,
    spent: {
      ...counted(usage ?? {}),
      ...(tokens === undefined ? {} : { tokens }),
      ...(usd === undefined ? {} : { usd }),
      ...(run === undefined
        ? {}
        : { steps: run.steps, modelCalls: run.modelCalls, toolCalls: run.toolCalls }),
    },
  };
}

function ofEvents(events: readonly RondoEvent[]): Story {
  const calls = new Calls();
  const story: Story = {
    from: "the events",
    calls: [],
    text: "",
    asked: [],
    askedNow: false,
    spent: {},
  };
  const usages: (Usage | undefined)[] = [];
  let requests = 0;
  let answered = 0;
  for (const event of events)
    switch (event.type) {
      case "request":
        requests += 1;
        break;
      case "message":
        answered = event.step;
        story.text = textOf(event.message) || story.text;
        for (const call of callsOf(event.message)) calls.made(call);
        break;
      case "tool_start":
        calls.open(event.call);
        break;
      case "tool_end":
        calls.open(event.call).result = {
          text: textOf({ role: "user", content: event.content }),
          isError: event.isError,
        };
        break;
      case "approval_request":
      case "answer_request":
        story.asked.push({ name: event.call.name, args: event.call.args });
        break;
      case "step_end":
        // One that no model answered spent no step.
        if (event.step === answered) usages.push(event.usage);
        break;
      case "run_end":
        story.end = event.end;
        story.text = event.text;
        break;
    }
  story.calls = calls.all;
  story.spent = {
    steps: usages.length,
    modelCalls: requests,
    // A call that continues after it had waited starts again.
    toolCalls: new Set(
      events.flatMap((event) =>
        event.type === "tool_start" && event.code === undefined ? [event.call.key] : [],
      ),
    ).size,
    ...counted(sumOf(usages)),
  };
  return story;
}

/** The calls of a conversation with what came of them, and those that are not answered yet. */
function callsIn(
  messages: readonly Message[],
  open: readonly Pick<CallView, "id" | "name" | "args">[],
): ToldCall[] {
  const calls = new Calls();
  for (const message of messages) {
    if (message.role === "assistant") for (const call of callsOf(message)) calls.made(call);
    if (message.role === "tool") calls.answered(message);
  }
  for (const call of open) calls.open(call);
  return calls.all;
}

/** Calls in the order in which they were made. Some providers count their ids anew in each answer: one tells calls apart only until there is a result. */
class Calls {
  readonly all: ToldCall[] = [];
  readonly #newest = new Map<string, ToldCall>();

  made({ id, name, args }: Pick<ToldCall, "id" | "name" | "args">): ToldCall {
    const call: ToldCall = { id, name, args };
    this.all.push(call);
    this.#newest.set(id, call);
    return call;
  }

  /** The call of this id that has no result yet, with the arguments that it has now. */
  open(call: Pick<ToldCall, "id" | "name" | "args">): ToldCall {
    const newest = this.#newest.get(call.id);
    if (newest === undefined || newest.result !== undefined) return this.made(call);
    newest.name = call.name;
    newest.args = call.args;
    return newest;
  }

  answered({ callId, isError, content }: Extract<Message, { role: "tool" }>): void {
    const newest = this.#newest.get(callId);
    if (newest !== undefined) newest.result = { text: textOf({ role: "user", content }), isError };
  }
}

function counted(usage: Usage): ToldSpending {
  const { inputTokens, outputTokens } = usage;
  return inputTokens === undefined || outputTokens === undefined
    ? { ...usage }
    : { ...usage, tokens: inputTokens + outputTokens };
}

/** A number is told when every step told it. */
function sumOf(usages: readonly (Usage | undefined)[]): Usage {
  const sum: Usage = {};
  const names = [
    "inputTokens",
    "outputTokens",
    "cachedInputTokens",
    "cacheWriteTokens",
    "cacheWrite1hTokens",
    "reasoningTokens",
  ] as const;
  for (const name of names) {
    const numbers = usages.map((usage) => usage?.[name]);
    if (numbers.length > 0 && numbers.every((one) => one !== undefined))
      sum[name] = numbers.reduce((all, one) => all + one, 0);
  }
  return sum;
}
