// A setting that a model refused is not sent to it again, in later runs either (F134).

import { Agent, type ModelEvent, type Settings, userText } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { openaiCompatible } from "../src/index.ts";

type Body = Record<string, unknown>;
/** The error's text for a request, or undefined for an answer. */
type Judge = (body: Body) => string | undefined;

function model(judge: Judge): { model: ReturnType<typeof openaiCompatible>; sent: Body[] } {
  const sent: Body[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const body = JSON.parse(String(init?.body)) as Body;
    sent.push(body);
    const message = judge(body);
    if (message !== undefined)
      return new Response(JSON.stringify({ error: { type: "invalid_request_error", message } }), {
        status: 400,
      });
    const choices = [{ index: 0, message: { content: "done" }, finish_reason: "stop" }];
    return new Response(JSON.stringify({ choices }));
  };
  return {
    model: openaiCompatible({ baseURL: "http://127.0.0.1/v1", model: "m", apiKey: "k", fetch }),
    sent,
  };
}

const coldOnly: Judge = ({ temperature }) =>
  temperature === undefined
    ? undefined
    : "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.";

const run = async (on: ReturnType<typeof openaiCompatible>, settings: Settings): Promise<string> =>
  (await new Agent({ model: on, settings }).run("go")).text;

const settingsIn = (sent: Body[]): string[] =>
  sent.map((body) =>
    ["temperature", "seed", "reasoning_effort"].filter((one) => body[one] !== undefined).join(" "),
  );

describe("a setting that was refused", () => {
  it("is left out of later runs, with a warning", async () => {
    const { model: on, sent } = model(coldOnly);
    const settings = { temperature: 0.2, seed: 7 };
    expect(await run(on, settings)).toBe("done");
    expect(await run(on, settings)).toBe("done");
    expect(settingsIn(sent)).toEqual(["temperature seed", "seed", "seed"]);
    const told: ModelEvent[] = [];
    const signal = new AbortController().signal;
    const messages = [userText("go")];
    await on.call(
      { messages: messages as never, tools: [], toolChoice: "auto", settings },
      { signal, emit: (event) => told.push(event) },
    );
    expect(told).toContainEqual({
      type: "warning",
      code: "unsupported_setting",
      message: "settings.temperature was refused by this model before, and was left out",
    });
  });

  it("is left out beside another one that was refused after it", async () => {
    const { model: on, sent } = model(
      (body) =>
        coldOnly(body) ??
        (body.seed === undefined ? undefined : "Unsupported parameter: 'seed' is not supported"),
    );
    const settings = { seed: 7, temperature: 0.2 };
    expect(await run(on, settings)).toBe("done");
    expect(await run(on, settings)).toBe("done");
    expect(settingsIn(sent)).toEqual(["temperature seed", "seed", "", ""]);
  });

  it.each([
    ["another value", { temperature: 1 }],
    ["other settings beside it", { temperature: 0.2, reasoning: "low" }],
  ] as const)("is sent with %s", async (_what, other) => {
    const { model: on, sent } = model(coldOnly);
    await run(on, { temperature: 0.2 });
    await run(on, other);
    expect(sent[2]?.temperature).toBe(other.temperature);
  });

  it("is sent again if leaving it out did not help", async () => {
    let refuses = true;
    const { model: on, sent } = model((body) => (refuses ? (coldOnly(body) ?? "No.") : undefined));
    const { end } = await new Agent({ model: on, settings: { temperature: 0.2 } }).run("go");
    expect(end?.reason).toBe("error");
    refuses = false;
    expect(await run(on, { temperature: 0.2 })).toBe("done");
    expect(settingsIn(sent)).toEqual(["temperature", "", "temperature"]);
  });
});
