// The room of the blob store's conformance suite: what any store of whole texts must do, wherever it keeps them.
//
// It belongs to no test runner: it returns cases, and a test file registers them. Every case opens a store of its own.

import { match, ok, strictEqual } from "node:assert/strict";
import type { BlobLimits, BlobOrigin, BlobPut, BlobStore } from "@rondo/core";
import { able, callable, flag, text } from "@rondo/core/checks";
import { type Check, checkGave, checksOf, mustBe, type RegisterTest, subjectCheck } from "./check.ts";

export interface BlobStoreUnderTest {
  /** Prefix of every case's name. */
  name: string;
  /** Opens the store named `place`: a new one for a new name, the same texts again for a known one (if `durable` is set). */
  open(place: string, limits?: BlobLimits): BlobStore | Promise<BlobStore>;
  /** What was kept is there when the store is opened again. Default false. */
  durable?: boolean;
}

const checkSubject = subjectCheck<BlobStoreUnderTest>(
  "testBlobs",
  { name: text, open: callable, durable: flag },
  ["name", "open"],
);

/**
 * What a blob store must do, check by check.
 *
 *     for (const { name, run } of testBlobs({ name: "memory", open: (_place, limits) => memoryBlobs(limits) })) test(name, run);
 *
 * @param test the runner's `test` function: also registers the checks
 * @throws RondoError `invalid_request` for an invalid subject
 */
export function testBlobs(subject: BlobStoreUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const wanted = subject.durable === true ? [...cases, ...durableCases] : cases;
  const checks = wanted.map(([name, body], number): [string, () => Promise<void>] => [
    name,
    () =>
      body(async (limits) => {
        const store = await subject.open(`blobs-${number}`, limits);
        checkGave(
          "testBlobs",
          "open",
          able("a store of texts (put, get, delete)", "put", "get", "delete"),
          store,
        );
        return store;
      }),
  ]);
  return checksOf(subject.name, checks, test);
}

type Open = (limits?: BlobLimits) => Promise<BlobStore>;
type Body = (open: Open) => Promise<void>;

const origin: BlobOrigin = { callId: "call_1", tool: "shell", isError: false };

/** Texts that a careless store would change. */
const texts: readonly string[] = [
  "",
  "one line",
  "two\nlines\n",
  "CR LF\r\nkept\r\n",
  "NUL \0 inside",
  "ünïcödé 漢字 😀 e\u0301",
  "\ufeffwith a mark in front",
  "x".repeat(300_000),
];

function kept(put: BlobPut): BlobPut & { ok: true } {
  ok(put.ok, put.ok ? "" : put.reason);
  return put;
}

const cases: (readonly [name: string, body: Body])[] = [
  [
    "a ref nobody keeps is nothing",
    async (open) => {
      const store = await open();
      mustBe(await store.get("a", "out_none"), undefined, "what a ref nobody keeps comes to");
      await store.delete("a");
    },
  ],
  [
    "a text comes back as it was, with its size told",
    async (open) => {
      const store = await open();
      for (const text of texts) {
        const put = kept(await store.put("a", text, origin));
        mustBe(await store.get("a", put.ref), text, "the text that comes back");
        mustBe(put.bytes, Buffer.byteLength(text), "its bytes");
        mustBe(put.lines, text.split("\n").length, "its lines");
        match(put.ref, /^[A-Za-z0-9_-]{1,64}$/, `the ref is ${put.ref}: 1 to 64 of A-Z, a-z, 0-9, _ and -`);
      }
    },
  ],
  [
    "half a surrogate pair becomes what UTF-8 makes of it, and the text is found all the same",
    async (open) => {
      const store = await open();
      const { ref, bytes } = kept(await store.put("a", "half \ud83d a pair", origin));
      mustBe(
        await store.get("a", ref),
        "half \ufffd a pair",
        "the text that comes back (U+FFFD for half a pair)",
      );
      mustBe(bytes, 15, "its bytes");
    },
  ],
  [
    "the same text has the same ref and takes its room once; another text has another",
    async (open) => {
      const store = await open({ sessionBytes: 10 });
      const first = kept(await store.put("a", "12345678", origin));
      const again = kept(
        await store.put("a", "12345678", { callId: "call_2", tool: "other", isError: true }),
      );
      mustBe(again, first, "what the same text comes to");
      ok(kept(await store.put("b", "87654321", origin)).ref !== first.ref, "two texts have the same ref");
    },
  ],
  [
    "sessions do not see each other, whatever their ids are",
    async (open) => {
      const store = await open();
      const ids = ["a", "A", "a/b", "../a", ".", "%", "'", "😀", "__proto__", "x".repeat(500)];
      const refs = new Map<string, string>();
      for (const id of ids) refs.set(id, kept(await store.put(id, `of ${id}`, origin)).ref);
      for (const id of ids)
        for (const [owner, ref] of refs)
          mustBe(
            await store.get(id, ref),
            owner === id ? `of ${id}` : undefined,
            "what is read of the session",
          );
    },
  ],
  [
    "a ref is never a way out of the session",
    async (open) => {
      const store = await open();
      const { ref } = kept(await store.put("a", "secret", origin));
      for (const way of [`../a/${ref}`, `./${ref}`, `${ref}\0`, `${ref}.txt`, `a/${ref}`, "..", ""])
        strictEqual(await store.get("b", way), undefined, way);
      mustBe(await store.get("a", `../a/${ref}`), undefined, "what a ref with a path in it comes to");
    },
  ],
  [
    "a text beyond the bound of one is refused with the numbers, and not kept",
    async (open) => {
      const store = await open({ blobBytes: 10 });
      kept(await store.put("a", "ü".repeat(5), origin));
      const put = await store.put("a", "ü".repeat(6), origin);
      ok(!put.ok, "it was kept, and must be refused: { ok: false, reason } with the numbers");
      match(
        put.reason,
        /12 bytes.*10/,
        `the reason must name the 12 bytes and the bound of 10: ${put.reason}`,
      );
    },
  ],
  [
    "a text beyond the bound of the session is refused, and what was kept stays",
    async (open) => {
      const store = await open({ sessionBytes: 20 });
      const { ref } = kept(await store.put("a", "x".repeat(15), origin));
      const put = await store.put("a", "y".repeat(6), origin);
      ok(!put.ok, "it was kept, and must be refused: { ok: false, reason } with the numbers");
      match(
        put.reason,
        /15 bytes.*6.*20/,
        `the reason must name the 15 bytes kept, the 6 more and the bound of 20: ${put.reason}`,
      );
      mustBe(await store.get("a", ref), "x".repeat(15), "the text that was kept before");
      kept(await store.put("a", "z".repeat(5), origin));
      kept(await store.put("b", "y".repeat(6), origin));
    },
  ],
  [
    "a deleted session keeps nothing, has all its room again, and takes no other with it",
    async (open) => {
      const store = await open({ sessionBytes: 20 });
      const { ref } = kept(await store.put("a", "x".repeat(15), origin));
      kept(await store.put("b", "x".repeat(15), origin));
      await store.delete("a");
      mustBe(await store.get("a", ref), undefined, "the text of a deleted session");
      mustBe(await store.get("b", ref), "x".repeat(15), "the text of another session");
      kept(await store.put("a", "y".repeat(20), origin));
    },
  ],
  [
    "many texts kept at once are all there",
    async (open) => {
      const store = await open();
      const all = Array.from({ length: 50 }, (_, at) => `text ${at % 25}\n`.repeat(100));
      const puts = await Promise.all(all.map(async (text) => kept(await store.put("a", text, origin))));
      mustBe(new Set(puts.map((put) => put.ref)).size, 25, "the number of refs of 25 texts");
      for (const [at, { ref }] of puts.entries())
        mustBe(await store.get("a", ref), all[at], "the text that comes back");
    },
  ],
];

const durableCases: typeof cases = [
  [
    "two that are open at once see each other's texts, and keep one bound",
    async (open) => {
      const limits = { sessionBytes: 20 };
      const [one, other] = [await open(limits), await open(limits)];
      const { ref } = kept(await one.put("a", "x".repeat(15), origin));
      mustBe(await other.get("a", ref), "x".repeat(15), "the text after opening again");
      ok(
        !(await other.put("a", "y".repeat(6), origin)).ok,
        "one kept 15 bytes of a session, the other 6 more, and 20 is the bound of both together",
      );
      kept(await other.put("a", "x".repeat(15), origin));
    },
  ],
];
