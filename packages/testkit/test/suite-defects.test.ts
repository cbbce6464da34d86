// What the suites once took for right, or told in words that led elsewhere.

import {
  type AgentOptions,
  type Journal,
  type LogRecord,
  type Model,
  memoryJournal,
  RondoError,
  tool,
} from "@rondo/core";
import {
  type Check,
  type OpenModel,
  scripted,
  type Turn,
  testJournal,
  testModel,
  testPreset,
  testTool,
} from "@rondo/testkit";
import { describe, expect, it } from "vitest";

async function complaints(checks: readonly Check[]): Promise<string> {
  const said: string[] = [];
  for (const { name, run } of checks)
    await run().catch((thrown: Error) => said.push(`${name}: ${thrown.message}`));
  return said.join("\n");
}

const reading = (change: (record: LogRecord) => LogRecord): Check[] =>
  testJournal({
    name: "mine",
    open: () => {
      const { append, read, list } = memoryJournal();
      return { append, list, read: async (id, from) => (await read(id, from)).map(change) };
    },
  });

const withoutNulls = (record: LogRecord): LogRecord =>
  JSON.parse(JSON.stringify(record), (_, value) => value ?? undefined);

const sorted = (record: LogRecord): LogRecord =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))) as LogRecord;

/** A journal that outlives its handles: what each handle does otherwise is its own. */
function kept(change: (inner: Journal) => Partial<Journal>, watches: boolean = false): Check[] {
  const places = new Map<string, Journal>();
  return testJournal({
    name: "mine",
    durable: true,
    watches,
    patienceMs: 50,
    open: (place) => {
      const { append, read, list, watch } = places.get(place) ?? memoryJournal();
      const inner: Journal = { append, read, list, ...(watch === undefined ? {} : { watch }) };
      places.set(place, inner);
      return { ...inner, ...change(inner) };
    },
  });
}

describe("a journal", () => {
  it("that loses members that are null is caught, and reads where the record differs", async () => {
    expect(await complaints(reading(withoutNulls))).toMatch(
      /record 6 \(output_checked\) came back changed: as JSON it reads ….* and must read ….*"z":null/,
    );
  });

  it("that sorts the members of a record reads that their order counts", async () => {
    expect(await complaints(reading(sorted))).toMatch(
      /record 0 \(queued\) came back changed: as JSON it reads …\{"at":1000.* \(the order of members counts/,
    );
  });

  it("that lists one page of its sessions is caught", async () => {
    const open = (): Journal => {
      const { append, read, list } = memoryJournal();
      return { append, read, list: async () => (await list()).slice(0, 100) };
    };
    expect(await complaints(testJournal({ name: "mine", open }))).toContain(
      "mine: the list holds every session, however many there are: the number of sessions in the list: it is 100, and must be 120",
    );
  });

  it("that keeps what it has read, whatever others write then, is caught", async () => {
    const said = await complaints(
      kept((inner) => {
        const known = new Map<string, LogRecord[]>();
        return {
          async append(id, seq, records) {
            await inner.append(id, seq, records);
            known.get(id)?.push(...records);
          },
          async read(id, from = 0) {
            const all = await inner.read(id, from);
            if (from !== 0 || all.length === 0) return all;
            if (!known.has(id)) known.set(id, all);
            return [...(known.get(id) ?? [])];
          },
        };
      }),
    );
    expect(said).toContain("what the second reads, after the first wrote");
  });

  it("whose watchers hear only of what the same handle writes is caught", async () => {
    const said = await complaints(
      kept((inner) => {
        const heard = new Map<string, Set<() => void>>();
        return {
          async append(id, seq, records) {
            await inner.append(id, seq, records);
            for (const call of heard.get(id) ?? []) call();
          },
          watch(id, call) {
            const calls = heard.get(id) ?? new Set();
            heard.set(id, calls.add(call));
            // Whoever asks for an id that cannot be stored is refused by the good one.
            const stop = inner.watch?.(id, () => {});
            return () => {
              stop?.();
              calls.delete(call);
            };
          },
        };
      }, true),
    );
    expect(said).toBe(
      "mine: who watches a session hears of what is appended by whoever opened the same place as well: nothing was heard for 50 ms",
    );
  });

  it("that returns one page of a session is caught", async () => {
    const open = (): Journal => {
      const { append, read, list } = memoryJournal();
      return { append, list, read: async (id, from) => (await read(id, from)).slice(0, 1_000) };
    };
    expect(await complaints(testJournal({ name: "mine", open }))).toContain(
      "mine: a group of two thousand records is one group: the number of records: it is 1000, and must be 2000",
    );
  });

  it("that writes a group record by record is caught: others would read half of it", async () => {
    const open = (): Journal => {
      const { append, read, list } = memoryJournal();
      return {
        read,
        list,
        async append(id, seq, records) {
          // It looks at all of the group first, and so refuses what it must.
          if (records.length === 0) return append(id, seq, records);
          const all = memoryJournal();
          all.append(id, 0, await read(id));
          all.append(id, seq, records);
          for (const [at, record] of records.entries()) {
            append(id, seq + at, [record]);
            if (at % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
          }
        },
      };
    };
    expect(await complaints(testJournal({ name: "mine", open }))).toContain(
      "mine: who reads while a group is written finds none of it or all of it: what others than 2 and 52",
    );
  });

  it("that takes an id that cannot be stored reads which function took it", async () => {
    const open = (): Journal => ({ ...memoryJournal(), watch: () => () => {} });
    expect(await complaints(testJournal({ name: "mine", open }))).toContain(
      'mine: an id that cannot be stored is refused, not changed: watch("") was not refused; needed is',
    );
  });

  it("whose follower fails is a complaint, and no rejection that nobody hears", async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown): unknown => unheard.push(reason);
    process.on("unhandledRejection", hear);
    const open = (): Journal => {
      const { append, read, list, watch } = memoryJournal();
      // Slower than its reader.
      return {
        read,
        list,
        watch,
        async append(id, seq, records) {
          append(id, seq, records);
          for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        },
      };
    };
    const broken = (): Journal => {
      const good = open();
      return { ...good, read: async (id, from = 0) => (from === 0 ? good.read(id) : []) };
    };
    const said = await complaints(testJournal({ name: "mine", open: broken, watches: true, patienceMs: 50 }));
    process.off("unhandledRejection", hear);
    expect(said).toContain("mine: a follower gets what was there and what lands, once and in order: ");
    expect(unheard).toEqual([]);
  });

  it("may refuse an id in words of its own, as long as they name it", async () => {
    const open = (): Journal => {
      const { append, read, list } = memoryJournal();
      const inWords = <Result>(id: string, act: () => Result): Result => {
        try {
          return act();
        } catch (thrown) {
          if (!(thrown instanceof RondoError && thrown.message.includes("cannot be a session id")))
            throw thrown;
          throw new RondoError("invalid_request", `no session can be called ${JSON.stringify(id)}`);
        }
      };
      return {
        list,
        append: (id, seq, records) => inWords(id, () => append(id, seq, records)),
        read: (id, from) => inWords(id, () => read(id, from)),
      };
    };
    expect(await complaints(testJournal({ name: "mine", open }))).toBe("");
  });

  it("that throws nothing at all reads that it did, and not that it took what it must refuse", async () => {
    const open = (): Journal => {
      const { append, read, list } = memoryJournal();
      return {
        read,
        list,
        append: async (id, seq, records) => {
          try {
            await append(id, seq, records);
          } catch {
            await Promise.reject(undefined);
          }
        },
      };
    };
    expect(await complaints(testJournal({ name: "mine", open }))).toContain(
      'it was refused with undefined; needed is a RondoError of kind conflict whose message names "a"',
    );
  });
});

describe("a model", () => {
  const tried = (
    call: (inner: Model, ...given: Parameters<Model["call"]>) => ReturnType<Model["call"]>,
  ): Check[] =>
    testModel({
      name: "mine",
      abortWithinMs: 500,
      open: (script: readonly Turn[]) => {
        const inner = scripted(script);
        const { id, origin } = inner;
        return { model: { id, origin, call: (request, io) => call(inner, request, io) } };
      },
    });

  it("that emits its deltas once all is there reads that, and not that it is deaf", async () => {
    const said = await complaints(
      tried(async (inner, request, io) => {
        const waiting: Parameters<typeof io.emit>[0][] = [];
        try {
          return await inner.call(request, { ...io, emit: (event) => void waiting.push(event) });
        } finally {
          for (const event of waiting) io.emit(event);
        }
      }),
    );
    expect(said).toMatch(
      /^mine: an abort while the answer arrives is heard in time, with what had arrived: nothing was emitted in 500 ms while the answer arrived: give each piece to io\.emit as it comes, or name "deltas" in lacks\n/,
    );
  });

  it("that is deaf to its signal reads that, and of no error that it never made", async () => {
    const deaf = new AbortController().signal;
    const said = await complaints(
      tried((inner, request, io) => inner.call(request, io.signal.aborted ? io : { ...io, signal: deaf })),
    );
    expect(said).toContain("the abort was not heard: 500 ms later the call had not settled");
    expect(said).not.toContain("internal");
  });

  it("whose results name other calls than were made is caught", async () => {
    const open = (script: readonly Turn[]): OpenModel => {
      const inner = scripted(script);
      const sent: string[] = [];
      const call: Model["call"] = (request, io) => {
        const messages = [...request.messages].map((one) =>
          one.role === "tool" ? { ...one, callId: "other" } : one,
        );
        if (!io.signal.aborted) sent.push(JSON.stringify({ ...request, messages }));
        return inner.call(request, io);
      };
      return { model: { id: inner.id, origin: inner.origin, call }, sent: () => sent };
    };
    expect(await complaints(testModel({ name: "mine", open }))).toMatch(
      /^mine: all of a conversation goes out: .*: the id call_1 stands in the request once: its call and its result are to name the same\n/,
    );
  });

  it("that rejects with nothing at all reads that it did", async () => {
    const said = await complaints(
      tried((inner, request, io) => inner.call(request, io).catch(() => Promise.reject(undefined))),
    );
    expect(said).toContain(
      "it rejected with no RondoError: throw new RondoError(kind, message) in place of: undefined",
    );
    expect(said).not.toContain("the call resolved");
  });
});

it("a tool that throws what is no error reads what it threw", async () => {
  const thrower = tool({
    name: "thrower",
    description: "Throws",
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: () => Promise.reject(undefined),
  });
  expect(await complaints(testTool({ tool: thrower, effect: "read", examples: [{}] }))).toContain(
    "thrower: it leaves its arguments as they were: it threw undefined, which is no Error",
  );
});

it("a preset may have no prototype: it can be spread", async () => {
  const preset = (model: Model, tools: AgentOptions["tools"]): AgentOptions =>
    Object.assign(Object.create(null) as AgentOptions, { model, tools });
  const [first] = testPreset({ name: "mine", preset });
  await expect(first?.run()).resolves.toBeUndefined();
});
