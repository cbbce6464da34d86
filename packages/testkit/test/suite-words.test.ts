// The suites' own words: whoever fails a check reads what it is, what it must be, and what to do.

import {
  type BlobLimits,
  type BlobStore,
  type Journal,
  type LogRecord,
  memoryBlobs,
  memoryJournal,
} from "@rondo/core";
import { type Check, say, scripted, testBlobs, testJournal, testModel, throwing } from "@rondo/testkit";
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

test("what a check says behind a failure stands in its stack too, which is all that node:test prints", async () => {
  const model = scripted(() => say("It is so."));
  const checks = testModel({ name: "mine", open: () => ({ model }) });
  const reasoning = checks.find(({ name }) => name.startsWith("mine: reasoning"));
  const failed = await reasoning?.run().then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(failed?.stack).toMatch(/must be \[ 'Let me see.' \].*lacks: \["reasoning"\]\)\n +at /s);
});

test("what a check says behind a failure hides none whose message cannot be changed", async () => {
  const model = scripted(() => throwing(new DOMException("it took too long", "TimeoutError")));
  const said = await complaints(testModel({ name: "mine", open: () => ({ model }) }));
  expect(said).toMatch(/mine: reasoning .*: it took too long\n\(Left out where .*\["reasoning"\]\)/);
  expect(said).not.toContain("which has only a getter");
});

const plain = (): Journal => {
  const { append, read, list } = memoryJournal();
  return { append, read, list };
};

test("a journal that changes the group it is given reads that it must not", async () => {
  const emptying = (inner: Journal): Partial<Journal> => ({
    async append(id, seq, records) {
      await inner.append(id, seq, [...records]);
      (records as unknown[]).length = 0;
    },
  });
  expect(await complaints(journal(emptying))).toContain(
    "what it is given stays as it was: the loop goes on with it: the group that was appended, after append has returned: it is []",
  );
  const stamping = (inner: Journal): Partial<Journal> => ({
    async append(id, seq, records) {
      await inner.append(id, seq, structuredClone(records));
      for (const record of records) Object.assign(record, { stored: true });
    },
  });
  expect(await complaints(journal(stamping))).toContain("what it is given stays as it was");
});

test("a journal with small columns is caught: times and chance are kept whole", async () => {
  for (const small of [
    (record: LogRecord): LogRecord => ({ ...record, at: record.at | 0 }),
    (record: LogRecord): LogRecord => ({ ...record, rand: Math.fround(record.rand) }),
  ]) {
    const said = await complaints(
      journal((inner) => ({ append: (id, seq, records) => inner.append(id, seq, records.map(small)) })),
    );
    expect(said).toContain("record 9 (run_started) came back changed");
  }
});

test("a durable journal that writes only when it is closed is caught", async () => {
  const kept = new Map<string, [string, number, LogRecord[]][]>();
  const open = (place: string): Journal => {
    const written = kept.get(place) ?? [];
    const inner = plain();
    for (const group of written) void inner.append(...group);
    const waiting: typeof written = [];
    return {
      ...inner,
      append: (id, seq, records) => {
        void inner.append(id, seq, records);
        waiting.push([id, seq, [...records]]);
      },
      close: () => void kept.set(place, [...written, ...waiting]),
    };
  };
  const said = await complaints(testJournal({ name: "mine", open, durable: true }));
  expect(said).toContain(
    "mine: what was appended is kept when append has returned, and not only once the journal is closed: what a second one, opened at the same place, reads of a: it is []",
  );
});

/** Sessions are kept by place; what each that is opened knows of lengths and leases is its own. */
function withOwnIdeas(): (place: string) => Journal {
  const kept = new Map<string, LogRecord[]>();
  return (place) => {
    const own = memoryJournal({ leases: true });
    for (const [name, records] of kept)
      if (name.startsWith(`${place}/`)) void own.append(name.slice(place.length + 1), 0, records);
    const idOf = (session: string): string => `${place}/${session}`;
    return {
      ...own,
      append(session, seq, records, token) {
        own.append(session, seq, records, token);
        kept.set(idOf(session), own.read(session) as LogRecord[]);
      },
      read: (session, from = 0) => {
        const mine = own.read(session, from) as LogRecord[];
        const all = (kept.get(idOf(session)) ?? []).slice(from);
        return all.length > mine.length ? all : mine;
      },
    };
  };
}

test("a durable journal whose lengths, leases and tokens are known to one process alone is caught", async () => {
  const said = await complaints(
    testJournal({ name: "mine", open: withOwnIdeas(), durable: true, leases: true }),
  );
  const caught = said.split("\n").flatMap((line) => /^mine: (.*?): /.exec(line)?.[1] ?? []);
  expect(caught).toEqual([
    "of two that are open at one place exactly one wins, and each goes on behind the other",
    "a lease holds against whoever opens the same place as well, until they take it over",
    "no token is given twice, also not when it was closed and opened again",
  ]);
  expect(said).toContain("the token after opening again is 1, and 1 was given before");
});

test("a durable journal may have nothing to close, and may let nobody look while it is open", async () => {
  const places = new Map<string, Journal>();
  const open = (place: string): Journal => {
    const there = places.get(place) ?? plain();
    places.set(place, there);
    return there;
  };
  expect(await complaints(testJournal({ name: "mine", open, durable: true }))).toBe("");
  const held = new Set<string>();
  const one = (place: string): Journal => {
    if (held.has(place)) throw new Error("in use");
    held.add(place);
    return open(`one ${place}`);
  };
  const said = await complaints(testJournal({ name: "mine", open: one, durable: true }));
  expect(said).not.toContain("what was appended is kept when append has returned");
});

test("a journal that fails to close is told so, behind whatever else is wrong, and so is one that was not opened", async () => {
  const close = (): void => {
    throw new Error("it is stuck");
  };
  const said = await complaints(
    journal((inner) => ({ close, list: () => [...(inner.list() as [])].reverse() })),
  );
  expect(said).toContain(
    "mine: reading begins where it is asked to: close() failed, and must not: it is stuck",
  );
  expect(said).toMatch(/the list: it is .*\(And close\(\) failed, and must not: it is stuck\)/s);
  const [first] = testJournal({ name: "mine", open: () => undefined as unknown as Journal });
  await expect(first?.run()).rejects.toThrow(
    "testJournal: what `open` gave cannot be used: a journal (append, read, list) is needed, not undefined",
  );
});

test("a store that was not opened, or that keeps a bound of its own beside another, reads what is needed", async () => {
  const [first] = testBlobs({ name: "mine", open: () => ({}) as BlobStore });
  await expect(first?.run()).rejects.toThrow(
    "testBlobs: what `open` gave cannot be used: a store of texts (put, get, delete) is needed, not an object",
  );
  const texts = memoryBlobs();
  const open = (_place: string, limits?: BlobLimits): BlobStore => {
    const own = memoryBlobs(limits);
    return {
      ...own,
      async put(session, text, origin) {
        const put = await own.put(session, text, origin);
        if (put.ok) await texts.put(session, text, origin);
        return put;
      },
      get: (session, ref) => texts.get(session, ref),
    };
  };
  expect(await complaints(testBlobs({ name: "mine", open, durable: true }))).toContain(
    "one kept 15 bytes of a session, the other 6 more, and 20 is the bound of both together",
  );
});
