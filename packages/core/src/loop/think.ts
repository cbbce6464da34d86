// The room of the model call: one attempt, watched by two clocks.
//
// The driver's arm towards a model. It says what arrives, keeps what arrived in case it breaks off, and settles when
// a clock runs out even if the model does not. Whether to try again is not asked here.

import type { Clock } from "../clock.ts";
import { errorWith, RondoError, toRondoError } from "../errors.ts";
import type { AssistantMessage, Part } from "../message.ts";
import type { Model, ModelEvent, ModelRequest } from "../model.ts";

export interface Clocks {
  connectMs: number;
  firstByteMs: number;
  /** Between two meaningful events. */
  idleMs: number;
  totalMs: number;
}

/**
 * Calls the model once.
 * @throws RondoError with `partial` where anything arrived: the model's own, or `stream_idle` or `timeout` by a clock
 */
export function think(
  model: Model,
  request: ModelRequest,
  controller: AbortController,
  clocks: Clocks,
  clock: Clock,
  emit: (event: ModelEvent) => void,
): Promise<AssistantMessage> {
  const heard: Heard = [];
  const startedAt = clock.now();
  let lastAt = startedAt;
  let begun = false;
  let over = false;

  return new Promise((resolve, reject) => {
    let cancel = (): void => {};
    const settle = (act: () => void): void => {
      over = true;
      cancel();
      act();
    };
    const fail = (thrown: unknown): void =>
      settle(() =>
        reject(withPartial(controller.signal.aborted ? aborted(thrown) : toRondoError(thrown), model, heard)),
      );

    // One timer that is set anew when it fires, not one per delta. The idle clock may start at any moment, so it never
    // sleeps longer than that one would.
    const watch = (): void => {
      const now = clock.now();
      const idle = begun ? clocks.idleMs : clocks.firstByteMs;
      const left = Math.min(lastAt + idle, startedAt + clocks.totalMs) - now;
      if (left > 0) {
        cancel = clock.after(Math.min(left, clocks.idleMs, 2 ** 31 - 1), watch);
        return;
      }
      const error =
        now - startedAt >= clocks.totalMs
          ? new RondoError(
              "timeout",
              `${model.id}: the answer took longer than ${clocks.totalMs} ms (clocks.totalMs)`,
            )
          : begun
            ? new RondoError("stream_idle", `${model.id}: nothing came for ${idle} ms (clocks.idleMs)`)
            : new RondoError("timeout", `${model.id}: nothing came within ${idle} ms (clocks.firstByteMs)`);
      settle(() => reject(withPartial(error, model, heard)));
      controller.abort(error);
    };
    watch();

    const hear = (event: ModelEvent): void => {
      if (over) return;
      begun = true;
      lastAt = clock.now();
      if (event.type === "text_delta") keep(heard, event.index, event.text);
      emit(event);
    };
    const io = {
      signal: controller.signal,
      emit: hear,
      clocks: { connectMs: clocks.connectMs, firstByteMs: clocks.firstByteMs, idleMs: clocks.idleMs },
      clock,
    };
    try {
      model.call(request, io).then((message) => settle(() => resolve(message)), fail);
    } catch (thrown) {
      fail(thrown);
    }
  });
}

/** The text that was heard so far, by position in the answer. Reasoning is not kept: unsigned, it could not be replayed. */
type Heard = { readonly index: number; readonly pieces: string[] }[];

function keep(heard: Heard, index: number, text: string): void {
  const last = heard.at(-1);
  const known = last?.index === index ? last : heard.find((one) => one.index === index);
  if (known !== undefined) known.pieces.push(text);
  else heard.push({ index, pieces: [text] });
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

function withPartial(error: RondoError, model: Model, heard: Heard): RondoError {
  if (error.partial !== undefined) return error;
  if (heard.length === 0) return error;
  const content = heard.map(({ pieces }): Part => ({ type: "text", text: pieces.join("") }));
  const partial: AssistantMessage = {
    role: "assistant",
    content,
    origin: model.origin,
    stop: { kind: error.kind === "aborted" ? "aborted" : "error", wire: "unknown" },
  };
  return errorWith(error, { partial });
}
