// What the inbox keeps of what was said, for whoever listens next.

import { restateClient } from "@rondo/restate";
import { expect, test } from "vitest";
import { newest } from "../src/objects/inbox.ts";
import { type Mail, maxFactBytes, maxMessageBytes } from "../src/wire.ts";

const mail = (n: number, length: number): Mail => ({
  n,
  at: 0,
  agent: "a",
  say: { type: "abort_asked", reason: "x".repeat(length) },
});
const numbers = (mails: readonly Mail[]): number[] => mails.map(({ n }) => n);

test("the newest words are kept, as many as fit into half a message, and the last however large it is", () => {
  const third = Math.floor(maxMessageBytes / 6);
  expect(numbers(newest([mail(1, 10), mail(2, third), mail(3, third), mail(4, third)]))).toEqual([3, 4]);
  expect(numbers(newest([mail(1, 10), mail(2, maxMessageBytes - 1_000)]))).toEqual([2]);
  expect(numbers(newest([mail(1, maxMessageBytes / 2), mail(2, 10)]))).toEqual([2]);
  expect(newest([])).toEqual([]);
});

test("of many small words the last 256 are kept", () => {
  const many = Array.from({ length: 300 }, (_, at) => mail(at, 1));
  expect(numbers(newest(many))).toEqual(numbers(many.slice(-256)));
});

test("a word that would fill half a message is refused before it is said: it waits with others, and a smaller one is said", async () => {
  const client = restateClient({ agent: "a", ingress: "http://127.0.0.1:9", patienceMs: 1 });
  const session = client.session("s");
  await expect(session.steer("x".repeat(maxFactBytes - 1_000))).rejects.toMatchObject({ kind: "network" });
  await expect(session.steer("x".repeat(maxFactBytes))).rejects.toMatchObject({
    kind: "payload_too_large",
    message: expect.stringMatching(
      /^what is said to rondo_inbox\/post has \d+ bytes, and 16252928 are the most/,
    ),
  });
});
