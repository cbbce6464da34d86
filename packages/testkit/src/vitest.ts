// @rondo/testkit/vitest: import it once, in a setup file, and vitest's `expect` has the matchers.

import { expect } from "vitest";
import { type RondoMatchers, rondoMatchers } from "./matchers/matchers.ts";

declare module "vitest" {
  interface Matchers<R extends void | Promise<void>, T> extends RondoMatchers<R> {}
}

declare global {
  // Where vitest 3 and 4 look for matchers of others.
  namespace jest {
    interface Matchers<R, T> extends RondoMatchers<R> {}
  }
}

expect.extend(rondoMatchers);
