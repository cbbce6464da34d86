// The room of cycles: whether a reference leads back into a definition that is already being followed.
//
// It is not enough that the same reference was followed before: keywords beside a reference (a member of the same type,
// say) are not part of its definition. So the question is where the referring node is: inside one of the definitions being
// followed, or outside all of them. A node made during the conversion is nowhere, and counts as inside.

import type { Json } from "@rondo/core";
import type { Trail } from "./alternatives.ts";
import { pointed } from "./node.ts";

export class Cycles {
  readonly #root: Json;
  readonly #within = new Map<string, ReadonlySet<Json>>();

  constructor(root: Json) {
    this.#root = root;
  }

  /** @param node the referring node, as it is in the schema */
  has(ref: string, node: Json, trail: Trail): boolean {
    const at = trail.indexOf(ref);
    if (at < 0) return false;
    if (!this.#nodesOf("#").has(node)) return true;
    return trail.slice(at).some((followed) => followed !== "" && this.#nodesOf(followed).has(node));
  }

  /** All nodes in the definition that a reference points to. */
  #nodesOf(ref: string): ReadonlySet<Json> {
    const known = this.#within.get(ref);
    if (known !== undefined) return known;
    const nodes = new Set<Json>();
    const waiting = [pointed(this.#root, ref)];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (typeof node !== "object" || node === null || nodes.has(node)) continue;
      nodes.add(node);
      for (const inner of Object.values(node)) waiting.push(inner);
    }
    this.#within.set(ref, nodes);
    return nodes;
  }
}
