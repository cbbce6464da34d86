// The room of what a model answers: its text, its reasoning, its calls, its tokens, whole and as they came.

import { ok, strictEqual } from "node:assert/strict";
import { callsOf, textOf } from "@rondo/core";
import { badArgs, call, calls, say, stop, think, usage } from "../../scripted/turns.ts";
import { mustBe } from "../check.ts";
import { ask, type Demand, parsed, sameAsDeltas } from "./asking.ts";

const hello = " Hello, wörld. 漢字 😀\r\n\ndone\n";

export const answering: readonly Demand[] = [
  {
    name: "it says who it is",
    script: [],
    async body({ model }) {
      const { api, provider, model: asked } = model.origin ?? {};
      for (const [what, word] of Object.entries({
        id: model.id,
        "origin.api": api,
        "origin.provider": provider,
        "origin.model": asked,
      }))
        ok(typeof word === "string" && word !== "", `${what} is ${JSON.stringify(word)}: a word is needed`);
      for (const what of ["contextWindow", "maxOutputTokens", "maxInputTokens"] as const) {
        const number: unknown = model.facts?.[what];
        ok(
          number === undefined || (Number.isFinite(number) && Number(number) > 0),
          `facts.${what} is ${JSON.stringify(number)}: a number above 0 is needed; leave out what is not known`,
        );
      }
      const { longPrompts, ...price } = model.facts?.price ?? {};
      const long = (longPrompts ?? []).flatMap((rates, at) =>
        Object.entries(rates).map(([what, number]) => [`longPrompts[${at}].${what}`, number] as const),
      );
      for (const [what, number] of [...Object.entries(price), ...long])
        ok(
          number === undefined || (Number.isFinite(number) && number >= 0),
          `facts.price.${what} is ${JSON.stringify(number)}: US dollars per million tokens are needed; leave out a price that is not known`,
        );
    },
  },
  {
    name: "a text comes whole, its deltas the same as the answer",
    needs: ["deltas"],
    script: [say(hello, { chunk: 3 })],
    async body(stand) {
      const heard = await ask(stand);
      const { answer, events } = heard;
      mustBe(answer.role, "assistant", "the answer's role");
      mustBe(textOf(answer), hello, "the answer's text");
      ok(
        events.some(({ type }) => type === "text_delta"),
        'nothing was emitted while the answer arrived: give each piece to io.emit, or name "deltas" in lacks',
      );
      sameAsDeltas(heard);
    },
  },
  {
    name: "an answer says where it came from and how it ended",
    script: [say("done"), [say("cut o"), stop("max_tokens")]],
    async body(stand) {
      const { answer } = await ask(stand);
      mustBe(answer.origin, stand.model.origin, "the answer's origin (the model's own)");
      mustBe(answer.stop.kind, "end_turn", "stop.kind of an answer that is over");
      ok(
        typeof answer.stop.wire === "string",
        'stop.wire is missing: what the provider\'s word alone says, "unknown" where it says none',
      );
      mustBe((await ask(stand)).answer.stop.kind, "max_tokens", "stop.kind of an answer at the output limit");
    },
  },
  {
    name: "reasoning is a part of its own, and no text",
    needs: ["reasoning"],
    script: [[think("Let me see."), say("It is so.")]],
    async body(stand) {
      const heard = await ask(stand);
      const { content } = heard.answer;
      mustBe(
        content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
        ["Let me see."],
        "the reasoning parts of the answer",
      );
      mustBe(textOf(heard.answer), "It is so.", "the answer's text, without its reasoning");
      sameAsDeltas(heard);
    },
  },
  {
    name: "a call has its name and its whole arguments",
    needs: ["tools"],
    script: [[say("Let me look."), call("weather", { city: "Oslo ☃", days: 3 })]],
    async body(stand) {
      const heard = await ask(stand);
      const [made, ...others] = callsOf(heard.answer);
      mustBe(others.length, 0, "the number of calls beside the first");
      ok(made !== undefined, "there is no call in the answer");
      mustBe(made.name, "weather", "the call's name");
      mustBe(made.args, { city: "Oslo ☃", days: 3 }, "the call's args");
      mustBe(made.argsError, undefined, "argsError of a call that arrived whole");
      mustBe(parsed(made.rawArgs), made.args, "rawArgs, parsed");
      mustBe(heard.answer.stop.kind, "tool_use", "stop.kind of an answer with a call");
      mustBe(textOf(heard.answer), "Let me look.", "the text before the call");
      sameAsDeltas(heard);
    },
  },
  {
    name: "several calls keep their order, and the ids they have are their own",
    needs: ["tools", "several_calls"],
    script: [
      calls([
        ["weather", { city: "Oslo" }],
        ["weather", { city: "Oslo" }],
        ["search", { city: "Rome" }],
      ]),
    ],
    async body(stand) {
      const heard = await ask(stand);
      const made = callsOf(heard.answer);
      mustBe(
        made.map(({ name, args }) => [name, args]),
        [
          ["weather", { city: "Oslo" }],
          ["weather", { city: "Oslo" }],
          ["search", { city: "Rome" }],
        ],
        "the calls, by name and args",
      );
      // Where the provider gives none, the loop numbers them.
      const ids = made.map(({ id }) => id).filter((id) => id !== "");
      strictEqual(new Set(ids).size, ids.length, "two calls have the same id");
      sameAsDeltas(heard);
    },
  },
  {
    name: "arguments that are no JSON object are marked, and nothing is made of them",
    needs: ["tools", "raw_args"],
    script: [badArgs("weather", '{"city": "Os')],
    async body(stand) {
      const [made] = callsOf((await ask(stand)).answer);
      ok(made !== undefined, "the call is not in the answer");
      ok(
        (made.argsError ?? "") !== "",
        "argsError is not set: say in it what is wrong with the arguments, and leave args empty",
      );
      mustBe(made.args, {}, "args of a call that is marked");
      mustBe(made.rawArgs, '{"city": "Os', "rawArgs, as the provider wrote them");
    },
  },
  {
    name: "tokens are told as they were counted",
    needs: ["usage"],
    script: [
      [
        say("done"),
        usage({ inputTokens: 120, outputTokens: 34, cachedInputTokens: 100, reasoningTokens: 20 }),
      ],
    ],
    async body(stand) {
      const { usage: told } = (await ask(stand)).answer;
      mustBe(
        [told?.inputTokens, told?.outputTokens],
        [120, 34],
        "inputTokens and outputTokens of usage (what came from a cache and what was reasoning among them)",
      );
      // Not every provider tells these.
      for (const [what, number] of [["cachedInputTokens", 100] as const, ["reasoningTokens", 20] as const])
        if (told?.[what] !== undefined) mustBe(told[what], number, `${what} of usage`);
    },
  },
];
