// The room of asking a model: what its conformance suite asks with, and what it makes of what comes back.

import { AssertionError, ok } from "node:assert/strict";
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
import { answerFrom } from "@rondo/core/driving";
import type { Turn } from "../../scripted/turns.ts";
import { afterMs } from "../../timer.ts";
import { mustBe, whatRejected } from "../check.ts";

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

export interface Stand {
  /** What was opened, as it is: it may be of a class, whose members no copy has. */
  open: OpenModel;
  model: Model;
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
  lacks: ReadonlySet<ModelLack>;
}

/** Asks once, and hears everything until a while after it is over. */
export async function ask(
  { model, lacks }: Pick<Stand, "model" | "lacks">,
  messages: readonly Message[] = [userText("user-words")],
  signal: AbortSignal = new AbortController().signal,
  request: ModelRequest = requestOf(messages, lacks),
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
  const answering = model.call(request, { signal, emit });
  state = "under way";
  try {
    const answer = await answering;
    // As the loop looks at it, and in its words.
    answerFrom(model, answer);
    return { answer, events, lacks };
  } finally {
    state = "over";
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    ok(early === undefined, `a ${early?.type} was emitted before \`call\` had returned`);
    ok(late === undefined, `a ${late?.type} was emitted after the call had settled`);
  }
}

/** The error a call rejects with, which must be one of ours. */
export async function failure(asking: Promise<unknown>): Promise<RondoError> {
  const thrown = await whatRejected(asking, "the call resolved, and was to reject");
  ok(
    thrown instanceof RondoError,
    `it rejected with no RondoError: throw new RondoError(kind, message) in place of: ${messageOf(thrown)}`,
  );
  return thrown;
}

const deltaOf = { text: "text_delta", reasoning: "reasoning_delta", tool_call: "tool_args_delta" } as const;

/** Deltas say of each part what the part itself says. One that emits none says so in `lacks`. */
export function sameAsDeltas({ answer, events, lacks }: Heard): void {
  answer.content.forEach((part, index) => {
    const type = part.type in deltaOf ? deltaOf[part.type as keyof typeof deltaOf] : undefined;
    const deltas = events.filter((event) => event.type === type && event.index === index);
    const joined = deltas.map((event) => deltaText(event)).join("");
    if (part.type === "text" || part.type === "reasoning") {
      if (deltas.length > 0 || !lacks.has("deltas"))
        mustBe(joined, part.text, `the ${part.type} deltas of part ${index}, joined`);
    }
    if (part.type !== "tool_call" || deltas.length === 0) return;
    if (part.argsError === undefined)
      mustBe(parsed(joined), part.args, `the argument deltas of part ${index}, joined and parsed`);
    for (const event of deltas)
      if (event.type === "tool_args_delta")
        ok(
          part.name.startsWith(event.name) && (part.id === "" || part.id.startsWith(event.id)),
          `a tool_args_delta of part ${index} is of ${JSON.stringify([event.id, event.name])}; the call has the id and the name ${JSON.stringify([part.id, part.name])}`,
        );
  });
  for (const event of events) {
    if (!("index" in event)) continue;
    const part = answer.content[event.index];
    ok(
      part !== undefined,
      `a ${event.type} speaks of part ${event.index}; the answer has ${answer.content.length} parts`,
    );
    ok(
      !(part.type in deltaOf) || deltaOf[part.type as keyof typeof deltaOf] === event.type,
      `a ${event.type} speaks of part ${event.index}, which is of the type ${part.type}`,
    );
  }
}

const deltaText = (event: ModelEvent): string =>
  event.type === "tool_args_delta" ? event.delta : "text" in event ? event.text : "";

/** What a text says as JSON; the text itself where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
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

/** What a promise comes to, in time. @param otherwise what is wrong where it does not, in words */
export async function within<T>(promise: Promise<T>, ms: number, otherwise: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = afterMs(ms, () => reject(new AssertionError({ message: otherwise() })));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
