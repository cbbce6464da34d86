import { type Json, redacted } from "@rondo/core";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { describe, expect, it } from "vitest";
import type { Codec, Frame } from "../../src/codec.ts";
import { createModel } from "../../src/http-model.ts";
import type { ModelOptions } from "../../src/model-options.ts";
import { joinURL, keyHeader } from "../../src/request-head.ts";
import { framesOf } from "../../src/sdk.ts";
import { fetchClient } from "../../src/transport/http-fetch.ts";
import { nodeClient } from "../../src/transport/http-node.ts";
import {
  drip,
  errorFrom,
  type Handler,
  type Loopback,
  sse,
  tinyCodec,
  tinyRequest,
  watch,
  withServer,
} from "./loopback.ts";

const key = "sk-test-0123456789abcdef";

function tiny(url: string, more: Partial<ModelOptions> = {}) {
  return createModel({
    codec: tinyCodec,
    provider: "tiny",
    model: "m",
    baseURL: url,
    apiKey: key,
    keyVariables: ["TINY_API_KEY"],
    ...more,
  });
}

/** Serves one kind of response to every request. */
async function served<T>(handler: Handler, use: (loopback: Loopback) => Promise<T>): Promise<T> {
  return await withServer(handler, use);
}

const frames = ['data: {"text":"Hel"}\n\n', 'data: {"text":"lo é"}\n\n', 'data: {"stop":true}\n\n'];

function streamed(pieces: readonly (string | Uint8Array)[], end?: (finish: () => void) => void): Handler {
  return (_request, response) => {
    response.writeHead(200, sse);
    drip(response, pieces, () => (end === undefined ? response.end() : end(() => response.end())));
  };
}

describe("a call", () => {
  it("sends the codec's request with the key, emits deltas and returns the answer", async () => {
    await served(streamed(frames), async ({ url, seen }) => {
      const io = watch();
      const model = tiny(`${url}/`, { headers: { "X-Tiny": "2", "x-mine": "3" } });
      const answer = await model.call(
        { ...tinyRequest, settings: { seed: 1, headers: { "x-asked": "4", "x-mine": "5" } } },
        io,
      );
      expect(model.id).toBe("tiny/m");
      expect(model.origin).toEqual({ api: "tiny", provider: "tiny", model: "m" });
      expect(answer.content).toEqual([{ type: "text", text: "Hello é" }]);
      expect(io.events).toEqual([
        { type: "warning", code: "unsupported", message: "tiny has no seed" },
        { type: "text_delta", index: 0, text: "Hel" },
        { type: "text_delta", index: 0, text: "lo é" },
      ]);
      expect(seen[0]).toMatchObject({ method: "POST", url: "/v1/tiny", body: '{"model":"m","count":0}' });
      expect(seen[0]?.headers).toMatchObject({
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-tiny": "2",
        "x-asked": "4",
        "x-mine": "5",
      });
    });
  });

  it.each(["per frame", "byte by byte", "whole"])(
    "gives the same answer with chunks %s, over both clients",
    async (how) => {
      const bytes = new TextEncoder().encode(frames.join(""));
      const pieces =
        how === "per frame"
          ? frames
          : how === "whole"
            ? [bytes]
            : [...bytes].map((byte) => Uint8Array.of(byte));
      await served(streamed(pieces), async ({ url }) => {
        for (const http of [nodeClient(), fetchClient()]) {
          const answer = await tiny(url, { http }).call(tinyRequest, watch());
          expect(answer.content).toEqual([{ type: "text", text: "Hello é" }]);
        }
      });
    },
  );

  it("cut at any byte is truncated, with the partial answer, or complete if the finish signal was complete", async () => {
    const bytes = new TextEncoder().encode(frames.join(""));
    await served(
      (request, response) => {
        response.writeHead(200, sse);
        response.end(bytes.subarray(0, Number(request.headers["x-cut"])));
      },
      async ({ url }) => {
        for (let at = 0; at <= bytes.length; at++) {
          const call = tiny(url, { headers: { "x-cut": String(at) } }).call(tinyRequest, watch());
          if (at >= bytes.length - 2) expect((await call).stop.kind).toBe("end_turn");
          else {
            const error = await errorFrom(call);
            expect(error).toMatchObject({ kind: "stream_truncated", retryable: true });
            const text =
              error.partial?.content.map((part) => ("text" in part ? part.text : "")).join("") ?? "";
            expect(["", "Hel", "Hello é"]).toContain(text);
          }
        }
      },
    );
  });

  it("F159f: a reset in the middle is a truncation with the partial answer; before any byte it is a network error", async () => {
    await served(
      (request, response) => {
        if (request.headers["x-early"] !== undefined) {
          response.socket?.resetAndDestroy();
          return;
        }
        response.writeHead(200, sse);
        response.write(frames[0], () => response.socket?.resetAndDestroy());
      },
      async ({ url }) => {
        const io = watch();
        const late = await errorFrom(tiny(url).call(tinyRequest, io));
        // A reset may overtake the bytes before it; what was emitted and what is kept always agree.
        if (io.events.length > 0) {
          expect(late.kind).toBe("stream_truncated");
          expect(late.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
        } else expect(late.kind).toBe("network");
        const early = await errorFrom(tiny(url, { headers: { "x-early": "1" } }).call(tinyRequest, watch()));
        expect(early).toMatchObject({ kind: "network", retryable: true });
        expect(early.message).toMatch(/^tiny\/m: /);
      },
    );
  });

  it("F158: a finish signal followed by a reset is a complete answer", async () => {
    await served(
      (_request, response) => {
        response.writeHead(200, { ...sse, "content-length": "10000" });
        response.write(frames.join(""), () => response.socket?.end());
      },
      async ({ url }) => expect((await tiny(url).call(tinyRequest, watch())).stop.kind).toBe("end_turn"),
    );
  });

  it("F161: an error or a finish ends the reading even if the server keeps the connection open", async () => {
    const error = 'data: {"error":{"message":"model crashed","type":"server_error"}}\n\n';
    await served(
      (request, response) => {
        response.writeHead(200, sse);
        response.write(request.headers["x-error"] === undefined ? frames.join("") : error);
      },
      async ({ url, closed }) => {
        expect((await tiny(url).call(tinyRequest, watch())).stop.kind).toBe("end_turn");
        await closed(1);
        const failed = await errorFrom(tiny(url, { headers: { "x-error": "1" } }).call(tinyRequest, watch()));
        expect(failed.kind).toBe("server_error");
        await closed(2);
      },
    );
  });

  it("an abort in the middle rejects at once and keeps the partial answer", async () => {
    await served(
      streamed(frames.slice(0, 1), () => {}),
      async ({ url, closed }) => {
        const abort = new AbortController();
        const io = watch(abort.signal);
        const error = errorFrom(
          tiny(url).call(tinyRequest, {
            ...io,
            emit: () => abort.abort("enough"),
          }),
        );
        expect(await error).toMatchObject({
          kind: "aborted",
          retryable: false,
          partial: { content: [{ type: "text", text: "Hel" }], stop: { kind: "aborted" } },
        });
        await closed(1);
      },
    );
  });
});

describe("a codec", () => {
  it("that is an instance of a class can keep the raw answer too", async () => {
    class Own implements Codec {
      readonly api = "tiny";
      readonly framing = "sse";
      readonly #tiny = tinyCodec;
      encoder(...told: Parameters<Codec["encoder"]>) {
        return this.#tiny.encoder(...told);
      }
      decoder(...told: Parameters<Codec["decoder"]>) {
        return this.#tiny.decoder(...told);
      }
      decodeWhole(...told: Parameters<Codec["decodeWhole"]>) {
        return this.#tiny.decodeWhole(...told);
      }
      errorOf(...told: Parameters<Codec["errorOf"]>) {
        return this.#tiny.errorOf(...told);
      }
    }
    await served(streamed(frames), async ({ url }) => {
      const answer = await tiny(url, { codec: new Own(), keepRaw: true }).call(tinyRequest, watch());
      expect(answer.raw).toEqual([{ text: "Hel" }, { text: "lo é" }, { stop: true }]);
    });
  });

  it("may be loaded with the first call, once", async () => {
    let loads = 0;
    const codec = {
      api: "tiny",
      load: async () => {
        loads += 1;
        return tinyCodec;
      },
    };
    await served(streamed(frames), async ({ url }) => {
      const model = tiny(url, { codec });
      expect(model.origin.api).toBe("tiny");
      expect(loads).toBe(0);
      await Promise.all([model.call(tinyRequest, watch()), model.call(tinyRequest, watch())]);
      expect(loads).toBe(1);
    });
  });

  it("that failed to load is loaded again", async () => {
    let loads = 0;
    const codec = {
      api: "tiny",
      load: async () => {
        loads += 1;
        if (loads === 1) throw new Error("offline");
        return tinyCodec;
      },
    };
    await served(streamed(frames), async ({ url }) => {
      const model = tiny(url, { codec });
      expect((await errorFrom(model.call(tinyRequest, watch()))).message).toContain("offline");
      expect((await model.call(tinyRequest, watch())).stop.kind).toBe("end_turn");
    });
  });

  it("may find an answer in a refusal, and gets the output limit", async () => {
    const limits: (number | undefined)[] = [];
    const codec: Codec = {
      ...tinyCodec,
      answerOf: (response, target) => {
        limits.push(target.outputLimit);
        return response.status === 400
          ? tinyCodec.decodeWhole({ text: "attempt" }, target, () => {})
          : undefined;
      },
    };
    await served(
      (request, response) => {
        response.writeHead(Number(request.headers["x-status"]));
        response.end("{}");
      },
      async ({ url }) => {
        const call = (status: string) =>
          tiny(url, { codec, headers: { "x-status": status } }).call(
            { ...tinyRequest, settings: { maxOutputTokens: 7 } },
            watch(),
          );
        expect((await call("400")).content).toEqual([{ type: "text", text: "attempt" }]);
        expect((await errorFrom(call("500"))).kind).toBe("server_error");
        expect(limits).toEqual([7, 7]);
      },
    );
  });
});

describe("a body that is not an event stream", () => {
  const whole = (body: string, type = "application/json", status = 200): Handler => {
    return (_request, response) => {
      response.writeHead(status, { "content-type": type });
      response.end(body);
    };
  };

  it.each([
    ["labelled as JSON", "application/json"],
    ["labelled as a stream", "text/event-stream"],
    ["labelled as nothing", ""],
  ])("F156: a complete answer is read as one, %s", async (_title, type) => {
    await served(whole(' \n{"text":"hi"}', type), async ({ url }) => {
      expect((await tiny(url).call(tinyRequest, watch())).content).toEqual([{ type: "text", text: "hi" }]);
    });
  });

  it("a stream with the content type of JSON is read as a stream", async () => {
    await served(whole(frames.join(""), "application/json"), async ({ url }) => {
      expect((await tiny(url).call(tinyRequest, watch())).stop.kind).toBe("end_turn");
    });
  });

  it("F154: an error with status 200 is an error", async () => {
    await served(whole('{"code":"x","error":"Timed out waiting for first token"}'), async ({ url }) => {
      expect(await errorFrom(tiny(url).call(tinyRequest, watch()))).toMatchObject({ retryable: true });
    });
  });

  it("F155: a web page with status 200 is named by its title and not shown", async () => {
    const page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>secret</body></html>";
    await served(whole(page, "text/html"), async ({ url }) => {
      const error = await errorFrom(tiny(url).call(tinyRequest, watch()));
      expect(error).toMatchObject({ kind: "protocol", retryable: false });
      expect(error.message).toContain('"Sign in"');
      expect(JSON.stringify(error)).not.toContain("secret");
    });
  });

  it("truncated JSON is a truncation, and so is an empty body", async () => {
    for (const body of ['{"text":"h', ""])
      await served(whole(body), async ({ url }) => {
        expect((await errorFrom(tiny(url).call(tinyRequest, watch()))).kind).toBe("stream_truncated");
      });
  });

  it("F181: an empty 400 is an overflow only for a request that nearly fills the window", async () => {
    await served(whole("", "text/plain", 400), async ({ url }) => {
      const small = await errorFrom(tiny(url, { facts: { contextWindow: 1000 } }).call(tinyRequest, watch()));
      const large = await errorFrom(tiny(url, { facts: { contextWindow: 4 } }).call(tinyRequest, watch()));
      expect([small.kind, large.kind]).toEqual(["invalid_request", "context_overflow"]);
    });
  });

  it.each<[where: string, compat: { [quirk: string]: Json }, status: number, retryable: boolean]>([
    ["may pass: a gateway's says nothing of the request", {}, 400, true],
    ["is meant, where a server refuses fields so", { emptyRefusals: true }, 400, false],
    ["is about the size, with a 413", {}, 413, false],
  ])("an empty refusal %s (pi 9482)", async (_where, compat, status, retryable) => {
    await served(whole("", "text/plain", status), async ({ url }) => {
      const error = await errorFrom(tiny(url, { compat }).call(tinyRequest, watch()));
      expect(error).toMatchObject({ status, retryable });
      expect(error.message.includes("names no reason")).toBe(retryable);
    });
  });

  it("JSON that says nothing is such a refusal, too (opencode 50761)", async () => {
    for (const body of ['{"model":"deepseek-v4.1-flash"}', "{}", '{"error":{}}'])
      await served(whole(body, "application/json", 400), async ({ url }) => {
        const facts = { contextWindow: 4 };
        const error = await errorFrom(tiny(url).call(tinyRequest, watch()));
        expect(error).toMatchObject({ kind: "invalid_request", retryable: true });
        const large = await errorFrom(tiny(url, { facts }).call(tinyRequest, watch()));
        expect(large.kind).toBe("context_overflow");
      });
    await served(whole('{"error":{"code":"no_such_tool"}}', "application/json", 400), async ({ url }) => {
      expect((await errorFrom(tiny(url).call(tinyRequest, watch()))).retryable).toBe(false);
    });
  });

  it("an empty refusal that says itself that it is meant is not tried again", async () => {
    await served(
      (_request, response) => {
        response.writeHead(400, { "x-should-retry": "false" });
        response.end();
      },
      async ({ url }) => {
        expect((await errorFrom(tiny(url).call(tinyRequest, watch()))).retryable).toBe(false);
      },
    );
  });
});

describe("an AWS event stream", () => {
  const utf8 = new TextEncoder();
  const vendor = new EventStreamCodec(
    (input) => (typeof input === "string" ? input : new TextDecoder().decode(input as Uint8Array)),
    (text) => utf8.encode(text),
  );
  const message = (headers: { [name: string]: string }, body: string): Uint8Array =>
    vendor.encode({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]),
      ),
      body: utf8.encode(body),
    });
  const codec: Codec = { ...tinyCodec, framing: "aws_event_stream" };
  const type = { "content-type": "application/vnd.amazon.eventstream" };

  it("is read frame by frame, and an exception frame is an error with the partial answer", async () => {
    const text = message({ ":message-type": "event", ":event-type": "delta" }, '{"text":"hi"}');
    const stop = message({ ":message-type": "event", ":event-type": "stop" }, '{"stop":true}');
    const slow = message(
      { ":message-type": "exception", ":exception-type": "throttlingException" },
      '{"message":"Too many tokens"}',
    );
    await served(
      (request, response) => {
        response.writeHead(200, type);
        drip(response, [text, request.headers["x-slow"] ? slow : stop], () => response.end());
      },
      async ({ url }) => {
        const answer = await tiny(url, { codec }).call(tinyRequest, watch());
        expect(answer.content).toEqual([{ type: "text", text: "hi" }]);
        const error = await errorFrom(
          tiny(url, { codec, headers: { "x-slow": "1" } }).call(tinyRequest, watch()),
        );
        expect(error).toMatchObject({
          kind: "rate_limit",
          partial: { content: [{ type: "text", text: "hi" }] },
        });
      },
    );
  });
});

describe("credentials", () => {
  const guarded =
    (good: string): Handler =>
    (request, response) => {
      if (request.headers.authorization === `Bearer ${good}`) {
        response.writeHead(200, sse);
        response.end(frames.join(""));
      } else {
        response.writeHead(401, { "content-type": "application/json" });
        response.end(
          JSON.stringify({
            error: { message: `bad key ${request.headers.authorization}`, type: "authentication_error" },
          }),
        );
      }
    };

  it("that are missing cause an error that names the variable, before anything is sent", async () => {
    await served(guarded(key), async ({ url, seen }) => {
      const { apiKey: _, ...rest } = { apiKey: "" };
      const model = createModel({
        codec: tinyCodec,
        provider: "tiny",
        model: "m",
        baseURL: url,
        keyVariables: ["TINY_API_KEY"],
        environmentKey: () => undefined,
        ...rest,
      });
      const error = await errorFrom(model.call(tinyRequest, watch()));
      expect(error).toMatchObject({ kind: "auth", retryable: false });
      expect(error.message).toMatch(/TINY_API_KEY.*apiKey/);
      expect(seen.length).toBe(0);
    });
  });

  it("that are wrong cause an error that says where they came from and never shows them", async () => {
    await served(guarded("other"), async ({ url }) => {
      const error = await errorFrom(tiny(url).call(tinyRequest, watch()));
      expect(error).toMatchObject({ kind: "auth", status: 401, retryable: false });
      expect(error.message).toContain("the option apiKey");
      expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toContain(key);
      expect(JSON.stringify(error)).toContain(redacted);
    });
  });

  it.each([
    ["000000", { message: "no key 000000", limit: 1_000_000 }],
    ["nine-lives", { message: "whose is this?\nine-lives" }],
  ])("that occur in an error inside other text do not break it: %s", async (apiKey, said) => {
    const refusal = { status: 401, body: { error: { ...said, type: "authentication_error" } } };
    await served(
      (_request, response) => {
        response.writeHead(refusal.status, { "content-type": "application/json" });
        response.end(JSON.stringify(refusal.body));
      },
      async ({ url }) => {
        const error = await errorFrom(tiny(url, { apiKey }).call(tinyRequest, watch()));
        expect(error).toMatchObject({ kind: "auth", status: 401 });
        const { message, ...others } = (error.raw as typeof refusal.body).error;
        expect(message).toBe(said.message.replace(apiKey, redacted));
        expect(others).toEqual({ ...said, message: undefined, type: "authentication_error" });
      },
    );
  });

  it.each([
    ["of somebody else, in a header", `{"x-api-key":"0123456789abcdef"}`, "0123456789abcdef"],
    ["of somebody else, as a header is written", "Api-Key: 0123456789abcdef", "0123456789abcdef"],
    ["of somebody else, in a URL", "POST https://up/v1?key=0123456789abcdef", "0123456789abcdef"],
    ["of somebody else, for Basic", "Basic dXNlcjpzZWNyZXQtMTIzNDU2", "dXNlcjpzZWNyZXQtMTIzNDU2"],
    ["of somebody else, for AWS", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"],
    ["of the call, as a URL writes them", "?k=a%2Fkey%2Bto%3Dit", "a%2Fkey%2Bto%3Dit"],
  ])("%s, are not shown with an error", async (_whose, said, hidden) => {
    await served(
      (_request, response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: `the upstream said ${said}` } }));
      },
      async ({ url }) => {
        const error = await errorFrom(tiny(url, { apiKey: "a/key+to=it" }).call(tinyRequest, watch()));
        expect(JSON.stringify({ message: error.message, raw: error.raw })).toContain("the upstream said ");
        expect(`${error.message} ${JSON.stringify(error.raw)}`).not.toContain(hidden);
      },
    );
  });

  it("that equal the server's name do not make an error unreadable", async () => {
    await served(guarded("other"), async ({ url }) => {
      const error = await errorFrom(
        tiny(url, { provider: "ollama", apiKey: "ollama" }).call(tinyRequest, watch()),
      );
      expect(error.message).toMatch(/^ollama\/m /);
    });
  });

  it("F180: are requested before every call, and after a 401 once more, for one more request if they changed", async () => {
    await served(guarded("fresh-token"), async ({ url, seen }) => {
      const asked: boolean[] = [];
      const model = tiny(url, {
        credentials: ({ refresh }) => {
          asked.push(refresh);
          return { apiKey: refresh ? "fresh-token" : "stale-token" };
        },
      });
      await model.call(tinyRequest, watch());
      await model.call(tinyRequest, watch());
      expect(asked).toEqual([false, true, false, true]);
      expect(seen.length).toBe(4);

      const stubborn = tiny(url, { credentials: () => "stale-token" });
      expect((await errorFrom(stubborn.call(tinyRequest, watch()))).kind).toBe("auth");
      expect(seen.length).toBe(5);
    });
  });

  it("are renewed if a token has expired, even if Amazon reports that with a 403, but not if access is denied", async () => {
    for (const [code, kind, times] of [
      ["ExpiredTokenException", "auth", 2],
      ["AccessDeniedException", "permission", 1],
    ] as const)
      await served(
        (_request, response) => {
          response.writeHead(403, { "content-type": "application/json", "x-amzn-errortype": code });
          response.end(JSON.stringify({ message: "no" }));
        },
        async ({ url, seen }) => {
          const model = tiny(url, { credentials: ({ refresh }) => (refresh ? "new" : "old") });
          expect((await errorFrom(model.call(tinyRequest, watch()))).kind).toBe(kind);
          expect(seen.length).toBe(times);
        },
      );
  });

  /** A server that refuses every second request with these words. */
  const fickle =
    (message: string, status = 401, body?: string): Handler =>
    (_request, response) => {
      asked += 1;
      if (asked % 2 === 1) {
        response.writeHead(200, sse);
        response.end(frames.join(""));
        return;
      }
      response.writeHead(status, { "content-type": "application/json" });
      response.end(body ?? JSON.stringify({ error: { message, type: "invalid_key" } }));
    };
  let asked = 0;

  it.each<[what: string, body: string, retryable: boolean]>([
    ["without a word", "", true],
    ["with a page of what stands before the server", "<html><title>403 Forbidden</title></html>", true],
    ["with a reason", '{"error":{"message":"Your organization must be verified"}}', false],
  ])("a key that was accepted before is tried again after a 403 %s", async (_what, body, retryable) => {
    asked = 0;
    await served(fickle("", 403, body), async ({ url }) => {
      const model = tiny(url);
      await model.call(tinyRequest, watch());
      expect(await errorFrom(model.call(tinyRequest, watch()))).toMatchObject({
        kind: "permission",
        retryable,
      });
    });
  });

  it.each<[what: string, message: string, options: Partial<ModelOptions>, retryable: boolean]>([
    ["a key that was accepted before may be accepted again", "Invalid API Key", {}, true],
    ["but not if it has expired since", "The key has expired", {}, false],
    ["or was revoked", "API key revoked by its owner", {}, false],
    [
      "nor what a callback gives: it was asked for another",
      "Invalid API Key",
      { credentials: () => "one" },
      false,
    ],
  ])("%s (MiMo)", async (_what, message, options, retryable) => {
    asked = 0;
    await served(fickle(message), async ({ url }) => {
      const model = tiny(url, options);
      await model.call(tinyRequest, watch());
      const error = await errorFrom(model.call(tinyRequest, watch()));
      expect(error).toMatchObject({ kind: "auth", status: 401, retryable });
      expect(error.message.includes("was accepted before")).toBe(retryable);
    });
  });

  it("another key than the one that was accepted is not tried again", async () => {
    asked = 0;
    await served(fickle("Invalid API Key"), async ({ url }) => {
      const keys = ["one", "two"];
      const model = createModel({
        codec: tinyCodec,
        provider: "tiny",
        model: "m",
        baseURL: url,
        environmentKey: () => ({ apiKey: keys.shift() ?? "" }),
      });
      await model.call(tinyRequest, watch());
      expect((await errorFrom(model.call(tinyRequest, watch()))).retryable).toBe(false);
    });
  });

  it("are not renewed after a 401 about money", async () => {
    const broke = {
      status: 401,
      body: { error: { type: "insufficient_quota", message: "You exceeded your quota" } },
    };
    await served(
      (_request, response) => {
        response.writeHead(broke.status, { "content-type": "application/json" });
        response.end(JSON.stringify(broke.body));
      },
      async ({ url, seen }) => {
        const model = tiny(url, { credentials: ({ refresh }) => (refresh ? "new" : "old") });
        expect((await errorFrom(model.call(tinyRequest, watch()))).kind).toBe("quota_exhausted");
        expect(seen.length).toBe(1);
      },
    );
  });

  it("that cannot be obtained are an auth error; a callback that hangs does not delay an abort", async () => {
    const failing = tiny("http://127.0.0.1:1", {
      credentials: () => Promise.reject(new Error("no network")),
    });
    expect(await errorFrom(failing.call(tinyRequest, watch()))).toMatchObject({ kind: "auth" });
    const abort = new AbortController();
    const hanging = tiny("http://127.0.0.1:1", { credentials: () => new Promise(() => {}) });
    const error = errorFrom(hanging.call(tinyRequest, watch(abort.signal)));
    abort.abort();
    expect((await error).kind).toBe("aborted");
  });

  it("with a line break are refused with an error that does not show them", async () => {
    const error = await errorFrom(
      tiny("http://127.0.0.1:1", { apiKey: "abc\ndef" }).call(tinyRequest, watch()),
    );
    expect(error.kind).toBe("auth");
    expect(error.message).not.toContain("abc");
  });

  it("may be in another header, or missing if the server needs none", async () => {
    await served(streamed(frames), async ({ url, seen }) => {
      await tiny(url, { authorize: keyHeader("x-api-key") }).call(tinyRequest, watch());
      const { apiKey: _, ...keyless } = {
        codec: tinyCodec,
        provider: "tiny",
        model: "m",
        baseURL: url,
        keyless: true,
        apiKey: "",
      };
      await createModel(keyless).call(tinyRequest, watch());
      expect(seen[0]?.headers["x-api-key"]).toBe(key);
      expect(seen[1]?.headers.authorization).toBeUndefined();
    });
  });

  it("are not sent to a redirect's target, and the error names it", async () => {
    await served(
      (_request, response) => {
        response.writeHead(302, { location: "http://elsewhere.example/" });
        response.end();
      },
      async ({ url, seen }) => {
        const error = await errorFrom(tiny(url).call(tinyRequest, watch()));
        expect(error.kind).toBe("invalid_request");
        expect(error.message).toContain("http://elsewhere.example/");
        expect(seen.length).toBe(1);
      },
    );
  });
});

describe("clocks", () => {
  it("of the model override the loop's, and a silent server is a retryable timeout", async () => {
    await served(
      () => {},
      async ({ url }) => {
        const error = await errorFrom(
          tiny(url, { clocks: { firstByteMs: 20 } }).call(tinyRequest, {
            ...watch(),
            clocks: { firstByteMs: 600_000 },
          }),
        );
        expect(error).toMatchObject({ kind: "timeout", retryable: true });
        expect(error.message).toContain("20 ms");
      },
    );
  });
});

describe("addresses", () => {
  it.each([
    ["https://a.example", "/v1/x", "https://a.example/v1/x"],
    ["https://a.example/v1", "/v1/x", "https://a.example/v1/x"],
    ["https://a.example/v1/", "/x", "https://a.example/v1/x"],
    ["https://a.example/openai/v1", "chat", "https://a.example/openai/v1/chat"],
    ["https://a.example/v1beta", "/v1beta/m:s?alt=sse", "https://a.example/v1beta/m:s?alt=sse"],
    ["https://a.example/v1", "/v1beta/m", "https://a.example/v1/v1beta/m"],
    ["https://a.example/?api-version=3", "/x?a=b", "https://a.example/x?api-version=3&a=b"],
  ])("%s and %s make %s", (base, path, expected) => {
    expect(joinURL(base, path)).toBe(expected);
  });
});

describe("an SDK as the transport", () => {
  const raw = [{ text: "Hel" }, { text: "lo" }, { stop: true }, { text: "never" }];

  it("gives raw events, which are read like frames, and is closed when the answer is complete", async () => {
    let closed = false;
    async function* events(): AsyncGenerator<unknown> {
      try {
        yield* raw;
      } finally {
        closed = true;
      }
    }
    const io = watch();
    const answer = await tiny("http://unused.invalid", { send: async () => framesOf(events()) }).call(
      tinyRequest,
      io,
    );
    expect(answer.content).toEqual([{ type: "text", text: "Hello" }]);
    expect(io.events.length).toBe(2);
    expect(closed).toBe(true);
  });

  it("may give a complete answer", async () => {
    const answer = await tiny("http://unused.invalid", {
      send: async () => ({ whole: { text: "hi" } }),
    }).call(tinyRequest, watch());
    expect(answer.content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("may throw an SDK's error, which is read as the response it was", async () => {
    const thrown = Object.assign(new Error("429"), {
      status: 429,
      headers: new Headers({ "retry-after": "7" }),
      error: { error: { type: "rate_limit_error", message: "slow" } },
    });
    const error = await errorFrom(
      tiny("http://unused.invalid", { send: () => Promise.reject(thrown) }).call(tinyRequest, watch()),
    );
    expect(error).toMatchObject({ kind: "rate_limit", status: 429, retryAfterMs: 7000 });
  });

  it("that hangs does not delay an abort, and the partial answer is kept", async () => {
    const abort = new AbortController();
    async function* events(): AsyncGenerator<Frame> {
      yield { event: undefined, data: '{"text":"Hel"}' };
      await new Promise(() => {});
    }
    const error = await errorFrom(
      tiny("http://unused.invalid", { send: async () => events() }).call(tinyRequest, {
        signal: abort.signal,
        emit: () => setImmediate(() => abort.abort()),
      }),
    );
    expect(error).toMatchObject({ kind: "aborted", partial: { content: [{ type: "text", text: "Hel" }] } });
  });
});
