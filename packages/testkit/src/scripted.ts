// The room of the scripted model: a model that answers from the test's script, behind the same interface as every other.
//
// It plays the script as a provider would: deltas first, then the complete answer, or a failure with what had arrived. It
// keeps every request it got. It never sleeps: if a test must wait, both meet at a gate (`hold`).

import {
  type AssistantMessage,
  callsOf,
  type JsonObject,
  type Message,
  type Model,
  type ModelEvent,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Origin,
  parsedJson,
  RondoError,
  type Settings,
  type ToolChoice,
  type ToolDefinition,
  textOf,
  type Usage,
} from "@rondo/core";
import { checkGiven, count, flag, membersOf, object, text } from "@rondo/core/checks";
import { notKept } from "./not-kept.ts";
import { checkScript, isAct } from "./scripted/check-script.ts";
import { flatten, playTurn, ScriptedAnswer } from "./scripted/play.ts";
import { fail, type Turn, usageChecks } from "./scripted/turns.ts";
import { clipped } from "./text.ts";

/** A request as the model got it: a copy as plain JSON, with the messages as an array. */
export interface SeenRequest {
  system?: string;
  messages: Message[];
  tools: ToolDefinition[];
  /** Tools that wait until a result offers them. */
  waiting?: ToolDefinition[];
  toolChoice: ToolChoice;
  settings: Settings;
  outputSchema?: JsonObject;
}

/** Makes a turn when its call comes. `callNumber` counts from 1. */
export type Decide = (request: SeenRequest, callNumber: number) => Turn | Promise<Turn>;

/** Turns in order, each a turn or a function of the request; or one function for all calls. */
export type Script = readonly (Turn | Decide)[] | Decide;

export interface ScriptedOptions {
  /** Default `scripted`. */
  id?: string;
  /** Default: api and provider `scripted`, model the `id`. */
  origin?: Origin;
  /** Its window, limits and prices. Default: unknown. */
  facts?: ModelFacts;
  /** Usage of each answer without its own `usage(…)`. Default: absent, which is unknown. */
  usage?: Usage;
  /** Characters (code points) per delta, for parts without their own `chunk`. 1 streams one character at a time. Default: each part is one delta. */
  chunk?: number;
  /** When the script runs out: play its last turn again. Default: reject with `internal`. */
  repeatLast?: boolean;
  /** The model ignores its abort signal in every turn. Default: false. */
  ignoreSignal?: boolean;
  /** Keep every request in `requests`. Default: true; use false for runs of thousands of steps, since each is a full copy. */
  keepRequests?: boolean;
}

const scriptedOptions = membersOf<ScriptedOptions>({
  id: text,
  origin: object,
  facts: object,
  usage: membersOf<Usage>(usageChecks),
  chunk: count,
  repeatLast: flag,
  ignoreSignal: flag,
  keepRequests: flag,
});

export interface ScriptedModel extends Model {
  /** How many calls were made. */
  readonly calls: number;
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** The last request. Throws if there was none, or if requests are not kept. */
  readonly lastRequest: SeenRequest;
  /** How many turns of the script have not been used yet. 0 if the script is a function. */
  readonly left: number;
  /**
   * For the end of a test: asserts that every turn was used, and that no call was made beyond them.
   * @throws RondoError `internal` naming the turns that are left, or the calls that had none
   */
  assertDone(): void;
  /** Resolves when every call has settled and everything `late` has been emitted. */
  idle(): Promise<void>;
}

/**
 * A model that answers from a script.
 *
 *     const model = scripted([[think("Let me look."), call("read", { path: "a" })], say("It says hello.")]);
 *
 * Deltas never come before `call` has returned its promise. When the signal fires, the call rejects with `aborted`
 * and what had arrived as `partial`. When the script has run out, it rejects with `internal`, naming the call.
 * @throws RondoError `invalid_request` for an invalid script or option
 */
export function scripted(script: Script, options: ScriptedOptions = {}): ScriptedModel {
  if (!Array.isArray(script) && typeof script !== "function")
    throw new RondoError(
      "invalid_request",
      "scripted takes a list of turns, or a function of the request: scripted([say(…)])",
    );
  checkGiven(scriptedOptions, options, "scripted");
  if (typeof script !== "function") checkScript("scripted", script, isAct);
  return new Scripted(script, options);
}

class Scripted implements ScriptedModel {
  readonly id: string;
  readonly origin: Origin;
  readonly facts?: ModelFacts;
  readonly requests: SeenRequest[];
  calls = 0;
  readonly #script: Script;
  readonly #options: ScriptedOptions;
  /** Calls that have not settled, and late events that have not gone out. */
  #busy = 0;
  #lastId = 0;
  #idle = Promise.withResolvers<void>();

  constructor(script: Script, options: ScriptedOptions) {
    this.#script = script;
    this.#options = options;
    this.requests = options.keepRequests === false ? notKept : [];
    this.id = options.id ?? "scripted";
    this.origin = options.origin ?? { api: "scripted", provider: "scripted", model: this.id };
    if (options.facts !== undefined) this.facts = options.facts;
    this.#idle.resolve();
  }

  get lastRequest(): SeenRequest {
    const last = this.requests.at(-1);
    if (last === undefined)
      throw new RondoError("internal", `${this.id}: no request was kept (${this.calls} calls were made)`);
    return last;
  }

  get left(): number {
    return typeof this.#script === "function" ? 0 : Math.max(0, this.#script.length - this.calls);
  }

  assertDone(): void {
    const script = this.#script;
    if (typeof script === "function") return;
    const { left } = this;
    if (left > 0) {
      const turns = script
        .slice(-left)
        .map((turn, at) => `  turn ${script.length - left + at + 1}: ${turnWords(turn)}`);
      const were = left === 1 ? "was" : "were";
      throw new RondoError(
        "internal",
        `${this.id}: ${left} of ${turnCount(script)} ${were} never asked for (calls made: ${this.calls}):\n${turns.join("\n")}`,
      );
    }
    if (this.calls > script.length && this.#options.repeatLast !== true)
      throw new RondoError(
        "internal",
        `${this.id}: ${this.calls} calls were made and the script has ${turnCount(script)}`,
      );
  }

  idle(): Promise<void> {
    return this.#idle.promise;
  }

  // Not async: a synchronous throw must leave through here.
  call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const number = ++this.calls;
    if (this.#options.keepRequests !== false) this.requests.push(snapshot(request));
    const turn = this.#turn(request, number);
    if (!(turn instanceof Promise)) {
      const first = flatten(turn)[0];
      if (first?.act === "throw" && first.sync) throw first.thrown;
    }
    if (this.#busy === 0) this.#idle = Promise.withResolvers();
    this.#busy++;
    return this.#play(turn, request, io).finally(() => this.#done());
  }

  /** Never throws: a script's function that throws is a call that rejects. */
  #turn(request: ModelRequest, number: number): Turn | Promise<Turn> {
    const script = this.#script;
    try {
      if (typeof script === "function") return script(snapshot(request), number);
      const turn = script[number - 1] ?? (this.#options.repeatLast === true ? script.at(-1) : undefined);
      if (turn !== undefined) return typeof turn === "function" ? turn(snapshot(request), number) : turn;
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    return fail("internal", {
      message:
        `${this.id}: call ${number} was made and the script has ${turnCount(script)}; ` +
        `add a turn, or set repeatLast. It was asked after ${lastWords(request)}`,
    });
  }

  async #play(turn: Turn | Promise<Turn>, request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    // Awaited also when there is nothing to wait for: no model emits before its promise is there.
    const acts = flatten(await turn);
    const late = acts.flatMap((act) => (act.act === "late" ? [act.event] : []));
    for (const act of acts) if (act.act === "call" && act.call.id !== undefined) this.#isTaken(act.call.id);
    const { chunk, ignoreSignal: deaf = false, usage } = this.#options;
    const answer = new ScriptedAnswer(this.origin, () => this.#newId(request), chunk);
    try {
      return await playTurn(acts, answer, io, { deaf, usage });
    } finally {
      if (late.length > 0) this.#emitLate(late, io);
    }
  }

  /** A model made anew for a resumed session, or a second one in it, must not repeat what stands in the history. */
  #newId(request: ModelRequest): string {
    for (const message of request.messages)
      if (message.role === "assistant") for (const { id } of callsOf(message)) this.#isTaken(id);
    return `call_${++this.#lastId}`;
  }

  #isTaken(id: string): void {
    const number = Number(/^call_(\d{1,9})$/.exec(id)?.[1] ?? 0);
    if (number > this.#lastId) this.#lastId = number;
  }

  #emitLate(events: readonly ModelEvent[], io: ModelIo): void {
    this.#busy++;
    // A whole turn of the event loop, so that whoever awaited the answer has gone on with it.
    setImmediate(() => {
      try {
        for (const event of events) io.emit(event);
      } catch {
        // Nobody is left to tell: the call has settled.
      } finally {
        this.#done();
      }
    });
  }

  #done(): void {
    if (--this.#busy === 0) this.#idle.resolve();
  }
}

const turnCount = ({ length }: readonly unknown[]): string => `${length} ${length === 1 ? "turn" : "turns"}`;

/** What a call came after: the newest message, in a line. */
function lastWords({ messages }: ModelRequest): string {
  const last = messages.at(messages.length - 1);
  if (last === undefined) return "no message at all";
  const who = last.role === "tool" ? `the result of ${last.name}` : `the ${last.role}'s message`;
  return `${who}: ${JSON.stringify(short(textOf(last)))}`;
}

/** A turn of a script, in a line. */
function turnWords(turn: Turn | Decide): string {
  if (typeof turn === "function") return `a function ${turn.name}`.trimEnd();
  const words = flatten(turn).map((act): string => {
    switch (act.act) {
      case "part":
        return "text" in act.part
          ? `${act.part.type} ${JSON.stringify(short(act.part.text))}`
          : act.part.type;
      case "call":
        return `call ${act.call.name} ${short(act.call.rawArgs)}`;
      case "fail":
        return `fail ${act.kind}`;
      default:
        return act.act;
    }
  });
  return words.join(", ") || "nothing";
}

const short = (text: string): string => clipped(text, 80);

/** A copy as plain JSON: what the loop changes afterwards does not change what was seen. */
function snapshot(request: ModelRequest): SeenRequest {
  return parsedJson<SeenRequest>(JSON.stringify({ ...request, messages: [...request.messages] }));
}
