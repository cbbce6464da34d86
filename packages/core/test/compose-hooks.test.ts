// Several sets of hooks as one: who is asked, what each is shown, and whose word stands.

import {
  Agent,
  composeHooks,
  type Hooks,
  type Message,
  type PermissionAnswer,
  textOf,
  userText,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo } from "./support.ts";

/** A run of one call of a tool that says what it was given, under these hooks. */
async function run(...all: Hooks[]) {
  const look = echo("look", { execute: (args) => JSON.stringify(args) });
  const model = scripted([call("look", { at: "a" }), say("So."), say("More.")]);
  const result = await new Agent({ model, tools: [look, echo("other")], hooks: composeHooks(...all) }).run(
    "go",
  );
  const told = result.messages.find(({ role }) => role === "tool");
  return { ...result, told: told === undefined ? undefined : textOf(told), model };
}

describe("permission", () => {
  const saying = (answer: PermissionAnswer | undefined, asked: unknown[] = []): Hooks => ({
    permission: () => {
      asked.push(answer);
      return answer && { answer, reason: `it says ${answer}` };
    },
  });

  test.each<[(PermissionAnswer | undefined)[], string | undefined]>([
    [["allow", "allow"], '{"at":"a"}'],
    [[undefined, "allow"], '{"at":"a"}'],
    [["allow", undefined], '{"at":"a"}'],
    [[undefined, undefined], '{"at":"a"}'],
    [["allow", "deny"], "it says deny"],
    [["deny", "allow"], "it says deny"],
    [["ask", "deny"], "it says deny"],
    [["ask", "allow"], undefined],
    [["allow", "ask"], undefined],
  ])("of %j comes to the strictest", async (answers, told) => {
    const { told: said, parked } = await run(...answers.map((answer) => saying(answer)));
    if (told === undefined) expect(parked).toBeDefined();
    else expect(said).toContain(told);
  });

  test("is not asked of the sets after one that denies, or that ends the run", async () => {
    for (const answer of ["deny", "stop"] as const) {
      const asked: unknown[] = [];
      const { end } = await run(saying("ask", asked), saying(answer, asked), saying("allow", asked));
      expect(asked).toStrictEqual(["ask", answer]);
      expect(end?.reason === "completed").toBe(answer === "deny");
    }
  });

  test("with an invalid answer fails closed, whatever the other sets answer", async () => {
    const odd = { permission: () => "constructor" } as unknown as Hooks;
    for (const all of [
      [odd, saying("allow")],
      [saying("allow"), odd],
    ]) {
      const { told } = await run(...all);
      expect(told).not.toBe('{"at":"a"}');
      expect(told).toContain("Permission check failed");
    }
  });
});

test("beforeTool gets the arguments as the earlier sets changed them, and the first result wins", async () => {
  const seen: unknown[] = [];
  const adding = (name: string): Hooks => ({
    beforeTool: ({ args }) => {
      seen.push(args);
      return { args: { ...args, [name]: true } };
    },
  });
  expect((await run(adding("one"), {}, adding("two"))).told).toBe('{"at":"a","one":true,"two":true}');
  expect(seen).toStrictEqual([{ at: "a" }, { at: "a", one: true }]);
  const given: Hooks = { beforeTool: () => ({ result: "given" }) };
  expect((await run(given, adding("three"))).told).toBe("given");
  expect(seen).toHaveLength(2);
});

test("afterTool gets the result as the earlier sets changed it", async () => {
  const adding = (letter: string, isError?: boolean): Hooks => ({
    afterTool: (_call, result) => ({
      content: `${textOf({ role: "user", content: result.content })}${letter}${result.isError ? "!" : ""}`,
      ...(isError === undefined ? {} : { isError }),
    }),
  });
  const nothing: Hooks = { afterTool: () => undefined };
  const { messages, told } = await run(adding("1"), nothing, adding("2", true), adding("3"));
  expect(told).toBe('{"at":"a"}123!');
  expect(messages.find(({ role }) => role === "tool")).toMatchObject({ isError: true });
});

test("prepareStep: a later plan overrides an earlier one, settings one by one, and tools are those in all plans", async () => {
  const { model } = await run(
    {
      prepareStep: () => ({
        tools: ["look", "other"],
        settings: { temperature: 0, seed: 1 },
        toolChoice: "any",
      }),
    },
    { prepareStep: () => undefined },
    { prepareStep: () => ({ tools: ["look"], settings: { temperature: 1 }, toolChoice: "auto" }) },
  );
  const [request] = model.requests;
  expect(request?.tools.map(({ name }) => name)).toStrictEqual(["look"]);
  expect(request).toMatchObject({ toolChoice: "auto", settings: { temperature: 1, seed: 1 } });
});

test("prepareStep: the first that ends the run ends it", async () => {
  const { end, text } = await run(
    { prepareStep: () => ({ tools: ["look"] }) },
    { prepareStep: () => ({ stop: "enough", text: "Enough." }) },
    { prepareStep: () => ({ stop: "later" }) },
  );
  expect([end?.evidence, text]).toStrictEqual([{ said: "enough" }, "Enough."]);
});

test("transformContext: each gets the messages that the previous one made", async () => {
  const adding = (text: string): Hooks => ({
    transformContext: (messages): Message[] => [...messages, userText(text)],
  });
  const { model } = await run(adding("one"), { transformContext: () => undefined }, adding("two"));
  expect(model.requests[0]?.messages.map(textOf)).toStrictEqual(["go", "one", "two"]);
});

describe("an invalid answer is not repaired by a later set", () => {
  test.each([{ content: 5 }, "fine"])("afterTool: %j fails the call", async (answer) => {
    const odd = { afterTool: () => answer } as unknown as Hooks;
    const { told } = await run(odd, { afterTool: () => ({ content: "fine" }) });
    expect(told).toContain("afterTool");
    expect(told).not.toBe("fine");
  });

  test.each<[string, Hooks]>([
    ["transformContext", { transformContext: (messages) => [...messages] }],
    ["prepareStep", { prepareStep: () => ({}) }],
  ])("%s ends the run", async (name, behind) => {
    const { end } = await run({ [name]: () => "go" }, behind);
    expect(end).toMatchObject({ reason: "error", rule: "hooks" });
  });
});

test("onFinish: the first work wins, and the other sets are not asked", async () => {
  const { messages } = await run(
    { onFinish: () => undefined },
    { onFinish: () => "Once more." },
    { onFinish: () => "And again." },
  );
  const said = messages.filter(({ role }) => role === "user").map(textOf);
  expect(said).toStrictEqual(["go", "Once more."]);
});

test("a hook that no set has is not in the composed set", () => {
  expect(
    Object.keys(composeHooks({ permission: () => "allow" }, {}, { onFinish: () => undefined })),
  ).toStrictEqual(["permission", "onFinish"]);
  expect(composeHooks()).toStrictEqual({});
});

test("a list of sets is refused, with how to compose them", () => {
  const hooks = [{ permission: () => "allow" }] as unknown as Hooks;
  expect(() => new Agent({ model: scripted([]), hooks })).toThrow(
    "option hooks: one set of hooks is needed, not a list: composeHooks(a, b) makes one of several",
  );
});

test.each([undefined, false, [{}], () => ({})])("what is no set of hooks is refused: %s", (given) => {
  expect(() => composeHooks({}, given as never)).toThrow(
    "composeHooks: options: a set of hooks, or {} for none, is needed, not ",
  );
});

test("hooks that are methods keep their object", async () => {
  class Counting implements Hooks {
    count = 0;
    afterTool(): undefined {
      this.count += 1;
    }
  }
  const alone = new Counting();
  const both = new Counting();
  await run(alone);
  await run(both, { afterTool: () => undefined });
  expect([alone.count, both.count]).toStrictEqual([1, 1]);
});
