// A history that a hook cut anywhere: what is put back, and what looking for it costs.

import { isPaired, type Message, type MessageList } from "@rondo/core";
import { expect, test } from "vitest";
import { untorn } from "../../src/context/incomplete-turns.ts";
import { answer, call, result, user } from "./support.ts";

const history: Message[] = [
  user("Read them."),
  ...Array.from({ length: 300 }, (_, at): Message[] => [
    answer(call(`a${at}`), call(`b${at}`)),
    result(`a${at}`, "one"),
    result(`b${at}`, "two"),
  ]).flat(),
];

test("complete turns are returned as the same list, and the history is walked once", () => {
  let looks = 0;
  const counting: MessageList = {
    length: history.length,
    at(index) {
      looks += 1;
      return history.at(index);
    },
    *[Symbol.iterator]() {
      for (const message of history) {
        looks += 1;
        yield message;
      }
    },
  };
  const same = [...history];
  expect(untorn(same, counting)).toBe(same);
  const results = history.filter(({ role }) => role === "tool");
  expect(untorn(results, counting)).toEqual(history.slice(1));
  expect(looks).toBeLessThanOrEqual(2 * history.length);
});

test("an answer is put back before its first result, and a call that lost its own result gets one that says so", () => {
  const kept = untorn(history.slice(3, 6), history);
  expect(kept.slice(0, 2)).toEqual([history[1], expect.objectContaining({ role: "tool", callId: "a0" })]);
  expect(isPaired(kept)).toBe(true);
});
