// The room of LiteLLM's `thinking_blocks`: Claude's thinking behind Chat Completions, which must be sent back with its
// signatures in the next turn (F100, F101). Fragments have no index: a block ends with its signature.

import type { Json, JsonObject } from "@rondo/core";
import { isHollow, listIn, objectIn, textIn } from "../../json-values.ts";

interface Block {
  block: JsonObject;
  pieces: string[];
}

export class ThinkingBlocks {
  readonly #blocks: Block[] = [];

  get empty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Takes a delta's list; returns the readable text in it. */
  push(given: Json | undefined): string {
    let shown = "";
    for (const one of listIn(given)) {
      const fragment = objectIn(one);
      if (fragment === undefined || isHollow(fragment)) continue;
      if (fragment.type !== "thinking") {
        this.#blocks.push({ block: fragment, pieces: [] });
        continue;
      }
      const text = textIn(fragment.thinking) ?? "";
      const { block, pieces } = this.#open();
      pieces.push(text);
      if (textIn(fragment.signature)) block.signature = fragment.signature ?? "";
      shown += text;
    }
    return shown;
  }

  whole(): Json[] {
    return this.#blocks.map(({ block, pieces }) => {
      if (block.type !== "thinking") return block;
      const { signature } = block;
      const thinking = pieces.join("");
      return { type: "thinking", thinking, ...(signature === undefined ? {} : { signature }) };
    });
  }

  /** The block that is still open, or a new one. */
  #open(): Block {
    const last = this.#blocks.at(-1);
    if (last?.block.type === "thinking" && last.block.signature === undefined) return last;
    const fresh: Block = { block: { type: "thinking" }, pieces: [] };
    this.#blocks.push(fresh);
    return fresh;
  }
}
