// The room of sources: what Google reports about where an answer comes from.
//
// It comes with any event, and repeatedly: citations one by one, grounding member by member, of which the last value
// counts.

import type { Json, JsonObject } from "@rondo/core";
import { setOwn } from "@rondo/core/checks";
import { isHollow } from "../../json-values.ts";
import { type GoogleCandidate, listOf } from "./wire.ts";

export class GoogleSources {
  /** As JSON, so that repeated ones count once. */
  readonly #citations = new Set<string>();
  readonly #metadata: JsonObject = {};
  readonly #grounding: JsonObject = {};

  add({ citationMetadata, groundingMetadata, urlContextMetadata }: GoogleCandidate): void {
    // The fast path: most events have none.
    if (!citationMetadata && !groundingMetadata && !urlContextMetadata) return;
    for (const citation of [
      ...listOf(citationMetadata?.citations),
      ...listOf(citationMetadata?.citationSources),
    ])
      this.#citations.add(JSON.stringify(citation));
    for (const [name, value] of Object.entries(groundingMetadata ?? {}))
      setOwn(this.#grounding, name, value as Json);
    if (!isHollow(groundingMetadata)) this.#metadata.groundingMetadata = this.#grounding;
    if (urlContextMetadata && !isHollow(urlContextMetadata))
      this.#metadata.urlContextMetadata = urlContextMetadata;
  }

  /** All of them, citations first. */
  get all(): Json[] {
    const citations = [...this.#citations].map((text) => JSON.parse(text) as Json);
    return [...citations, ...Object.entries(this.#metadata).map(([name, value]) => ({ [name]: value }))];
  }
}
