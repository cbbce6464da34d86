// The room of the script's items: what a scripted model can be told to do.
//
// Items are plain data made by small functions. A turn is one item or a list of them, played in order. Nothing runs here;
// ids are assigned when a turn is played, so the same item may occur in a script twice.

import {
  type AssistantMessage,
  type ErrorKind,
  errorKinds,
  type Json,
  type JsonObject,
  type ModelEvent,
  type Opaque,
  type Part,
  type RondoErrorOptions,
  type Stop,
  type StopKind,
  type Usage,
} from "@rondo/core";
import {
  anything,
  type Check,
  type ChecksOf,
  checkGiven,
  count,
  data,
  flag,
  having,
  listOf,
  membersOf,
  needed,
  object,
  oneOf,
  text as someText,
} from "@rondo/core/checks";

/** One thing a scripted model does. Made by the functions of this file. */
export type Act =
  | { act: "part"; part: Part; chunk?: number }
  | { act: "call"; call: ScriptedCall }
  | { act: "stop"; wire: StopKind; kind?: StopKind; raw?: string; detail?: string }
  | { act: "usage"; usage: Usage }
  | { act: "emit"; event: ModelEvent }
  | { act: "late"; event: ModelEvent }
  | { act: "misorder"; turn: Turn }
  | { act: "tick" }
  | { act: "gate"; gate: Gate; ignoreSignal: boolean }
  | { act: "fail"; kind: ErrorKind; options: FailOptions }
  | { act: "throw"; thrown: unknown; sync: boolean };

/** What a model answers at one call: acts in order. Lists may be nested. */
export type Turn = Act | readonly Turn[];

export interface ScriptedCall {
  /** Default `call_<n>`, not used before in the request's history nor by this model. */
  id?: string;
  name: string;
  args: JsonObject;
  rawArgs: string;
  argsError?: string;
  opaque?: Opaque;
  chunk?: number;
}

interface Streamed {
  /** Characters (code points) per delta, at least 1. Default: the model's `chunk`; without it the whole text is one delta. */
  chunk?: number;
  opaque?: Opaque;
  /** Of a text: it is not the answer, but was said on the way to it. Default: false. */
  commentary?: boolean;
}

const streamedChecks: ChecksOf<Streamed> = { chunk: count, opaque: anything, commentary: flag };
const spokenGiven = membersOf<Streamed & { text: string }>({ ...streamedChecks, text: someText }, ["text"]);

/** Text of the answer. */
export function say(text: string, options: Streamed = {}): Act {
  return spoken("say", "text", text, options);
}

/** Reasoning before or between the answer's parts. */
export function think(text: string, options: Streamed = {}): Act {
  return spoken("think", "reasoning", text, options);
}

function spoken(word: string, type: "text" | "reasoning", text: string, options: Streamed): Act {
  checkGiven(spokenGiven, { ...options, text }, word);
  const { chunk, opaque, commentary } = options;
  const more = opaque === undefined ? {} : { opaque };
  return {
    act: "part",
    part:
      type === "text" && commentary === true ? { type, text, commentary, ...more } : { type, text, ...more },
    ...(chunk === undefined ? {} : { chunk }),
  };
}

const refusalGiven = membersOf<{ text: string }>({ text: someText }, ["text"]);

/** A refusal, with the provider's explanation. The stop becomes `refusal`. */
export function refuse(text: string): Act {
  checkGiven(refusalGiven, { text }, "refuse");
  return { act: "part", part: { type: "refusal", text } };
}

/** Something that says what it is; what else is in it may be as broken as the model that is played. */
const typed = (what: string): Check => having(what, { type: someText });
const partGiven = membersOf<{ part: Part }>({ part: typed("a part, { type: … },") }, ["part"]);

/** Any part as it is: a native block, a file. */
export function part(whole: Part): Act {
  checkGiven(partGiven, { part: whole }, "part");
  return { act: "part", part: whole };
}

export interface CallOptions extends Streamed {
  /** Default: a fresh `call_<n>`. */
  id?: string;
}

const callChecks: ChecksOf<CallOptions & { name: string }> = {
  ...streamedChecks,
  id: someText,
  name: someText,
};
const whole = membersOf<CallOptions & { name: string; args: JsonObject }>({ ...callChecks, args: data }, [
  "name",
]);
const broken = membersOf<CallOptions & { name: string; raw: string; error: string }>(
  { ...callChecks, raw: someText, error: someText },
  ["name", "raw"],
);

/** A tool call with complete arguments. The stop becomes `tool_use`. */
export function call(name: string, args: JsonObject = {}, options: CallOptions = {}): Act {
  checkGiven(whole, { ...options, name, args }, "call");
  return { act: "call", call: { ...options, name, args, rawArgs: JSON.stringify(args) } };
}

const callsGiven = membersOf(
  { list: listOf(needed("a list, [name, args?, options?],", (one) => Array.isArray(one))) },
  ["list"],
);

/** Several calls in one answer, each a `[name, args?, options?]`. */
export function calls(
  list: readonly (readonly [name: string, args?: JsonObject, options?: CallOptions])[],
): Turn {
  checkGiven(callsGiven, { list }, "calls");
  return list.map(([name, args, options]) => call(name, args, options));
}

/**
 * A call whose arguments are incomplete or not a JSON object: `args` is `{}` and `argsError` is set.
 * @param raw the arguments' text as the model wrote it.
 * @param options `error` is the `argsError`; default: what JSON.parse says of `raw`.
 */
export function badArgs(name: string, raw: string, options: CallOptions & { error?: string } = {}): Act {
  checkGiven(broken, { ...options, name, raw }, "badArgs");
  const { error, ...rest } = options;
  return {
    act: "call",
    call: { ...rest, name, args: {}, rawArgs: raw, argsError: error ?? argsErrorOf(raw) },
  };
}

/** An empty answer. It ends with `end_turn`. */
export function empty(): Turn {
  return [];
}

/** Every word for how an answer ends. */
export const stopKinds: readonly StopKind[] = Object.keys({
  end_turn: 1,
  tool_use: 1,
  max_tokens: 1,
  stop_sequence: 1,
  pause: 1,
  refusal: 1,
  content_filter: 1,
  context_overflow: 1,
  malformed_call: 1,
  error: 1,
  aborted: 1,
  unknown: 1,
} satisfies Record<StopKind, 1>) as StopKind[];

const stopKind = oneOf(...stopKinds);
const stopGiven = membersOf<Stop>(
  { wire: stopKind, kind: stopKind, raw: someText, detail: someText, by: someText },
  ["wire"],
);

/**
 * How the answer ends. Default: `tool_use` if it has calls, `refusal` if it has a refusal, else `end_turn`.
 * @param wire the meaning of the provider's word alone. `kind` follows from it and the content, as codecs derive it
 *   (`end_turn` with calls is `tool_use`), unless given.
 * @param options `raw`: the provider's own word (for `unknown`, a new one).
 */
export function stop(wire: StopKind, options: Partial<Omit<Stop, "wire">> = {}): Act {
  checkGiven(stopGiven, { ...options, wire }, "stop");
  return { act: "stop", wire, ...options };
}

/** A broken model tells numbers that are none, and a script must be able to as well. */
const someNumber = needed("a number", (value) => typeof value === "number");

/** What numbers of tokens must be. */
export const usageChecks: ChecksOf<Usage> = {
  inputTokens: someNumber,
  outputTokens: someNumber,
  cachedInputTokens: someNumber,
  cacheWriteTokens: someNumber,
  cacheWrite1hTokens: someNumber,
  reasoningTokens: someNumber,
};
const counted = membersOf<Usage>(usageChecks);

/** Usage of this answer in tokens. Without it (and without the model's `usage` option) the usage is absent: unknown. */
export function usage(numbers: Usage): Act {
  checkGiven(counted, numbers, "usage");
  return { act: "usage", usage: numbers };
}

const eventGiven = membersOf<{ event: ModelEvent }>({ event: typed("an event, { type: … },") }, ["event"]);

/** An event of your own making, emitted as it is: `progress`, a `warning`, a delta of a part that does not exist. */
export function emit(event: ModelEvent): Act {
  checkGiven(eventGiven, { event }, "emit");
  return { act: "emit", event };
}

/** An event (or a text delta) emitted after the call has settled, however it settled. See `ScriptedModel.idle`. */
export function late(event: ModelEvent | string): Act {
  const told: ModelEvent = typeof event === "string" ? { type: "text_delta", index: 0, text: event } : event;
  checkGiven(eventGiven, { event: told }, "late");
  return { act: "late", event: told };
}

/** Plays parts whose deltas are emitted last first. The answer itself is in order: it is the truth, deltas are not. */
export function misorder(...turn: Turn[]): Act {
  return { act: "misorder", turn };
}

/** Lets the event loop go round once before going on. */
export function tick(): Act {
  return { act: "tick" };
}

export interface FailOptions {
  /** Default: a message that names the kind. */
  message?: string;
  retryAfterMs?: number;
  status?: number;
  /** Default: as for every RondoError of that kind. */
  retryable?: boolean;
  raw?: Json;
  /** The request may pass without this. */
  repair?: NonNullable<RondoErrorOptions["repair"]>;
  /** The request may pass with this output limit. */
  maxOutputTokens?: number;
  /** The model's window in tokens, as a provider names it when a request does not fit. */
  contextWindow?: number;
  /** Text emitted before it fails; it is in the error's `partial`. The same as `[say(text), fail(…)]`. */
  afterText?: string;
  /** What had arrived. Default: the text, reasoning and other parts played so far; no calls; absent when there are none. */
  partial?: AssistantMessage;
  /** Usage of the failed call. */
  usage?: Usage;
}

const failing = membersOf<FailOptions & { kind: ErrorKind }>(
  {
    kind: oneOf(...errorKinds),
    message: someText,
    retryAfterMs: someNumber,
    status: someNumber,
    retryable: flag,
    raw: anything,
    repair: someText,
    maxOutputTokens: someNumber,
    contextWindow: someNumber,
    afterText: someText,
    partial: object,
    usage: counted,
  },
  ["kind"],
);

/** The call rejects with a RondoError. */
export function fail(kind: ErrorKind, options: FailOptions = {}): Turn {
  checkGiven(failing, { ...options, kind }, "fail");
  const { afterText, ...rest } = options;
  const failed: Act = { act: "fail", kind, options: rest };
  return afterText === undefined ? failed : [say(afterText), failed];
}

/** The stream ends without its finish signal: `stream_truncated`, with what had arrived as `partial`. */
export function cut(options: FailOptions = {}): Turn {
  return fail("stream_truncated", {
    message: "the scripted stream ended without its finish signal",
    ...options,
  });
}

/** Throws anything at all, as a broken model would. `sync`: out of `call` itself, before it returns a promise. */
export function throwing(thrown: unknown, options: { sync?: boolean } = {}): Act {
  checkGiven(membersOf({ sync: flag }), options, "throwing");
  return { act: "throw", thrown, sync: options.sync ?? false };
}

/** A point where the test and the model wait for each other, instead of sleeping. */
export interface Gate {
  /** Resolves when a call has reached this point, with everything before it emitted. */
  readonly reached: Promise<void>;
  /** Resolves when `release` was called. */
  readonly released: Promise<void>;
  arrive(): void;
  release(): void;
}

/** A turn that waits for the test. */
export type Held = readonly Turn[] & Pick<Gate, "reached" | "release">;

/**
 * Waits until the test calls `release()`; later calls do not wait. The abort signal ends the wait: the call rejects
 * with `aborted`.
 *
 *     const held = hold(say("done"));
 *     const running = agent.run("go", …);      // the model is scripted([held])
 *     await held.reached;
 *     held.release();
 *
 * @param then what is played once released.
 * @param options `ignoreSignal`: the model ignores its signal while it waits.
 */
export function hold(then: Turn = [], options: { ignoreSignal?: boolean } = {}): Held {
  checkGiven(membersOf({ ignoreSignal: flag }), options, "hold");
  const gate = newGate();
  return Object.assign([atGate(gate, options), then], {
    reached: gate.reached,
    release: () => gate.release(),
  });
}

const waiting = membersOf({ afterText: someText, ignoreSignal: flag });

/** A turn that never comes to its end. */
export type Stalled = readonly Turn[] & Pick<Gate, "reached">;

/**
 * Never settles until the signal fires; then the call rejects with `aborted` and what had arrived.
 * @param options `afterText`: text emitted first. `ignoreSignal`: never settles at all.
 */
export function stall(options: { afterText?: string; ignoreSignal?: boolean } = {}): Stalled {
  checkGiven(waiting, options, "stall");
  const gate = newGate();
  const before = options.afterText === undefined ? [] : say(options.afterText);
  return Object.assign([before, atGate(gate, options)], { reached: gate.reached });
}

const atGate = (gate: Gate, { ignoreSignal = false }: { ignoreSignal?: boolean }): Act => ({
  act: "gate",
  gate,
  ignoreSignal,
});

function newGate(): Gate {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    released: released.promise,
    release: () => released.resolve(),
    arrive: () => reached.resolve(),
  };
}

function argsErrorOf(raw: string): string {
  try {
    JSON.parse(raw);
    return "the arguments must be a JSON object";
  } catch (thrown) {
    return `the arguments are not valid JSON: ${(thrown as Error).message}`;
  }
}
