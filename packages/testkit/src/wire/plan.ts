// The room of the plan: a turn's words, put together into what is to be sent and how.
//
// Pure but for the gates it passes on. What a turn says becomes a reply; where it waits or fails stands between the
// reply's blocks; what is wrong with the wire stands beside it.

import type { Json, Part, Usage } from "@rondo/core";
import { isObject } from "../json.ts";
import { isAct, noTurn } from "../scripted/check-script.ts";
import { flatten } from "../scripted/play.ts";
import type { Act, ScriptedCall } from "../scripted/turns.ts";
import { piecesOf } from "../text.ts";
import { corrupt, direct, mangle } from "./damage.ts";
import { type ErrorResponse, errorFrames, errorResponse, refusalOf, refusalWith } from "./errors.ts";
import type { WireAct, WireTurn } from "./faults.ts";
import { arrayBytes, frameBytes, jsonPing, pingBytes, streamType } from "./framing.ts";
import { renderAnthropic } from "./render-anthropic.ts";
import { renderBedrock } from "./render-bedrock.ts";
import { renderGoogle } from "./render-google.ts";
import { renderOpenaiChat } from "./render-openai-chat.ts";
import { renderOpenaiResponses } from "./render-openai-responses.ts";
import {
  type Protocol,
  type Rendered,
  type Reply,
  type ReplyBlock,
  ScriptError,
  type WireFrame,
} from "./reply.ts";
import type { ServerPersonality } from "./servers/personality.ts";
import { renderServer } from "./servers/render.ts";
import type { Plan, Step } from "./steps.ts";

export interface Asked {
  protocol: Protocol;
  model: string;
  stream: boolean;
  /** Google without `alt=sse`: the stream is a JSON array. */
  asArray: boolean;
  tellsUsage: boolean;
  number: number;
  /** Characters (code points) a delta where a part does not say. */
  chunk: number | undefined;
  /** Of answers that do not tell their own. Default: counted roughly. */
  usage: Usage | undefined;
  /** Characters of the request, for the rough count. */
  requestChars: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** Chat Completions as this server speaks it. Default: as OpenAI does. */
  server?: ServerPersonality;
}

const renderers: { readonly [P in Protocol]: (reply: Reply) => Rendered } = {
  "anthropic-messages": renderAnthropic,
  "openai-chat": renderOpenaiChat,
  "openai-responses": renderOpenaiResponses,
  "google-generative-ai": renderGoogle,
  "bedrock-converse": renderBedrock,
};

/** A reply in a protocol's form. */
export function render(protocol: Protocol, reply: Reply): Rendered {
  return renderers[protocol](reply);
}

/** A word of a turn: the model's, or the wire's. The word `stop` has a member `wire` too: only `act` tells them apart. */
export const isWireWord = (value: unknown): boolean =>
  isAct(value) || (isObject(value) && value.act === undefined && typeof value.wire === "string");

/** A turn's words in one list. */
export function flattenWire(turn: WireTurn): (Act | WireAct)[] {
  if (Array.isArray(turn)) return (turn as readonly WireTurn[]).flatMap(flattenWire);
  if (!isWireWord(turn)) throw noTurn("rondo-wire: what a function of the script gives", turn);
  return isAct(turn) ? flatten(turn) : [turn as WireAct];
}

type Failing = Extract<Act, { act: "fail" }>;
type Stopping = Extract<Act, { act: "stop" }>;

/** What happens between blocks: `at` is the number of blocks before it. */
type Between = { at: number; step: Step } | { at: number; fails: Failing } | { at: number; alive: true };

/** What a turn comes to for this request. Throws `ScriptError` where the protocol has no form for a word. */
export function planOf(turn: WireTurn, asked: Asked): Plan {
  const plan: Plan = {
    status: 200,
    headers: {},
    steps: [],
    streams: asked.stream,
    array: undefined,
    ping: jsonPing,
    delayMs: 0,
    chunks: undefined,
    slow: undefined,
    cut: undefined,
    stall: undefined,
    reset: false,
  };
  const said = new Said(asked);
  const wire: WireAct[] = [];
  for (const act of flattenWire(turn))
    if ("act" in act) said.take(act);
    else wire.push(act);
  for (const act of wire) direct(plan, act);
  fill(plan, wire, said, asked);
  mangle(plan, wire, asked.protocol);
  if (plan.array !== undefined) intoArray(plan, plan.array === "open");
  corrupt(plan, wire);
  const type = wire.find((act) => act.wire === "content_type");
  if (type !== undefined) plan.headers["content-type"] = type.value;
  return plan;
}

/** What is sent: a refusal, a body or frames of the script's own, or what the model says. */
function fill(plan: Plan, wire: readonly WireAct[], said: Said, asked: Asked): void {
  const { protocol, now } = asked;
  const refused = wire.find((act) => act.wire === "status");
  const raw = wire.find((act) => act.wire === "raw");
  const given = wire.find((act) => act.wire === "frames");
  if (refused !== undefined) {
    const { status, options } = refused;
    answer(plan, errorResponse(protocol, refusalWith(protocol, status), options, now), said);
  } else if (raw !== undefined) {
    const isText = typeof raw.body === "string";
    const headers = { "content-type": isText ? "text/plain" : "application/json", ...raw.headers };
    answer(plan, { status: raw.status, headers, body: textOf(raw.body) }, said);
  } else if (given !== undefined) {
    beginStream(plan, asked);
    for (const one of given.frames) plan.steps.push(framed(asked, { ...one, data: textOf(one.data) }));
  } else
    said.perform(
      plan,
      wire.some((act) => act.wire === "plain_json"),
    );
}

function answer(plan: Plan, response: ErrorResponse, said: Said): void {
  plan.status = response.status;
  plan.headers = response.headers;
  plan.streams = false;
  plan.steps.push(...said.waits(), sent(response.body));
}

function beginStream(plan: Plan, { protocol, asArray }: Asked): void {
  plan.streams = true;
  plan.array = asArray ? "closed" : undefined;
  plan.ping = asArray ? jsonPing : pingBytes(protocol);
  plan.headers = { "content-type": asArray ? "application/json; charset=UTF-8" : streamType(protocol) };
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const utf8 = new TextEncoder();
const sent = (text: string): Step => ({ do: "bytes", bytes: utf8.encode(text) });
const framed = ({ protocol, asArray }: Asked, frame: WireFrame): Step =>
  asArray
    ? { do: "bytes", bytes: utf8.encode(frame.data), element: true }
    : { do: "bytes", bytes: frameBytes(protocol, frame) };

/** What the model says in a turn, as it is gathered. */
class Said {
  readonly #asked: Asked;
  readonly #blocks: ReplyBlock[] = [];
  readonly #between: Between[] = [];
  #stop: Stopping | undefined;
  #usage: Usage | undefined;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  take(act: Act): void {
    const at = this.#blocks.length;
    switch (act.act) {
      case "part":
        this.#blocks.push(this.#block(act.part, act.chunk));
        return;
      case "call":
        this.#blocks.push(this.#call(act.call));
        return;
      case "stop":
        this.#stop = act;
        return;
      case "usage":
        this.#usage = { ...this.#usage, ...act.usage };
        return;
      case "tick":
        this.#between.push({ at, step: { do: "tick" } });
        return;
      case "gate":
        this.#between.push({ at, step: { do: "wait", gate: act.gate, deaf: act.ignoreSignal } });
        return;
      case "fail":
        this.#between.push({ at, fails: act });
        return;
      case "throw":
        this.#between.push({ at, step: { do: "break", how: "reset" } });
        return;
      case "emit":
        if (act.event.type === "progress") {
          this.#between.push({ at, alive: true });
          return;
        }
        break;
    }
    throw new ScriptError(`the word \`${act.act}\` has no meaning on the wire: use frames() or raw()`);
  }

  /** The turn's waits alone, for an answer that has no blocks. */
  waits(): Step[] {
    return this.#between.flatMap((one) => ("step" in one && one.step.do === "wait" ? [one.step] : []));
  }

  perform(plan: Plan, plain: boolean): void {
    const { protocol, server, stream } = this.#asked;
    const failing = this.#between.find((one) => "fails" in one);
    if (failing !== undefined && this.#isRefusal(failing)) {
      answer(plan, this.#refusal(failing.fails), this);
      return;
    }
    const reply = this.#reply();
    const rendered =
      server !== undefined && protocol === "openai-chat"
        ? renderServer(server, reply)
        : render(protocol, reply);
    if (stream && !plain) {
      beginStream(plan, this.#asked);
      this.#performStream(plan, rendered);
    } else this.#performWhole(plan, rendered);
  }

  #performStream(plan: Plan, { head, blocks, tail }: Rendered): void {
    const say = (frames: readonly WireFrame[]): void => {
      for (const one of frames) plan.steps.push(framed(this.#asked, one));
    };
    // A call that breaks off before anything is said has no head either.
    const [first] = this.#between;
    if (first?.at !== 0 || !("step" in first) || first.step.do !== "break") say(head);
    for (let at = 0; at <= blocks.length; at++) {
      for (const one of this.#between) {
        if (one.at !== at) continue;
        if ("step" in one) plan.steps.push(one.step);
        else if ("fails" in one) {
          this.#breakOff(plan, one.fails);
          return;
        } else plan.steps.push({ do: "bytes", bytes: plan.ping });
      }
      say(blocks[at] ?? []);
    }
    say(tail);
  }

  #performWhole(plan: Plan, rendered: Rendered): void {
    plan.streams = false;
    plan.headers = { "content-type": "application/json" };
    const bytes = utf8.encode(JSON.stringify(rendered.whole));
    for (const one of this.#between)
      if ("step" in one) plan.steps.push(one.step);
      else if ("fails" in one) {
        // By bytes: what a character cut in two would be sent as is no part of the answer.
        plan.steps.push({ do: "bytes", bytes: bytes.subarray(0, bytes.length >> 1) });
        if (one.fails.kind !== "stream_truncated") plan.steps.push({ do: "break", how: "close" });
        return;
      }
    plan.steps.push({ do: "bytes", bytes });
  }

  /** A failure before anything was said, or in an answer that comes whole, is a status. */
  #isRefusal({ at, fails }: Extract<Between, { fails: unknown }>): boolean {
    if (["stream_truncated", "network", "stream_idle"].includes(fails.kind)) return false;
    return at === 0 || !this.#asked.stream;
  }

  #refusal({ kind, options }: Failing): ErrorResponse {
    const { protocol, now } = this.#asked;
    const { status, message, retryAfterMs, raw } = options;
    const base = refusalOf(protocol, kind);
    return errorResponse(
      protocol,
      { ...base, status: status ?? base.status },
      {
        ...(message === undefined ? {} : { message }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(raw === undefined ? {} : { body: raw }),
      },
      now,
    );
  }

  /** A failure inside the stream: nothing follows it. Of an array, one that is told is the last element. */
  #breakOff(plan: Plan, { kind, options }: Failing): void {
    const { protocol } = this.#asked;
    const isTold = !["network", "stream_idle", "stream_truncated"].includes(kind);
    if (plan.array !== undefined && !isTold) plan.array = "open";
    if (kind === "network") plan.steps.push({ do: "break", how: "close" });
    else if (kind === "stream_idle") plan.steps.push({ do: "stall" });
    else if (isTold) {
      const base = refusalOf(protocol, kind);
      const refusal = options.message === undefined ? base : { ...base, message: options.message };
      plan.steps.push(...errorFrames(protocol, refusal).map((one) => framed(this.#asked, one)));
    }
  }

  #reply(): Reply {
    const holds = (type: ReplyBlock["type"]): boolean => this.#blocks.some((block) => block.type === type);
    const byContent = holds("call") ? "tool_use" : holds("refusal") ? "refusal" : "end_turn";
    const { wire, raw, detail }: Omit<Stopping, "act"> = this.#stop ?? { wire: byContent };
    const { number, model, tellsUsage } = this.#asked;
    return {
      number,
      model,
      tellsUsage,
      blocks: this.#blocks,
      stop: { wire, ...(raw === undefined ? {} : { raw }), ...(detail === undefined ? {} : { detail }) },
      usage: this.#usage ?? this.#asked.usage ?? this.#roughly(),
    };
  }

  /** About four characters a token. */
  #roughly(): Usage {
    let chars = 0;
    for (const block of this.#blocks)
      if (block.type === "call") chars += block.name.length + block.rawArgs.length;
      else if (block.type !== "native") chars += block.text.length;
    return {
      inputTokens: Math.ceil(this.#asked.requestChars / 4),
      outputTokens: Math.max(1, Math.ceil(chars / 4)),
    };
  }

  #block(part: Part, chunk: number | undefined): ReplyBlock {
    switch (part.type) {
      case "text":
      case "reasoning":
        return {
          type: part.type,
          text: part.text,
          pieces: this.#pieces(part.text, chunk),
          ...(part.opaque === undefined ? {} : { opaque: part.opaque }),
        };
      case "refusal":
        return { type: "refusal", text: part.text, pieces: this.#pieces(part.text, chunk) };
      case "tool_call":
        return this.#call(part);
      case "native":
        return { type: "native", opaque: part.opaque };
      case "file":
        throw new ScriptError(
          'a file in an answer has another form in every protocol: give it as part({ type: "native", … })',
        );
    }
  }

  #call(call: ScriptedCall): ReplyBlock {
    return {
      type: "call",
      ...(call.id === undefined ? {} : { id: call.id }),
      name: call.name,
      args: call.args,
      rawArgs: call.rawArgs,
      broken: call.argsError !== undefined,
      pieces: this.#pieces(call.rawArgs, call.chunk),
      ...(call.opaque === undefined ? {} : { opaque: call.opaque }),
    };
  }

  #pieces(text: string, chunk: number | undefined): string[] {
    return piecesOf(text, chunk ?? this.#asked.chunk);
  }
}

/** Google's stream as it is without `alt=sse`: one JSON array, an element a frame. */
function intoArray(plan: Plan, isOpen: boolean): void {
  const elements = plan.steps.flatMap((step) => (step.do === "bytes" && step.element ? [step] : []));
  const bytes = arrayBytes(
    elements.map((step) => step.bytes),
    isOpen,
  );
  for (const [at, step] of elements.entries()) step.bytes = bytes[at] ?? step.bytes;
  if (elements.length === 0 && !isOpen) plan.steps.push(sent("[]"));
}
