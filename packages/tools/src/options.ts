// The room of options: what all file tools share.

import { messageOf, type Permission, RondoError } from "@rondo/core";
import { Root } from "./root.ts";
import { Seen } from "./seen.ts";

export interface FileToolOptions {
  /**
   * The folder the tool stays under; it must exist. Tools that are made one by one and belong together (a write must
   * know what was read) are given one `fileToolSet(folder)` instead.
   */
  root: string | FileToolSet;
  /** Default: `allow`. */
  permission?: Permission;
}

/** What the tools of one set share: the root as it really is, and what the model has seen of its files. */
export interface FileToolSet {
  readonly root: Root;
  readonly seen: Seen;
}

/**
 * What file tools of one set share.
 * @throws RondoError `invalid_request` when the root is no folder
 */
export function fileToolSet(root: string | FileToolSet): FileToolSet {
  if (typeof root !== "string") return root;
  try {
    return { root: new Root(root), seen: new Seen() };
  } catch (thrown) {
    throw new RondoError("invalid_request", messageOf(thrown), { cause: thrown });
  }
}
