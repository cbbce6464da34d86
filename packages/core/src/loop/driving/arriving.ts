// The room of the answer that is arriving: all there is of it so far, part by part.
//
// It is what is kept of an answer that breaks off, and what a listener is told that comes in the middle of one.

import type { RondoEvent } from "../../events.ts";
import type { Part } from "../../message.ts";
import { isOpen, type Run, type State } from "../state.ts";
import type { Coming } from "./hearing.ts";

/** A text or a thought. */
export interface HeardText extends Coming {
  readonly index: number;
  readonly pieces: string[];
}

/** What was shown of a call. */
export interface HeardCall {
  readonly type: "tool_args_delta";
  readonly index: number;
  readonly id: string;
  name: string;
  readonly pieces: string[];
}

/** By type and index, calls by their ids, in the order they began. An answer may have very many parts. */
export type Heard = Map<string, HeardText | HeardCall>;

/** Where a text or a thought is kept. */
export function textIn(heard: Heard, type: Coming["type"], index: number): HeardText {
  const place = `${type} ${index}`;
  const known = heard.get(place);
  if (known !== undefined && known.type !== "tool_args_delta") return known;
  const begun: HeardText = { type, index, pieces: [], unheard: 0 };
  heard.set(place, begun);
  return begun;
}

/** Where a call is kept. */
export function callIn(heard: Heard, index: number, id: string): HeardCall {
  const type = "tool_args_delta";
  const place = `${type} ${id}`;
  const known = heard.get(place);
  if (known?.type === type) return known;
  const begun: HeardCall = { type, index, id, name: "", pieces: [] };
  heard.set(place, begun);
  return begun;
}

/** What to keep of an answer that is not whole: no reasoning, because without its signature it could not be sent again. */
export const textsOf = (heard: Heard): Part[] =>
  [...heard.values()].flatMap(({ type, pieces }): Part[] =>
    type === "text_delta" ? [{ type: "text", text: pieces.join("") }] : [],
  );

/** The answer that a run waits for. */
export interface AwaitedAnswer {
  /** The model call, as the run has it. */
  readonly call: Run["call"];
  readonly heard: Heard;
}

/** The events so far of the step whose answer is awaited, the deltas of a part joined. None: no answer is. */
export function eventsSoFar({ run }: State, answer: AwaitedAnswer | undefined): RondoEvent[] {
  if (!isOpen(run) || run.stepBegun !== true || run.turn !== undefined) return [];
  const step = run.steps + 1;
  const parts = answer?.call === run.call ? [...(answer?.heard.values() ?? [])] : [];
  const deltas = parts.map((part): RondoEvent => {
    const { index, pieces } = part;
    const text = pieces.join("");
    if (part.type !== "tool_args_delta") return { type: part.type, step, index, text };
    return { type: part.type, step, index, id: part.id, name: part.name, delta: text };
  });
  return [{ type: "step_start", step }, ...deltas];
}
