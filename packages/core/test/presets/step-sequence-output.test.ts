// The step sequence's typed output: its two phases, what each request carries, and how often it is asked for.

import { isPaired, type Message, memoryJournal, type Policy, terminateWithOutput, textOf } from "@rondo/core";
import { LoopState } from "@rondo/core/presets";
import { call, type Script, type ScriptedModel, say } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { echo } from "../support.ts";
import { pulled, sequence } from "./step-sequence-support.ts";

const output = z.object({ city: z.string() });
const rome = '{"city":"Rome"}';
const request = "Please provide your final response in the required JSON format.";
const look = echo("look");
const tools = [look];

/** What each request carried: tools, schema, tool choice. */
const carried = (model: ScriptedModel): unknown[] =>
  model.requests.map(({ tools: told, outputSchema, toolChoice }) => [
    told.map(({ name }) => name),
    outputSchema !== undefined,
    toolChoice,
  ]);

describe("what a request contains", () => {
  test("B3.17 tools and no schema while tools are in use, then the schema and no tools", async () => {
    const { agent, model } = sequence([call("look"), say("Rome."), say("hm"), say(rome)], { tools, output });
    await agent.run("go");
    expect(carried(model)).toEqual([
      [["look"], false, "auto"],
      [["look"], false, "auto"],
      [[], true, "none"],
      [[], true, "none"],
    ]);
  });

  test("B3.17 without tools the schema at once, and without a schema none", async () => {
    const typed = sequence([say(rome)], { output });
    await typed.agent.run("go");
    expect(carried(typed.model)).toEqual([[[], true, "none"]]);
    const plain = sequence([call("look"), say("x")], { tools });
    await plain.agent.run("go");
    expect(carried(plain.model)).toEqual([
      [["look"], false, "auto"],
      [["look"], false, "auto"],
    ]);
  });

  test("B3.17 B3.20 tools of a single run are in use like the agent's own, including for output retries", async () => {
    const { agent, model } = sequence([call("look"), say("Rome."), say("hm"), say("ah"), say(rome)], {
      output,
    });
    expect((await agent.run("go", { tools })).output).toEqual({ city: "Rome" });
    expect(carried(model)).toEqual([
      [["look"], false, "auto"],
      [["look"], false, "auto"],
      ...[0, 1, 2].map(() => [[], true, "none"]),
    ]);
  });

  test("B3.17 B3.19 a single run without tools has the schema at once, and one attempt", async () => {
    const { agent, model } = sequence([say("Rome."), say(rome)], { tools, output });
    await expect(agent.run("go", { tools: [] })).rejects.toMatchObject({ code: "outputDecodingFailed" });
    expect(carried(model)).toEqual([[[], true, "none"]]);
  });

  test("B3.17 nothing once it is completed: no request is made any more, however often it is pulled", async () => {
    const { agent, model } = sequence([say(rome)], { output });
    const steps = agent.steps("go")[Symbol.asyncIterator]();
    for (let at = 0; at < 4; at += 1) await steps.next();
    expect(model.calls).toBe(1);
  });
});

describe("the answer", () => {
  test("B3.18 after tools is a thought: the output is requested with a user message, in these words", async () => {
    const { agent, model } = sequence([call("look"), say("It is Rome."), say(rome)], { tools, output });
    const stream = agent.steps("go");
    const seen: [string, number][] = [];
    for await (const step of stream) seen.push([step.type, model.calls]);
    expect(seen).toEqual([
      ["tool_call", 1],
      ["tool_result", 1],
      ["thinking", 2],
      ["final_response", 3],
    ]);
    const { messages } = await stream.result;
    expect(messages.slice(-3).map((message) => [message.role, textOf(message)])).toEqual([
      ["assistant", "It is Rome."],
      ["user", request],
      ["assistant", rome],
    ]);
    expect(isPaired(messages)).toBe(true);
  });

  test("B3.19 without tools is decoded at once, and one that does not fit is an error, and not requested again", async () => {
    const fits = await pulled(sequence([say(rome)], { output }).agent);
    expect(fits.steps).toEqual([`final ${rome}`]);
    const { agent, model } = sequence([say('{"town":1}'), say(rome)], { output });
    const { steps, thrown } = await pulled(agent);
    expect([steps, model.calls]).toEqual([[], 1]);
    expect(thrown).toMatchObject({
      code: "outputDecodingFailed",
      message: expect.stringMatching(/^Failed to decode output: city/),
    });
  });

  test("B3.19 that does not fit is reported unchanged, if raw errors are set", async () => {
    const { thrown } = await pulled(sequence([say("Rome")], { output, decodingErrors: "raw" }).agent);
    expect(thrown).toMatchObject({ kind: "structured_output", message: "the text is not JSON" });
    expect(thrown).not.toHaveProperty("code");
  });

  test("B1.5 B3.19 is what the policy ends with, even if the model wrote more", async () => {
    const inside: Policy = ({ text }) => terminateWithOutput(text.replace(/^.*?(?={)|[^}]*$/gs, ""));
    const typed = await pulled(sequence([say(`Here: ${rome}.`)], { output, policy: inside }).agent);
    expect(typed.steps).toEqual([`final ${rome}`]);
    expect([typed.result?.text, textOf(typed.result?.messages.at(-1) as Message)]).toEqual([
      rome,
      `Here: ${rome}.`,
    ]);
    const plain = await pulled(sequence([say("So.")], { policy: () => terminateWithOutput("") }).agent);
    expect([plain.steps, plain.result?.text]).toEqual([["final "], ""]);
  });

  test("B3.20 is requested again twice, with the same words, each a thought; the third that does not fit is an error", async () => {
    const script: Script = [say("Rome."), say("one"), say("two"), say("three"), say(rome)];
    const { agent, model } = sequence(script, { tools, output });
    const { steps, thrown } = await pulled(agent);
    expect(steps).toEqual(["thinking Rome.", "thinking one", "thinking two"]);
    expect(thrown).toMatchObject({ code: "outputDecodingFailed" });
    expect(model.calls).toBe(4);
    const words = model.lastRequest.messages.filter(({ role }) => role === "user").map(textOf);
    expect(words).toEqual(["go", request, request, request]);
    const third = sequence([say("Rome."), say("one"), say("two"), say(rome)], { tools, output });
    expect((await pulled(third.agent)).steps.at(-1)).toBe(`final ${rome}`);
  });

  test("B3.20 B2.9 that does not fit is a thought even if no step is left to request it again", async () => {
    const { agent, model } = sequence([say("Rome."), say("one"), say(rome)], { tools, output, maxSteps: 2 });
    const { steps, thrown } = await pulled(agent);
    expect(steps).toEqual(["thinking Rome.", "thinking one"]);
    expect(thrown).toMatchObject({ code: "maxStepsExceeded" });
    expect(model.calls).toBe(2);
  });

  test("B3.20 is requested again once if one retry is allowed", async () => {
    const script: Script = [say("Rome."), say("one"), say("two"), say(rome)];
    const { agent, model } = sequence(script, { tools, output, maxDecodeRetries: 1 });
    expect((await pulled(agent)).thrown).toMatchObject({ code: "outputDecodingFailed" });
    expect(model.calls).toBe(3);
  });

  test("B3.21 once given, ends the sequence: further pulls give nothing", async () => {
    const { agent } = sequence([say("x")]);
    const steps = agent.steps("go")[Symbol.asyncIterator]();
    const seen = [await steps.next(), await steps.next(), await steps.next()];
    expect(seen.map(({ done }) => done)).toEqual([false, true, true]);
  });

  test("B3.22 is the whole text, without a fence around it, its keys in snake_case or camelCase", async () => {
    const person = z.object({
      firstName: z.string(),
      homeTowns: z.array(z.object({ cityName: z.string() })),
    });
    const value = { firstName: "Ann", homeTowns: [{ cityName: "Rome" }] };
    const snake = '{"first_name":"Ann","home_towns":[{"city_name":"Rome"}]}';
    for (const text of [snake, JSON.stringify(value)])
      expect((await sequence([say(text)], { output: person }).agent.run("go")).output).toEqual(value);
    for (const text of [`\`\`\`json\n${snake}\n\`\`\``, `Here: ${snake}`])
      expect((await pulled(sequence([say(text)], { output: person }).agent)).thrown).toMatchObject({
        code: "outputDecodingFailed",
      });
    // Also where the value would fit without them.
    const optional = z.object({
      id: z.number(),
      displayName: z.string().optional(),
      homeTown: z.object({ cityName: z.string().default("nowhere") }).optional(),
      first_seen: z.string().optional(),
    });
    const written = '{"id":1,"display_name":"Ann","home_town":{"city_name":"Rome"},"first_seen":"today"}';
    expect((await sequence([say(written)], { output: optional }).agent.run("go")).output).toEqual({
      id: 1,
      displayName: "Ann",
      homeTown: { cityName: "Rome" },
      first_seen: "today",
    });
    const both = '{"id":1,"displayName":"Ann","display_name":"Bob"}';
    expect((await sequence([say(both)], { output: optional }).agent.run("go")).output).toEqual({
      id: 1,
      displayName: "Ann",
    });
    // Keys that the schema itself writes so stay so.
    const snakes = z.object({ first_name: z.string() });
    expect(
      (await sequence([say('{"first_name":"Ann"}')], { output: snakes }).agent.run("go")).output,
    ).toEqual({
      first_name: "Ann",
    });
  });

  test("B3.23 costs a step each time it is requested; normal turns stay normal while tools are in use", async () => {
    const script: Script = [say("Rome."), say("one"), say(rome)];
    const three = sequence(script, { tools, output, maxSteps: 3 });
    expect((await three.agent.run("go")).steps).toBe(3);
    const two = sequence(script, { tools, output, maxSteps: 2 });
    expect((await pulled(two.agent)).thrown).toMatchObject({ code: "maxStepsExceeded" });
    expect(two.model.calls).toBe(2);
  });
});

describe("the phases", () => {
  test("B1.4 are tool use, the final output with its retries, and completed", async () => {
    const journal = memoryJournal();
    const { agent } = sequence(
      [call("look"), say("Rome."), say("hm"), say(rome)],
      { tools, output },
      { journal },
    );
    await agent.run("go", { session: "s" });
    const records = await journal.read("s");
    const phases = records.map((_, at) => JSON.stringify(new LoopState(records.slice(0, at + 1)).phase));
    expect(
      phases.filter((phase, at) => phase !== phases[at - 1]).map((phase) => JSON.parse(phase) as unknown),
    ).toEqual([
      { phase: "toolUse" },
      { phase: "finalOutput", retryCount: 0 },
      { phase: "finalOutput", retryCount: 1 },
      { phase: "completed" },
    ]);
  });
});
