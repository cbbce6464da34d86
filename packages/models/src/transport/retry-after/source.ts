// The room of what a wait is read from.

import type { Json } from "@rondo/core";

export interface WaitSource {
  header(name: string): string | null;
  /** The body's text, or the value parsed from it. */
  body?: Json;
  /** Milliseconds since the epoch, for dates in a response without a `Date` header. Default: now. */
  now?: number;
  /** Read the reset times that providers put on every response. Only sensible for a 429. */
  resets?: boolean;
}
