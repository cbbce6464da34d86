// Long answers of Gemini 4: what one request may hold is reached before the answer ends, and the server continues it.

import { Agent, type Json, type Message, type Model, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { frames, type RondoWire, raw, type WireAct } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { google } from "../../src/index.ts";
import { serve } from "../end-to-end/stack.ts";

const gemini = (wire: RondoWire, stream: boolean = true): Model =>
  google("gemini-4-argon", { apiKey: "k", baseURL: wire.urlFor("google"), stream });

const part = (parts: Json[], continuationToken?: string): Json => ({
  candidates: [
    {
      content: { role: "model", parts },
      finishReason: continuationToken === undefined ? "STOP" : "CONTINUATION",
      ...(continuationToken === undefined ? {} : { continuationToken }),
    },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
const streamed = (parts: Json[], token?: string): WireAct => frames([{ data: part(parts, token) }]);

interface Sent {
  contents: { role: string; parts: { text?: string }[] }[];
  continuationToken?: string;
}
const sent = ({ requests }: RondoWire): Sent[] => requests.map(({ body }) => body as unknown as Sent);
const said = ({ contents }: Sent): string[] =>
  contents.map(({ role, parts }) => `${role}: ${parts.map(({ text }) => text).join("")}`);

describe("an answer that is longer than one request may make it", () => {
  it.each([
    ["streamed", true],
    ["whole", false],
  ])("is continued with the server's token, in the same request, as one answer: %s", async (_, stream) => {
    const act = (parts: Json[], token?: string): WireAct =>
      stream ? streamed(parts, token) : raw(part(parts, token));
    const wire = await serve([
      act([{ text: "Once upon " }], "t1"),
      act([{ text: "a ti" }], "t2"),
      act([{ text: "me." }]),
      act([{ text: "More." }]),
    ]);
    const agent = new Agent({ model: gemini(wire, stream) });
    const result = await agent.run("Tell.");
    expect(result).toMatchObject({ text: "Once upon a time.", end: { reason: "completed" } });
    expect(result.usage).toMatchObject({ outputTokens: 15 });
    expect(sent(wire).map(({ continuationToken }) => continuationToken)).toEqual([undefined, "t1", "t2"]);
    expect(sent(wire).map(said)).toEqual([["user: Tell."], ["user: Tell."], ["user: Tell."]]);
    // Afterwards it is in the history like any other.
    const more = await agent.run([...result.messages, userText("And then?")]);
    expect(more.text).toBe("More.");
    const last = sent(wire).at(-1);
    expect(last?.continuationToken).toBeUndefined();
    expect(said(last!)).toEqual([
      "user: Tell.",
      "model: Once upon ",
      "user: Continue.",
      "model: a ti",
      "user: Continue.",
      "model: me.",
      "user: And then?",
    ]);
  });

  it("whose thoughts alone filled the request goes on", async () => {
    const wire = await serve([
      streamed([{ text: "Hm.", thought: true }], "t1"),
      streamed([{ text: "Yes." }]),
    ]);
    const result = await new Agent({ model: gemini(wire) }).run("Is it?");
    expect(result).toMatchObject({ text: "Yes.", end: { reason: "completed" } });
    expect(sent(wire)[1]).toMatchObject({ continuationToken: "t1" });
  });

  it("goes back as a message if the server refuses the token", async () => {
    const error = { code: 400, status: "INVALID_ARGUMENT", message: "Continuation token is expired." };
    const wire = await serve([
      streamed([{ text: "Once upon " }], "t1"),
      raw({ error }, { status: 400 }),
      streamed([{ text: "a time." }]),
    ]);
    const result = await new Agent({ model: gemini(wire) }).run("Tell.");
    expect(result).toMatchObject({ text: "Once upon a time.", end: { reason: "completed" } });
    expect(sent(wire)[2]).not.toHaveProperty("continuationToken");
    expect(said(sent(wire)[2]!)).toEqual(["user: Tell.", "model: Once upon ", "user: Continue."]);
  });

  it("goes back as a message to another model, which did not give the token", async () => {
    const first = await serve([streamed([{ text: "Once upon " }], "t1")]);
    const half = await new Agent({ model: gemini(first), pauseResumes: 0 }).run("Tell.");
    const paused = half.messages.filter((one): one is Message => one.role !== "system");
    const wire = await serve([say("a time.")]);
    const other = google("gemini-3-flash", { apiKey: "k", baseURL: wire.urlFor("google") });
    await new Agent({ model: other }).run([...paused, userText("Go on.")]);
    expect(sent(wire)[0]).not.toHaveProperty("continuationToken");
  });

  it("is only cut off if it has a call, or no token", async () => {
    for (const act of [
      streamed([{ functionCall: { name: "f", args: {} } }], "t1"),
      streamed([{ text: "Once" }], ""),
    ]) {
      const wire = await serve([act, ...Array.from({ length: 5 }, () => act)]);
      const { end } = await new Agent({ model: gemini(wire) }).run("Tell.");
      expect(end?.reason).toBe("truncated");
    }
  });
});
