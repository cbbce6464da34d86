// The room of losses: every rule that a conversion loses is recorded here, once.
//
// A rule inside a keyword that has no path of its own is recorded as the whole keyword.

import type { Json, JsonObject } from "@rondo/core";
import { definitions, partnerOf } from "./keywords.ts";
import { annotations, same } from "./node.ts";
import { partners, type Removed } from "./removed.ts";

export class Losses {
  removed: Removed[] = [];
  /** Paths where the schema accepts less than the original. */
  readonly narrowed: string[] = [];
  /** Keywords whose loss is not recorded. */
  readonly #silent: readonly string[];
  /** Recorded rules that only stand for what is beyond a cycle. */
  readonly #circles = new Set<Removed>();
  /** How often any other rule was lost, new or already recorded. */
  #times = 0;

  constructor(silent: readonly string[]) {
    this.#silent = silent;
  }

  /** Runs a conversion inside a keyword that has no path: any loss is recorded as the whole keyword. */
  within<T>(word: string, value: Json, path: string, inside: () => T, node?: JsonObject): T {
    const kept = this.removed;
    this.removed = [];
    const done = inside();
    const lost = this.removed;
    this.removed = kept;
    if (lost.length > 0) this.#lose(word, path, value, node, this.#onlyCircles(lost));
    return done;
  }

  /** Runs a conversion whose losses are recorded elsewhere. */
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
   * Follows a reference that stays, from outside of any other. If nothing is lost in the definition, nothing is lost beyond
   * its cycles either, which only repeat it.
   */
  following(inside: () => void): void {
    const before = this.removed.length;
    const times = this.#times;
    inside();
    if (this.#times === times) this.removed.length = before;
  }

  /** A reference that stays and leads back into a definition that is being followed: it represents what is lost there, at every depth. */
  circle(path: string, ref: string): void {
    this.#note("$ref", path, ref, true);
  }

  /** @param node the node with the keyword, and with its partners next to it */
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

  /** Loses everything next to a reference, together with it. */
  loseAll(node: JsonObject, path: string): void {
    for (const [word, value] of Object.entries(node)) this.lose(word, path, value, node);
  }

  has(type: string, fieldPath: string, value: Json): boolean {
    return this.#known(type, fieldPath, value) !== undefined;
  }

  /** Whether any rule of a keyword was lost at a path. */
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
