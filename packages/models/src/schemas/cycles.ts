// The room of cycles: whether a reference leads back into what is being followed already.
//
// That a reference was followed on the way is not enough: what stands beside one (a member of the same kind, say) is no
// part of what it points to. So it is asked where the node stands that refers: in one of the definitions that are being
// followed, or outside of them all. A node that was made on the way stands nowhere, and is taken to stand inside.

import type { Json } from "@rondo/core";
import type { Trail } from "./alternatives.ts";
import { pointed } from "./node.ts";

export class Cycles {
  readonly #root: Json;
  readonly #within = new Map<string, ReadonlySet<Json>>();

  constructor(root: Json) {
    this.#root = root;
  }

  /** @param node what refers, as it stands in the schema */
  has(ref: string, node: Json, trail: Trail): boolean {
    const at = trail.indexOf(ref);
    if (at < 0) return false;
    if (!this.#nodesOf("#").has(node)) return true;
    return trail.slice(at).some((followed) => followed !== "" && this.#nodesOf(followed).has(node));
  }

  /** All that stands in what a reference points to. */
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
