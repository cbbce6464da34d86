// The suites' own words: whoever fails a check reads what it is, what it must be, and what to do.

import { type Journal, memoryBlobs, memoryJournal } from "@rondo/core";
import { type Check, say, scripted, testBlobs, testJournal, testModel } from "@rondo/testkit";
import { expect, test } from "vitest";

async function complaints(checks: readonly Check[]): Promise<string> {
  const said: string[] = [];
  for (const { name, run } of checks)
    await run().catch((thrown: Error) => said.push(`${name}: ${thrown.message}`));
  return said.join("\n");
}

const journal = (change: (inner: Journal) => Partial<Journal>): Check[] =>
  testJournal({
    name: "mine",
    open: () => {
      const { append, read, list } = memoryJournal();
      const inner: Journal = { append, read, list };
      return { ...inner, ...change(inner) };
    },
  });

test("a journal that refuses nothing reads what it must refuse, as what, and naming what", async () => {
  const said = await complaints(
    journal((inner) => ({ read: (id, from = 0) => inner.read(id, Math.max(0, from | 0)) })),
  );
  expect(said).toContain(
    "mine: reading begins where it is asked to: nothing was refused; needed is a RondoError of kind invalid_request whose message names -1",
  );
});

test("a journal that throws another error reads which one is needed", async () => {
  const said = await complaints(
    journal((inner) => ({
      append: (id, seq, records) => {
        if (seq !== (inner.read(id) as unknown[]).length) throw new Error("wrong length");
        return inner.append(id, seq, records);
      },
    })),
  );
  expect(said).toContain(
    'it was refused with Error: wrong length; needed is a RondoError of kind conflict whose message names "a"',
  );
});

test("a journal that lists otherwise reads what the list is, and what it must be", async () => {
  const said = await complaints(journal((inner) => ({ list: () => [...(inner.list() as [])].reverse() })));
  expect(said).toMatch(/the list: it is \[.*'old'.*'young'.*\], and must be \[.*'young'.*'old'/);
});

test("a store that keeps what is too large reads how it must refuse", async () => {
  const said = await complaints(testBlobs({ name: "mine", open: () => memoryBlobs() }));
  expect(said).toContain("it was kept, and must be refused: { ok: false, reason } with the numbers");
});

test("a model without reasoning reads what is missing, and how to say that it has none", async () => {
  const model = scripted(() => say("It is so."));
  const said = await complaints(testModel({ name: "mine", open: () => ({ model }) }));
  expect(said).toMatch(
    /the reasoning parts of the answer: it is \[\], and must be \[ 'Let me see.' \].*\(Left out where it has no form for this: lacks: \["reasoning"\]\)/s,
  );
});
