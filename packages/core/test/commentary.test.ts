// An answer in which the provider tells what the model said while it worked from what it answers in the end.

import { Agent, textOf } from "@rondo/core";
import { call, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { echo } from "./support.ts";

const phased = (text: string, phase: "commentary" | "final_answer"): Turn =>
  say(text, { commentary: phase === "commentary" });

describe("what a model says while it works", () => {
  const answer = (last: string): Turn => [
    phased("I look at [the map].", "commentary"),
    phased(last, "final_answer"),
  ];

  test("is not part of a typed output", async () => {
    const model = scripted([answer("42")]);
    const { output, end } = await new Agent({ model, output: z.number() }).run("How many?");
    expect([output, end?.reason]).toEqual([42, "completed"]);
  });

  test("is not taken for the output, even if it would fit", async () => {
    const model = scripted([[phased('{"n":1}', "commentary"), phased('{"n":2}', "final_answer")]]);
    const { output } = await new Agent({ model, output: z.object({ n: z.number() }) }).run("How many?");
    expect(output).toEqual({ n: 2 });
  });

  test("is not part of the run's text, but of its messages", async () => {
    const { text, messages } = await new Agent({ model: scripted([answer("It is far.")]) }).run("How far?");
    expect(text).toBe("It is far.");
    expect(messages.map(textOf)).toEqual(["How far?", "I look at [the map].It is far."]);
  });

  test("is not part of a landing's text or output", async () => {
    const look = echo("look");
    const landing = async (last: string, output?: z.ZodType) => {
      const model = scripted([call("look"), answer(last)]);
      return new Agent({ model, tools: [look], maxSteps: 1, ...(output && { output }) }).run("How far?");
    };
    expect((await landing("As far as I know.")).text).toBe("As far as I know.");
    expect((await landing("42", z.number())).output).toBe(42);
  });

  test("is the run's text if nothing else is said", async () => {
    const model = scripted([
      [phased("I look.", "commentary"), call("look")],
      phased("I looked.", "commentary"),
    ]);
    const { text, end } = await new Agent({ model, tools: [echo("look")] }).run("How far?");
    expect([text, end?.reason]).toEqual(["I looked.", "completed"]);
  });
});
