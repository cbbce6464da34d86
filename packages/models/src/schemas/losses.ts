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
  /** Those that stand only for what lies beyond a circle. */
  readonly #circles = new Set<Removed>();
  /** How often anything else was lost, known or not. */
  #times = 0;

  constructor(silent: readonly string[]) {
    this.#silent = silent;
  }

  /** Does something inside a keyword that has no path: whatever it loses stands for the whole keyword. */
  within<T>(word: string, value: Json, path: string, inside: () => T, node?: JsonObject): T {
    const kept = this.removed;
    this.removed = [];
    const done = inside();
    const lost = this.removed;
    this.removed = kept;
    if (lost.length > 0) this.#lose(word, path, value, node, this.#onlyCircles(lost));
    return done;
  }

  /** Does something whose losses are written down elsewhere. */
  aside<T>(inside: () => T): T {
    const kept = this.removed;
    const narrowed = this.narrowed.length;
    const times = this.#times;
    this.removed = [];
    const done = inside();
    this.removed = kept;
    this.#times = times;
    this.narrowed.length = narrowed;
    return done;
  }

  /**
   * Follows a reference that stays, from outside of any other. Where nothing is lost on the way, there is nothing to lose
   * beyond the circles in it either, for what lies there is the same once more.
   */
  following(inside: () => void): void {
    const before = this.removed.length;
    const times = this.#times;
    inside();
    if (this.#times === times) this.removed.length = before;
  }

  /** A reference that stays and leads back into what is being followed: it stands for what is lost on the way, at every depth. */
  circle(path: string, ref: string): void {
    this.#note("$ref", path, ref, true);
  }

  /** @param node what the keyword stands in, where its partners stand beside it */
  lose(word: string, path: string, value: Json, node?: JsonObject): void {
    this.#lose(word, path, value, node, false);
  }

  #lose(word: string, path: string, value: Json, node: JsonObject | undefined, circle: boolean): void {
    if (annotations.has(word) || definitions.has(word) || this.#silent.includes(word)) return;
    const head = partnerOf(word);
    if (head !== undefined && node !== undefined) {
      if (node[head] === undefined) return;
      const group = (partners[head] ?? []).filter((one) => node[one] !== undefined);
      this.#note(head, path, Object.fromEntries(group.map((one) => [one, node[one] as Json])), circle);
    } else this.#note(word, path, value, circle);
  }

  /** Whatever stands beside a reference and goes with it. */
  loseAll(node: JsonObject, path: string): void {
    for (const [word, value] of Object.entries(node)) this.lose(word, path, value, node);
  }

  has(type: string, fieldPath: string, value: Json): boolean {
    return this.#known(type, fieldPath, value) !== undefined;
  }

  /** Whether anything of a keyword was lost at a path. */
  hasAt(type: string, fieldPath: string): boolean {
    return this.removed.some((rule) => rule.fieldPath === fieldPath && rule.type === type);
  }

  #known(type: string, fieldPath: string, value: Json): Removed | undefined {
    return this.removed.find(
      (rule) => rule.type === type && rule.fieldPath === fieldPath && same(rule.value, value),
    );
  }

  #onlyCircles(rules: readonly Removed[]): boolean {
    return rules.every((rule) => this.#circles.has(rule));
  }

  #note(type: string, fieldPath: string, value: Json, circle: boolean): void {
    const known = this.#known(type, fieldPath, value);
    const rule = known ?? { type, fieldPath, value };
    if (!circle) this.#times += 1;
    if (known === undefined) this.removed.push(rule);
    if (!circle) this.#circles.delete(rule);
    else if (known === undefined) this.#circles.add(rule);
  }
}
