// The room of the model call: one attempt, watched by two clocks.
//
// The driver's arm towards a model. It tells what arrives, keeps what arrived in case it breaks off, and settles when
// a clock runs out even if the model does not. Whether to try again is not asked here.
//
// An answer may be many thousand deltas: each goes through one function here, for each on the way is compiled with all that it calls.

import { type Clock, longestWait } from "../../clock.ts";
import { errorWith, RondoError, toRondoError } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import type { AssistantMessage, Part } from "../../message.ts";
import type { Model, ModelEvent, ModelRequest } from "../../model.ts";
import type { Babble } from "./babble.ts";

export interface Clocks {
  connectMs: number;
  firstByteMs: number;
  /** Between two meaningful events. */
  idleMs: number;
  totalMs: number;
}

/** Who is told what arrives. */
export interface Audience {
  readonly step: number;
  /** Whether anybody still wants to hear it. */
  isThere(): boolean;
  tell(event: RondoEvent): void;
  /** Set once a delta was told. */
  shown: boolean;
}

/**
 * Calls the model once.
 * @param audience nobody, where it is absent
 * @param babble notices an answer that has begun to repeat itself: it is broken off there, as one that ran into a limit
 * @throws RondoError with `partial` where anything arrived: the model's own, or `stream_idle` or `timeout` by a clock
 */
export function think(
  model: Model,
  request: ModelRequest,
  controller: AbortController,
  agents: Clocks,
  clock: Clock,
  audience?: Audience,
  babble?: Babble,
): Promise<AssistantMessage> {
  const clocks = { ...agents, ...model.clocks };
  const heard: Heard = [];
  const startedAt = clock.now();
  let lastAt = startedAt;
  let begun = false;
  let queued = false;
  let over = false;

  return new Promise((resolve, reject) => {
    let cancel = (): void => {};
    // What was heard of an answer that was broken off. It stands when the model has let go, or its time is over.
    let broken: AssistantMessage | undefined;
    const settle = (act: () => void): void => {
      over = true;
      cancel();
      if (broken !== undefined) resolve(broken);
      else act();
    };
    const fail = (thrown: unknown): void =>
      settle(() =>
        reject(withPartial(controller.signal.aborted ? aborted(thrown) : toRondoError(thrown), model, heard)),
      );

    // One timer that is set anew when it fires, not one per delta. The idle clock may start at any moment, so it never
    // sleeps longer than that one would.
    const watch = (): void => {
      const now = clock.now();
      const idle = begun ? clocks.idleMs : (queued ? 0 : clocks.firstByteMs) || Infinity;
      const left = Math.min(lastAt + idle, startedAt + clocks.totalMs) - now;
      if (left > 0) {
        cancel = clock.after(Math.min(left, clocks.idleMs, longestWait), watch);
        return;
      }
      const error = ranOut(model, clocks, now - startedAt, begun);
      settle(() => reject(withPartial(error, model, heard)));
      controller.abort(error);
    };
    watch();

    let open: Heard[number] | undefined;
    const hear = (event: ModelEvent): void => {
      if (over || broken !== undefined) return;
      // A warning tells what was asked for; nothing need have come yet.
      if (event.type !== "warning") {
        begun = true;
        lastAt = clock.now();
      }
      if (event.type === "text_delta") {
        if (open === undefined || open.index !== event.index) open = openedIn(heard, event.index);
        open.pieces.push(event.text);
      }
      if (
        babble !== undefined &&
        (event.type === "text_delta" || event.type === "reasoning_delta") &&
        babble.takes(event.type, event.index, event.text)
      ) {
        broken = brokenOff(model, heard, event.type === "reasoning_delta" ? babble.end : "");
        controller.abort(new RondoError("aborted", `${model.id} repeats itself: the answer is broken off`));
        return;
      }
      if (audience?.isThere() !== true) return;
      const { step } = audience;
      switch (event.type) {
        case "text_delta":
        case "reasoning_delta":
          audience.shown = true;
          audience.tell({ type: event.type, step, index: event.index, text: event.text });
          return;
        case "tool_args_delta": {
          const { type, index, id, name, delta } = event;
          audience.shown = true;
          audience.tell({ type, step, index, id, name, delta });
          return;
        }
        case "warning":
          audience.tell(event);
      }
    };
    const io = {
      signal: controller.signal,
      emit: hear,
      clocks: { connectMs: clocks.connectMs, firstByteMs: clocks.firstByteMs, idleMs: clocks.idleMs },
      clock,
      queued(turn: Promise<unknown>): void {
        const wait = (isQueued: boolean): void => {
          if (over) return;
          queued = isQueued;
          lastAt = clock.now();
          cancel();
          watch();
        };
        wait(true);
        const come = (): void => wait(false);
        turn.then(come, come);
      },
    };
    try {
      // A model that answers at once is none the less one: what it gave is looked at like any other's.
      Promise.resolve(model.call(request, io)).then((message) => settle(() => resolve(message)), fail);
    } catch (thrown) {
      fail(thrown);
    }
  });
}

/** What was heard of an answer that is not heard to its end. */
function brokenOff(model: Model, heard: Heard, thoughts: string): AssistantMessage {
  const content = textsOf(heard);
  if (thoughts !== "") content.unshift({ type: "reasoning", text: thoughts });
  const stop = { kind: "max_tokens", wire: "unknown", detail: "broken off: it repeated itself" } as const;
  return { role: "assistant", content, origin: model.origin, stop };
}

/** Which clock ran out. */
function ranOut(
  { id }: Model,
  { firstByteMs, idleMs, totalMs }: Clocks,
  ms: number,
  begun: boolean,
): RondoError {
  if (ms >= totalMs)
    return new RondoError("timeout", `${id}: the answer took longer than ${totalMs} ms (clocks.totalMs)`);
  return begun
    ? new RondoError("stream_idle", `${id}: nothing came for ${idleMs} ms (clocks.idleMs)`)
    : new RondoError("timeout", `${id}: nothing came within ${firstByteMs} ms (clocks.firstByteMs)`);
}

/** The text that was heard so far, by position in the answer. Reasoning is not kept: unsigned, it could not be replayed. */
type Heard = { readonly index: number; readonly pieces: string[] }[];

/** Where the text at a position is kept. */
function openedIn(heard: Heard, index: number): Heard[number] {
  const known = heard.find((one) => one.index === index);
  if (known !== undefined) return known;
  const opened = { index, pieces: [] };
  heard.push(opened);
  return opened;
}

/** Whatever a model rejects with after its signal fired: it was aborted. */
function aborted(thrown: unknown): RondoError {
  const error = toRondoError(thrown);
  const { partial, usage } = error;
  return new RondoError("aborted", "the model call was aborted", {
    cause: thrown,
    ...(partial === undefined ? {} : { partial }),
    ...(usage === undefined ? {} : { usage }),
  });
}

const textsOf = (heard: Heard): Part[] =>
  heard.map(({ pieces }): Part => ({ type: "text", text: pieces.join("") }));

function withPartial(error: RondoError, model: Model, heard: Heard): RondoError {
  if (error.partial !== undefined) return error;
  if (heard.length === 0) return error;
  const content = textsOf(heard);
  const partial: AssistantMessage = {
    role: "assistant",
    content,
    origin: model.origin,
    stop: { kind: error.kind === "aborted" ? "aborted" : "error", wire: "unknown" },
  };
  return errorWith(error, { partial });
}
