// fast-check with one seed for every property, so that a verdict on a commit is the same wherever it is asked for.
//
// The tests get it in fast-check's place (vitest.config.ts). New inputs are looked for on purpose, not by accident:
// RONDO_SEED=random takes another seed each time, RONDO_SEED=N that one. A failure prints the seed it was found with.

import fc from "../node_modules/fast-check/lib/fast-check.js";

const asked = process.env.RONDO_SEED ?? "1";
if (asked !== "random") {
  const seed = Number(asked);
  if (!Number.isSafeInteger(seed))
    throw new Error(`RONDO_SEED is ${asked}: it must be a whole number or random`);
  fc.configureGlobal({ seed });
}

export * from "../node_modules/fast-check/lib/fast-check.js";
export default fc;
