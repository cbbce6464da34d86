// The model checker over the loop as it is, in as many states as `npm run modelcheck` visits when nothing else is asked.

import { type Row, table } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { runScript } from "../../../test/run-script.ts";
import { explore } from "../src/modelcheck/explore.ts";
import { subjects } from "../src/modelcheck/subjects.ts";

/** Over all subjects more than 150,000: of fewer some would miss the rarest rows. */
const each = 3_600;

describe("over the loop as it is, the model checker", () => {
  const reached = new Set<Row>();

  test.each(subjects())("finds nothing: $name", (subject) => {
    const { findings, states, rows } = explore(subject, each);
    expect(findings).toEqual([]);
    expect(states).toBe(each);
    for (const row of rows) reached.add(row);
  });

  test("visits more than 150,000 states, and every row of the table", () => {
    expect(subjects().length * each).toBeGreaterThan(150_000);
    const missed = Object.values(table)
      .flat()
      .filter((row) => !reached.has(row));
    expect(missed.map(({ when, does }) => `${when}, ${does}`)).toEqual([]);
  });

  test("says how many it visited when it is run by its name", async () => {
    const { code, lines } = await runScript("modelcheck", "--states", "430");
    expect(lines.at(-1)).toBe("visited 430 states, 0 broken");
    expect(code).toBe(0);
  });
});
