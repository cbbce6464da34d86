// @rondo/testkit/jest: import it once, in `setupFilesAfterEnv`, and jest's `expect` has the matchers.

import type {} from "expect";
import { type RondoMatchers, rondoMatchers } from "./matchers/matchers.ts";

declare module "expect" {
  interface Matchers<R extends void | Promise<void>, T> extends RondoMatchers<R> {}
}

declare global {
  // What @types/jest calls its own.
  namespace jest {
    interface Matchers<R, T> extends RondoMatchers<R> {}
  }
}

const { expect } = globalThis as { expect?: { extend?(matchers: typeof rondoMatchers): void } };
if (typeof expect?.extend !== "function")
  throw new Error(
    "@rondo/testkit/jest: there is no global `expect`. Import this in `setupFilesAfterEnv`; " +
      "where globals are off, call expect.extend(rondoMatchers) of @rondo/testkit yourself.",
  );
expect.extend(rondoMatchers);
