// The room of options: what all file tools share.

import { messageOf, type Permission, RondoError } from "@rondo/core";
import {
  type Check,
  type ChecksOf,
  checkGiven,
  either,
  having,
  name,
  object,
  oneOf,
} from "@rondo/core/checks";
import { Root } from "./paths/root.ts";
import { Seen } from "./stale-writes.ts";

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

/** A tool's permission, as an option. */
export const permissionOption: Check = oneOf("allow", "ask", "deny");

/** What the options that all file tools share must be. */
export const fileToolChecks: ChecksOf<FileToolOptions> = {
  root: either(
    name,
    having("the path of a folder, or a fileToolSet() of one,", { root: object, seen: object }),
  ),
  permission: permissionOption,
};

/**
 * What file tools of one set share.
 * @throws RondoError `invalid_request` when the root is no folder, and nothing made of one
 */
export function fileToolSet(root: string | FileToolSet): FileToolSet {
  checkGiven(fileToolChecks.root, root, "root");
  if (typeof root !== "string") return root;
  try {
    return { root: new Root(root), seen: new Seen() };
  } catch (thrown) {
    throw new RondoError("invalid_request", messageOf(thrown), { cause: thrown });
  }
}
