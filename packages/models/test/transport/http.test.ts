import { createHash } from "node:crypto";
import { getEventListeners, once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { bodyText, type HttpClient, type HttpRequest } from "../../src/transport/http.ts";
import { fetchClient } from "../../src/transport/http-fetch.ts";
import { nodeClient, onNode } from "../../src/transport/http-node.ts";
import { drip, errorFrom, withServer } from "./loopback.ts";

const clients: [string, HttpClient][] = [
  ["node:http", nodeClient()],
  ["fetch", fetchClient()],
];

function post(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return { method: "POST", url, headers: {}, body: "{}", signal: new AbortController().signal, ...more };
}

/** An address where nobody listens any more. */
async function closedPort(): Promise<string> {
  return await withServer(
    () => {},
    async ({ url }) => url,
  );
}

it("these tests run on Node", () => {
  expect(onNode()).toBe(true);
});

describe.each(clients)("a request over %s", (name, client) => {
  it("sends method, path, headers and body, and returns status, headers and body", async () => {
    await withServer(
      (_request, response) => {
        response.writeHead(418, { "x-a": "b" });
        response.end("héllo");
      },
      async ({ url, seen }) => {
        const response = await client.request(post(`${url}/a?b=c`, { headers: { "x-key": "k" }, body: "é" }));
        expect([response.status, response.header("X-A"), response.header("no")]).toEqual([418, "b", null]);
        expect(await bodyText(response)).toBe("héllo");
        expect(seen[0]).toMatchObject({ method: "POST", url: "/a?b=c", body: "é" });
        expect(seen[0]?.headers["x-key"]).toBe("k");
      },
    );
  });

  it("returns a body with a too small content length up to that length", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello, and more"));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const response = await client.request(post(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    expect(await bodyText(response)).toBe("hello");
    server.close();
  });

  it("transfers long bodies completely, even if others are aborted, wait, or break off at the same time", async () => {
    const bodyOf = (at: number): string => `${at}:`.padEnd(20_000 + ((at * 7919) % 300_000), `${at} é`);
    const held: (() => void)[] = [];
    let answered = 0;
    const server = createHttpServer((message, response) => {
      const hash = createHash("sha256");
      message.on("data", (piece: Buffer) => hash.update(piece));
      message.on("end", () => response.end(hash.digest("hex")));
      message.on("error", () => {});
      // Two are not read before most others were answered, though they are longer than what the system takes at once.
      if (message.url !== "/held") return;
      message.pause();
      held.push(() => message.resume());
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = async (path: string, body: string): Promise<boolean> => {
      const told = await bodyText(await client.request(post(`${url}${path}`, { body })));
      answered += 1;
      return told === createHash("sha256").update(body).digest("hex");
    };
    const long = [1, 2].map((at) => `${at} ü`.repeat(3_000_000));
    const waiting = long.map((body) => ask("/held", body));
    for (let round = 0; round < 3; round += 1) {
      const cut = new AbortController();
      const lost = client.request(post(`${url}/held`, { body: bodyOf(90 + round), signal: cut.signal }));
      const came = Array.from({ length: 8 }, (_, at) => ask("/", bodyOf(round * 8 + at)));
      cut.abort();
      await expect(lost).rejects.toMatchObject({ kind: "aborted" });
      expect(await Promise.all(came)).toEqual(came.map(() => true));
    }
    expect(answered).toBe(24);
    for (const go of held) go();
    expect(await Promise.all(waiting)).toEqual([true, true]);
    server.closeAllConnections();
    server.close();
  });

  it("transfers a body in pieces like a complete one", async () => {
    await withServer(
      (_request, response) => void response.end(),
      async ({ url, seen }) => {
        const [before, middle, after] = ['{"é":"', "🙂 ".repeat(100_000), '"}'] as const;
        const body = before + middle + after;
        const parts = { before, kept: new TextEncoder().encode(middle), after };
        await bodyText(await client.request(post(url, { body, parts })));
        expect(seen[0]?.body === body).toBe(true);
        expect(seen[0]?.headers["content-length"]).toBe(String(Buffer.byteLength(body)));
      },
    );
  });

  it("reuses a connection, even if the sink had enough before the end", async () => {
    const count = 12;
    let ended: () => void = () => {};
    await withServer(
      (_request, response) => {
        response.on("close", () => ended());
        response.write("first");
        setImmediate(() => response.end("rest"));
      },
      async ({ url, sockets }) => {
        for (let i = 0; i < count; i++) {
          const over = new Promise<void>((resolve) => {
            ended = resolve;
          });
          const response = await client.request(post(url));
          await response.read(() => i % 2 === 0);
          await over;
        }
        // The rest of a body that was not wanted may still be on its way when the next request leaves: then that one
        // takes another connection. Without any reuse there would be one for each.
        expect(sockets.length).toBeLessThan(count / 2 + 2);
      },
    );
  });

  it("abandons a body that never ends once the sink has enough", async () => {
    await withServer(
      (_request, response) => void response.write("enough"),
      async ({ url, closed }) => {
        const response = await client.request(post(url));
        await response.read(() => false);
        await closed(1);
      },
    );
  });

  it("closes the connection if a body is not wanted or a sink throws, and passes the error on", async () => {
    await withServer(
      (_request, response) => void response.write("x"),
      async ({ url, closed }) => {
        const thrown = new Error("mine");
        const response = await client.request(post(url));
        await expect(
          response.read(() => {
            throw thrown;
          }),
        ).rejects.toBe(thrown);
        await closed(1);
        (await client.request(post(url))).discard();
        await closed(2);
        // One that is being read, and says nothing any more.
        const silent = await client.request(post(url));
        const begun = Promise.withResolvers<void>();
        const over = silent
          .read(() => {
            begun.resolve();
            return true;
          })
          .catch(() => {});
        await begun.promise;
        silent.discard();
        await Promise.all([closed(3), over]);
      },
    );
  });

  it("does not follow a redirect", async () => {
    await withServer(
      (_request, response) => {
        response.writeHead(307, { location: "/elsewhere" });
        response.end();
      },
      async ({ url, seen }) => {
        const response = await client.request(post(url, { headers: { authorization: "Bearer secret" } }));
        expect(response.status).toBe(307);
        expect(await bodyText(response)).toBe("");
        expect(seen.length).toBe(1);
      },
    );
  });

  it("decompresses bodies while they arrive", async () => {
    const packed = {
      gzip: gzipSync("hello"),
      br: brotliCompressSync("hello"),
      deflate: deflateSync("hello"),
    };
    for (const [encoding, bytes] of Object.entries(packed))
      await withServer(
        (_request, response) => {
          response.writeHead(200, { "content-encoding": encoding });
          drip(response, [bytes.subarray(0, 4), bytes.subarray(4)], () => response.end());
        },
        async ({ url }) => expect(await bodyText(await client.request(post(url)))).toBe("hello"),
      );
  });

  it("rejects at once if it is aborted: before, while waiting, while reading", async () => {
    await withServer(
      (request, response) => {
        if (request.url === "/silent") return;
        response.write("x");
      },
      async ({ url, seen, closed }) => {
        expect((await errorFrom(client.request(post(url, { signal: AbortSignal.abort("why") })))).kind).toBe(
          "aborted",
        );
        expect(seen.length).toBe(0);

        const waiting = new AbortController();
        const silent = errorFrom(client.request(post(`${url}/silent`, { signal: waiting.signal })));
        while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
        waiting.abort("why");
        expect(await silent).toMatchObject({ kind: "aborted", cause: "why" });
        await closed(1);

        const reading = new AbortController();
        const response = await client.request(post(url, { signal: reading.signal }));
        const error = await errorFrom(
          response.read(() => {
            reading.abort();
            return true;
          }),
        );
        expect(error.kind).toBe("aborted");
        await closed(2);
      },
    );
  });

  it("leaves no listener on a signal that outlives many requests", async () => {
    const { signal } = new AbortController();
    await withServer(
      (request, response) => {
        if (request.url === "/reset") response.socket?.destroy();
        else response.end("x");
      },
      async ({ url }) => {
        await bodyText(await client.request(post(url, { signal })));
        await (await client.request(post(url, { signal }))).read(() => false);
        (await client.request(post(url, { signal }))).discard();
        await errorFrom(client.request(post(`${url}/reset`, { signal })));
        await errorFrom(client.request(post(await closedPort(), { signal })));
      },
    );
    expect(getEventListeners(signal, "abort").length).toBe(0);
  });

  it("gives up on a server without a first byte, with or without headers, and names the timeout", async () => {
    await withServer(
      (request, response) => {
        if (request.url === "/headers") response.flushHeaders();
      },
      async ({ url, closed }) => {
        const clocks = { connectMs: 0, firstByteMs: 30 };
        const none = await errorFrom(client.request(post(url, { clocks })));
        expect(none).toMatchObject({ kind: "timeout", retryable: true });
        expect(none.message).toMatch(/first byte.*127\.0\.0\.1/);
        const headers = client
          .request(post(`${url}/headers`, { clocks }))
          .then((response) => response.read(() => true));
        expect((await errorFrom(headers)).kind).toBe("timeout");
        await closed(2);
      },
    );
  });

  it("supports timeouts that are longer than any timer", async () => {
    await withServer(
      (_request, response) => void setTimeout(() => response.end("here"), 20),
      async ({ url }) => {
        const clocks = { connectMs: 2 ** 40, firstByteMs: 2 ** 40 };
        expect(await bodyText(await client.request(post(url, { clocks })))).toBe("here");
      },
    );
  });

  it("keeps no timer after the first byte", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await withServer(
        (_request, response) => {
          response.write("a");
        },
        async ({ url }) => {
          const abort = new AbortController();
          const response = await client.request(post(url, { signal: abort.signal }));
          expect(vi.getTimerCount()).toBe(1);
          await errorFrom(
            response.read(() => {
              setImmediate(() => {
                expect(vi.getTimerCount()).toBe(0);
                abort.abort();
              });
              return true;
            }),
          );
          expect(vi.getTimerCount()).toBe(0);
        },
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it("gives up on a server that accepts and never shakes hands", async () => {
    const silent = createServer((socket) => socket.on("error", () => {}));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const clocks = { connectMs: 30, firstByteMs: 30 };
    const error = await errorFrom(client.request(post(`https://127.0.0.1:${port}/`, { clocks })));
    silent.close();
    expect(error.kind).toBe("timeout");
    if (name === "node:http") expect(error.message).toContain("no connection");
  });

  it("names the host and what to do if nothing listens, or the name is unknown", async () => {
    const nobody = await closedPort();
    const refused = await errorFrom(client.request(post(`${nobody}/secret/path?key=k`)));
    expect(refused).toMatchObject({ kind: "network", retryable: true });
    expect(refused.message).toMatch(/127\.0\.0\.1:\d+ refused.*is the server running/);
    expect(refused.message).not.toContain("secret");
    const unknown = await errorFrom(client.request(post("http://no-such-host.invalid/")));
    expect(unknown.kind).toBe("network");
    expect(unknown.message).toMatch(/no-such-host\.invalid/);
  });

  it("a connection that breaks is a network error: before the headers, between, and in the body", async () => {
    await withServer(
      (request, response) => {
        if (request.url === "/body") response.write("x", () => response.socket?.resetAndDestroy());
        else if (request.url === "/short") {
          response.writeHead(200, { "content-length": "100" });
          response.write("x", () => response.socket?.end());
        } else response.socket?.resetAndDestroy();
      },
      async ({ url }) => {
        expect((await errorFrom(client.request(post(url)))).kind).toBe("network");
        for (const path of ["/body", "/short"]) {
          const pieces: string[] = [];
          const error = await errorFrom(
            client.request(post(url + path)).then((response) =>
              response.read((chunk) => {
                pieces.push(new TextDecoder().decode(chunk));
                return true;
              }),
            ),
          );
          expect(error.kind).toBe("network");
          expect(error.message).toContain("127.0.0.1");
        }
      },
    );
  });

  it("a failure between the headers and the reading is not lost", async () => {
    await withServer(
      (_request, response) => response.write("x", () => response.socket?.resetAndDestroy()),
      async ({ url, closed }) => {
        const abort = new AbortController();
        const response = await client.request(post(url, { signal: abort.signal }));
        await closed(1);
        abort.abort();
        expect(["aborted", "network"]).toContain((await errorFrom(response.read(() => true))).kind);
      },
    );
  });

  it("refuses a header that HTTP cannot transfer", async () => {
    const error = await errorFrom(
      client.request(post("http://127.0.0.1:1/", { headers: { "x-a": "a\nb" } })),
    );
    expect(["invalid_request", "network"]).toContain(error.kind);
    if (name === "node:http") expect(error.kind).toBe("invalid_request");
  });
});

describe("a user's own fetch", () => {
  it("is used, and does not delay an abort if it ignores its signal", async () => {
    const abort = new AbortController();
    const client = fetchClient({ fetch: () => new Promise(() => {}) });
    const error = errorFrom(client.request(post("http://x/", { signal: abort.signal })));
    abort.abort();
    expect((await error).kind).toBe("aborted");

    const later = new AbortController();
    const deaf = fetchClient({
      fetch: async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
    });
    const response = await deaf.request(post("http://x/", { signal: later.signal }));
    const reading = errorFrom(response.read(() => true));
    later.abort();
    expect((await reading).kind).toBe("aborted");
  });

  it("names fetch's own limit if that was reached", async () => {
    const timeout = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("x"), { code: "UND_ERR_HEADERS_TIMEOUT" }),
    });
    const error = await errorFrom(
      fetchClient({ fetch: () => Promise.reject(timeout) }).request(post("http://x/")),
    );
    expect(error).toMatchObject({ kind: "timeout" });
    expect(error.message).toContain("UND_ERR_HEADERS_TIMEOUT");
  });
});

describe("a compressed body over node:http", () => {
  const client = nodeClient();

  it.each([
    ["packed, and nothing says so", undefined, gzipSync("hello")],
    ["not packed, whatever the header says", "gzip", Buffer.from("hello")],
    ["packed otherwise than the header says", "deflate", gzipSync("hello")],
    ["deflated without its first two bytes", "deflate", deflateRawSync("hello")],
    ["packed in several pieces", "gzip", Buffer.concat([gzipSync("hel"), gzipSync("lo")])],
    ["empty", "gzip", Buffer.alloc(0)],
  ])("reads a body by its first byte: %s", async (what, encoding, bytes) => {
    await withServer(
      (_request, response) => {
        response.writeHead(200, encoding === undefined ? {} : { "content-encoding": encoding });
        drip(
          response,
          [...bytes].map((byte) => Buffer.of(byte)),
          () => response.end(),
        );
      },
      async ({ url }) =>
        expect(await bodyText(await client.request(post(url)))).toBe(what === "empty" ? "" : "hello"),
    );
  });

  it.each([
    ["JSON, that a gateway had unpacked", "br", '{"a":1}'],
    ["the same with a line break behind the brace", "br", '{\n  "a": 1\n}'],
    ["frames", "br", 'data: {"a":1}\n\n'],
    ["a comment between frames", "deflate", ": ping\n\n"],
    ["a web page", "deflate", "<!doctype html>"],
    ["a character set in the wrong header", "utf-8", '{"a":1}'],
    ["a text that is shorter than what tells", "br", "{}"],
  ])("recognises text as such, whatever the header says: %s", async (_title, encoding, said) => {
    await withServer(
      (_request, response) => {
        response.writeHead(200, { "content-encoding": encoding });
        drip(
          response,
          [...Buffer.from(said)].map((byte) => Buffer.of(byte)),
          () => response.end(),
        );
      },
      async ({ url }) => expect(await bodyText(await client.request(post(url)))).toBe(said),
    );
  });

  it("decompresses data that begins like text and is none", async () => {
    // The shorter of them are named by their bytes alone.
    for (const length of [1, 10, 100, 1000, 10_000])
      for (const pack of [brotliCompressSync, deflateRawSync]) {
        const said = JSON.stringify({ text: "hello ".repeat(length) });
        await withServer(
          (_request, response) => {
            response.writeHead(200, { "content-encoding": pack === brotliCompressSync ? "br" : "deflate" });
            response.end(pack(said));
          },
          async ({ url }) => expect(await bodyText(await client.request(post(url)))).toBe(said),
        );
      }
  });

  it("names an unknown encoding", async () => {
    await withServer(
      (_request, response) => {
        response.writeHead(200, { "content-encoding": "zstd" });
        response.end(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]));
      },
      async ({ url }) =>
        await expect(client.request(post(url)).then(bodyText)).rejects.toMatchObject({ kind: "protocol" }),
    );
  });
});
