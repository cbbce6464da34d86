// What a refusal teaches of a Gemini: asked once the wrong way, and never again (F134).

import { Agent, type FilePart, type Tool, tool, userText } from "@rondo/core";
import { call, say } from "@rondo/testkit";
import { checkGoogleRequest, frames, raw, reset } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { google } from "../../src/index.ts";
import { serve } from "../end-to-end/stack.ts";

const body = (message: string): string =>
  JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
const refused = (message: string): ReturnType<typeof raw> =>
  raw(body(message), { status: 400, headers: { "content-type": "application/json" } });

const look = (execute: () => unknown): Tool =>
  tool({ name: "look", description: "Looks", inputSchema: { type: "object" }, effect: "read", execute });

describe("a refusal by a Gemini", () => {
  const told = (message: string, model: string, compat: object = {}): object | undefined =>
    googleGenerativeAi.learned?.(
      { status: 400, header: () => null, body: body(message) },
      {
        origin: { api: "google-generative-ai", provider: "google", model },
        facts: {},
        compat: compat as never,
      },
    );
  const vertex = (words: string): string =>
    `Unable to submit request because ${words} Learn more: https://cloud.google.com/vertex-ai`;

  it.each<[string, string, object]>([
    [
      "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
      "gemini-3.6-flash",
      { lacksLevels: ["MINIMAL"] },
    ],
    [
      "Thinking level XHIGH is not supported for this model.",
      "gemini-4-hydrogen",
      { lacksLevels: ["MINIMAL", "XHIGH"] },
    ],
    [vertex("the continuation_token is invalid."), "gemini-4-argon", { resumesPauses: false }],
    [
      vertex("thinking_level MEDIUM is not supported by this model."),
      "gemini-3.1-pro",
      { lacksLevels: ["MINIMAL", "MEDIUM"] },
    ],
    [
      vertex("thinking_level is not supported by this model.."),
      "gemini-flash-latest",
      { thinking: "budget" },
    ],
    ["Thinking level is not supported for this model.", "gemini-3-flash", { thinking: "budget" }],
    ["Thinking level is unsupported: THINKING_LEVEL_MINIMAL", "gemini-3-flash", { lacksLevels: ["MINIMAL"] }],
    [
      vertex("THINKING_LEVEL_MINIMAL is not supported by this model."),
      "gemini-3-flash",
      { lacksLevels: ["MINIMAL"] },
    ],
    ["Thinking budget is not supported for this model.", "gemini-2.5-flash", { thinking: "level" }],
    [vertex("thinking is not supported by this model."), "gemini-3-flash", { thinking: "none" }],
    [vertex("thinking_config is not supported."), "gemini-3-flash", { thinking: "none" }],
    [
      "Invalid JSON payload received. Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find field.\nInvalid JSON payload received. Unknown name \"id\" at 'contents[2].parts[0].function_response': Cannot find field.",
      "gemini-3.5-flash",
      { callIds: "never" },
    ],
    ["messages.1.content.0.tool_use.id: Field required", "claude-sonnet-4-5", { callIds: "always" }],
    [
      vertex("thinking is not configurable in this model; please remove the thinking_config setting."),
      "gemini-2.5-pro",
      { thinking: "none" },
    ],
    [
      "Invalid JSON payload received. Unknown name \"thinkingConfig\" at 'generation_config': Cannot find field.",
      "gemini-3-flash",
      { thinking: "none" },
    ],
    [
      "Budget 0 is invalid. This model only works in thinking mode.",
      "tunedModels/mine",
      { alwaysThinks: true },
    ],
    [
      vertex("The model does not support setting thinking_budget to 0."),
      "gemini-2.5-flash",
      { alwaysThinks: true },
    ],
    ["Penalty is not enabled for models/gemini-2.5-flash", "gemini-2.5-flash", { penalties: false }],
    [
      "Developer instruction is not enabled for models/gemma-3-27b-it",
      "gemma-3-27b-it",
      { systemRole: "user" },
    ],
    [
      "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0].function_declarations[0]': Cannot find field.",
      "gemini-2.5-flash",
      { schemas: "openapi" },
    ],
    [
      "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
      "gemini-3-flash",
      { schemas: "openapi" },
    ],
    [
      vertex("the mime_type: video/text/timestamp is not supported in `function_response.parts`."),
      "gemini-3-flash",
      { mediaInResults: false },
    ],
    [
      "The referenced name `#/components/schemas/Example` in function_response.response does not match to a display_name in the function_response.parts.",
      "gemini-3.5-flash",
      { spellRefs: true },
    ],
    [
      "Invalid JSON payload received. Unknown name \"parts\" at 'contents[2].parts[0].function_response': Cannot find field.",
      "gemini-3-flash",
      { mediaInResults: false },
    ],
  ])("teaches a quirk, once: %s", (message, model, quirk) => {
    expect(told(message, model)).toEqual(quirk);
    expect(told(message, model, { ...quirk, resultKey: "result" })).toBeUndefined();
    expect(told(message, model, { resultKey: "result" })).toEqual({ resultKey: "result", ...quirk });
  });

  it.each([
    "You can only set only one of thinking budget and thinking level.",
    "The thinking budget (52428) is invalid.",
    "Function calling is not enabled for models/gemma-3-27b-it",
    "Request contains an invalid argument.",
  ])("teaches nothing else: %s", (message) => {
    expect(told(message, "gemini-3-flash")).toBeUndefined();
  });
});

describe("a Gemini with learnt quirks", () => {
  const config = (request: { body: unknown } | undefined): { [name: string]: unknown } =>
    ((request?.body ?? {}) as { generationConfig?: { [name: string]: unknown } }).generationConfig ?? {};
  const model = (url: string, name: string): ReturnType<typeof google> =>
    google(name, { apiKey: "k", baseURL: url });

  it("thinks at the next existing level, and does not get the refused one again", async () => {
    const wire = await serve([
      refused(
        "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
      ),
      say("one"),
      say("two"),
    ]);
    const agent = new Agent({ model: model(wire.url, "gemini-3.6-flash"), settings: { reasoning: "off" } });
    expect((await agent.run("go")).text).toBe("one");
    expect((await agent.run("go")).text).toBe("two");
    expect(wire.requests.map((request) => config(request).thinkingConfig)).toEqual([
      { thinkingLevel: "MINIMAL" },
      { thinkingLevel: "LOW" },
      { thinkingLevel: "LOW" },
    ]);
  });

  it("gets no penalties", async () => {
    const wire = await serve([refused("Penalty is not enabled for models/gemini-2.5-flash"), say("done")]);
    const agent = new Agent({
      model: model(wire.url, "gemini-2.5-flash"),
      settings: { frequencyPenalty: 0.5, presencePenalty: 0.5, temperature: 0.5 },
    });
    expect((await agent.run("go")).end?.reason).toBe("completed");
    expect(config(wire.requests[1])).toEqual({ temperature: 0.5 });
  });

  it("gets its system prompt from the user if it accepts none, at the beginning of every request", async () => {
    const wire = await serve([
      refused("Developer instruction is not enabled for models/gemma-3-27b-it"),
      call("look"),
      say("done"),
    ]);
    const agent = new Agent({
      model: model(wire.url, "gemma-3-27b-it"),
      system: "Be short.",
      tools: [look(() => "ok")],
    });
    expect((await agent.run("go")).text).toBe("done");
    const [, second, third] = wire.requests.map(({ body: sent }) => sent as { contents: unknown[] });
    expect(second).not.toHaveProperty("systemInstruction");
    expect(second?.contents).toEqual([
      { role: "user", parts: [{ text: "Be short." }] },
      { role: "user", parts: [{ text: "go" }] },
    ]);
    expect(third?.contents.slice(0, 2)).toEqual(second?.contents);
    expect(checkGoogleRequest(third)).toEqual([]);
  });

  it("gets files from a tool in a user turn if it accepts none in a result", async () => {
    const picture: FilePart = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };
    const wire = await serve([
      call("look"),
      refused(
        "Unable to submit request because the mime_type: image/png is not supported in `function_response.parts`.",
      ),
      say("done"),
    ]);
    const agent = new Agent({
      model: google("gemini-3-flash", { apiKey: "k", baseURL: wire.url, facts: { accepts: ["image/*"] } }),
      tools: [look(() => [picture])],
    });
    expect((await agent.run("go")).text).toBe("done");
    const { contents: turns } = (wire.requests.at(-1)?.body ?? {}) as { contents: { parts: object[] }[] };
    expect(JSON.stringify(turns.at(-2))).not.toContain("inlineData");
    expect(turns.at(-1)?.parts.at(-1)).toEqual({
      inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" },
    });
  });
});

describe("a Gemini that answers nothing because of its own signatures", () => {
  const model = (url: string): ReturnType<typeof google> =>
    google("gemini-3.5-flash", { apiKey: "k", baseURL: url });
  const silence = frames([
    {
      data: {
        candidates: [{ finishReason: "STOP", content: { role: "model", parts: [{}] } }],
        usageMetadata: { promptTokenCount: 22649, totalTokenCount: 22649 },
      },
    },
  ]);
  /** Which signatures a request carried. */
  const signed = ({ body: sent }: { body: unknown }): string[] =>
    [...JSON.stringify(sent).matchAll(/"thoughtSignature":"([^"]*)"/g)].map(
      ([, signature = ""]) => signature,
    );
  const sentinel = "skip_thought_signature_validator";

  it("is called once more without them, and never with them again", async () => {
    const wire = await serve([call("look"), silence, call("look"), say("done"), say("again")]);
    const agent = new Agent({ model: model(wire.url), tools: [look(() => "ok")] });
    const { text, end, steps, messages } = await agent.run("go");
    expect([text, end?.reason, steps]).toEqual(["done", "completed", 3]);
    expect((await agent.run([...messages, userText("and now?")])).text).toBe("again");
    const [first, own, without, then, later] = wire.requests.map(signed);
    expect(first).toEqual([]);
    expect(own).toEqual([expect.stringMatching(/^sig-/)]);
    expect([without, then, later]).toEqual([[sentinel], [sentinel, sentinel], [sentinel, sentinel]]);
    expect(wire.violations).toEqual([]);
  });

  it("causes a warning that says so", async () => {
    const wire = await serve([call("look"), silence, say("done")]);
    const agent = new Agent({ model: model(wire.url), tools: [look(() => "ok")] });
    const told: string[] = [];
    for await (const event of agent.stream("go"))
      if (event.type === "warning") told.push(`${event.code}: ${event.message}`);
    expect(told).toEqual([
      expect.stringMatching(/^thinking_dropped: google\/gemini-3\.5-flash .*signatures/),
    ]);
  });

  it("gets its signatures back if it answers nothing without them either", async () => {
    const wire = await serve([call("look"), silence, silence, say("done")]);
    const agent = new Agent({ model: model(wire.url), tools: [look(() => "ok")] });
    expect((await agent.run("go")).text).toBe("done");
    expect(wire.requests.map(signed)).toEqual([
      [],
      [expect.stringMatching(/^sig-/)],
      [sentinel],
      [expect.stringMatching(/^sig-/)],
    ]);
  });

  it("gets them back if it refuses, or breaks off, without them", async () => {
    for (const other of [
      refused("Function call is missing a thought_signature in functionCall parts."),
      reset(),
    ]) {
      const wire = await serve([call("look"), silence, other, say("done")]);
      const agent = new Agent({ model: model(wire.url), tools: [look(() => "ok")], retry: { baseMs: 1 } });
      expect((await agent.run("go")).text).toBe("done");
      expect(wire.requests.map(signed).at(-1)).toEqual([expect.stringMatching(/^sig-/)]);
    }
  });

  it("is not called twice if there were none, or if it thought", async () => {
    const wire = await serve([silence, say("one")]);
    expect((await new Agent({ model: model(wire.url) }).run("go")).text).toBe("one");
    expect(wire.requests).toHaveLength(2);
    const thought = frames([
      {
        data: {
          candidates: [{ finishReason: "STOP", content: { parts: [{ text: "", thoughtSignature: "s" }] } }],
          usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 25 },
        },
      },
    ]);
    const other = await serve([call("look"), thought, say("two")]);
    const agent = new Agent({ model: model(other.url), tools: [look(() => "ok")] });
    expect((await agent.run("go")).text).toBe("two");
    expect(other.requests.map(signed).at(-1)).not.toContain(sentinel);
  });
});
