// The room of OpenRouter's `reasoning_details`: the fragments of an entry share an index, and are sent back as one entry;
// its signature comes last, without text (F108). Some of its models put the answer's text there as well, in entries of a
// type of their own.

import type { Json, JsonObject } from "@rondo/core";
import { isHollow, listIn, objectIn, textIn } from "../../json-values.ts";

interface Entry {
  key: string;
  entry: JsonObject;
  pieces: { [member: string]: string[] };
}

/** The readable text in a list: reasoning, and text of the answer. */
interface Readable {
  reasoning: string;
  text: string;
}

/** The type of an entry with text of the answer. */
const answerType: RegExp = /^response\.(?:output_)?text$/;

export class ReasoningDetails {
  readonly #entries: Entry[] = [];
  /** The first entry of each key. */
  readonly #byKey = new Map<string, Entry>();

  get empty(): boolean {
    return this.#entries.length === 0;
  }

  /** Takes a delta's list. */
  push(given: Json | undefined): Readable {
    const shown: Readable = { reasoning: "", text: "" };
    for (const one of listIn(given)) {
      const fragment = objectIn(one);
      if (fragment === undefined || isHollow(fragment)) continue;
      if (answerType.test(textIn(fragment.type) ?? "")) {
        shown.text += textIn(fragment.text) ?? "";
        continue;
      }
      const key = `${String(fragment.index ?? "")} ${String(fragment.type ?? "")} ${fragment.type === "reasoning.encrypted" ? String(fragment.id ?? "") : ""}`;
      // Without an index, only consecutive fragments of one kind belong together.
      let known = fragment.index === undefined ? this.#entries.at(-1) : this.#byKey.get(key);
      if (known?.key !== key || (fragment.index === undefined && fragment.type === "reasoning.encrypted")) {
        known = { key, entry: {}, pieces: {} };
        this.#entries.push(known);
        if (!this.#byKey.has(key)) this.#byKey.set(key, known);
      }
      for (const [member, value] of Object.entries(fragment)) {
        if (member === "__proto__") continue;
        if ((member === "text" || member === "summary") && typeof value === "string") {
          known.pieces[member] ??= [];
          known.pieces[member].push(value);
          known.entry[member] = "";
        } else if (value !== null || !Object.hasOwn(known.entry, member)) known.entry[member] = value;
      }
      shown.reasoning += textIn(fragment.text) ?? textIn(fragment.summary) ?? "";
    }
    return shown;
  }

  whole(): Json[] {
    return this.#entries.map(({ entry, pieces }) => {
      const whole: JsonObject = { ...entry };
      for (const [member, texts] of Object.entries(pieces)) whole[member] = texts.join("");
      return whole;
    });
  }
}
