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
   * The folder the tool stays under; it must exist. Tools made separately that belong together (a write must
   * know what was read) share one `fileToolSet(folder)` instead.
   */
  root: string | FileToolSet;
  /** Default: `allow`. */
  permission?: Permission;
}

/** What the tools of one set share: the real root, and what the model has seen of its files. */
export interface FileToolSet {
  readonly root: Root;
  readonly seen: Seen;
}

/** The check of a tool's `permission` option. */
export const permissionOption: Check = oneOf("allow", "ask", "deny");

/** Checks of the options that all file tools share. */
export const fileToolChecks: ChecksOf<FileToolOptions> = {
  root: either(
    name,
    having("the path of a folder, or a fileToolSet() of one,", { root: object, seen: object }),
  ),
  permission: permissionOption,
};

/**
 * Makes the set that file tools share as their `root`.
 * @throws RondoError `invalid_request` when the root is neither a folder nor a `FileToolSet`
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
