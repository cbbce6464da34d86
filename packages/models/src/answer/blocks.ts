// The room of blocks: the parts of an answer while they arrive, and what each becomes once it is whole.
//
// A call without whole arguments keeps `argsError` and never runs. The stop kind is derived from the provider's finish
// reason and the content together.

import type { Json, JsonObject, Opaque, Part, StopKind, ToolCallPart } from "@rondo/core";
import { meantArgs, parseArgs } from "./call-args.ts";
import { textOfPieces } from "./cumulative-args.ts";

/** What every block has: the index used in its events. */
interface Indexed {
  index: number;
}

export interface TextBlock extends Indexed {
  type: "text" | "reasoning" | "refusal";
  pieces: string[];
  /** The length of the pieces together. */
  length: number;
  /** While each piece, from the first on, begins with the one before: they may each be all of the text so far. */
  mayGrow: boolean;
  /** They are: each piece that begins with the text so far is all of it. */
  isSummed?: boolean;
  /** What was emitted before the server began the text again, as far as it has not come once more. */
  shown?: string;
  citations?: Json[];
  /** Said on the way to the answer. */
  commentary?: boolean;
  opaque?: Opaque;
}

export interface CallBlock extends Indexed {
  type: "tool_call";
  id: string;
  name: string;
  pieces: string[];
  /** The arguments as a value from the provider; unset once more arrives after it. */
  value?: Json | undefined;
  opaque?: Opaque;
  /** True once the protocol reported the block as complete. */
  whole: boolean;
  /** Why the call must not run, if the protocol itself said so. */
  fault?: string;
}

/** A part that arrived whole. */
interface PartBlock extends Indexed {
  type: "part";
  part: Part;
}

export type Block = TextBlock | CallBlock | PartBlock;

export function opaqueIn(block: Block): Opaque | undefined {
  if (block.type !== "part") return block.opaque;
  return "opaque" in block.part ? block.part.opaque : undefined;
}

/** Whether a part counts as an answer: reasoning and blank text do not. */
export const isSaid = (part: Part): boolean =>
  part.type === "text" ? part.text.trim() !== "" : part.type !== "reasoning";

/** The final text part; undefined if there is nothing worth keeping. */
export function textPart({ type, pieces, citations, commentary, opaque }: TextBlock): Part | undefined {
  const text = pieces.join("");
  if (text === "" && opaque === undefined) return undefined;
  if (type === "refusal") return { type, text };
  return {
    type,
    text,
    ...(citations === undefined ? {} : { citations }),
    ...(type === "text" && commentary === true ? { commentary } : {}),
    ...(opaque === undefined ? {} : { opaque }),
  };
}

/** The server begins the text again: the pieces so far are discarded. */
export function beginAgain(block: TextBlock): void {
  const shown = block.pieces.join("") + (block.shown ?? "");
  if (shown !== "") block.shown = shown;
  block.pieces = [];
  block.length = 0;
  block.mayGrow = false;
  delete block.citations;
}

/** The part of a delta that was not emitted before its block began again. */
export function unshown(block: TextBlock, shown: string, text: string): string {
  const left = shown.startsWith(text) ? shown.slice(text.length) : "";
  if (left === "") delete block.shown;
  else block.shown = left;
  if (left !== "" || shown === text) return "";
  return text.startsWith(shown) ? text.slice(shown.length) : text;
}

/** The fault of a call at the output limit. */
export const cutFault = "the arguments were cut off at the output limit";

/** The fault of a call whose end was never reported. */
export const openFault =
  "no arguments came, and the call was never said to be whole: make it again, with all its arguments";

/** The fault of a call without a name. */
export const namelessFault = "the call has no name: say which tool is meant";

export function callPart(block: CallBlock, cut: boolean): Part {
  const fault = cut ? cutFault : (block.fault ?? (block.name === "" ? namelessFault : undefined));
  const { id, name, opaque } = block;
  const args =
    fault === undefined ? argsOf(block) : { rawArgs: textOfPieces(block.pieces), args: {}, argsError: fault };
  return { type: "tool_call", id, name, ...args, ...(opaque === undefined ? {} : { opaque }) };
}

function argsOf({ pieces, value }: CallBlock): Pick<ToolCallPart, "rawArgs" | "args" | "argsError"> {
  const told = textOfPieces(pieces);
  const parsed = parseArgs(value ?? told);
  const meant = parsed.argsError === undefined || value !== undefined ? undefined : meantArgs(told);
  return meant === undefined ? { rawArgs: told, ...parsed } : { rawArgs: meant, ...parseArgs(meant) };
}

/** The stop kind, from the provider's finish reason and the content together. */
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

/** Whether what OpenAI says of a text, directly or through the AI SDK, makes it commentary. */
export const isCommentary = ({ phase }: JsonObject): boolean => phase === "commentary";
