// The room of the player: a turn's acts, performed as a provider's answer arrives.
//
// Deltas first, part by part, then the whole answer; when it breaks off, what had been shown of it is the partial.
// As in the codecs, a partial holds no calls, for none can be trusted to be whole.

import {
  type AssistantMessage,
  type ErrorKind,
  type ModelEvent,
  type ModelIo,
  type Origin,
  type Part,
  RondoError,
  type Stop,
  type StopKind,
  type ToolCallPart,
  type Usage,
} from "@rondo/core";
import { piecesOf } from "../text.ts";
import { isAct, noTurn } from "./check-script.ts";
import type { Act, FailOptions, Gate, ScriptedCall, Turn } from "./turns.ts";

/** The acts of a turn, in one list. @throws RondoError `invalid_request` for what is none: it would be no answer at all */
export function flatten(turn: Turn): Act[] {
  if (isList(turn)) return turn.flatMap(flatten);
  if (isAct(turn)) return [turn];
  throw noTurn("scripted: what a function of the script gives", turn);
}

function isList(turn: Turn): turn is readonly Turn[] {
  return Array.isArray(turn);
}

export async function playTurn(
  acts: readonly Act[],
  answer: ScriptedAnswer,
  io: ModelIo,
  options: { deaf: boolean; usage: Usage | undefined },
): Promise<AssistantMessage> {
  const listen = (): void => {
    if (!options.deaf && io.signal.aborted) throw answer.aborted(io.signal.reason);
  };
  for (const act of acts) {
    listen();
    switch (act.act) {
      case "part":
      case "call":
        for (const event of answer.open(act)) {
          listen();
          io.emit(event);
          answer.show(event);
        }
        answer.close();
        break;
      case "misorder":
        for (const event of misordered(act.turn, answer)) {
          listen();
          io.emit(event);
        }
        break;
      case "emit":
        io.emit(act.event);
        break;
      case "stop":
        answer.stop = act;
        break;
      case "usage":
        answer.usage = { ...answer.usage, ...act.usage };
        break;
      case "tick":
        await new Promise((resolve) => setImmediate(resolve));
        break;
      case "gate":
        await wait(act.gate, options.deaf || act.ignoreSignal ? undefined : io.signal);
        break;
      case "fail":
        throw answer.failed(act.kind, act.options);
      case "throw":
        throw act.thrown;
      case "late":
        break;
    }
  }
  listen();
  return answer.message(options.usage);
}

/** The parts of a turn are whole; the events that show them come last first. */
function misordered(turn: Turn, answer: ScriptedAnswer): ModelEvent[] {
  const events: ModelEvent[] = [];
  for (const act of flatten(turn)) {
    if (act.act !== "part" && act.act !== "call")
      throw new RondoError("internal", `misorder takes parts and calls only, not \`${act.act}\``);
    events.push(...answer.open(act));
    answer.close();
  }
  return events.reverse();
}

/** Until the gate is released, or the signal fires. */
async function wait(gate: Gate, signal: AbortSignal | undefined): Promise<void> {
  gate.arrive();
  if (signal === undefined) return gate.released;
  const fired = Promise.withResolvers<void>();
  const fire = (): void => fired.resolve();
  signal.addEventListener("abort", fire, { once: true });
  if (signal.aborted) fire();
  await Promise.race([gate.released, fired.promise]);
  signal.removeEventListener("abort", fire);
}

/** The answer as it grows. */
export class ScriptedAnswer {
  stop: Extract<Act, { act: "stop" }> | undefined;
  usage: Usage | undefined;
  readonly #origin: Origin;
  readonly #newId: () => string;
  readonly #chunk: number | undefined;
  readonly #content: Part[] = [];
  #opened: Part | undefined;
  #shown = "";

  /** @param chunk characters a delta where a part does not say. Absent: a part is one delta */
  constructor(origin: Origin, newId: () => string, chunk?: number) {
    this.#origin = origin;
    this.#newId = newId;
    this.#chunk = chunk;
  }

  /** Begins a part: the events that show it. */
  open(act: Extract<Act, { act: "part" | "call" }>): ModelEvent[] {
    const index = this.#content.length;
    this.#shown = "";
    if (act.act === "call") {
      const call = this.#call(act.call);
      this.#opened = call;
      const { id, name } = call;
      const pieces = piecesOf(call.rawArgs, act.call.chunk ?? this.#chunk);
      return pieces.map((delta) => ({ type: "tool_args_delta", index, id, name, delta }));
    }
    const part = structuredClone(act.part);
    this.#opened = part;
    if (part.type !== "text" && part.type !== "reasoning") return [{ type: "progress" }];
    const type = part.type === "text" ? "text_delta" : "reasoning_delta";
    return piecesOf(part.text, act.chunk ?? this.#chunk).map((text) => ({ type, index, text }));
  }

  /** An event of the open part has gone out. */
  show(event: ModelEvent): void {
    if (event.type === "text_delta" || event.type === "reasoning_delta") this.#shown += event.text;
  }

  /** The open part is whole. */
  close(): void {
    if (this.#opened !== undefined) this.#content.push(this.#opened);
    this.#opened = undefined;
  }

  /** The whole answer. `usage` counts where the turn told none. */
  message(usage: Usage | undefined): AssistantMessage {
    const told = this.usage ?? usage;
    return {
      role: "assistant",
      content: this.#content,
      origin: this.#origin,
      stop: this.#stop(),
      ...(told === undefined ? {} : { usage: { ...told } }),
    };
  }

  failed(kind: ErrorKind, options: FailOptions): RondoError {
    const { message, ...rest } = options;
    const partial = options.partial ?? this.#partial("error");
    const usage = options.usage ?? this.usage;
    return new RondoError(kind, message ?? `the script fails this call with ${kind}`, {
      ...rest,
      ...(partial === undefined ? {} : { partial }),
      ...(usage === undefined ? {} : { usage }),
    });
  }

  aborted(reason: unknown): RondoError {
    const partial = this.#partial("aborted");
    return new RondoError("aborted", "the model call was aborted", {
      cause: reason,
      ...(partial === undefined ? {} : { partial }),
      ...(this.usage === undefined ? {} : { usage: this.usage }),
    });
  }

  #partial(kind: "error" | "aborted"): AssistantMessage | undefined {
    const content = this.#content.filter((part) => part.type !== "tool_call");
    const open = this.#opened;
    if ((open?.type === "text" || open?.type === "reasoning") && this.#shown !== "")
      content.push({ type: open.type, text: this.#shown });
    if (content.length === 0) return undefined;
    return {
      role: "assistant",
      content,
      origin: this.#origin,
      stop: { kind, wire: "unknown" },
      ...(this.usage === undefined ? {} : { usage: this.usage }),
    };
  }

  #stop(): Stop {
    const calls = this.#content.some((part) => part.type === "tool_call");
    const refuses = this.#content.some((part) => part.type === "refusal");
    const byContent = calls ? "tool_use" : refuses ? "refusal" : undefined;
    if (this.stop === undefined) return { kind: byContent ?? "end_turn", wire: byContent ?? "end_turn" };
    const { act: _act, wire, kind, ...words } = this.stop;
    return { kind: kind ?? kindOf(wire, byContent), wire, ...words };
  }

  #call(given: ScriptedCall): ToolCallPart {
    const { chunk: _chunk, id = this.#newId(), ...call } = given;
    return { type: "tool_call", id, ...call, args: structuredClone(given.args) };
  }
}

/** What the word means with this content, as the codecs decide it. */
function kindOf(wire: StopKind, byContent: StopKind | undefined): StopKind {
  switch (wire) {
    case "end_turn":
    case "stop_sequence":
    case "unknown":
      return byContent ?? wire;
    case "tool_use":
      return byContent ?? "end_turn";
    default:
      return wire;
  }
}
