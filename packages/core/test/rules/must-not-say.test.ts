// `mustNotSay`: an answer in which certain words occur is broken off while it arrives, and never kept.

import {
  Agent,
  type AgentOptions,
  type AssistantMessage,
  emptyState,
  type Model,
  maxSteps,
  mustNotSay,
  type RondoError,
  type Rule,
  type RunResult,
  textOf,
  tool,
} from "@rondo/core";
import { call, fail, hold, say, scripted, stop } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";
import { judgementOf, stopOf, texts, turnOf, words } from "./support.ts";

const note =
  "Your answer was rejected because it contained something that must not be said. Answer again without it.";

const origin = { api: "test", provider: "test", model: "test" };

/** Says its pieces one by one until it is stopped; each answer after the first is "Fine.". */
function speaking(
  pieces: readonly string[],
  type: "text" | "reasoning" = "text",
): Model & { said: number; calls: number } {
  const model = {
    id: "test/test",
    origin,
    said: 0,
    calls: 0,
    call: async (
      _request: unknown,
      { signal, emit }: Parameters<Model["call"]>[1],
    ): Promise<AssistantMessage> => {
      model.calls += 1;
      const all = model.calls === 1 ? pieces : ["Fine."];
      for (const text of all) {
        if (signal.aborted) throw signal.reason;
        emit({ type: model.calls === 1 ? `${type}_delta` : "text_delta", index: 0, text });
        model.said += 1;
      }
      if (signal.aborted) throw signal.reason;
      const text = all.join("");
      const content: AssistantMessage["content"] =
        type === "text" || model.calls > 1 ? [words(text)] : [{ type, text }, words("Thought.")];
      return { role: "assistant", content, origin, stop: { kind: "end_turn", wire: "end_turn" } };
    },
  };
  return model;
}

/** The same model, which does not stream. */
const mute = (model: Model): Model => ({
  ...model,
  call: (request, io) => model.call(request, { ...io, emit: () => {} }),
});

/** The text that a listener reads, and what came of the run. */
async function heardOf(
  model: Model,
  rule: Rule<number>,
  options: Partial<AgentOptions> = {},
): Promise<{ heard: string; result: RunResult }> {
  const stream = new Agent({ model, rules: [rule], ...options }).stream("go");
  let heard = "";
  for await (const event of stream) if (event.type === "text_delta") heard += event.text;
  return { heard, result: await stream.result };
}

describe("words that must not be said", () => {
  test("break the answer off while it arrives: they are not shown, and the rest is not paid for", async () => {
    const model = speaking(["The name", " is Blue", "bird, and", " it costs", " more."]);
    const { heard, result } = await heardOf(model, mustNotSay("Bluebird"));
    expect([heard, result.text, model.said, model.calls]).toEqual(["The name is BlueFine.", "Fine.", 4, 2]);
    expect(result.messages.map(textOf)).toEqual(["go", "Fine."]);
  });

  test("are found as a pattern once it is certain that it matches: not in what merely begins like it", async () => {
    const rule = mustNotSay(/\bass\b|^never/i);
    const well = speaking(["I ass", "ume", " so, ", "as", "s", "istant, ", "never", "mind"]);
    expect((await heardOf(well, rule)).result.text).toBe("I assume so, assistant, nevermind");
    const model = speaking(["You ", "ass", ". And", " more"]);
    const { heard, result } = await heardOf(model, rule);
    expect([heard, result.text, model.said]).toEqual(["You assFine.", "Fine.", 4]);
    const begun = speaking(["Never", "!", " more"]);
    expect([(await heardOf(begun, rule)).heard, begun.said]).toEqual(["NeverFine.", 3]);
    // What was heard before is heard again for 4,000 characters: then "never" is where the text seems to begin.
    const late = speaking(["x", "nevermind", ...Array(4_100).fill(".")]);
    expect((await heardOf(late, rule)).result.text.length).toBe(4_110);
    const long = speaking([...Array(4_100).fill("."), "never", "more ", "!"]);
    expect((await heardOf(long, rule)).result.text).toBe(`${".".repeat(4_100)}nevermore !`);
  });

  test("are found in whatever pieces they come, and a text is never shown as a whole", async () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "b", " "), minLength: 1, maxLength: 4 }), {
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(
        pieces,
        fc.constantFrom<string | RegExp>("ab", "a b", /\bab\b/, /b{2}$/, /^a\s/),
        async (parts, given) => {
          const text = parts.join("");
          fc.pre(text.trim() !== "");
          const { heard, result } = await heardOf(speaking(parts), mustNotSay(given));
          const isSaid = typeof given === "string" ? text.includes(given) : given.test(text);
          expect(result.text).toBe(isSaid ? "Fine." : text);
          if (typeof given === "string") expect(heard.includes(given)).toBe(false);
        },
      ),
    );
  });

  test("are found at the end of the text as well, and in the answer of a model that does not stream", async () => {
    for (const [given, text] of [
      [/secret$/, "It is a secret"],
      ["secret", "A secret it is"],
      [/^A secret/gy, "A secret it is"],
      [["public", /secret/], "A secret it is"],
    ] as const) {
      const model = scripted([say(text), say("Not at its end: Secret!"), say("Fine.")]);
      const { result } = await heardOf(mute(model), mustNotSay(given));
      expect([result.end?.reason, result.messages.map(textOf)]).toEqual([
        "completed",
        ["go", "Not at its end: Secret!"],
      ]);
    }
  });

  test("cost the model another try, with a note in that request alone that does not repeat them", async () => {
    const read: string[] = [];
    const model = scripted(({ messages }, n) => {
      read.push(textOf(messages.at(-1) as never));
      return [say("a secret"), call("look"), say("no secrets"), say("Fine.")][n - 1] ?? say("?");
    });
    const tools = [
      tool({ name: "look", description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" }),
    ];
    expect((await heardOf(model, mustNotSay("secret", { max: 2 }), { tools })).result.text).toBe("Fine.");
    expect(read).toEqual(["go", note, "seen", note]);
    const own = scripted([say("a secret"), say("Fine.")]);
    await heardOf(own, mustNotSay("secret", { note: "Hush." }));
    expect(own.requests[1]?.messages.map(textOf)).toEqual(["go", "Hush."]);
  });

  test("end the run as no_progress if they come again, and its text is none in which they occur", async () => {
    const { result } = await heardOf(scripted([say("a secret"), say("the secret")]), mustNotSay("secret"));
    expect([result.text, result.messages.length]).toEqual(["", 1]);
    expect(result.end).toMatchObject({
      reason: "no_progress",
      rule: "must_not_say",
      evidence: { words: "secret", asked: 1, max: 1 },
    });
    const none = await heardOf(scripted([say("a secret")]), mustNotSay(/Secret/i, { max: 0 }));
    expect(none.result.end?.evidence).toEqual({ words: "/Secret/i", asked: 0, max: 0 });
  });

  test("keep the calls of that answer from running", async () => {
    let ran = 0;
    const look = tool({
      name: "look",
      description: "Looks",
      inputSchema: { type: "object" },
      execute: () => (ran += 1),
    });
    const model = scripted([[say("a secret"), call("look")], say("Fine.")]);
    const { result } = await heardOf(model, mustNotSay("secret"), { tools: [look] });
    expect([result.text, ran, result.messages.length]).toEqual(["Fine.", 0, 2]);
  });

  test("are not the text of a landing either", async () => {
    for (const [said, text] of [
      ["All of it is a secret.", "I look first."],
      ["It is there.", "It is there."],
    ] as const) {
      const model = scripted([[say("I look first."), call("look")], say(said)]);
      const { result } = await heardOf(model, mustNotSay("secret"), {
        rules: [maxSteps(1), mustNotSay("secret")],
      });
      expect([result.end?.reason, result.text]).toEqual(["max_steps", text]);
      expect(JSON.stringify(result.messages)).not.toContain("secret");
    }
  });

  test("are not what is left of an answer that did not come whole either", async () => {
    // A pattern counts only once a character follows, so the rule has not broken this off.
    const partly = say("It is secret");
    const landing = scripted([call("look"), [partly, fail("auth")]]);
    const tools = [echo("look")];
    const landed = await new Agent({ model: landing, tools, maxSteps: 1, rules: [mustNotSay(/secret/)] }).run(
      "?",
    );
    expect([landed.text, landed.end?.reason, landed.messages.length]).toEqual(["", "max_steps", 3]);

    const session = await new Agent({
      model: scripted([[partly, hold()]]),
      rules: [mustNotSay(/secret/)],
    }).open("s");
    session.subscribe(({ type }) => type === "text_delta" && session.abort());
    const run = session.send("?");
    const aborted = await run.catch((error: RondoError) => error);
    expect(JSON.stringify([aborted, session.messages])).not.toContain("secret");
    expect(session.messages).toHaveLength(1);
  });

  test("are not what is kept of an answer that comes as its run is aborted", async () => {
    const model = scripted([say("It is secret.")]);
    const session = await new Agent({ model, rules: [mustNotSay("secret")] }).open("s");
    session.subscribe(({ type }) => type === "message" && session.abort());
    const aborted = await session.send("?").catch((error: RondoError) => error);
    expect(JSON.stringify([aborted, session.messages])).not.toContain("secret");
  });

  test("are not the text of a landing whose typed answer is not stored", async () => {
    const model = scripted([call("look"), say("It is secret.")]);
    const output = { type: "object", properties: {} } as const;
    const landing = { store: false } as const;
    const rules = [mustNotSay("secret")];
    const agent = new Agent({ model, tools: [echo("look")], maxSteps: 1, output, landing, rules });
    const { text, end } = await agent.run("?");
    expect([text, end?.reason]).toEqual(["", "output_invalid"]);
  });

  test("are not what a blank answer of a landing is kept back for", async () => {
    const told: (string | undefined)[] = [];
    for (const answer of [say(" "), say("a secret")]) {
      const model = scripted([
        [say("I look first."), call("look")],
        [answer, stop("max_tokens")],
      ]);
      await heardOf(model, mustNotSay("secret"), {
        rules: [maxSteps(1), mustNotSay("secret")],
        texts: { landed: (_reason, said) => void told.push(said) as undefined },
      });
    }
    // An agent tries its texts on a "b" first.
    expect(told.filter((said) => said !== "b")).toEqual([" ", undefined]);
  });

  test("may be thought, and be in the arguments of a call", async () => {
    const model = speaking(["a secret", " thought"], "reasoning");
    expect((await heardOf(model, mustNotSay("secret"))).result.text).toBe("Thought.");
    const calling = scripted([call("look", { for: "secret" }), say("Fine.")]);
    expect((await heardOf(calling, mustNotSay("secret"))).result.modelCalls).toBe(2);
  });

  test("are judged by this rule, and not by the one for answers that were cut off", async () => {
    for (const cut of [stop("max_tokens"), stop("max_tokens", { by: "must_not_say" })]) {
      const model = mute(scripted([[say("a secret"), cut], say("Fine.")]));
      expect((await heardOf(model, mustNotSay("secret"))).result.text).toBe("Fine.");
      const other = scripted([[say("a text"), cut]]);
      expect((await heardOf(other, mustNotSay("secret"))).result.end?.rule).toBe("truncations");
    }
  });

  test("are none if there is no answer", () => {
    const rule = mustNotSay("a");
    expect(rule.judge?.(0, emptyState, texts)).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(stopOf("end_turn"), [words("b")]) })).toBeUndefined();
  });

  test("are a text or a pattern that does not match everything", () => {
    for (const given of ["", [], [""], /a*/, /^$/, /(?:)/g, 5, undefined, ["a", 5], [/$/]] as unknown[])
      expect(() => mustNotSay(given as never)).toThrow(
        "mustNotSay: option words: a text or a pattern that does not match an empty text, or a list of these, is needed",
      );
    expect(() => mustNotSay("a", { max: -1 })).toThrow(
      "mustNotSay: option max: a whole number of at least 0 is needed",
    );
    expect(() => mustNotSay("a", { nte: "b" } as never)).toThrow(/did you mean note\?/);
  });
});
