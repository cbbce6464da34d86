// rondo-wire by itself, over plain HTTP: the door, the rules, the words, the faults.

import { request as httpRequest } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { RondoError } from "@rondo/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { badArgs, call, emit, fail, hold, late, part, refuse, say, stop, tick, usage } from "../src/index.ts";
import {
  type Asked,
  checkGoogleRequest,
  chunked,
  contentType,
  cutAt,
  delayed,
  frames,
  garbage,
  type Protocol,
  plainJson,
  planOf,
  protocols,
  type RondoWire,
  raw,
  rondoWire,
  ScriptError,
  type Step,
  slow,
  stallAfter,
  status,
  type WireOptions,
} from "../src/wire/index.ts";

async function serve(script: WireOptions["script"], options: Partial<WireOptions> = {}): Promise<RondoWire> {
  const wire = await rondoWire({ script, ...options });
  onTestFinished(() => wire.close());
  return wire;
}

const user = [{ role: "user", content: "hi" }];
const asks: { readonly [P in Protocol]: (stream: boolean) => { path: string; body: object } } = {
  "anthropic-messages": (stream) => ({
    path: "/v1/messages",
    body: { model: "m", max_tokens: 9, messages: user, stream },
  }),
  "openai-chat": (stream) => ({ path: "/v1/chat/completions", body: { model: "m", messages: user, stream } }),
  "openai-responses": (stream) => ({ path: "/v1/responses", body: { model: "m", input: user, stream } }),
  "google-generative-ai": (stream) => ({
    path: `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  }),
  "bedrock-converse": (stream) => ({
    path: `/model/m/${stream ? "converse-stream" : "converse"}`,
    body: { messages: [{ role: "user", content: [{ text: "hi" }] }] },
  }),
};

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

const keys = {
  "x-api-key": "k",
  authorization: "Bearer k",
  "x-goog-api-key": "k",
  "anthropic-version": "2023-06-01",
};

async function ask(
  wire: RondoWire,
  protocol: Protocol,
  change: { stream?: boolean; body?: object | string; headers?: Record<string, string>; path?: string } = {},
): Promise<Answer> {
  const { path, body } = asks[protocol](change.stream ?? false);
  const sent = change.body ?? body;
  const response = await fetch(wire.url + (change.path ?? path), {
    method: "POST",
    headers: { "content-type": "application/json", ...(change.headers ?? keys) },
    body: typeof sent === "string" ? sent : JSON.stringify(sent),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const asked: Asked = {
  protocol: "anthropic-messages",
  model: "m",
  stream: true,
  asArray: false,
  tellsUsage: true,
  number: 1,
  chunk: undefined,
  usage: undefined,
  requestChars: 8,
  now: 0,
};
/** Google without `alt=sse`. */
const array: Asked = { ...asked, protocol: "google-generative-ai", asArray: true };

const textOf = (steps: readonly Step[]): string =>
  steps.map((step) => (step.do === "bytes" ? new TextDecoder().decode(step.bytes) : "")).join("");

describe("the door", () => {
  it("listens on the loopback and refuses any other host", async () => {
    await expect(rondoWire({ script: [], host: "0.0.0.0" as "127.0.0.1" })).rejects.toThrow(RondoError);
    const wire = await serve([say("hi")]);
    expect(wire.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(wire.urlFor("openai")).toBe(`${wire.url}/v1`);
    expect(wire.urlFor("bedrock")).toBe(wire.url);
  });

  it("takes the port that is asked for, and says when it is taken", async () => {
    const wire = await serve([]);
    const port = Number(new URL(wire.url).port);
    await expect(rondoWire({ script: [], port })).rejects.toThrow(/EADDRINUSE/);
    await wire.close();
    const again = await serve([], { port });
    expect(again.url).toBe(wire.url);
  });

  it.each(protocols)(
    "%s without a key, or with a wrong one, is refused in the provider's form",
    async (protocol) => {
      const wire = await serve([say("never")], { key: "right" });
      const without = await ask(wire, protocol, { headers: { "anthropic-version": "x" } });
      const wrong = await ask(wire, protocol);
      for (const { status: code, text } of [without, wrong]) {
        expect(code).toBe(
          protocol === "google-generative-ai" ? 400 : protocol === "bedrock-converse" ? 403 : 401,
        );
        const body = JSON.parse(text) as { error?: { message: string }; message?: string };
        expect(body.error?.message ?? body.message).toEqual(expect.stringMatching(/\w/));
      }
      expect(wire.requests).toHaveLength(2);
    },
  );

  it("knows no other paths, nor methods", async () => {
    const wire = await serve([say("never")]);
    expect((await fetch(`${wire.url}/v1/embeddings`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${wire.url}/v1/messages`)).status).toBe(405);
    expect(wire.requests).toEqual([]);
  });

  it("says which model is unknown", async () => {
    const wire = await serve([say("never")], { models: ["other"] });
    const { status: code, text } = await ask(wire, "anthropic-messages");
    expect([code, JSON.parse(text)]).toMatchObject([
      404,
      { type: "error", error: { type: "not_found_error", message: "model: m" } },
    ]);
  });
});

describe("the rules", () => {
  it.each(protocols)(
    "%s: a broken rule is a 400 with the rule's words, and the script is not played",
    async (protocol) => {
      const wire = await serve([say("hello")]);
      const empty =
        protocol === "google-generative-ai"
          ? { contents: [] }
          : protocol === "openai-responses"
            ? { model: "m", input: [] }
            : { model: "m", max_tokens: 9, messages: [] };
      const refused = await ask(wire, protocol, { body: empty });
      expect(refused.status).toBe(400);
      const [first] = wire.violations;
      expect(first?.message).toMatch(/\w/);
      expect(refused.text).toContain(JSON.stringify(first?.message).slice(1, -1));
      const unreadable = await ask(wire, protocol, { body: "{" });
      expect(unreadable.status).toBe(400);
      const good = await ask(wire, protocol);
      expect([good.status, good.text]).toEqual([200, expect.stringContaining("hello")]);
      expect(wire.requests.map((request) => request.violations.length > 0)).toEqual([true, true, false]);
    },
  );

  it("are only taken note of when the server is not strict", async () => {
    const wire = await serve([say("hello")], { strict: false });
    const { status: code } = await ask(wire, "openai-chat", { body: { model: "m", messages: [] } });
    expect(code).toBe(200);
    expect(wire.violations).toHaveLength(1);
  });
});

describe("Google's rules", () => {
  const f = { name: "f_one", parameters: { type: "OBJECT", properties: { a_b: { type: "STRING" } } } };
  it.each<[string, object]>([
    ["no role", { contents: [{ parts: [{ text: "hi" }] }] }],
    ["one content, and one part", { contents: { role: "user", parts: { text: "hi" } } }],
    [
      "names in snake_case",
      {
        system_instruction: { parts: [{ text: "s" }] },
        contents: [{ role: "user", parts: [{ inline_data: { mime_type: "image/png", data: "AAAA" } }] }],
        tools: [{ function_declarations: [f] }],
        generation_config: { max_output_tokens: 9 },
      },
    ],
  ])("take %s", (_, body) => {
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("refuse what is no field by either name, and what is wrong under one", () => {
    const words = (body: object): string => JSON.stringify(checkGoogleRequest(body));
    expect(words({ contents: [{ parts: [{ text: "hi" }] }], system_prompt: "s" })).toContain("systemPrompt");
    expect(words({ contents: [{ parts: [{ inline_data: { mime_type: "png" } }] }] })).toContain("mimeType");
    expect(words({ contents: [{ role: "assistant", parts: [{ text: "hi" }] }] })).toContain("valid role");
  });
});

describe("the script", () => {
  it("is played in order, by turns and by functions of the request, and says when it has run out", async () => {
    const wire = await serve([
      say("one"),
      async (request, number) => say(`${request.protocol} ${number} ${request.stream}`),
    ]);
    expect((await ask(wire, "anthropic-messages")).text).toContain('"one"');
    expect((await ask(wire, "openai-chat")).text).toContain("openai-chat 2 false");
    const out = await ask(wire, "google-generative-ai");
    expect([out.status, out.headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(out.text).toContain(
      "request 3 (google-generative-ai): the script has 2 turns: add a turn, or set repeatLast",
    );
    expect(wire.problems).toHaveLength(1);
  });

  it("that is none is refused before the server stands, as is a turn that is none; what a function gives, by its request, in words", async () => {
    for (const script of [undefined, "hello", say("hello")])
      await expect(rondoWire({ script } as never)).rejects.toThrow(/rondoWire takes a list of turns/);
    const given = (): unknown[] => ["hello", { say: "hello" }, [say("a"), null]];
    const wire = await serve(given().map((one) => () => one) as never);
    for (const words of ['\\"hello\\", and no turn: say(\\"hello\\") makes one', '{\\"say', "is null"])
      expect((await ask(wire, "openai-chat")).text).toContain(words);
    await expect(rondoWire({ script: given() as never })).rejects.toThrow("rondoWire: script[0] is");
  });

  it("may play its last turn for ever", async () => {
    const wire = await serve([say("one"), say("two")], { repeatLast: true });
    const texts = [];
    for (let nth = 0; nth < 4; nth++) texts.push(/one|two/.exec((await ask(wire, "openai-chat")).text)?.[0]);
    expect(texts).toEqual(["one", "two", "two", "two"]);
  });

  it("gives the same bytes for the same script", async () => {
    const script = [say("a"), call("x", { y: 1 }), usage({ inputTokens: 1 })];
    for (const protocol of protocols)
      for (const stream of [true, false]) {
        const wires = [await serve([script]), await serve([script])] as const;
        const [a, b] = [await ask(wires[0], protocol, { stream }), await ask(wires[1], protocol, { stream })];
        expect(a.text).toBe(b.text);
      }
  });

  it("a word that a protocol has no form for is a 500 that says what to do, and is kept", async () => {
    const wire = await serve([
      stop("pause"),
      late("x"),
      emit({ type: "text_delta", index: 0, text: "x" }),
      fail("loop_detected"),
      part({ type: "file", mediaType: "image/png", data: "" }),
    ]);
    const words = [];
    for (let nth = 0; nth < 5; nth++) words.push((await ask(wire, "openai-chat", { stream: true })).status);
    expect(words).toEqual([500, 500, 500, 500, 500]);
    expect(wire.problems[0]).toContain('stop("pause", { raw: "…" })');
    const own = await serve([[say("x"), stop("pause", { raw: "paused" })]]);
    expect((await ask(own, "openai-chat")).text).toContain('"finish_reason":"paused"');
  });

  it("waits at a gate, with everything before it sent, until the test lets it on", async () => {
    const held = hold(say("after"));
    const wire = await serve([[say("before"), tick(), held]]);
    const { path, body } = asks["openai-chat"](true);
    const pieces: string[] = [];
    const ended = Promise.withResolvers<void>();
    const before = Promise.withResolvers<void>();
    const sent = httpRequest(`${wire.url}${path}`, { method: "POST", headers: keys }, (response) => {
      response.setEncoding("utf8").on("data", (piece: string) => {
        pieces.push(piece);
        if (pieces.join("").includes("before")) before.resolve();
      });
      response.on("end", () => ended.resolve());
    });
    sent.end(JSON.stringify(body));
    await Promise.all([held.reached, before.promise]);
    expect(pieces.join("")).not.toContain("after");
    held.release();
    await ended.promise;
    expect(pieces.join("")).toContain("after");
  });

  it("Chat Completions tells usage in a stream only when it is asked to", async () => {
    const wire = await serve([say("a"), say("a")]);
    const plain = await ask(wire, "openai-chat", { stream: true });
    const { body } = asks["openai-chat"](true);
    const asked = await ask(wire, "openai-chat", {
      body: { ...body, stream_options: { include_usage: true } },
    });
    expect([plain.text.includes("prompt_tokens"), asked.text.includes("prompt_tokens")]).toEqual([
      false,
      true,
    ]);
  });

  it("Google without alt=sse streams one JSON array", async () => {
    const wire = await serve([[say("one"), say("two")]]);
    const { text, headers } = await ask(wire, "google-generative-ai", {
      path: "/v1beta/models/m:streamGenerateContent",
    });
    expect(headers.get("content-type")).toContain("application/json");
    expect(JSON.parse(text)).toHaveLength(3);
  });

  it("an answer that breaks off in the middle is the beginning of the whole one, byte for byte", () => {
    const whole = { ...asked, protocol: "openai-chat", stream: false } as const;
    for (const text of ["é", "é!", "😀", "😀!", "😀!!", "😀!!!"]) {
      const said = say(text.repeat(200));
      const bytesOf = (turn: Parameters<typeof planOf>[0]): Buffer =>
        Buffer.concat(planOf(turn, whole).steps.flatMap((step) => (step.do === "bytes" ? [step.bytes] : [])));
      const [all, broken] = [bytesOf([said]), bytesOf([said, fail("stream_truncated")])];
      expect(all.subarray(0, broken.length)).toEqual(broken);
      expect(broken.length).toBe(all.length >> 1);
    }
  });

  describe("Google without alt=sse", () => {
    const asArray = (wire: RondoWire): Promise<Answer> =>
      ask(wire, "google-generative-ai", { path: "/v1beta/models/m:streamGenerateContent" });

    it("tells a failure inside of the answer as the array's last element", async () => {
      const wire = await serve([[say("one"), fail("overloaded")]]);
      const { text, headers } = await asArray(wire);
      expect(headers.get("content-type")).toContain("application/json");
      expect(JSON.parse(text)).toMatchObject([{ candidates: [{}] }, { error: { code: 503 } }]);
    });

    it.each(["stream_truncated", "network"] as const)("%s leaves the array open", async (kind) => {
      const { steps } = planOf([say("one"), fail(kind)], array);
      expect(textOf(steps)).toMatch(/^\[\{.*"text":"one".*\}$/s);
    });

    it("sends frames of the script's own as elements, and none as an empty array", async () => {
      const wire = await serve([frames([{ data: { a: 1 } }, { data: { b: 2 } }]), frames([])]);
      expect(JSON.parse((await asArray(wire)).text)).toEqual([{ a: 1 }, { b: 2 }]);
      expect(JSON.parse((await asArray(wire)).text)).toEqual([]);
    });

    it("doubles the first element as one of its own, and puts nonsense between two", () => {
      const doubled = planOf([say("one"), { wire: "duplicate", frame: 0 }], array);
      expect(JSON.parse(textOf(doubled.steps))).toHaveLength(3);
      const nonsense = textOf(planOf([say("one"), garbage("not json")], array).steps);
      expect(nonsense.split(",\r\n").map((one) => one.replace(/^\[|\]$/g, ""))).toEqual([
        expect.stringContaining("one"),
        "not json",
        expect.stringContaining("STOP"),
      ]);
    });

    it("says that it is alive by what JSON takes for nothing", async () => {
      const { steps, ping } = planOf([say("one"), emit({ type: "progress" }), say("two")], array);
      expect(JSON.parse(textOf(steps))).toHaveLength(3);
      expect(new TextDecoder().decode(ping).trim()).toBe("");
    });
  });

  it("a compatible server's answer that comes whole refuses, and has the parts of its own, as the stream does", async () => {
    const own = part({ type: "native", kind: "annotations", opaque: { annotations: [1] } });
    const wire = await serve([[refuse("I will not."), own]], { server: "mistral", repeatLast: true });
    const { choices } = JSON.parse((await ask(wire, "openai-chat")).text);
    expect(choices[0].message).toMatchObject({ refusal: "I will not.", annotations: [1] });
    const stream = (await ask(wire, "openai-chat", { stream: true })).text;
    expect([stream.includes("will not"), stream.includes('"annotations":[1]')]).toEqual([true, true]);
  });

  it.each(protocols)("%s: refusals and broken arguments have the provider's form", async (protocol) => {
    const wire = await serve([refuse("I will not."), badArgs("x", '{"a')]);
    const refused = await ask(wire, protocol);
    expect(refused.text).toContain("I will not.");
    const broken = await ask(wire, protocol);
    expect(broken.text).toContain(protocol === "google-generative-ai" ? "MALFORMED_FUNCTION_CALL" : '{\\"a');
  });
});

describe("the faults", () => {
  it("an answer that comes whole, and stalls with pings, does not say how long it is: they would fill it up", async () => {
    const wire = await serve([[raw({ a: 1 }), stallAfter(2, { pings: true })]]);
    const { path, body } = asks["openai-chat"](false);
    const end = new AbortController();
    const response = await fetch(wire.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...keys },
      body: JSON.stringify(body),
      signal: end.signal,
    });
    expect(response.headers.get("content-length")).toBeNull();
    end.abort();
  });

  it.each(protocols)(
    "%s: raw bodies, raw frames, other labels and plain JSON are as the script says",
    async (protocol) => {
      const wire = await serve([
        raw({ odd: true }, { status: 418, headers: { "x-odd": "1" } }),
        frames([{ event: "strange", data: { hello: "world" } }, { data: "plain words" }]),
        [say("hello"), contentType("text/odd")],
        [say("hello"), plainJson()],
      ]);
      const odd = await ask(wire, protocol, { stream: true });
      expect([odd.status, odd.headers.get("x-odd"), odd.text]).toEqual([418, "1", '{"odd":true}']);
      const strange = await ask(wire, protocol, { stream: true });
      expect(strange.text).toMatch(/"hello":"world".*plain words/s);
      expect((await ask(wire, protocol, { stream: true })).headers.get("content-type")).toBe("text/odd");
      expect(JSON.parse((await ask(wire, protocol, { stream: true })).text)).toBeTypeOf("object");
    },
  );

  it("a body is cut after so many bytes or frames, politely or not", async () => {
    const wire = await serve([
      [say("hello"), cutAt(40)],
      [say("hello"), cutAt({ frames: 1 })],
      [say("hello"), cutAt(40, "close")],
      [say("hello"), cutAt(40, "reset")],
      [say("hello"), chunked("byte"), cutAt(40)],
      [say("hello"), chunked("whole"), cutAt(40)],
    ]);
    expect((await ask(wire, "openai-chat", { stream: true })).text).toHaveLength(40);
    expect((await ask(wire, "openai-chat", { stream: true })).text.split("\n\n")).toHaveLength(2);
    await expect(ask(wire, "openai-chat", { stream: true })).rejects.toThrow();
    await expect(ask(wire, "openai-chat", { stream: true })).rejects.toThrow();
    expect((await ask(wire, "openai-chat", { stream: true })).text).toHaveLength(40);
    expect((await ask(wire, "openai-chat", { stream: true })).text).toHaveLength(40);
  });

  it("a connection ends right behind the frame that is told, the last one too, and waits for nothing that follows", async () => {
    const said = hold(say("on"));
    const script = [
      [say("hello"), cutAt({ frames: 4 }, "close")],
      [say("hello"), cutAt({ frames: 5 }, "close")],
      [say("hello"), cutAt({ frames: 2 }), said],
    ];
    const wire = await serve(script);
    const asking = (): Promise<Answer> => ask(wire, "openai-chat", { stream: true });
    await expect(asking()).rejects.toThrow();
    expect((await asking()).text).toMatch(/\[DONE\]\n\n$/);
    expect((await asking()).text.split("\n\n")).toHaveLength(3);
    said.release();
  });

  it("chunks of a byte really arrive byte by byte, and whole ones as one", async () => {
    const sizes = async (chunks: "byte" | "whole" | "frame"): Promise<number[]> => {
      const wire = await serve([[say("hello"), chunked(chunks)]]);
      const { path, body } = asks["openai-chat"](true);
      return await new Promise((resolve, reject) => {
        const seen: number[] = [];
        const sent = httpRequest(`${wire.url}${path}`, { method: "POST", headers: keys }, (response) => {
          response.on("data", (piece: Buffer) => seen.push(piece.length));
          response.on("end", () => resolve(seen));
        });
        sent.on("error", reject);
        sent.end(JSON.stringify(body));
      });
    };
    expect(new Set(await sizes("byte"))).toEqual(new Set([1]));
    expect(await sizes("whole")).toHaveLength(1);
    expect(await sizes("frame")).toHaveLength(4);
  });

  it.each(protocols)("%s: a request with half a character in it is refused", async (protocol) => {
    const wire = await serve([say("hello")]);
    const { body } = asks[protocol](false);
    const half = JSON.stringify(body).replace('"hi"', String.raw`"hi \ud83d"`);
    const { status: answered, text } = await ask(wire, protocol, { body: half });
    expect(answered).toBe(400);
    expect(text).toContain("no low surrogate in string");
    expect(wire.violations.map(({ path }) => path.replace(/\[0\]/g, ".0"))).toEqual([
      expect.stringMatching(/^(messages|input|contents)\.0\.(content|parts)/),
    ]);
  });

  it("a client that leaves, and a server that closes, end a wait", async () => {
    const wire = await serve([delayed(60_000), delayed(60_000)]);
    const controller = new AbortController();
    const { path, body } = asks["openai-chat"](true);
    const leaving = fetch(wire.url + path, {
      method: "POST",
      headers: keys,
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    controller.abort();
    await expect(leaving).rejects.toThrow();
    const staying = ask(wire, "openai-chat");
    staying.catch(() => {});
    await wire.close();
    await expect(staying).rejects.toThrow();
  });

  it.each([[delayed(2 ** 31)], [[say("one"), slow(100, 2 ** 31)]]])(
    "a wait longer than a timer of Node can be set to is waited: %j",
    async (turn) => {
      const wire = await serve([turn]);
      const answered = ask(wire, "openai-chat");
      answered.catch(() => {});
      const early = await Promise.race([answered, pause(100)]);
      expect(early).toBeUndefined();
      await wire.close();
      await expect(answered).rejects.toThrow();
    },
  );

  it("a status has the provider's body, and a wait its provider's form", async () => {
    const wire = await serve([
      status(529),
      status(429, { retryAfterMs: 1500 }),
      status(429, { retryAfterMs: 1500 }),
      status(429, { retryAfterMs: 1500, form: "retry_info" }),
    ]);
    const overloaded = await ask(wire, "anthropic-messages");
    expect(JSON.parse(overloaded.text)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    const limited = await ask(wire, "openai-chat");
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "1.5"]);
    const google = await ask(wire, "google-generative-ai");
    expect(JSON.parse(google.text)).toMatchObject({
      error: { code: 429, status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "1.5s" }] },
    });
    expect((await ask(wire, "bedrock-converse")).text).toContain("Google's form");
  });
});

describe("planOf", () => {
  it("is pure: what the script holds is not changed by it", () => {
    const turn = [say("a"), call("x", { y: 1 })];
    const before = JSON.stringify(turn);
    expect(planOf(turn, asked)).toEqual(planOf(turn, asked));
    expect(JSON.stringify(turn)).toBe(before);
  });

  it.each(protocols)("%s: nonsense stands inside of the answer, before what ends it", (protocol) => {
    const { steps } = planOf([say("half"), garbage()], { ...asked, protocol, stream: true });
    const sent = steps.map((step) => (step.do === "bytes" ? new TextDecoder().decode(step.bytes) : step.do));
    const ends =
      /"(?:finish_reason|finishReason|stop_reason|stopReason)":"(?:stop|STOP|end_turn)"|response\.completed/;
    expect(sent.findIndex((one) => one.includes("not json{"))).toBe(1);
    expect(sent.findIndex((one) => ends.test(one))).toBeGreaterThan(1);
  });

  it("turns over one bit of the body as it is sent, also behind a frame that is there twice", () => {
    const doubled = [say("a"), { wire: "duplicate", frame: 0 } as const];
    const plain = textOf(planOf(doubled, asked).steps);
    const hurt = textOf(planOf([...doubled, { wire: "corrupt", at: 9 }], asked).steps);
    const other = [...plain].flatMap((char, at) => (char === hurt[at] ? [] : [at]));
    expect(other).toEqual([9]);
  });

  it("refuses to double a frame that is not there", () => {
    expect(() => planOf([say("a"), { wire: "duplicate", frame: 99 }], asked)).toThrow(ScriptError);
  });
});
