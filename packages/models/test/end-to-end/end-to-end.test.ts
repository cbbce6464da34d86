// Agents on every provider, over sockets, in every chunking: what the script meant is what the user gets, and every
// request that goes out keeps its provider's rules.

import { Agent, type Message, memoryJournal, type Tool, textOf, tool } from "@rondo/core";
import { badArgs, call, part, refuse, say, stop, think, usage } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cells, expectValid, of, rows, serve, watched } from "./stack.ts";

interface Seen {
  city: string;
  days?: number | undefined;
}

function weather(seen: Seen[] = []): Tool {
  return tool({
    name: "weather",
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
    effect: "read",
    execute: (args) => {
      seen.push(args);
      return `-5 degrees in ${args.city}`;
    },
  });
}

const roles = (messages: readonly Message[]): string => messages.map((message) => message.role).join(" ");

describe.each(cells)("$name", ({ row, mode }) => {
  const { stream } = mode;

  it("returns the text, its deltas, the usage and the stop reason of an answer", async () => {
    const wire = await serve(
      [
        [
          say("Grüße aus Ōsaka 🌸\n\u2028done"),
          usage({ inputTokens: 50, outputTokens: 9, cachedInputTokens: 32 }),
        ],
      ],
      mode,
    );
    const agent = new Agent({ model: row.model(wire, { stream }), system: "Be brief." });
    const { result, events } = await watched(agent, "Say hello");
    expect(result.text).toBe("Grüße aus Ōsaka 🌸\n\u2028done");
    expect(
      of(events, "text_delta")
        .map((event) => event.text)
        .join(""),
    ).toBe(result.text);
    expect(result.end?.reason).toBe("completed");
    expect(result.usage).toMatchObject({ inputTokens: 50, outputTokens: 9, cachedInputTokens: 32 });
    expect(result.messages.at(-1)).toMatchObject({ stop: { kind: "end_turn", wire: "end_turn" } });
    expect(wire.requests.map((request) => request.stream)).toEqual([stream]);
    expect(wire.requests[0]?.text).toContain("Be brief.");
    expectValid(wire, result);
  });

  it("runs a tool with the intended arguments and sends its result back", async () => {
    const seen: Seen[] = [];
    const wire = await serve([call("weather", { city: 'Ōsaka "北"\\', days: 3 }), say("Cold.")], mode);
    const agent = new Agent({ model: row.model(wire, { stream }), tools: [weather(seen)] });
    const { result, events } = await watched(agent, "How is it?");
    expect(seen).toEqual([{ city: 'Ōsaka "北"\\', days: 3 }]);
    expect(result).toMatchObject({ text: "Cold.", steps: 2, toolCalls: 1, end: { reason: "completed" } });
    expect(roles(result.messages)).toBe("user assistant tool assistant");
    const deltas = of(events, "tool_args_delta").map((event) => event.delta);
    expect(JSON.parse(deltas.join(""))).toEqual(seen[0]);
    expect(wire.requests[1]?.text).toContain("-5 degrees");
    expectValid(wire, result);
  });

  it("runs calls without arguments, and several at once, with one result each, in their order", async () => {
    const seen: string[] = [];
    const now = tool({
      name: "now",
      description: "The time",
      inputSchema: z.object({}),
      effect: "read",
      execute: () => {
        seen.push("now");
        return "noon";
      },
    });
    const wire = await serve(
      [
        [
          say("Three things."),
          call("now"),
          call("weather", { city: "Oslo" }),
          call("weather", { city: "Rome" }),
        ],
        say("Done."),
      ],
      mode,
    );
    const agent = new Agent({ model: row.model(wire, { stream }), tools: [weather(), now] });
    const result = await agent.run("All of it");
    expect(result).toMatchObject({ text: "Done.", toolCalls: 3 });
    expect(roles(result.messages)).toBe("user assistant tool tool tool assistant");
    expect(result.messages.slice(2, 5).map(textOf)).toEqual([
      "noon",
      "-5 degrees in Oslo",
      "-5 degrees in Rome",
    ]);
    expect(seen).toEqual(["now"]);
    expectValid(wire, result);
  });

  it("keeps reasoning, and sends back what only its provider understands", async () => {
    const wire = await serve(
      [
        [think("Where is Oslo? Up north."), call("weather", { city: "Oslo" })],
        [think("Cold."), say("Cold.")],
        say("Yes."),
      ],
      mode,
    );
    const agent = new Agent({
      model: row.model(wire, { stream }),
      tools: [weather()],
      settings: { reasoning: "medium", maxOutputTokens: 8000 },
    });
    const session = await agent.open("s");
    const first = await session.send("Is it cold?");
    const second = await session.send("Really?");
    expect(first.messages[1]?.content[0]).toMatchObject({
      type: "reasoning",
      text: "Where is Oslo? Up north.",
    });
    expect([first.text, second.text]).toEqual(["Cold.", "Yes."]);
    // Chat Completions has no way to take reasoning back.
    if (row.name !== "openai-chat") {
      const signature = row.name === "google" ? "sig-1-1" : "sig-1-0";
      expect(wire.requests[1]?.text).toContain(signature);
    }
    expectValid(wire, first, second);
  });

  it("ends a refused run with the provider's words, and stores none of it", async () => {
    const wire = await serve([refuse("I will not help with that."), say("Sure.")], mode);
    const session = await new Agent({ model: row.model(wire, { stream }) }).open("s");
    const result = await session.send("Something bad");
    expect(result).toMatchObject({ end: { reason: "refused" }, text: "I will not help with that." });
    const next = await session.send("Something good");
    expect(next.text).toBe("Sure.");
    expect(wire.requests[1]?.text).not.toContain("I will not help");
    expectValid(wire, result, next);
  });

  it("says that a text was cut off at the output limit, with the text so far", async () => {
    const wire = await serve([[say("It was a dark and"), stop("max_tokens")]], mode);
    const result = await new Agent({ model: row.model(wire, { stream }) }).run("Write");
    expect(result).toMatchObject({ end: { reason: "truncated" }, text: "It was a dark and" });
    expectValid(wire, result);
  });

  it("runs nothing of an answer whose call was cut off, tells the model, and continues", async () => {
    const seen: Seen[] = [];
    const wire = await serve(
      [
        [
          say("Let me"),
          call("weather", { city: "Rome" }),
          badArgs("weather", '{"city": "Os'),
          stop("max_tokens"),
        ],
        call("weather", { city: "Oslo" }),
        say("Cold."),
      ],
      mode,
    );
    const agent = new Agent({ model: row.model(wire, { stream }), tools: [weather(seen)] });
    const result = await agent.run("Weather?");
    expect(seen).toEqual([{ city: "Oslo" }]);
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "Cold." });
    expectValid(wire, result);
  });

  it("tells the model that arguments are not JSON, and never runs them", async () => {
    const seen: Seen[] = [];
    const wire = await serve(
      [badArgs("weather", '{"city": Oslo}'), call("weather", { city: "Oslo" }), say("Cold.")],
      mode,
    );
    const agent = new Agent({ model: row.model(wire, { stream }), tools: [weather(seen)] });
    const result = await agent.run("Weather?");
    expect(seen).toEqual([{ city: "Oslo" }]);
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "Cold." });
    expectValid(wire, result);
  });

  it("calls the model again once after an empty answer", async () => {
    const wire = await serve([[], say("Here.")], mode);
    const result = await new Agent({ model: row.model(wire, { stream }), retry: { baseMs: 1 } }).run("Hello");
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "Here." });
    expectValid(wire, result);
  });

  it("returns typed output, also after tools, and requests it again if it does not fit", async () => {
    const output = z.object({ city: z.string(), degrees: z.number() });
    const wire = await serve((request) => {
      const told = request.text;
      if (!told.includes("-5 degrees")) return call("weather", { city: "Oslo" });
      return told.includes('degrees\\": \\"cold')
        ? say('{"city": "Oslo", "degrees": -5}')
        : say('{"city": "Oslo", "degrees": "cold"}');
    }, mode);
    const agent = new Agent({ model: row.model(wire, { stream }), tools: [weather()], output });
    const result = await agent.run("Weather of Oslo?");
    expect(result.end).toMatchObject({ reason: "completed" });
    expect(result.output).toEqual({ city: "Oslo", degrees: -5 });
    expectValid(wire, result);
  });
});

describe("one session, several models", () => {
  it("with any order of two providers continues the conversation, with calls, results and reasoning", async () => {
    for (const first of rows)
      for (const second of rows) {
        const wire = await serve([
          [
            think("Hm."),
            say("Looking."),
            call("weather", { city: "Oslo" }),
            call("weather", { city: "Rome" }),
          ],
          say("Cold there."),
          [think("Again."), call("weather", { city: "Bonn" })],
          say("Cold here."),
          [think("Back."), say("As I said.")],
        ]);
        const journal = memoryJournal();
        const tools = [weather()];
        const settings = { maxOutputTokens: 8000 };
        const other = second.model(wire, second.name === first.name ? { id: another[second.name] } : {});
        const one = await new Agent({ model: first.model(wire), tools, settings, journal }).open("s");
        const a = await one.send("Weather?");
        const two = await new Agent({ model: other, tools, settings, journal }).open("s");
        const b = await two.send("And in Bonn?");
        const back = await new Agent({ model: first.model(wire), tools, settings, journal }).open("s");
        const c = await back.send("So?");
        expect([a.text, b.text, c.text], `${first.name} then ${second.name}`).toEqual([
          "Cold there.",
          "Cold here.",
          "As I said.",
        ]);
        expect(wire.violations, `${first.name} then ${second.name}`).toEqual([]);
        expectValid(wire, a, b, c);
        // What one provider signed is shown to no other.
        const foreign = wire.requests
          .slice(2, 4)
          .map((request) => request.text)
          .join("");
        expect(foreign.includes("sig-1-"), `${first.name} then ${second.name}`).toBe(false);
      }
  });

  it("a fallback in the middle of a run continues where the first model stopped", async () => {
    for (const [at, first] of rows.entries()) {
      const second = rows[(at + 1) % rows.length] ?? first;
      const wire = await serve((request, number) =>
        request.protocol === wireApi[first.name] && number > 1
          ? { wire: "status", status: 401, options: {} }
          : number === 1
            ? [think("Hm."), call("weather", { city: "Oslo" })]
            : say("Cold, says the other."),
      );
      const agent = new Agent({
        model: first.model(wire),
        fallback: [second.model(wire)],
        tools: [weather()],
        settings: { maxOutputTokens: 8000 },
      });
      const { result, events } = await watched(agent, "Weather?");
      expect(result, first.name).toMatchObject({
        text: "Cold, says the other.",
        end: { reason: "completed" },
      });
      expect(of(events, "fallback")).toMatchObject([{ error: { kind: "auth" } }]);
      expectValid(wire, result);
    }
  });
});

const another = {
  anthropic: "claude-opus-5",
  openai: "gpt-5.2-mini",
  "openai-chat": "gpt-5.2-mini",
  google: "gemini-3-flash",
  bedrock: "anthropic.claude-opus-5-v1:0",
} as const;
const wireApi = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  "openai-chat": "openai-chat",
  google: "google-generative-ai",
  bedrock: "bedrock-converse",
} as const;

describe("an answer that pauses", () => {
  it("is sent back unchanged to Anthropic, and continues", async () => {
    const search = {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "web_search",
      input: { query: "weather in Oslo" },
    };
    const wire = await serve([
      [say("Searching."), part({ type: "native", kind: "server_tool_use", opaque: search }), stop("pause")],
      say("Cold."),
    ]);
    const [row] = rows;
    const result = await new Agent({ model: (row ?? fail("no row")).model(wire) }).run("Weather?");
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "Searching.Cold." });
    const body = wire.requests[1]?.body as { messages: { role: string; content: object[] }[] };
    expect(body.messages.at(-1)).toMatchObject({ role: "assistant", content: [{}, search] });
    expectValid(wire, result);
  });

  it("has a limit: a model that only pauses ends the run", async () => {
    const wire = await serve(
      [
        [
          part({
            type: "native",
            kind: "server_tool_use",
            opaque: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
          }),
          stop("pause"),
        ],
      ],
      {
        repeatLast: true,
      },
    );
    const [row] = rows;
    const result = await new Agent({ model: (row ?? fail("no row")).model(wire), pauseResumes: 2 }).run("Go");
    expect(result.end).toMatchObject({ reason: "unexpected_stop" });
    expect(wire.requests).toHaveLength(3);
  });
});

function fail(message: string): never {
  throw new Error(message);
}
