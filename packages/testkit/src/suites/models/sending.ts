// The room of what a model sends: all of a conversation, as it was, and the same bytes for the same.

import { deepStrictEqual, match, ok } from "node:assert/strict";
import { callsOf, type ModelRequest, RondoError, textOf, type UserMessage, userText } from "@rondo/core";
import { frozen } from "@rondo/core/driving";
import { call, say } from "../../scripted/turns.ts";
import { commonLength } from "../../text.ts";
import { mustBe } from "../check.ts";
import { ask, type Demand, longer, type ModelLack, requestOf, type Stand, sameAsDeltas } from "./asking.ts";

const plain = "user-words";
const pictured: UserMessage = {
  role: "user",
  content: [
    { type: "text", text: plain },
    { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
  ],
};

/** What a request may have beside its texts. */
const besides: readonly (readonly [
  what: string,
  needs: readonly ModelLack[],
  change: (request: ModelRequest) => Partial<ModelRequest>,
])[] = [
  ["the output limit", [], ({ settings }) => ({ settings: { ...settings, maxOutputTokens: 499 } })],
  ["the temperature", [], ({ settings }) => ({ settings: { ...settings, temperature: 0.25 } })],
  ["that no tool may be called", ["tools"], () => ({ toolChoice: "none" })],
  ["a file", [], () => ({ messages: [pictured] })],
];

/** Whether a request went out otherwise than the one before, or somebody was told that something of it does not. */
async function saidOrSent(stand: Stand, request: ModelRequest): Promise<boolean> {
  const before = stand.open.sent?.().at(-1);
  const warned = await ask(stand, undefined, undefined, request).then(
    ({ events }) => events.some(({ type }) => type === "warning"),
    (thrown: unknown) => {
      if (thrown instanceof RondoError) return true;
      throw thrown;
    },
  );
  return warned || stand.open.sent?.().at(-1) !== before;
}

export const sending: readonly Demand[] = [
  ...besides.map(
    ([what, needs, change]): Demand => ({
      name: `${what} goes out, or a warning says that it does not`,
      needs,
      script: [say("one"), say("two")],
      async body(stand) {
        if (stand.open.sent === undefined) return;
        const request = requestOf([userText(plain)], stand.lacks);
        await ask(stand, undefined, undefined, request);
        ok(
          await saidOrSent(stand, { ...request, ...change(request) }),
          `the request with it is the same as the one without it: send it, or emit { type: "warning", code, message } that says what was left out`,
        );
      },
    }),
  ),
  {
    name: "it leaves the request as it was",
    script: [say("done"), say("again")],
    async body(stand) {
      const request = structuredClone(requestOf([userText("user-words")], stand.lacks));
      const before = structuredClone(request);
      const { answer } = await ask(stand, undefined, undefined, request);
      mustBe(textOf(answer), "done", "the answer's text");
      mustBe(request, before, "the request after the call: the next one is made of the same parts");
      await ask(stand, undefined, undefined, frozen(structuredClone(before)));
    },
  },
  {
    name: "calls at the same time do not mix",
    script: [say("first answer", { chunk: 1 }), say("other words", { chunk: 1 })],
    async body(stand) {
      const heard = await Promise.all([ask(stand, [userText("a")]), ask(stand, [userText("b")])]);
      mustBe(
        heard.map(({ answer }) => textOf(answer)).sort(),
        ["first answer", "other words"],
        "the two answers",
      );
      if (!stand.lacks.has("deltas")) heard.forEach(sameAsDeltas);
    },
  },
  {
    name: "all of a conversation goes out: system, tools, messages, calls and results, in order",
    script: [[say("said-words"), call("weather", { city: "args-words" })], say("done")],
    needs: ["tools"],
    async body(stand) {
      const { answer } = await ask(stand);
      await ask(stand, longer(answer));
      const body = stand.open.sent?.()[1];
      if (body === undefined) return;
      for (const words of ["system-words", "The tool weather", "The tool search", "said-words"])
        match(body, new RegExp(words), `the request does not hold ${words}`);
      const places = ["user-words", "args-words", "result-words"].map((words) => body.indexOf(words));
      ok(!places.includes(-1), `the request does not hold all of its messages: ${body}`);
      deepStrictEqual(
        places,
        [...places].sort((one, other) => one - other),
        "the messages are not in order",
      );
      const id = callsOf(answer)[0]?.id ?? "";
      // A provider may know calls by other ids, or by none: then neither side has this one.
      ok(
        id === "" || body.split(id).length !== 2,
        `the id ${id} stands in the request once: its call and its result are to name the same`,
      );
    },
  },
  {
    name: "the same request is the same bytes",
    script: [say("one"), say("two")],
    async body(stand) {
      await ask(stand);
      await ask(stand);
      const [one, other] = stand.open.sent?.() ?? [];
      mustBe(one, other, "the second request");
    },
  },
  {
    name: "a request that grew keeps its front, byte for byte",
    script: [call("weather", { city: "Oslo" }), say("done")],
    needs: ["tools"],
    async body(stand) {
      const { answer } = await ask(stand);
      await ask(stand, longer(answer));
      const [before, after] = stand.open.sent?.() ?? [];
      if (before === undefined || after === undefined) return;
      const same = commonLength(before, after);
      const last = before.lastIndexOf("user-words") + "user-words".length;
      const around = (body: string): string => body.slice(Math.max(0, same - 30), same + 30);
      ok(
        same >= last,
        `the two part at ${same}, before the end of what was there: ${around(before)} | ${around(after)}`,
      );
    },
  },
];
