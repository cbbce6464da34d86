// The room of the block list: an answer's blocks in the order in which they were opened, each found by its key.
//
// A server may mix kinds under one key. Each kind then has a block of its own, and none loses its place.

import type { Part } from "@rondo/core";
import { asNumbers } from "../exact-json.ts";
import { type Block, type CallBlock, callPart, opaqueIn, type TextBlock, textPart } from "./blocks.ts";

/** A provider's key of a block: its index, its item id, or whatever else its frames refer to it by. */
export type BlockKey = string | number;

export class BlockList {
  readonly #byKey = new Map<BlockKey, Block>();
  /** How many blocks were opened, including those that were dropped: no index is used twice. */
  #opened = 0;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: BlockKey): Block | undefined {
    return this.#byKey.get(key);
  }

  values(): Iterable<Block> {
    return this.#byKey.values();
  }

  calls(): [BlockKey, CallBlock][] {
    return [...this.#byKey].filter((entry): entry is [BlockKey, CallBlock] => entry[1].type === "tool_call");
  }

  /** The block of text of this type, opened if there is none. */
  text(key: BlockKey, type: TextBlock["type"]): TextBlock {
    const known = this.#byKey.get(key);
    if (known?.type === type) return known as TextBlock;
    if (known === undefined) return this.#openText(key, type);
    const own = `${key}/${type}`;
    return (this.#byKey.get(own) as TextBlock | undefined) ?? this.#openText(own, type);
  }

  #openText(key: BlockKey, type: TextBlock["type"]): TextBlock {
    const block = { type, pieces: [], length: 0, mayGrow: true, index: this.#opened++ };
    this.#byKey.set(key, block);
    return block;
  }

  /** The call, if one is open. */
  callAt(key: BlockKey): CallBlock | undefined {
    const known = this.#byKey.get(key);
    return known?.type === "tool_call" ? known : undefined;
  }

  openCall(key: BlockKey): CallBlock {
    const known = this.#byKey.get(key);
    if (known !== undefined) this.#moveAside(key, known);
    const block: CallBlock = {
      type: "tool_call",
      id: "",
      name: "",
      pieces: [],
      value: undefined,
      whole: false,
      index: this.#opened++,
    };
    this.#byKey.set(key, block);
    return block;
  }

  /** A call takes the key, because its pieces are found by it alone; the block before it keeps its place. */
  #moveAside(key: BlockKey, known: Block): void {
    const blocks = [...this.#byKey];
    this.#byKey.clear();
    for (const [one, block] of blocks) this.#byKey.set(block === known ? `${key}/${known.type}` : one, block);
  }

  /** A part that arrived whole, in its place. */
  put(key: BlockKey, part: Part): void {
    this.#byKey.set(key, { type: "part", part, index: this.#byKey.get(key)?.index ?? this.#opened++ });
  }

  drop(key: BlockKey): void {
    this.#byKey.delete(key);
  }

  /** What the blocks have become. @param isCut whether a call's arguments were cut off at the output limit */
  parts(isCut: (block: CallBlock) => boolean): Part[] {
    const parts: Part[] = [];
    for (const block of this.#byKey.values()) {
      // Long digits were kept for the arguments of calls; the provider's own blocks may hold some too, and are plain JSON.
      asNumbers(opaqueIn(block) ?? null);
      const part =
        block.type === "part"
          ? block.part
          : block.type === "tool_call"
            ? callPart(block, isCut(block))
            : textPart(block);
      if (part !== undefined) parts.push(part);
    }
    return parts;
  }
}
