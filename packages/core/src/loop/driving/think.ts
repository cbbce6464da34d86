// The room of the model call: one attempt, watched by two clocks.
//
// Calls a model for the driver. It emits deltas as they arrive, keeps them in case the answer breaks off, and settles when
// a clock runs out even if the model does not. Whether to retry is decided elsewhere.
//
// An answer may be many thousand deltas: each goes through one function here, and one more that emits it (`telling.ts`).

import { type Clock, hostOf, longestWait } from "../../clock.ts";
import { errorWith, RondoError, toRondoError } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import { digest } from "../../json/digest.ts";
import type { AssistantMessage } from "../../message.ts";
import type { Model, ModelEvent, ModelRequest } from "../../model.ts";
import { callIn, type Heard, type HeardCall, type HeardText, textIn, textsOf } from "./arriving.ts";
import type { BrokenOff, Coming, Hearing } from "./hearing.ts";
import type { ToldIds } from "./told-ids.ts";

export interface Clocks {
  connectMs: number;
  firstByteMs: number;
  /** Between two meaningful events. */
  idleMs: number;
  totalMs: number;
}

/** Who calls: the agent's clocks, and the session's id. */
export interface Caller {
  clocks: Clocks;
  session: string;
}

/** Receives the deltas. */
export interface Audience {
  readonly step: number;
  /** Whether deltas are still wanted. */
  readonly isThere: boolean;
  tell(event: RondoEvent): void;
  /** Set once a delta was passed on. */
  shown: boolean;
  /** The ids of calls in events. */
  readonly ids: ToldIds;
  /** What has arrived so far. */
  readonly heard: Heard;
}

/**
 * Calls the model once.
 * @param audience receives the deltas; absent: nobody does
 * @param hearing the rules that listen: an answer that one breaks off is cancelled, and counts as cut off at a limit
 * @throws RondoError with `partial` if anything arrived: the model's own, or `stream_idle` or `timeout` by a clock
 */
export function think(
  model: Model,
  request: ModelRequest,
  controller: AbortController,
  caller: Caller,
  clock: Clock,
  audience?: Audience,
  hearing?: Hearing,
): Promise<AssistantMessage> {
  const clocks = { ...caller.clocks, ...model.clocks };
  const heard: Heard = audience?.heard ?? new Map();
  const startedAt = clock.now();
  // The host's clock: it is cheap enough to be read at each delta.
  const host = hostOf(clock);
  let lastAt = host.now();
  let begun = false;
  let queued = false;
  let over = false;

  return new Promise((resolve, reject) => {
    let cancel = (): void => {};
    // What arrived of an answer that was cancelled here. It is used when the model has settled, or its time is over.
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

    // One timer that is set again when it fires, not one per delta. The idle clock may start at any moment, so the timer
    // never sleeps longer than `idleMs`.
    const watch = (): void => {
      const ms = clock.now() - startedAt;
      const now = host.now();
      // The clock was set back: the wait begins again.
      lastAt = Math.min(lastAt, now);
      const idle = begun ? clocks.idleMs : (queued ? 0 : clocks.firstByteMs) || Infinity;
      const left = Math.min(lastAt + idle - now, clocks.totalMs - ms);
      if (left > 0) {
        cancel = clock.after(Math.min(left, clocks.idleMs, longestWait), watch);
        return;
      }
      const error = ranOut(model, clocks, ms, begun);
      settle(() => reject(withPartial(error, model, heard)));
      controller.abort(error);
    };
    watch();

    let open: HeardText | undefined;
    let call: HeardCall | undefined;
    const every = hearing?.every ?? Number.POSITIVE_INFINITY;
    const breaksOff = (part: HeardText): boolean => {
      try {
        const off = hearing?.hear(part);
        if (off === undefined) return false;
        broken = brokenOff(model, heard, part, off);
        controller.abort(new RondoError("aborted", `${model.id}: the answer is broken off: ${off.why}`));
      } catch (failed) {
        settle(() => reject(failed));
        controller.abort(toRondoError(failed));
      }
      return true;
    };
    const hear = (event: ModelEvent, more = false): void => {
      if (over || broken !== undefined) return;
      // A warning is about the request: it does not mean that the answer has begun.
      if (event.type === "warning") {
        if (audience?.isThere === true) audience.tell(event);
        return;
      }
      begun = true;
      if (!more) lastAt = host.now();
      if (event.type === "text_delta" || event.type === "reasoning_delta") {
        const { type, index, text } = event;
        if (open === undefined || open.index !== index || open.type !== type)
          open = textIn(heard, type, index);
        open.pieces.push(text);
        open.unheard += text.length;
        if ((open.unheard >= every && breaksOff(open)) || audience?.isThere !== true) return;
        audience.shown = true;
        audience.tell({ type, step: audience.step, index, text });
      } else if (event.type === "tool_args_delta" && audience?.isThere === true) {
        const { type, index, name, delta } = event;
        const { ids, step } = audience;
        const id = ids.of(event);
        if (id === undefined) return;
        audience.shown = true;
        const piece = ids.waited + delta;
        if (call === undefined || call.id !== id) call = callIn(heard, index, id);
        call.name ||= name;
        call.pieces.push(piece);
        audience.tell({ type, step, index, id, name, delta: piece });
      }
    };
    const io = {
      signal: controller.signal,
      emit: hear,
      clocks: { connectMs: clocks.connectMs, firstByteMs: clocks.firstByteMs, idleMs: clocks.idleMs },
      session: digest(caller.session),
      clock,
      queued(turn: Promise<unknown>): void {
        const wait = (isQueued: boolean): void => {
          if (over) return;
          queued = isQueued;
          lastAt = host.now();
          cancel();
          watch();
        };
        wait(true);
        const come = (): void => wait(false);
        turn.then(come, come);
      },
    };
    try {
      // What a model returns without a promise is checked like any other answer.
      Promise.resolve(model.call(request, io)).then((message) => settle(() => resolve(message)), fail);
    } catch (thrown) {
      fail(thrown);
    }
  });
}

/** What arrived of an answer that a rule breaks off, as an answer. */
function brokenOff(
  model: Model,
  heard: Heard,
  { type }: Coming,
  { rule, why, end }: BrokenOff,
): AssistantMessage {
  const content = textsOf(heard);
  if (type === "reasoning_delta") content.unshift({ type: "reasoning", text: end });
  const stop = { kind: "max_tokens", wire: "unknown", detail: `broken off: ${why}`, by: rule } as const;
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

/** After its signal fired, whatever a model rejects with counts as `aborted`. */
function aborted(thrown: unknown): RondoError {
  const error = toRondoError(thrown);
  const { partial, usage } = error;
  return new RondoError("aborted", "the model call was aborted", {
    cause: thrown,
    ...(partial === undefined ? {} : { partial }),
    ...(usage === undefined ? {} : { usage }),
  });
}

function withPartial(error: RondoError, model: Model, heard: Heard): RondoError {
  if (error.partial !== undefined) return error;
  const content = textsOf(heard);
  if (content.length === 0) return error;
  const partial: AssistantMessage = {
    role: "assistant",
    content,
    origin: model.origin,
    stop: { kind: error.kind === "aborted" ? "aborted" : "error", wire: "unknown" },
  };
  return errorWith(error, { partial });
}
