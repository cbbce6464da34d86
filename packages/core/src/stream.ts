// The room of the stream: a run's live events, pulled.
//
// The loop never waits for the reader: events go to a queue, and if the reader is slow, deltas of the same part are
// joined there, so that the queue never grows longer than the transcript. Leaving the iteration early aborts the run.

import type { ContextAccount } from "./context/window-usage.ts";
import { invalidRequest } from "./errors.ts";
import type { Listener, RondoEvent } from "./events.ts";
import { type JsonObject, textOf } from "./message.ts";
import { PartialJson, type Partially } from "./output/partial.ts";
import { ThoughtSplitter } from "./prompt/thoughts.ts";
import type { RunResult } from "./result.ts";

/** If more events than this wait, deltas are joined. */
const joinBeyond = 1_024;

/** A queue between a producer and one reader. */
export class EventQueue<T> implements AsyncIterator<T, undefined> {
  readonly #items: (T | undefined)[] = [];
  readonly #join: (last: T, item: T) => T | undefined;
  readonly #joinBeyond: number;
  readonly #onReturn: () => void;
  readonly #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  #head = 0;
  #ended = false;
  #failure: { error: unknown } | undefined;

  /** @param onReturn called if the reader leaves early; `beyond`: how many items may wait before they are joined */
  constructor(
    onReturn: () => void,
    join: (last: T, item: T) => T | undefined = () => undefined,
    beyond: number = joinBeyond,
  ) {
    this.#joinBeyond = beyond;
    this.#onReturn = onReturn;
    this.#join = join;
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** True while a reader waits for the next item. */
  get wanted(): boolean {
    return this.#waiting.length > 0;
  }

  push(item: T): void {
    if (this.#ended) return;
    if (this.#waiting.length > 0) {
      this.#waiting.shift()?.resolve({ done: false, value: item });
      return;
    }
    const last = this.#items.length - this.#head > this.#joinBeyond ? this.#items.at(-1) : undefined;
    const joined = last === undefined ? undefined : this.#join(last, item);
    if (joined !== undefined) this.#items[this.#items.length - 1] = joined;
    else this.#items.push(item);
  }

  /** @param last an item to push last, if any */
  end(last?: T): void {
    if (last !== undefined) this.push(last);
    this.#ended = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  /** Ends with an error, which the reader gets after everything that was pushed before. */
  fail(error: unknown): void {
    const reader = this.#waiting.shift();
    if (reader !== undefined) reader.reject(error);
    else if (!this.#ended) this.#failure = { error };
    this.end();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#items.length) {
      const value = this.#items[this.#head] as T;
      // Released at once: items held here during a minor garbage collection would be promoted to the old generation.
      this.#items[this.#head] = undefined;
      this.#head += 1;
      if (this.#head > 1024) {
        this.#items.splice(0, this.#head);
        this.#head = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    const reader = Promise.withResolvers<IteratorResult<T, undefined>>();
    this.#waiting.push(reader);
    return reader.promise;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    if (!this.#ended) this.#onReturn();
    this.#items.length = 0;
    this.#head = 0;
    this.#failure = undefined;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** Allows one reader only: each item goes to one reader, so of two each would miss what the other gets. */
export function once<Reader>(reader: Reader): () => Reader {
  let taken = false;
  return () => {
    if (taken)
      throw invalidRequest(
        "this run is iterated already, or was: its events, or in their place its textStream, its typed output and its steps can each be iterated once. Keep what you read, or hear the events as well by option onEvent",
      );
    taken = true;
    return reader;
  };
}

/** Two deltas of the same part joined; undefined if they do not belong together. */
function joinDeltas(last: RondoEvent, item: RondoEvent): RondoEvent | undefined {
  if (item.type === "text_delta" || item.type === "reasoning_delta") {
    if (last.type !== item.type || last.index !== item.index || last.step !== item.step) return undefined;
    return { ...last, text: last.text + item.text };
  }
  if (item.type !== "tool_args_delta" || last.type !== "tool_args_delta") return undefined;
  if (last.index !== item.index || last.step !== item.step) return undefined;
  return { ...item, delta: last.delta + item.delta };
}

/**
 * The typed output while it arrives. The value grows in place, so that each pull costs only what is new; copy it to keep
 * an intermediate state. Pieces that arrive between two pulls are joined.
 */
class PartialOutputs<Output> implements AsyncIterable<Partially<Output>> {
  readonly #queue = new EventQueue<Partially<Output>>(
    () => {},
    (last, item) => (last === item ? item : undefined),
    0,
  );
  readonly #schema: JsonObject | undefined;
  #json: PartialJson | undefined;
  /** Skips reasoning at the beginning of the text: a draft in it is not the value. */
  #thoughts = leadingThoughts();
  /** The part of the answer that is read. */
  #index = 0;

  constructor(schema: JsonObject | undefined) {
    this.#schema = schema;
  }

  /** Takes a live event in. */
  hear(event: RondoEvent): void {
    if (event.type === "text_delta") this.#feed(event);
    else if (event.type === "request") {
      this.#json = event.output ? new PartialJson(this.#schema) : undefined;
      this.#thoughts = leadingThoughts();
    } else if (event.type === "run_end") this.#queue.end();
  }

  #feed({ index, text }: { index: number; text: string }): void {
    if (this.#json === undefined) return;
    // A complete value in an earlier part was a draft.
    if (index !== this.#index && this.#json.done) this.#json = new PartialJson(this.#schema);
    this.#index = index;
    for (const piece of this.#thoughts.push(text)) {
      if (piece.type === "reasoning" || !this.#json.feed(piece.text)) continue;
      const { value } = this.#json;
      if (value !== undefined) this.#queue.push(value as Partially<Output>);
    }
  }

  end(): void {
    this.#queue.end();
  }

  readonly [Symbol.asyncIterator]: () => AsyncIterator<Partially<Output>, undefined> = once(this.#queue);
}

const leadingThoughts = (): ThoughtSplitter => new ThoughtSplitter({ blocks: "leading" });

/** The text of a run's answers, from its events. */
const textsOf = (read: () => EventQueue<RondoEvent>): AsyncIterable<string> => ({
  [Symbol.asyncIterator]() {
    const events = read();
    const texts = saidIn({ [Symbol.asyncIterator]: () => events });
    return {
      next: () => texts.next(),
      // Passed to the events directly: a generator that waits for the next event would notice it only then.
      return: async () => {
        await events.return();
        return texts.return(undefined);
      },
    };
  },
});

/** The text of an answer without deltas is yielded in one piece. */
async function* saidIn(events: AsyncIterable<RondoEvent>): AsyncGenerator<string, undefined> {
  let told = false;
  for await (const event of events) {
    if (event.type === "request") told = false;
    else if (event.type === "text_delta") {
      told = true;
      yield event.text;
    } else if (event.type === "message" && !told) {
      const text = textOf(event.message);
      if (text !== "") yield text;
    }
  }
  return undefined;
}

/** A run as a stream of live events. Iterate it once; `result` resolves with what `run` would have returned. */
export interface RunStream<Output = unknown> extends AsyncIterable<RondoEvent> {
  readonly result: Promise<RunResult<Output>>;
  /** The typed output while it arrives, growing in place; it starts again if the model is asked again. Iterate it once. */
  readonly partialOutput: AsyncIterable<Partially<Output>>;
  /**
   * The text of its answers as it arrives, instead of the events: iterate one of the two. If an answer is discarded and asked
   * for again, its text cannot be taken back here, and the new text follows; the events say so (`discard`).
   */
  readonly textStream: AsyncIterable<string>;
  /** What fills the window now, by source, in tokens. Undefined until the run has begun. */
  context(): ContextAccount | undefined;
  abort(reason?: string): void;
}

/** The run of a stream. */
interface Streamed<Output> {
  /** Starts it; `hear` gets its live events, and the controller's signal aborts it. */
  start(hear: Listener, controller: AbortController): Promise<RunResult<Output>>;
  /** Whether a rejection after `run_end` only repeats what that event says (an abort, an error): the stream just ends then. */
  rejectsAsItEnds: boolean;
  context(): ContextAccount | undefined;
}

/** Starts a run, and returns it as a stream. @param schema of its typed output */
export function runStream<Output>(
  schema: JsonObject | undefined,
  { start, rejectsAsItEnds, context }: Streamed<Output>,
): RunStream<Output> {
  const controller = new AbortController();
  const queue = new EventQueue<RondoEvent>(() => controller.abort("the reader broke off"), joinDeltas);
  const read = once(queue);
  const partial = new PartialOutputs<Output>(schema);
  let told = false;
  const result = start((event) => {
    // Later events, such as those of an abandoned tool, do not change that.
    told ||= rejectsAsItEnds && event.type === "run_end";
    partial.hear(event);
    queue.push(event);
  }, controller);
  result.finally(() => partial.end()).catch(() => {});
  result.then(
    () => queue.end(),
    (thrown: unknown) => (told ? queue.end() : queue.fail(thrown)),
  );
  return {
    result,
    textStream: textsOf(read),
    partialOutput: partial,
    context,
    abort: (reason) => controller.abort(reason),
    [Symbol.asyncIterator]: read,
  };
}
