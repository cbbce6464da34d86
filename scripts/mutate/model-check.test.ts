// The model checker as tests, one per loop it checks, each small enough to run with every mutant.
// `npm run -s modelcheck` runs all of it.

import { expect, test } from "vitest";
import { explore } from "../../packages/testkit/src/modelcheck/explore.ts";
import { subjects } from "../../packages/testkit/src/modelcheck/subjects.ts";

for (const subject of subjects())
  test(`nothing is broken in the loop ${subject.name}`, () => {
    expect(explore(subject, 300, { findings: 1 }).findings).toEqual([]);
  });
