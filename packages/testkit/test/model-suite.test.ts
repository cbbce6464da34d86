import {
  type AssistantMessage,
  type Model,
  type ModelEvent,
  type ModelRequest,
  RondoError,
} from "@rondo/core";
import { anthropic, bedrock, google, openai } from "@rondo/models";
import { type ModelUnderTest, type OpenModel, scripted, type Turn, testModel } from "@rondo/testkit";
import { rondoWire } from "@rondo/testkit/wire";
import { afterAll, describe, expect, it } from "vitest";

/** A provider of ours on rondo-wire. */
function overTheWire(
  name: string,
  make: (url: string) => Model,
  more: Partial<ModelUnderTest> = {},
): ModelUnderTest {
  return {
    name,
    async open(script) {
      const wire = await rondoWire({ script });
      return {
        model: make(wire.url),
        sent: () => wire.requests.map(({ text }) => text),
        close: () => wire.close(),
      };
    },
    ...more,
  };
}

const inProcess: ModelUnderTest = { name: "scripted", open: openScripted };

function openScripted(script: readonly Turn[]): OpenModel {
  const good = scripted(script);
  const sent: string[] = [];
  return {
    model: {
      id: good.id,
      origin: good.origin,
      call(request, io) {
        if (!io.signal.aborted) sent.push(JSON.stringify({ ...request, messages: [...request.messages] }));
        return good.call(request, io);
      },
    },
    sent: () => sent,
  };
}

const subjects: ModelUnderTest[] = [
  inProcess,
  overTheWire("anthropic", (url) => anthropic("claude-sonnet-5", { baseURL: url, apiKey: "any" })),
  overTheWire("openai", (url) => openai("gpt-5", { baseURL: `${url}/v1`, apiKey: "any" })),
  overTheWire("google", (url) => google("gemini-2.5-pro", { baseURL: url, apiKey: "any" }), {
    lacks: ["raw_args"],
  }),
  overTheWire("bedrock", (url) =>
    bedrock("anthropic.claude-sonnet-5-v1:0", { baseURL: url, region: "eu-west-1", apiKey: "any" }),
  ),
];

/** An opened model of a class: a copy of it has none of its members. */
class Opened implements OpenModel {
  readonly #open: OpenModel;
  constructor(open: OpenModel) {
    this.#open = open;
  }
  get model(): Model {
    return this.#open.model;
  }
  sent(): readonly string[] {
    return this.#open.sent?.() ?? [];
  }
}

/** A model whose answers arrive whole. */
function whole(script: readonly Turn[]): OpenModel {
  const { model, sent = () => [] } = openScripted(script);
  return {
    model: { ...model, call: (request, io) => model.call(request, { ...io, emit: () => {} }) },
    sent,
  };
}

describe("a model that is as it should be", () => {
  for (const subject of subjects) testModel(subject, it);
  testModel({ name: "a class", open: (script) => new Opened(openScripted(script)) }, it);
  testModel({ name: "whole answers", open: whole, lacks: ["deltas"] }, it);

  it("is asked what was sent, also where it is of a class", async () => {
    class Sends extends Opened {
      override sent(): readonly string[] {
        return ["never", "the", "same"];
      }
    }
    const checks = testModel({ name: "bad", open: (script) => new Sends(openScripted(script)) });
    const same = checks.find(({ name }) => name === "bad: the same request is the same bytes");
    await expect(same?.run()).rejects.toThrow("the second request");
  });
});

type Defect = (
  good: Model,
) => (request: ModelRequest, io: Parameters<Model["call"]>[1]) => Promise<AssistantMessage>;

const answering =
  (change: (answer: AssistantMessage) => AssistantMessage): Defect =>
  (good) =>
  async (request, io) =>
    change(await good.call(request, io));

const emitting =
  (change: (event: ModelEvent, emit: (event: ModelEvent) => void) => void): Defect =>
  (good) =>
  (request, io) =>
    good.call(request, { ...io, emit: (event) => change(event, (one) => io.emit(one)) });

const failing =
  (change: (error: RondoError) => unknown): Defect =>
  (good) =>
  async (request, io) => {
    try {
      return await good.call(request, io);
    } catch (thrown) {
      throw change(thrown as RondoError);
    }
  };

const withCalls = (
  change: (call: AssistantMessage["content"][number] & { type: "tool_call" }, at: number) => object,
) =>
  answering((answer) => ({
    ...answer,
    content: answer.content.map((part, at) =>
      part.type === "tool_call" ? ({ ...part, ...change(part, at) } as typeof part) : part,
    ),
  }));

const timers: NodeJS.Timeout[] = [];
afterAll(() => timers.forEach(clearTimeout));

const asOther = (kind: RondoError["kind"], as: RondoError["kind"]): Defect =>
  failing((error) => (error.kind === kind ? new RondoError(as, error.message) : error));

/** What a careless model does, and the check that must catch it. */
const defects: { [defect: string]: [caught: string, defect: Defect] } = {
  "loses deltas": [
    "a text comes whole, its deltas the same as the answer",
    emitting((event, emit) => event.type !== "text_delta" || event.text.includes("w") || emit(event)),
  ],
  "emits nothing": ["a text comes whole, its deltas the same as the answer", emitting(() => {})],
  "emits after it has settled": [
    "a text comes whole, its deltas the same as the answer",
    emitting((event, emit) => {
      emit(event);
      setImmediate(() => emit({ type: "progress" }));
    }),
  ],
  "emits before it has returned": [
    "a text comes whole, its deltas the same as the answer",
    (good) => (request, io) => {
      io.emit({ type: "progress" });
      return good.call(request, io);
    },
  ],
  "speaks of parts that are not there": [
    "a text comes whole, its deltas the same as the answer",
    emitting((event, emit) => {
      emit(event);
      if (event.type === "text_delta")
        emit({ type: "tool_args_delta", index: 7, id: "a", name: "b", delta: "" });
    }),
  ],
  "loses the end of its arguments": [
    "a call has its name and its whole arguments",
    emitting((event, emit) =>
      emit(event.type === "tool_args_delta" ? { ...event, delta: event.delta.slice(0, -1) } : event),
    ),
  ],
  "names another call while it arrives": [
    "a call has its name and its whole arguments",
    emitting((event, emit) =>
      emit(event.type === "tool_args_delta" ? { ...event, id: "other", name: "other" } : event),
    ),
  ],
  "tells its text as reasoning as well": [
    "reasoning is a part of its own, and no text",
    emitting((event, emit) => {
      emit(event);
      if (event.type === "text_delta") emit({ ...event, type: "reasoning_delta" });
    }),
  ],
  "trims its text": [
    "a text comes whole, its deltas the same as the answer",
    answering((answer) => ({
      ...answer,
      content: answer.content.map((part) =>
        part.type === "text" ? { ...part, text: part.text.trim() } : part,
      ),
    })),
  ],
  "gives a number for the id of a call": [
    "a call has its name and its whole arguments",
    withCalls(() => ({ id: 7 })),
  ],
  "does not say what the provider's word means": [
    "an answer says where it came from and how it ended",
    answering((answer) => ({ ...answer, stop: { kind: answer.stop.kind } as typeof answer.stop })),
  ],
  "does not count what came from a cache": [
    "tokens are told as they were counted",
    answering((answer) => ({
      ...answer,
      usage: {
        ...answer.usage,
        inputTokens: (answer.usage?.inputTokens ?? 0) - (answer.usage?.cachedInputTokens ?? 0),
      },
    })),
  ],
  "says it is another": [
    "an answer says where it came from and how it ended",
    answering((answer) => ({ ...answer, origin: { ...answer.origin, model: "another" } })),
  ],
  "takes a cut answer for a whole one": [
    "an answer says where it came from and how it ended",
    answering((answer) => ({ ...answer, stop: { kind: "end_turn", wire: "end_turn" } })),
  ],
  "puts its reasoning into the text": [
    "reasoning is a part of its own, and no text",
    answering((answer) => ({
      ...answer,
      content: answer.content.map((part) =>
        part.type === "reasoning" ? { type: "text", text: part.text } : part,
      ),
    })),
  ],
  "loses arguments": ["a call has its name and its whole arguments", withCalls(() => ({ args: {} }))],
  "numbers its calls by name": [
    "several calls keep their order, and the ids they have are their own",
    withCalls(({ name }) => ({ id: `call_${name}` })),
  ],
  "sorts its calls": [
    "several calls keep their order, and the ids they have are their own",
    answering((answer) => ({ ...answer, content: [...answer.content].reverse() })),
  ],
  "mends what is no JSON": [
    "arguments that are no JSON object are marked, and nothing is made of them",
    withCalls(({ args }) => ({ args, argsError: undefined })),
  ],
  "counts no tokens": [
    "tokens are told as they were counted",
    answering((answer) => ({ ...answer, usage: { inputTokens: 0, outputTokens: 0 } })),
  ],
  "takes a full queue for a broken request": [
    "a provider's rate_limit is an error of that kind",
    asOther("rate_limit", "invalid_request"),
  ],
  "forgets how long to wait": [
    "a provider's rate_limit is an error of that kind",
    asOther("rate_limit", "rate_limit"),
  ],
  "takes an overload for a missing key": [
    "a provider's overloaded is an error of that kind",
    asOther("overloaded", "auth"),
  ],
  "would try again without a key": [
    "a provider's auth is an error of that kind",
    asOther("auth", "server_error"),
  ],
  "would try a broken request again": [
    "a provider's invalid_request is an error of that kind",
    failing((error) => (error.kind === "invalid_request" ? new Error("400 invalid request") : error)),
  ],
  "does not know a full window": [
    "a provider's context_overflow is an error of that kind",
    asOther("context_overflow", "invalid_request"),
  ],
  "tries again by itself": [
    "one call is one attempt: it never tries again by itself",
    (good) => (request, io) => good.call(request, io).catch(() => good.call(request, io)),
  ],
  "takes half an answer for a whole one": [
    "an answer that breaks off is a failure, with what had arrived",
    (good) => (request, io) =>
      good.call(request, io).catch((error: RondoError) => error.partial as AssistantMessage),
  ],
  "forgets what had arrived": [
    "an answer that breaks off is a failure, with what had arrived",
    asOther("stream_truncated", "stream_truncated"),
  ],
  "tells calls of an answer that broke off": [
    "of an answer that breaks off no call is told, not even one that looks whole",
    failing(({ kind, message, partial }) => {
      const call = { type: "tool_call", id: "c", name: "weather", args: {}, rawArgs: "{}" } as const;
      return new RondoError(kind, message, {
        ...(partial === undefined ? {} : { partial: { ...partial, content: [...partial.content, call] } }),
      });
    }),
  ],
  "never looks at a signal that has fired": [
    "an abort before the call is heard: nothing goes out",
    (good) => (request, io) => good.call(request, { ...io, signal: new AbortController().signal }),
  ],
  "is deaf while it answers": [
    "an abort while the answer arrives is heard in time, with what had arrived",
    (good) => (request, io) => good.call(request, { ...io, signal: new AbortController().signal }),
  ],
  "listens once something has come": [
    "an abort while nothing has come yet is heard in time",
    (good) => (request, io) => {
      const own = new AbortController();
      if (io.signal.aborted) own.abort(io.signal.reason);
      const emit = (event: ModelEvent): void => {
        io.signal.addEventListener("abort", () => own.abort(io.signal.reason), { once: true });
        io.emit(event);
      };
      return good.call(request, { ...io, signal: own.signal, emit });
    },
  ],
  "listens for ever": [
    "it leaves no listener on a signal it was given",
    (good) => (request, io) => {
      io.signal.addEventListener("abort", () => {});
      return good.call(request, io);
    },
  ],
  "adds to the conversation it was given": [
    "it leaves the request as it was",
    (good) => async (request, io) => {
      (request.messages as unknown as object[]).push({ role: "user", content: [] });
      return good.call(request, io);
    },
  ],
  "puts a mark on the tools it was given": [
    "it leaves the request as it was",
    (good) => (request, io) => {
      for (const one of request.tools) Object.assign(one, { strict: true });
      return good.call(request, io);
    },
  ],
  "keeps one buffer for all calls": [
    "calls at the same time do not mix",
    (good) => {
      let last: Parameters<Model["call"]>[1]["emit"];
      return (request, io) => {
        last = io.emit;
        return good.call(request, { ...io, emit: (event) => last(event) });
      };
    },
  ],
  "leaves results out": [
    "all of a conversation goes out: system, tools, messages, calls and results, in order",
    (good) => (request, io) =>
      good.call({ ...request, messages: [...request.messages].filter(({ role }) => role !== "tool") }, io),
  ],
  "leaves out what was said beside a call": [
    "all of a conversation goes out: system, tools, messages, calls and results, in order",
    (good) => (request, io) =>
      good.call(
        {
          ...request,
          messages: [...request.messages].map((message) =>
            message.role === "assistant"
              ? { ...message, content: message.content.filter(({ type }) => type !== "text") }
              : message,
          ),
        },
        io,
      ),
  ],
  "sends the newest first": [
    "all of a conversation goes out: system, tools, messages, calls and results, in order",
    (good) => (request, io) => good.call({ ...request, messages: [...request.messages].reverse() }, io),
  ],
  "knows one output limit": [
    "the output limit goes out, or a warning says that it does not",
    (good) => (request, io) =>
      good.call({ ...request, settings: { ...request.settings, maxOutputTokens: 500 } }, io),
  ],
  "has no temperature, and does not say so": [
    "the temperature goes out, or a warning says that it does not",
    (good) => (request, io) => {
      const { temperature: _, ...settings } = request.settings;
      return good.call({ ...request, settings }, io);
    },
  ],
  "lets tools be called at a landing": [
    "that no tool may be called goes out, or a warning says that it does not",
    (good) => (request, io) => good.call({ ...request, toolChoice: "auto" }, io),
  ],
  "reads texts only": [
    "a file goes out, or a warning says that it does not",
    (good) => (request, io) =>
      good.call(
        {
          ...request,
          messages: [...request.messages].map((message) =>
            message.role === "user"
              ? { ...message, content: message.content.filter(({ type }) => type === "text") }
              : message,
          ),
        },
        io,
      ),
  ],
  "stamps each request": [
    "the same request is the same bytes",
    (good) => {
      let number = 0;
      return (request, io) => good.call({ ...request, system: `request ${number++}` }, io);
    },
  ],
  "counts the messages in front of them": [
    "a request that grew keeps its front, byte for byte",
    (good) => (request, io) =>
      good.call({ ...request, system: `${request.messages.length} messages follow` }, io),
  ],
};

describe("a model with a defect", () => {
  const caught = new Set<string>();
  for (const [defect, [check, broken]] of Object.entries(defects))
    it(`is caught when it ${defect}`, async () => {
      const open = (script: readonly Turn[]): OpenModel => {
        const { model, sent = () => [] } = openScripted(script);
        return { model: { id: model.id, origin: model.origin, call: broken(model) }, sent };
      };
      const checks = testModel({ name: "bad", open, abortWithinMs: 200 });
      const one = checks.find(({ name }) => name === `bad: ${check}`);
      expect(one, `there is no check named ${check}`).toBeDefined();
      await expect(one?.run()).rejects.toThrow();
      caught.add(check);
    });

  it("that has no form for a part of a request passes where it says so", async () => {
    const open = (script: readonly Turn[]): OpenModel => {
      const { model, sent = () => [] } = openScripted(script);
      const call: Model["call"] = async (request, io) => {
        const { temperature, ...settings } = request.settings;
        await null;
        if (temperature !== undefined)
          io.emit({ type: "warning", code: "setting_ignored", message: "it has no temperature" });
        return model.call({ ...request, settings }, io);
      };
      return { model: { id: model.id, origin: model.origin, call }, sent };
    };
    const failed: string[] = [];
    for (const { name, run } of testModel({ name: "honest", open }))
      await run().catch(() => failed.push(name));
    expect(failed).toEqual([]);
  });

  it("that changes the front of its requests reads where they part", async () => {
    const open = (script: readonly Turn[]): OpenModel => {
      const { model, sent = () => [] } = openScripted(script);
      const call: Model["call"] = (request, io) =>
        model.call({ ...request, system: `${request.messages.length} messages follow` }, io);
      return { model: { ...model, call }, sent };
    };
    const checks = testModel({ name: "bad", open });
    const front = checks.find(
      ({ name }) => name === "bad: a request that grew keeps its front, byte for byte",
    );
    await expect(front?.run()).rejects.toThrow(
      /the two part at \d+, .*: .*1 messages follow.* \| .*3 messages follow/,
    );
  });

  it("that is caught when it cannot be closed is told so, behind whatever else is wrong", async () => {
    const close = (): void => {
      throw new Error("it is stuck");
    };
    const checks = testModel({ name: "bad", open: (script) => ({ ...openScripted(script), close }) });
    await expect(checks[0]?.run()).rejects.toThrow("close() failed, and must not: it is stuck");
    const silent = testModel({ name: "bad", open: () => ({ model: scripted([]), close }) });
    await expect(silent[1]?.run()).rejects.toThrow(
      /the script.*\(And close\(\) failed, and must not: it is stuck\)$/s,
    );
  });

  it("that was not opened is told what open must give", async () => {
    for (const opened of [undefined, scripted([]), { model: "gpt-5" }]) {
      const [first] = testModel({ name: "bad", open: () => opened as unknown as OpenModel });
      await expect(first?.run()).rejects.toThrow(
        "testModel: what `open` gave cannot be used: { model, sent?, close? } with a model that can be called is needed",
      );
    }
  });

  it("that tells of what cannot be a fact is caught", async () => {
    for (const facts of [{ contextWindow: "200000" }, { price: { input: -1, output: 2 } }] as object[]) {
      const open = (): OpenModel => ({ model: { ...openScripted([]).model, facts } });
      const [first] = testModel({ name: "bad", open });
      await expect(first?.run()).rejects.toThrow(/^facts\.(contextWindow|price\.input) is .* needed/);
    }
  });

  it("that does not say who it is is caught", async () => {
    const open = (): OpenModel => ({
      model: {
        ...scripted([]),
        id: "",
        origin: { api: "a", provider: "b", model: "" },
        call: scripted([]).call,
      },
    });
    const [first] = testModel({ name: "bad", open });
    await expect(first?.run()).rejects.toThrow(/a word is needed/);
    caught.add("it says who it is");
  });

  it("of every kind is there: each check has caught one", () => {
    const names = testModel(inProcess).map(({ name }) => name.slice("scripted: ".length));
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });
});
