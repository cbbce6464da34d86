// Requests that no client should send: rondo-wire says what is wrong with them, and goes on.

import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { redacted } from "@rondo/core";
import { say } from "@rondo/testkit";
import { frames, type RondoWire, rondoWire, type WireRequest } from "@rondo/testkit/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestLine } from "../src/wire/request-line.ts";
import { readScript } from "../src/wire/script-json.ts";

let wire: RondoWire;
beforeAll(async () => {
  wire = await rondoWire({ script: [say("hi")], repeatLast: true });
});
afterAll(() => wire.close());

/** As it stands: `fetch` would mend an address. */
function post(
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(wire.url);
    const sending = request(
      { host: "127.0.0.1", port, path, method: "POST", headers: { authorization: "Bearer k", ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        response.once("end", () => resolve({ status: response.statusCode, text }));
      },
    );
    sending.once("error", reject);
    sending.end(body);
  });
}

const chat = "/v1/chat/completions";
const body = (text: string): string =>
  JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] });

describe("a request's body", () => {
  it("that is compressed is refused as that, and not as bad JSON", async () => {
    const answer = await post(chat, gzipSync(body("hi")), { "content-encoding": "gzip" });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("compressed (content-encoding: gzip): rondo-wire takes only plain ones");
    expect((await post(chat, body("hi"), { "content-encoding": "identity" })).status).toBe(200);
  });

  it("that is no UTF-8 is refused: a provider would, and the text would be another", async () => {
    const answer = await post(chat, Buffer.from(body("caf\u00e9"), "latin1"));
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("not valid UTF-8") });
    expect(wire.violations.at(-1)).toEqual({ path: "", message: "The request body is not valid UTF-8" });
    expect((await post(chat, body("caf\u00e9"))).status).toBe(200);
  });
});

describe("a request's path", () => {
  it.each(["//", "//[", "/v1beta/models/%ZZ:generateContent", "/model/%E0%A4/converse", "*"])(
    "%s leads to nothing, which is the client's fault and not the script's",
    async (path) => {
      const answer = await post(path, body("hi"));
      expect(answer).toMatchObject({ status: 404, text: expect.stringContaining(`nothing at POST ${path}`) });
      expect(wire.problems).toEqual([]);
    },
  );

  it("may be a whole address, as proxies write it", async () => {
    expect((await post(`http://elsewhere${chat}`, body("hi"))).status).toBe(200);
  });
});

describe("what is given to it", () => {
  it("is a key that somebody can have", async () => {
    await expect(rondoWire({ script: [], key: "" })).rejects.toThrow(
      "rondoWire: option key: a text that is not empty",
    );
  });

  it("is frames with data", () => {
    expect(() => frames([{ dat: 1 } as never])).toThrow(
      "frames: option list[0].dat: there is no such option",
    );
    expect(() => frames([{ event: "ping" } as never])).toThrow("frames: option list[0].data: ");
    expect(frames([{ data: null }, { event: "e", data: "x" }])).toMatchObject({ wire: "frames" });
  });

  it("may be a script with the mark in front that some editors write", () => {
    expect(readScript('\ufeff["hi"]').script).toHaveLength(1);
  });
});

it("writes no credential into the file of requests", () => {
  const asked: WireRequest = {
    protocol: "google-generative-ai",
    method: "POST",
    path: "/v1beta/models/m:generateContent?alt=sse&key=secret-1&x=y",
    headers: {
      authorization: "Bearer secret-2",
      "x-api-key": "secret-3",
      "x-goog-api-key": "secret-4",
      "api-key": "secret-5",
      "x-amz-security-token": "secret-6",
      "content-type": "application/json",
    },
    model: "m",
    stream: false,
    body: { contents: [] },
    text: "{}",
    violations: [],
  };
  const line = requestLine(asked);
  expect(line).not.toContain("secret");
  expect(JSON.parse(line)).toMatchObject({
    path: `/v1beta/models/m:generateContent?alt=sse&key=${redacted}&x=y`,
    headers: {
      authorization: `Bearer ${redacted}`,
      "x-api-key": redacted,
      "content-type": "application/json",
    },
    body: { contents: [] },
  });
  const signed = {
    ...asked,
    headers: { authorization: "AWS4-HMAC-SHA256 Credential=AK/1, Signature=secret" },
  };
  expect(JSON.parse(requestLine(signed)).headers.authorization).toBe(`AWS4-HMAC-SHA256 ${redacted}`);
});
