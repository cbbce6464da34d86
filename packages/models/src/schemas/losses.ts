// The room of what is lost: every rule that does not come through a conversion is written down here, once.
//
// Something inside a keyword that has no path of its own stands for the whole keyword.

import type { Json, JsonObject } from "@rondo/core";
import { definitions, partnerOf } from "./keywords.ts";
import { annotations, same } from "./node.ts";
import { partners, type Removed } from "./removed.ts";

export class Losses {
  removed: Removed[] = [];
  /** Paths where the schema takes less than the original. */
  readonly narrowed: string[] = [];
  /** Words that are left out without a word. */
  readonly #silent: readonly string[];

  constructor(silent: readonly string[]) {
    this.#silent = silent;
  }

  /** Does something inside a keyword that has no path: whatever it loses stands for the whole keyword. */
  within<T>(word: string, value: Json, path: string, inside: () => T, node?: JsonObject): T {
    const kept = this.removed;
    this.removed = [];
    const done = inside();
    const lost = this.removed.length > 0;
    this.removed = kept;
    if (lost) this.lose(word, path, value, node);
    return done;
  }

  /** Does something whose losses are written down elsewhere. */
  aside<T>(inside: () => T): T {
    const kept = this.removed;
    const narrowed = this.narrowed.length;
    this.removed = [];
    const done = inside();
    this.removed = kept;
    this.narrowed.length = narrowed;
    return done;
  }

  /** @param node what the keyword stands in, where its partners stand beside it */
  lose(word: string, path: string, value: Json, node?: JsonObject): void {
    if (annotations.has(word) || definitions.has(word) || this.#silent.includes(word)) return;
    const head = partnerOf(word);
    if (head !== undefined && node !== undefined) {
      if (node[head] === undefined) return;
      const group = (partners[head] ?? []).filter((one) => node[one] !== undefined);
      this.#note(head, path, Object.fromEntries(group.map((one) => [one, node[one] as Json])));
    } else this.#note(word, path, value);
  }

  /** Whatever stands beside a reference and goes with it. */
  loseAll(node: JsonObject, path: string): void {
    for (const [word, value] of Object.entries(node)) this.lose(word, path, value, node);
  }

  has(type: string, fieldPath: string, value: Json): boolean {
    return this.removed.some(
      (rule) => rule.type === type && rule.fieldPath === fieldPath && same(rule.value, value),
    );
  }

  /** Whether anything of a keyword was lost at a path. */
  hasAt(type: string, fieldPath: string): boolean {
    return this.removed.some((rule) => rule.fieldPath === fieldPath && rule.type === type);
  }

  #note(type: string, fieldPath: string, value: Json): void {
    if (!this.has(type, fieldPath, value)) this.removed.push({ type, fieldPath, value });
  }
}
