// Who hears live events: a worker tells them to those who show its token, and to nobody where its calls are guarded
// and it has none.

import { createServer as createIngress } from "node:http";
import { connect, createServer, type Http2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { Agent } from "@rondo/core";
import { type RestateWorkerOptions, restateClient, restateWorker } from "@rondo/restate";
import { scripted } from "@rondo/testkit";
import { afterEach, describe, expect, it } from "vitest";

const token = "4f1d2c7a9b8e4f0d";
/** Of the right form: whose it is does not matter, for no server calls here. */
const identityKeys = ["publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f"];

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(options: Omit<RestateWorkerOptions, "agents">): Promise<string> {
  const worker = restateWorker({ agents: { agent: new Agent({ model: scripted([]) }) }, ...options });
  closing.push(() => worker.close());
  return worker.listen();
}

interface Answered {
  status: number;
  challenge: string | undefined;
  /** The first that is said. */
  said: string;
}

/** Asks a worker over a socket of its own, and hears what it says first. */
async function ask(
  worker: string,
  headers: { [name: string]: string } = {},
  path = "/rondo/live/s",
): Promise<Answered> {
  const connection = connect(worker);
  try {
    const stream = connection.request({ ":path": path, ...headers });
    stream.setEncoding("utf8");
    return await new Promise((resolve, reject) => {
      stream.once("error", reject);
      stream.once("response", ({ ":status": status = 0, "www-authenticate": challenge }) =>
        stream.once("data", (said: string) => resolve({ status, challenge, said })),
      );
    });
  } finally {
    connection.destroy();
  }
}

const bearer = (given: string): { authorization: string } => ({ authorization: `Bearer ${given}` });

describe("a worker with a live token", () => {
  it("tells live events to whoever shows it, however the word Bearer is written", async () => {
    const worker = await listening({ liveToken: token });
    for (const word of ["Bearer", "bearer"]) {
      const { status, said } = await ask(worker, { authorization: `${word} ${token}` });
      expect(status).toBe(200);
      expect(said).toMatch(/^event: open/);
    }
  });

  it.each([
    ["no token", {}],
    ["another", bearer("4f1d2c7a9b8e4f0e")],
    ["a beginning of it", bearer(token.slice(0, -1))],
    ["more than it", bearer(`${token}0`)],
    ["none behind the word", { authorization: "Bearer " }],
    ["another scheme", { authorization: `Basic ${token}` }],
    ["it without a scheme", { authorization: token }],
  ])("refuses who shows %s, and says what is needed without saying the token", async (_what, headers) => {
    const worker = await listening({ liveToken: token });
    const { status, challenge, said } = await ask(worker, headers as { [name: string]: string });
    expect([status, challenge]).toEqual([401, "Bearer"]);
    expect(said).toBe(
      "live events of this worker are told to those who send its liveToken (Authorization: Bearer …)",
    );
  });

  it("looks at the token before it looks at anything else", async () => {
    const worker = await listening({ liveToken: token });
    for (const path of ["/rondo/live/", "/rondo/live/%", `/rondo/live/s?token=${token}`])
      expect((await ask(worker, {}, path)).status).toBe(401);
    expect((await ask(worker, { ":method": "POST" })).status).toBe(401);
  });

  it("needs it also where its calls are guarded by keys", async () => {
    const worker = await listening({ liveToken: token, identityKeys });
    expect((await ask(worker)).status).toBe(401);
    expect((await ask(worker, bearer(token))).status).toBe(200);
  });
});

describe("a worker without a live token", () => {
  it("tells no live events where it takes calls from servers of its own alone, and says why", async () => {
    const worker = await listening({ identityKeys });
    for (const headers of [{}, bearer(token), bearer("")]) {
      const { status, said } = await ask(worker, headers);
      expect(status).toBe(404);
      expect(said).toBe(
        "this worker tells no live events: it takes calls from its servers alone (identityKeys), and was given no liveToken",
      );
    }
  });

  it("tells them to whoever reaches its port, as it takes calls from them", async () => {
    for (const options of [{}, { identityKeys: [] }])
      expect((await ask(await listening(options))).said).toMatch(/^event: open/);
  });
});

describe("a live token that guards nothing", () => {
  it.each([
    ["a short one", "4f1d2c7a9b8e4f0"],
    ["an empty one", ""],
    ["one with blanks", "4f1d2c7a 9b8e4f0d"],
    ["one that no header carries", "4f1d2c7a9b8e4f0ü"],
    ["one of two lines", "4f1d2c7a9b8e4f0d\n"],
    ["no text", 1234567890123456],
  ])("is refused where it is given, by workers and clients alike, and is not told: %s", (_what, given) => {
    const liveToken = given as string;
    const why =
      "option liveToken: a text of at least 16 letters, digits or -._~+/ is needed (= at its end may follow), and this is none; it is not shown, for it may be a secret";
    const agent = new Agent({ model: scripted([]) });
    const makers: [string, () => unknown][] = [
      ["restateWorker", () => restateWorker({ agents: { agent }, liveToken })],
      ["restateClient", () => restateClient({ ingress: "http://127.0.0.1:9", agent: "agent", liveToken })],
    ];
    for (const [name, make] of makers) {
      expect(make).toThrow(expect.objectContaining({ kind: "invalid_request", message: `${name}: ${why}` }));
    }
  });
});

describe("a client that follows", () => {
  const listen = async (server: Server | Http2Server): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  /** A server with a session of one record. */
  const ingress = (): Promise<string> => {
    const record = { type: "woke", seq: 0, at: 1, rand: 0 };
    const server = createIngress(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { from } = JSON.parse(body) as { from: number };
      response.end(JSON.stringify({ seq: 1, text: from === 0 ? JSON.stringify(record) : "" }));
    });
    closing.push(() => server.close());
    return listen(server);
  };

  /** A worker of which the test says what it answers to which token. */
  const worker = (answer: (authorization: string | undefined) => [number, string]): Promise<string> => {
    const server = createServer((request, response) => {
      const [status, text] = answer(request.headers.authorization);
      response.writeHead(status, { "content-type": "text/event-stream" });
      if (status === 200) response.write(text);
      else response.end(text);
    });
    closing.push(() => server.close());
    return listen(server);
  };

  const open = 'event: open\ndata: {"hub":"h"}\n\n';
  const delta = 'id: h:0\ndata: {"event":{"type":"text_delta","text":"hi"}}\n\n';

  it("shows its token to the workers it knows, and hears them", async () => {
    const address = await worker((shown) =>
      shown === `Bearer ${token}` ? [200, open + delta] : [401, "no"],
    );
    const client = restateClient({
      ingress: await ingress(),
      agent: "agent",
      workers: address,
      liveToken: token,
    });
    for await (const thing of client.session("s").follow())
      if ("event" in thing) {
        expect(thing.event).toMatchObject({ text: "hi" });
        break;
      }
  });

  it("shows none where it has none", async () => {
    const shown: (string | undefined)[] = [];
    const address = await worker((one) => {
      shown.push(one);
      return [200, open + delta];
    });
    const client = restateClient({ ingress: await ingress(), agent: "agent", workers: [address] });
    for await (const thing of client.session("s").follow()) if ("event" in thing) break;
    expect(shown).toEqual([undefined]);
  });

  it("is told records where a worker refuses it, and hears why", async () => {
    const address = await listening({ identityKeys });
    const warned = Promise.withResolvers<string>();
    const client = restateClient({
      ingress: await ingress(),
      agent: "agent",
      workers: address,
      liveToken: token,
      warn: warned.resolve,
    });
    for await (const thing of client.session("s").follow()) {
      expect(thing).toMatchObject({ record: { seq: 0 } });
      break;
    }
    const following = client.session("s").follow({ from: 1 });
    const waiting = following.next();
    expect(await warned.promise).toBe(
      `${address} tells no live events, so that follow tells records alone: 404 this worker tells no live events: it takes calls from its servers alone (identityKeys), and was given no liveToken`,
    );
    await following.return(undefined);
    await waiting;
  });

  it("comes back to a worker that refused it, hears it once it is let in, and is warned once, however often it follows", async () => {
    const warnings: string[] = [];
    let asked = 0;
    const address = await worker(() => {
      asked += 1;
      return asked % 3 === 0 ? [200, open + delta] : [401, "not yet"];
    });
    const client = restateClient({
      ingress: await ingress(),
      agent: "agent",
      workers: address,
      warn: (message) => warnings.push(message),
    });
    for (const id of ["s", "t"])
      for await (const thing of client.session(id).follow()) if ("event" in thing) break;
    expect(asked).toBe(6);
    expect(warnings).toEqual([
      `${address} tells no live events, so that follow tells records alone: 401 not yet`,
    ]);
  });

  it("does not warn of what stands before a worker that is away for a moment", async () => {
    const warnings: string[] = [];
    let asked = 0;
    const address = await worker(() => {
      asked += 1;
      return asked === 1 ? [503, "nobody here"] : [200, open + delta];
    });
    const client = restateClient({
      ingress: await ingress(),
      agent: "agent",
      workers: address,
      warn: (message) => warnings.push(message),
    });
    for await (const thing of client.session("s").follow()) if ("event" in thing) break;
    expect(warnings).toEqual([]);
  });
});
