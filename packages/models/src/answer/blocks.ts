// The room of blocks: what an answer is made of while it comes, and what each is once it is whole.
//
// A call without whole arguments keeps `argsError` and never runs. What the end means is derived from the provider's word and
// the content together.

import type { Json, Opaque, Part, StopKind } from "@rondo/core";
import { parseArgs } from "./call-args.ts";
import { textOfPieces } from "./cumulative-args.ts";

/** What every block has: the place that its events name. */
interface Indexed {
  index: number;
}

export interface TextBlock extends Indexed {
  type: "text" | "reasoning" | "refusal";
  pieces: string[];
  /** What was shown before it began once more, as far as it has not come again. */
  shown?: string;
  citations?: Json[];
  opaque?: Opaque;
}

export interface CallBlock extends Indexed {
  type: "tool_call";
  id: string;
  name: string;
  pieces: string[];
  /** Set while the arguments are a value that the provider gave, and nothing has come behind it. */
  value?: Json | undefined;
  opaque?: Opaque;
  /** False until the protocol said that the block is whole. */
  whole: boolean;
  /** Why it must not run, when the protocol itself said so. */
  fault?: string;
}

/** A part that came whole. */
interface PartBlock extends Indexed {
  type: "part";
  part: Part;
}

export type Block = TextBlock | CallBlock | PartBlock;

export function opaqueIn(block: Block): Opaque | undefined {
  if (block.type !== "part") return block.opaque;
  return "opaque" in block.part ? block.part.opaque : undefined;
}

/** Reasoning is no answer, nor are blanks. */
export const isSaid = (part: Part): boolean =>
  part.type === "text" ? part.text.trim() !== "" : part.type !== "reasoning";

/** A text as it is kept; undefined where there is nothing of it to keep. */
export function textPart({ type, pieces, citations, opaque }: TextBlock): Part | undefined {
  const text = pieces.join("");
  if (text === "" && opaque === undefined) return undefined;
  if (type === "refusal") return { type, text };
  return {
    type,
    text,
    ...(citations === undefined ? {} : { citations }),
    ...(opaque === undefined ? {} : { opaque }),
  };
}

/** The block begins once more: nothing that it said counts. */
export function beginAgain(block: TextBlock): void {
  const shown = block.pieces.join("") + (block.shown ?? "");
  if (shown !== "") block.shown = shown;
  block.pieces = [];
  delete block.citations;
}

/** What of a piece is to be shown: nothing that was shown before its block began once more. */
export function unshown(block: TextBlock, shown: string, text: string): string {
  const left = shown.startsWith(text) ? shown.slice(text.length) : "";
  if (left === "") delete block.shown;
  else block.shown = left;
  if (left !== "" || shown === text) return "";
  return text.startsWith(shown) ? text.slice(shown.length) : text;
}

/** Why a call that reached the output limit must not run. */
export const cutFault = "the arguments were cut off at the output limit";

/** Why a call must not run whose end nobody told. */
export const openFault =
  "no arguments came, and the call was never said to be whole: make it again, with all its arguments";

export function callPart(block: CallBlock, cut: boolean): Part {
  const rawArgs = textOfPieces(block.pieces);
  const fault = cut ? cutFault : block.fault;
  const parsed = fault === undefined ? parseArgs(block.value ?? rawArgs) : { args: {}, argsError: fault };
  return {
    type: "tool_call",
    id: block.id,
    name: block.name,
    rawArgs,
    ...parsed,
    ...(block.opaque === undefined ? {} : { opaque: block.opaque }),
  };
}

/** What the answer's end means, from the word and the content together. */
export function stopKind(wire: StopKind, content: readonly Part[]): StopKind {
  switch (wire) {
    case "end_turn":
    case "stop_sequence":
    case "tool_use":
    case "unknown": {
      if (content.some((part) => part.type === "tool_call")) return "tool_use";
      if (content.some((part) => part.type === "refusal")) return "refusal";
      return wire === "tool_use" ? "end_turn" : wire;
    }
    default:
      return wire;
  }
}
