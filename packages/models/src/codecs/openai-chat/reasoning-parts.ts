// The room of reasoning among a content's parts: Claude's thinking as Databricks writes it, which goes back as a part of the
// content, with its signatures (F099). A stream tells a summary in pieces, the signature last, beside an empty text.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectIn, textIn } from "../../json-values.ts";
import { textOf } from "./chunk.ts";

interface Summary {
  entry: JsonObject;
  pieces: string[];
}

export class ReasoningParts {
  readonly #summaries: Summary[] = [];

  get empty(): boolean {
    return this.#summaries.length === 0;
  }

  /** Takes a part; returns the readable text in it. A part without a summary is readable, and nothing to send back. */
  push(part: JsonObject): string {
    if (!Array.isArray(part.summary)) return textOf(part);
    let shown = "";
    for (const one of listIn(part.summary)) {
      const fragment = objectIn(one);
      if (fragment === undefined) continue;
      const text = textIn(fragment.text);
      if (text === undefined) {
        this.#summaries.push({ entry: fragment, pieces: [] });
        continue;
      }
      const { entry, pieces } = this.#open(fragment);
      pieces.push(text);
      if (textIn(fragment.signature)) entry.signature = fragment.signature ?? "";
      shown += text;
    }
    return shown;
  }

  whole(): Json[] {
    const summary = this.#summaries.map(({ entry, pieces }) =>
      entry.text === undefined ? entry : { ...entry, text: pieces.join("") },
    );
    return [{ type: "reasoning", summary }];
  }

  /** The summary that is still open, or a new one: a summary ends with its signature. */
  #open(fragment: JsonObject): Summary {
    const last = this.#summaries.at(-1);
    if (last !== undefined && last.entry.text !== undefined && !textIn(last.entry.signature)) return last;
    const fresh: Summary = { entry: { ...fragment }, pieces: [] };
    this.#summaries.push(fresh);
    return fresh;
  }
}
