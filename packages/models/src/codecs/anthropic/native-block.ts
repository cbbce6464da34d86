// The room of blocks that are kept as they came, whatever they are: deltas are merged into the block's members.

import { type Json, type JsonObject, parsedJson } from "@rondo/core";
import { textIn } from "../../json-values.ts";

export class NativeBlock {
  /** Filled in place. */
  readonly value: JsonObject;
  /** Text of `input_json_delta` so far. */
  #input = "";
  /** List members that were added to: these are copies of ours, not the event's own lists. */
  readonly #lists = new Set<string>();

  constructor(block: JsonObject) {
    this.value = { ...block };
  }

  more(delta: JsonObject): void {
    if (delta.type === "input_json_delta") this.#input += textIn(delta.partial_json) ?? "";
    else
      for (const [name, value] of Object.entries(delta))
        if (name !== "type") this.#add(name, value, delta.type);
  }

  #add(name: string, value: Json, type: Json | undefined): void {
    const before = this.value[name];
    if (Array.isArray(before)) {
      const list = this.#lists.has(name) ? before : [...before];
      list.push(value);
      this.value[name] = list;
      this.#lists.add(name);
      return;
    }
    // A compaction's delta is its final value; other kinds send text in pieces.
    const isPiece = typeof value === "string" && typeof before === "string" && type !== "compaction_delta";
    this.value[name] = isPiece ? before + value : value;
  }

  close(): void {
    if (this.#input === "") return;
    try {
      this.value.input = parsedJson(this.#input);
    } catch {
      // Cut off at the output limit: the input of the provider's own tool is the provider's business.
    }
  }
}
