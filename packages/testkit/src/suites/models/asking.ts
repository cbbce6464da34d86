// The room of asking a model: what its conformance suite asks with, and what it makes of what comes back.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  type AssistantMessage,
  callsOf,
  type Message,
  type Model,
  type ModelEvent,
  type ModelRequest,
  messageOf,
  RondoError,
  userText,
} from "@rondo/core";
import type { Turn } from "../../scripted/turns.ts";

/** A model that is ready to answer a script. */
export interface OpenModel {
  model: Model;
  /** What went out so far, one text a request: the bodies, where there is a wire. Absent: what is sent is not looked at. */
  sent?(): readonly string[];
  close?(): void | Promise<void>;
}

/** What a model, or its provider, has no form for. */
export type ModelLack =
  /** It cannot call. */
  | "tools"
  /** It makes one call an answer. */
  | "several_calls"
  /** Arguments that are no JSON object cannot reach it. */
  | "raw_args"
  | "reasoning"
  /** It does not count tokens. */
  | "usage"
  /** Its answers arrive whole: it emits no deltas. */
  | "deltas";

export interface Stand extends OpenModel {
  lacks: ReadonlySet<ModelLack>;
  abortWithinMs: number;
}

/** One thing that is asked of every model; `script` is what it is to answer. */
export interface Demand {
  name: string;
  needs?: readonly ModelLack[];
  script: readonly Turn[];
  body(stand: Stand): Promise<void>;
}

const tools = ["weather", "search"].map((name) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
}));

export function requestOf(messages: readonly Message[], lacks: ReadonlySet<ModelLack>): ModelRequest {
  return {
    system: "system-words",
    messages,
    tools: lacks.has("tools") ? [] : tools,
    toolChoice: "auto",
    settings: { maxOutputTokens: 500 },
  };
}

export interface Heard {
  answer: AssistantMessage;
  events: ModelEvent[];
}

/** Asks once, and hears everything until a while after it is over. */
export async function ask(
  { model, lacks }: Pick<Stand, "model" | "lacks">,
  messages: readonly Message[] = [userText("user-words")],
  signal: AbortSignal = new AbortController().signal,
): Promise<Heard> {
  const events: ModelEvent[] = [];
  let state: "calling" | "under way" | "over" = "calling";
  let early: ModelEvent | undefined;
  let late: ModelEvent | undefined;
  const emit = (event: ModelEvent): void => {
    if (state === "calling") early ??= event;
    if (state === "over") late ??= event;
    events.push(event);
  };
  const answering = model.call(requestOf(messages, lacks), { signal, emit });
  state = "under way";
  try {
    return { answer: await answering, events };
  } finally {
    state = "over";
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    ok(early === undefined, `a ${early?.type} was emitted before \`call\` had returned`);
    ok(late === undefined, `a ${late?.type} was emitted after the call had settled`);
  }
}

/** The error a call rejects with, which must be one of ours. */
export async function failure(asking: Promise<unknown>): Promise<RondoError> {
  let thrown: unknown;
  try {
    await asking;
  } catch (caught) {
    thrown = caught;
  }
  ok(thrown !== undefined, "the call resolved, and was to reject");
  ok(
    thrown instanceof RondoError,
    `it rejected with no RondoError: throw new RondoError(kind, message) in place of: ${messageOf(thrown)}`,
  );
  return thrown;
}

/** Deltas say of each part what the part itself says. */
export function sameAsDeltas({ answer, events }: Heard): void {
  answer.content.forEach((part, index) => {
    const joined = (type: "text_delta" | "reasoning_delta"): string =>
      events.map((event) => (event.type === type && event.index === index ? event.text : "")).join("");
    if (part.type === "text")
      strictEqual(joined("text_delta"), part.text, `the text deltas of part ${index}`);
    if (part.type === "reasoning")
      strictEqual(joined("reasoning_delta"), part.text, `the reasoning deltas of part ${index}`);
    if (part.type !== "tool_call") return;
    const deltas = events.filter((event) => event.type === "tool_args_delta" && event.index === index);
    const args = deltas.map((event) => (event.type === "tool_args_delta" ? event.delta : "")).join("");
    if (deltas.length > 0 && part.argsError === undefined)
      deepStrictEqual(JSON.parse(args), part.args, `the argument deltas of part ${index}`);
  });
  for (const event of events)
    if ("index" in event)
      ok(
        answer.content[event.index] !== undefined,
        `a ${event.type} speaks of part ${event.index}; the answer has ${answer.content.length} parts`,
      );
}

/** A conversation with everything a request must carry. */
export function longer(calling: AssistantMessage): Message[] {
  const [made] = callsOf(calling);
  return [
    userText("user-words"),
    calling,
    {
      role: "tool",
      callId: made?.id ?? "",
      name: made?.name ?? "",
      content: [{ type: "text", text: "result-words" }],
      isError: false,
    },
  ];
}

/** What a promise comes to, in time. */
export async function within<T>(promise: Promise<T>, ms: number, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RondoError("internal", `${otherwise} in ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
