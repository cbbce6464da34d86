// The room of the agent events: a run as a flat list of small events (BEHAVIOUR D3), ending with the final text.
//
// It only renders. Whether the text of an answer is the last one is known only when the run continues or ends, so the texts
// of an answer without calls are held back until then. Calls whose turn never came are left out.

import { type Clock, systemClock } from "../clock.ts";
import { errorFrom } from "../errors.ts";
import type { CallView, RondoEvent } from "../events.ts";
import { jsonIn } from "../json/in-text.ts";
import { placeIn } from "../loop/call-key.ts";
import type { ResultCode } from "../loop/records.ts";
import { type AssistantMessage, callsOf, type Json, type JsonObject, type ToolCallPart } from "../message.ts";
import { failureKind } from "../presets/managed-context/failures.ts";
import { hostedSearches } from "./agent-events/hosted.ts";
import { type AgentEvent, displayText, screenshotOf } from "./agent-events/shapes.ts";

export interface AgentEventsOptions {
  /** As for the preset. If true, the text of an answer without calls is never the last one, and is emitted at once. Default: false. */
  requireDoneTool?: boolean;
  /** The name of a tool for the user. Default: there is no `display_name`. */
  displayName?: (tool: string) => string | undefined;
  /** The clock for timestamps. Default: the host's. */
  clock?: Pick<Clock, "now">;
}

/**
 * A run's events as agent events. If you stop iterating, the events stop too, which aborts the run.
 * @param events of `agent.stream(…)`
 * @throws an error named `AbortError` if the run was aborted, the run's own error if it failed; then there is no `final`
 */
export async function* agentEvents(
  events: AsyncIterable<RondoEvent>,
  options: AgentEventsOptions = {},
): AsyncGenerator<AgentEvent, void, undefined> {
  const ready: AgentEvent[] = [];
  const view = new AgentEventsView(options, (event) => ready.push(event));
  for await (const event of events) {
    view.hear(event);
    yield* ready.splice(0);
  }
  if (view.failure !== undefined) throw view.failure;
}

/** The first final text in a stream of agent events; empty if there is none. */
export async function finalOf(events: AsyncIterable<AgentEvent>): Promise<string> {
  for await (const event of events) if (event.type === "final") return event.content;
  return "";
}

/** Results of calls whose turn never came: the loop gave them only to keep the history valid. */
const untold: ReadonlySet<ResultCode | undefined> = new Set<ResultCode>(["skipped", "not_executed"]);

/** The text for a refusal without words. */
function refusedBy({ origin }: AssistantMessage): string {
  return origin.api.startsWith("anthropic")
    ? "This request was declined by Anthropic's safety classifier."
    : "This request was declined by the model provider.";
}

/** The shown arguments of a call whose own could not be read: the same whoever gives the result, unless a hook replaced them. */
function unreadArgs(args: JsonObject, raw: string): Json {
  if (Object.keys(args).some((name) => name !== "_raw")) return args;
  const read = jsonIn(raw);
  return read === undefined ? { _raw: raw } : read.value;
}

interface Answer {
  /** Undefined: the answer came to another process. */
  message?: AssistantMessage;
  calls: readonly ToolCallPart[];
  /** Texts that have not been emitted yet. */
  texts: string[];
  /** All of its texts, joined as in the final text. */
  text: string;
  /** Searches that the provider ran, which count as steps. */
  hosted: number;
  /** The call whose turn it is. Undefined: the one that begins next. */
  turn: number | undefined;
  /** Events of calls whose turn has not come. */
  held: Map<number, (() => void)[]>;
  /** Calls whose beginning was emitted. */
  begun: Set<number>;
  /** A call has ended the run, so the calls after it are never reached. */
  over: boolean;
  /** The run's text according to that call. */
  done?: boolean | string;
}

/** An answer that came to another process: its calls are emitted in the order in which they begin. */
const unheardAnswer = (): Answer => ({
  calls: [],
  texts: [],
  text: "",
  hosted: 0,
  turn: undefined,
  held: new Map(),
  begun: new Set(),
  over: false,
});

/** Renders live events as they come. */
export class AgentEventsView {
  /** The run's error, once it has failed. */
  failure: Error | undefined;
  readonly #options: AgentEventsOptions;
  readonly #push: (event: AgentEvent) => void;
  readonly #clock: Pick<Clock, "now">;
  #answer: Answer | undefined;
  #landing = false;
  #provider = "";
  #attempt = 1;

  constructor(options: AgentEventsOptions, push: (event: AgentEvent) => void) {
    this.#options = options;
    this.#push = push;
    this.#clock = options.clock ?? systemClock;
  }

  /** Takes one live event. */
  hear(event: RondoEvent): void {
    switch (event.type) {
      case "step_start":
        this.#tellTexts();
        return;
      case "request":
        this.#provider = event.origin.provider;
        this.#attempt = event.attempt;
        return;
      case "limit":
        this.#landing ||= event.lands;
        return;
      case "message":
        if (!this.#landing) this.#message(event.message);
        return;
      case "tool_start":
        if (!untold.has(event.code))
          this.#inTurn(event.call, (answer, at) => this.#start(event.call, answer, at));
        return;
      case "tool_end":
        this.#inTurn(event.call, (answer, at) => this.#end(event, answer, at));
        return;
      case "retry":
        this.#retry(event);
        return;
      case "message_delivered":
        this.#tellTexts();
        if (event.hook === "onFinish")
          this.#push({ type: "hidden_user_message", content: displayText(event.message.content) });
        return;
      case "compaction_start":
        this.#push({ type: "compaction_start", timestamp: this.#clock.now() });
        return;
      case "compaction_end": {
        const compacted = event.helped;
        this.#push({ type: "compaction_complete", timestamp: this.#clock.now(), compacted });
        return;
      }
      case "run_end":
        this.#runEnd(event);
        return;
      default:
        return;
    }
  }

  #message(message: AssistantMessage): void {
    const texts: string[] = [];
    for (const part of message.content) {
      if (part.type === "reasoning" && part.text.trim() !== "")
        this.#push({ type: "reasoning", content: part.text, timestamp: this.#clock.now() });
      else if ((part.type === "text" || part.type === "refusal") && part.text !== "") texts.push(part.text);
    }
    const searches = hostedSearches(message);
    searches.forEach(({ id, tool, args, result, isError }, at) => {
      this.#tellStart({ id, tool, number: at + 1, args, raw: JSON.stringify(args) });
      this.#tellEnd({ id, tool, result, isError, ms: 0 });
    });
    const calls = callsOf(message);
    const text = texts.join("\n").trim();
    const hosted = searches.length;
    this.#answer = { ...unheardAnswer(), message, calls, texts, text, hosted, turn: 0 };
    if (calls.length > 0 || this.#options.requireDoneTool === true) this.#tellTexts();
  }

  #tellTexts(): void {
    for (const content of this.#answer?.texts.splice(0) ?? [])
      this.#push({ type: "text", content, timestamp: this.#clock.now() });
  }

  /** Emits it now, or after the events of earlier calls: calls are emitted in the order in which the model wrote them. */
  #inTurn(call: CallView, tell: (answer: Answer, at: number) => void): void {
    this.#answer ??= unheardAnswer();
    const answer = this.#answer;
    const at =
      answer.message === undefined ? placeIn(call.key) : answer.calls.findIndex((one) => one.id === call.id);
    if (at < 0) return;
    const told = (): void => {
      if (!answer.over) tell(answer, at);
    };
    answer.turn ??= at;
    if (at === answer.turn) told();
    else answer.held.set(at, [...(answer.held.get(at) ?? []), told]);
  }

  #start(call: CallView, answer: Answer, at: number): void {
    // A call that continues after it had waited was emitted already.
    if (answer.begun.has(at)) return;
    answer.begun.add(at);
    const { id, name } = call;
    const written = answer.calls[at];
    const args = written?.argsError === undefined ? call.args : unreadArgs(call.args, written.rawArgs);
    const raw = written?.rawArgs ?? JSON.stringify(args);
    const display = this.#options.displayName?.(name);
    this.#tellStart({ id, tool: name, number: answer.hosted + at + 1, args, raw, display });
  }

  #end(event: RondoEvent & { type: "tool_end" }, answer: Answer, at: number): void {
    const { call, content, isError, ms, done } = event;
    if (!untold.has(event.code)) {
      const { id, name: tool } = call;
      const screenshot = screenshotOf(content);
      this.#tellEnd({ id, tool, result: displayText(content), isError, ms, screenshot });
    }
    if (done !== undefined) {
      answer.over = true;
      answer.done = done;
    }
    const next = answer.message === undefined ? answer.held.keys().next().value : at + 1;
    answer.turn = next;
    if (next === undefined) return;
    const held = answer.held.get(next) ?? [];
    answer.held.delete(next);
    for (const told of held) told();
  }

  #tellStart(call: {
    id: string;
    tool: string;
    number: number;
    args: Json;
    raw: string;
    display?: string | undefined;
  }): void {
    const { id, tool, number, args, raw, display } = call;
    this.#push({ type: "step_start", step_id: id, title: tool, step_number: number });
    this.#push({
      type: "tool_call",
      tool,
      args,
      raw_args: raw,
      tool_call_id: id,
      ...(display === undefined ? {} : { display_name: display }),
    });
  }

  #tellEnd(call: {
    id: string;
    tool: string;
    result: string;
    isError: boolean;
    ms: number;
    screenshot?: string | undefined;
  }): void {
    const { id, tool, result, isError, ms, screenshot } = call;
    this.#push({
      type: "tool_result",
      tool,
      result,
      tool_call_id: id,
      ...(isError ? { is_error: true as const } : {}),
      ...(screenshot === undefined ? {} : { screenshot_base64: screenshot }),
    });
    const status = isError ? "error" : "completed";
    this.#push({ type: "step_complete", step_id: id, status, duration_ms: Math.max(0, Math.round(ms)) });
  }

  #retry(event: RondoEvent & { type: "retry" }): void {
    const { error, delayMs, evidence } = event;
    const most = evidence.maxAttempts ?? evidence.allowed;
    this.#push({
      type: "llm.retry",
      provider: this.#provider,
      failure_kind: failureKind(error) ?? "provider",
      next_attempt: this.#attempt + 1,
      max_attempts: typeof most === "number" ? most : this.#attempt + 1,
      delay_ms: delayMs,
      delay_source:
        error.retryAfterMs === undefined || evidence.delaySource === "backoff" ? "backoff" : "provider",
      ...(error.status === undefined ? {} : { status: error.status }),
    });
  }

  #runEnd({ end, text }: RondoEvent & { type: "run_end" }): void {
    const { reason, error, landed } = end;
    if (reason === "aborted" && error === undefined)
      this.failure = new DOMException("Operation aborted", "AbortError");
    else if (error !== undefined && !landed) this.failure = errorFrom(error);
    else this.#push({ type: "final", content: this.#final(reason, text) });
  }

  #final(reason: string, text: string): string {
    const answer = this.#answer;
    if (answer?.message === undefined || this.#landing) return text;
    if (reason === "done_tool") return typeof answer.done === "string" ? answer.done : answer.text;
    if (reason === "refused" && text.trim() === "" && answer.text === "") return refusedBy(answer.message);
    return reason === "completed" || (reason === "refused" && answer.text !== "") ? answer.text : text.trim();
  }
}
