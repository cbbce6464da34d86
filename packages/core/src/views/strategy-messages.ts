// The room of the strategy view: a run as the messages of an agent strategy. Texts for the user, logs for those who follow
// the rounds, files, and the costs at the end.
//
// It only renders events; the run does not know it and does not wait for it. What was emitted of an incomplete answer cannot
// be taken back, so everything is emitted once: text that came as deltas is not emitted again with the message.

import { systemClock } from "../clock.ts";
import type { CallView, RondoEvent } from "../events.ts";
import { ownMember } from "../json/object.ts";
import { placeIn } from "../loop/call-key.ts";
import { type AssistantMessage, type ContentPart, callsOf, type JsonObject } from "../message.ts";
import { forUser } from "../presets/agent-strategy/outputs.ts";
import { shouldEmitResponseText, stripThoughts, thoughtBlock, toolIntent } from "../prompt/thoughts.ts";
import { type CallOutcome, callData, roundData, thoughtData } from "./strategy-messages/logs.ts";
import type { StrategyMessage, StrategyViewOptions } from "./strategy-messages/message.ts";
import {
  executionMetadata,
  logFigures,
  type RoundCost,
  retrieverResource,
  roundCost,
  type StrategyPrice,
} from "./strategy-messages/metadata.ts";
import { type OpenLog, OpenLogs } from "./strategy-messages/open-logs.ts";

/**
 * A run's events as strategy messages. If you stop iterating, the events stop too, which aborts the run.
 * @param events of `agent.stream(…)`
 */
export async function* strategyMessages(
  events: AsyncIterable<RondoEvent>,
  options: StrategyViewOptions = {},
): AsyncGenerator<StrategyMessage, void, undefined> {
  const ready: StrategyMessage[] = [];
  const view = new StrategyView(options, (message) => ready.push(message));
  for await (const event of events) {
    view.hear(event);
    yield* ready.splice(0);
  }
}

interface OpenCall {
  call: CallView;
  startedAt: number;
  told: boolean;
  log?: OpenLog;
  ended?: { at: number; content: readonly ContentPart[]; outcome: CallOutcome };
}

interface Round {
  /** Undefined, like the log of the thought: another process began it, and emitted that there. */
  log?: OpenLog;
  thought?: OpenLog;
  /** The thought's log is finished. */
  answered: boolean;
  step: number;
  model: string;
  /** What was emitted of the answer so far. */
  told: string;
  /** Text that came after a call. */
  late: string;
  sawCall: boolean;
  /** The reasoning part that is being emitted. */
  thinking: number | undefined;
  response: string;
  message?: AssistantMessage;
  cost?: RoundCost;
  /** By their position in the answer. */
  calls: Map<number, OpenCall>;
  /** Outcomes of the calls that were emitted, in their order. */
  outcomes: CallOutcome[];
}

/** Renders live events as they come. */
export class StrategyView {
  readonly #options: StrategyViewOptions;
  readonly #push: (message: StrategyMessage) => void;
  readonly #maximum: number;
  readonly #emit: boolean;
  readonly #logs: OpenLogs;
  readonly #costs: RoundCost[] = [];
  #round: Round | undefined;

  constructor(options: StrategyViewOptions, push: (message: StrategyMessage) => void) {
    this.#options = options;
    this.#push = push;
    this.#logs = new OpenLogs(push, () => this.#now());
    this.#maximum = options.maximumIterations ?? 6;
    this.#emit = options.emitIntermediateThoughts ?? true;
  }

  /** Takes one live event. */
  hear(event: RondoEvent): void {
    switch (event.type) {
      case "request":
        this.#request(event);
        return;
      case "text_delta":
      case "reasoning_delta":
        this.#delta(event);
        return;
      case "tool_args_delta":
        this.#closeThinking();
        if (this.#round !== undefined) this.#round.sawCall = true;
        return;
      case "message":
        this.#message(event);
        return;
      case "tool_start":
        this.#toolStart(event.call);
        return;
      case "tool_end":
        this.#toolEnd(event);
        return;
      case "step_end":
        this.#stepEnd();
        return;
      case "run_end":
        this.#runEnd(event.end.error?.message ?? event.end.reason);
        return;
      default:
        return;
    }
  }

  // ---- the answer ----------------------------------------------------------------------------------------------

  #request({ step, origin }: Pick<RondoEvent & { type: "request" }, "step" | "origin">): void {
    const open = this.#round;
    if (open?.step === step && !open.answered) {
      // A thought that broke off must be closed: otherwise everything after it would be part of it.
      this.#closeThinking();
      // The text of the failed attempt stays. The next attempt is emitted from its beginning.
      Object.assign(open, { told: "", late: "", sawCall: false, thinking: undefined, model: origin.model });
      return;
    }
    if (open !== undefined) this.#closeRound("the round was given up");
    const { model, provider } = origin;
    const log = this.#logs.start(`ROUND ${step}`);
    const thought = this.#logs.start(`${model} Thought`, { parent: log.id, provider });
    log.provider = provider;
    this.#round = { ...newRound(step, model), log, thought };
  }

  #delta(event: RondoEvent & { type: "text_delta" | "reasoning_delta" }): void {
    const round = this.#round;
    if (round === undefined || !this.#emit) return;
    const thinks = event.type === "reasoning_delta";
    if (round.thinking !== undefined && (!thinks || round.thinking !== event.index)) this.#closeThinking();
    const opens = thinks && round.thinking === undefined;
    if (thinks) round.thinking = event.index;
    this.#tell(round, opens ? `<think>\n${event.text}` : event.text);
  }

  #closeThinking(): void {
    const round = this.#round;
    if (round?.thinking === undefined) return;
    round.thinking = undefined;
    this.#tell(round, "\n</think>");
  }

  /** Emits a piece of the answer now, unless a call came before it. */
  #tell(round: Round, text: string): void {
    if (text === "") return;
    if (round.sawCall) {
      round.late += text;
      return;
    }
    round.told += text;
    this.#push({ type: "text", text });
  }

  #message({ step, message }: RondoEvent & { type: "message" }): void {
    // A listener that started in the middle of an answer gets all of it here.
    if (this.#round === undefined) this.#request({ step, origin: message.origin });
    const round = this.#round;
    if (round?.thought === undefined) return;
    this.#closeThinking();
    const calls = callsOf(message);
    round.message = message;
    round.response = responseOf(message);
    const text = this.#shown(
      round,
      calls.map((call) => call.name),
    );
    if (text.trim() !== "") this.#push({ type: "text", text });
    const now = this.#now();
    const cost = roundCost(message.usage, this.#price(round.model), now - round.thought.startedAt);
    if (cost !== undefined) {
      round.cost = cost;
      this.#costs.push(cost);
    }
    round.answered = true;
    const data = { response: round.response, calls: calls.map(({ name, args }) => ({ name, args })) };
    const finished = { data: thoughtData(data, this.#options), figures: logFigures(cost), at: now };
    this.#logs.finish(round.thought, finished);
  }

  /** What is still to be emitted of an answer, now that it is complete. */
  #shown(round: Round, tools: readonly string[]): string {
    const { response, told, late } = round;
    const hasCalls = tools.length > 0;
    const lastIteration = round.step >= this.#maximum;
    if (!shouldEmitResponseText({ hasCalls, emitThoughts: this.#emit, lastIteration })) return "";
    if (!this.#emit) return stripThoughts(response);
    const rest = response.startsWith(told) ? response.slice(told.length) : late;
    if (!hasCalls) return rest;
    if (rest.trim() !== "") return thoughtBlock(rest);
    return response.trim() === "" ? toolIntent(tools) : "";
  }

  // ---- calls ---------------------------------------------------------------------------------------------------

  #toolStart(call: CallView): void {
    this.#round ??= { ...newRound(0, ""), answered: true };
    const round = this.#round;
    const place = placeIn(call.key);
    // A call that continues after it had waited has begun already.
    if (!round.calls.has(place)) round.calls.set(place, { call, startedAt: this.#now(), told: false });
    this.#tellCalls(round);
  }

  #toolEnd({ call, content, code, isError }: RondoEvent & { type: "tool_end" }): void {
    const round = this.#round;
    const open = round?.calls.get(placeIn(call.key));
    if (round === undefined || open === undefined) return;
    const response = content
      .map((part) => (part.type === "text" && part.opaque?.[forUser] === undefined ? part.text : ""))
      .join("");
    const written = round.message && callsOf(round.message).find((one) => one.id === call.id);
    const outcome: CallOutcome = {
      id: call.id,
      name: call.name,
      ...(written?.argsError === undefined ? { args: call.args } : {}),
      response,
      // A result that was given with `answer` has a code too, but that does not make it an error.
      ...(code === undefined || !isError ? {} : { error: response }),
    };
    open.ended = { at: this.#now(), content, outcome };
    this.#tellCalls(round);
  }

  /**
   * Emits calls in their order: one that has its result before an earlier one ran waits for that. If the answer came to
   * another process, they are emitted as they begin.
   */
  #tellCalls(round: Round): void {
    for (;;) {
      const open =
        round.log === undefined
          ? [...round.calls.values()].find(({ told }) => !told)
          : round.calls.get(round.outcomes.length);
      if (open === undefined) return;
      const { call, startedAt, ended } = open;
      open.log ??= this.#logs.start(`CALL ${call.name}`, {
        parent: round.log?.id,
        provider: ownMember(this.#options.toolProviders, call.name) ?? "",
        at: startedAt,
      });
      if (ended === undefined) return;
      for (const part of ended.content) this.#userPart(part);
      this.#logs.finish(open.log, { data: callData(ended.outcome, this.#options), at: ended.at });
      open.told = true;
      round.outcomes.push(ended.outcome);
    }
  }

  #userPart(part: ContentPart): void {
    const mark = part.opaque?.[forUser] as { kind?: string; meta?: JsonObject } | undefined;
    if (part.type === "text") {
      if (mark !== undefined) this.#push({ type: "text", text: part.text });
      return;
    }
    if (mark?.kind !== "blob" || typeof part.data !== "string") {
      const { opaque: _mark, ...file } = part;
      this.#push({ type: "file", file });
      return;
    }
    const meta = { mime_type: part.mediaType, filename: part.name ?? "" };
    this.#push({ type: "blob", blob: part.data, meta: { ...meta, ...mark.meta } });
  }

  // ---- rounds --------------------------------------------------------------------------------------------------

  #stepEnd(): void {
    const round = this.#round;
    if (round?.answered !== true) return;
    const { outcomes } = round;
    if (outcomes.length > 0) this.#push({ type: "text", text: "\n" });
    this.#closeRound();
    if (this.#maximum !== 1) return;
    for (const { response } of outcomes) if (response !== "") this.#push({ type: "text", text: response });
  }

  #closeRound(error?: string): void {
    const round = this.#round;
    if (round === undefined) return;
    this.#closeThinking();
    this.#round = undefined;
    for (const { log, ended } of round.calls.values())
      if (log !== undefined && ended === undefined) this.#logs.finish(log, { error: error ?? "" });
    if (round.log === undefined || round.thought === undefined) return;
    if (!round.answered)
      this.#logs.finish(round.thought, { figures: logFigures(undefined), error: error ?? "" });
    const data = roundData(round.response, round.outcomes, this.#options);
    this.#logs.finish(round.log, { data, figures: logFigures(round.cost), error });
  }

  #runEnd(reason: string): void {
    this.#closeRound(reason);
    const { context } = this.#options;
    if (context !== undefined && context !== null)
      this.#push({
        type: "retriever_resources",
        retriever_resources: context.map(retrieverResource),
        context: "",
      });
    this.#push({ type: "json", json: { execution_metadata: executionMetadata(this.#costs) } });
    // The next run of the session has its own costs.
    this.#costs.length = 0;
  }

  /** Seconds since 1970. */
  #now(): number {
    return (this.#options.now ?? systemClock.now)() / 1_000;
  }

  #price(model: string): StrategyPrice | undefined {
    const { prices, model: given } = this.#options;
    return ownMember(prices, model) ?? (given?.origin.model === model ? given.facts?.price : undefined);
  }
}

const newRound = (step: number, model: string): Round => ({
  step,
  model,
  answered: false,
  told: "",
  late: "",
  sawCall: false,
  thinking: undefined,
  response: "",
  calls: new Map(),
  outcomes: [],
});

/** The answer as one text, with its reasoning as thought blocks. */
function responseOf(message: AssistantMessage): string {
  let response = "";
  for (const part of message.content) {
    if (part.type === "text" || part.type === "refusal") response += part.text;
    else if (part.type === "reasoning" && part.text !== "") response += `<think>\n${part.text}\n</think>`;
  }
  return response;
}
