// The room of origins: whether what was said comes from where it is to go.

import type { Origin } from "@rondo/core";

/** Whether opaque data of the one may go to the other. */
export function isSameOrigin(one: Origin | undefined, other: Origin | undefined): boolean {
  return one?.api === other?.api && one?.provider === other?.provider && one?.model === other?.model;
}
