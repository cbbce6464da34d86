// What a client tells while it reads and is answered at the same time: answers of a server come in any order.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { Agent, type Always, type LogRecord, memoryJournal, tool } from "@rondo/core";
import { restateClient, restateWorker } from "@rondo/restate";
import { call, say, scripted } from "@rondo/testkit";
import { afterEach, expect, test } from "vitest";

const ask = tool({
  name: "pay",
  description: "Pays",
  inputSchema: { type: "object", properties: {} },
  permission: "ask",
  execute: () => "paid",
});

/** The records of a run that waits for leave, and how many there are before it is given. */
async function paying(): Promise<{ records: LogRecord[]; waiting: number }> {
  const journal = memoryJournal();
  const agent = new Agent({ model: scripted([call("pay"), say("Paid.")]), tools: [ask], journal });
  const session = await agent.open("s");
  await session.send("Pay.");
  const waiting = journal.read("s").length;
  await session.approve(session.pending[0]?.id ?? "");
  return { records: journal.read("s"), waiting };
}

/** A request that has come: answered when the test says so. */
interface Asked {
  handler: string;
  input: { from?: number; say?: object };
  answer(value: unknown): void;
}

let server: Server | undefined;
afterEach(() => server?.close());

/** An ingress whose answers the test gives. */
async function ingress(): Promise<{ url: string; asked(handler: string): Promise<Asked> }> {
  const came: Asked[] = [];
  const awaited: { handler: string; resolve: (asked: Asked) => void }[] = [];
  const match = (): void => {
    for (const [at, { handler, resolve }] of awaited.entries()) {
      const found = came.findIndex((one) => one.handler === handler);
      if (found < 0) continue;
      awaited.splice(at, 1);
      resolve(came.splice(found, 1)[0] as Asked);
      match();
      return;
    }
  };
  server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const handler = request.url?.split("/").at(-1) ?? "";
    came.push({
      handler,
      input: JSON.parse(body) as Asked["input"],
      answer: (value) => response.end(JSON.stringify(value)),
    });
    match();
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (handler) =>
      new Promise((resolve) => {
        awaited.push({ handler, resolve });
        match();
      }),
  };
}

const lines = (records: readonly LogRecord[]): string =>
  records.map((record) => JSON.stringify(record)).join("\n");

test("a look at a session that is answered after its run has ended tells what is known by then", async () => {
  const { records } = await paying();
  const { url, asked } = await ingress();
  const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
  const looking = session.status();
  const early = await asked("read");
  const sending = session.send("Pay.");
  (await asked("run")).answer({ seq: records.length, from: 0, text: lines(records) });
  expect((await sending).text).toBe("Paid.");
  early.answer({ seq: 2, text: lines(records.slice(0, 2)) });
  expect(await looking).toBe("idle");
});

test("a result that fails while its call is looked for is told to who brings it, and to nobody else", async () => {
  const { records, waiting } = await paying();
  const unheard: unknown[] = [];
  const heard = (thrown: unknown): void => void unheard.push(thrown);
  process.on("unhandledRejection", heard);
  const { url, asked } = await ingress();
  const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
  const answered = session.answer("call_1", Promise.reject(new Error("nobody is at home")));
  const look = await asked("read");
  look.answer({ seq: waiting, text: lines(records.slice(0, waiting)) });
  await expect(answered).rejects.toThrow("nobody is at home");
  process.off("unhandledRejection", heard);
  expect(unheard).toEqual([]);
});

test("an approval resolves with what came of it, though a look of before it is answered after it", async () => {
  const { records, waiting } = await paying();
  const { url, asked } = await ingress();
  const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
  const looked = session.pending();
  (await asked("read")).answer({ seq: waiting, text: lines(records.slice(0, waiting)) });
  const approved = session.approve((await looked)[0]?.id ?? "");
  (await asked("read")).answer({ seq: waiting, text: "" });
  (await asked("post")).answer({ n: 1, at: 0 });
  const take = await asked("take");
  const looking = session.status();
  const early = await asked("read");
  take.answer({ seq: -1 });
  early.answer({ seq: waiting, text: "" });
  const late = await asked("read");
  late.answer({ seq: records.length, text: lines(records.slice(waiting)) });
  expect(await approved).toMatchObject({ text: "Paid.", end: { reason: "completed" } });
  await looking;
});

test("whoever leaves off following while nothing comes is let go at once, and nothing is asked for any more", async () => {
  const { url, asked } = await ingress();
  const following = restateClient({ ingress: url, agent: "clerk" }).session("s").follow();
  const waiting = following.next();
  (await asked("read")).answer({ seq: 0, text: "" });
  expect(await following.return(undefined)).toEqual({ done: true, value: undefined });
  expect(await waiting).toEqual({ done: true, value: undefined });
});

test("following ends by its signal although the server does not answer", async () => {
  const { url, asked } = await ingress();
  const leaving = new AbortController();
  const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
  const waiting = session.follow({ signal: leaving.signal }).next();
  await asked("read");
  leaving.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
});

test("a session that is called like a folder above is followed live as any other", async () => {
  const agent = new Agent({ model: scripted([]) });
  const worker = restateWorker({ agents: { agent } });
  const connection = connect(await worker.listen(0));
  try {
    for (const id of ["..", ".", "a/../b?c"]) {
      const stream = connection.request({ ":path": `/rondo/live/${encodeURIComponent(id)}` });
      const said = await new Promise<string>((resolve) => stream.setEncoding("utf8").once("data", resolve));
      expect(said).toMatch(/^event: open/);
      stream.close();
    }
  } finally {
    connection.destroy();
    await worker.close();
  }
});

test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "records from %d on are refused before anybody is asked: a server would look for them for ever",
  async (from) => {
    const session = restateClient({ ingress: "http://127.0.0.1:9", agent: "clerk" }).session("s");
    const why = `cannot read from record ${from}: it must be a whole number from 0`;
    await expect(session.records(from)).rejects.toMatchObject({ kind: "invalid_request", message: why });
    expect(() => session.follow({ from })).toThrow(why);
  },
);

test("a session is settled only when what was said here before has been heard, however long it is on its way", async () => {
  const { records, waiting } = await paying();
  const { url, asked } = await ingress();
  const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
  const saying = session.abort("never mind");
  const mail = { n: 1, at: 0, agent: "clerk", say: { type: "abort_asked", reason: "never mind" } };
  // It is told the number of its word, not the word: that may be large.
  (await asked("post")).answer({ n: mail.n, at: mail.at });
  await saying;
  const settling = session.settled();
  const before = await asked("read");
  before.answer({ seq: waiting, text: lines(records.slice(0, waiting)) });
  const taking = await asked("take");
  expect(taking.input).toEqual(mail);
  taking.answer({ seq: -1 });
  for (const _look of ["status", "result"])
    (await asked("read")).answer({ seq: records.length, text: lines(records.slice(waiting)) });
  expect((await settling)?.text).toBe("Paid.");
});

test.each([
  [undefined, {}],
  [false, {}],
  [true, { always: { id: expect.any(String), tool: "pay", args: { exact: {} } } }],
  [{ id: "mine", args: "any", uses: 2 }, { always: { id: "mine", tool: "pay", uses: 2 } }],
  [
    { args: { like: { to: "*" } } },
    { always: { id: expect.any(String), tool: "pay", args: { like: { to: "*" } } } },
  ],
] as [Always | undefined, object][])(
  "leave that is given with an approval is that of any session: %j",
  async (always, leave) => {
    const { records, waiting } = await paying();
    const { url, asked } = await ingress();
    const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
    const looked = session.pending();
    (await asked("read")).answer({ seq: waiting, text: lines(records.slice(0, waiting)) });
    const call = (await looked)[0]?.id ?? "";
    const approved = session.approve(call, always === undefined ? {} : { always });
    (await asked("read")).answer({ seq: waiting, text: "" });
    const said = await asked("post");
    expect(said.input.say).toEqual({ type: "answer", call, said: { answer: "approve", ...leave } });
    said.answer({ n: 1 });
    (await asked("take")).answer({ seq: -1 });
    (await asked("read")).answer({ seq: records.length, text: lines(records.slice(waiting)) });
    expect((await approved).text).toBe("Paid.");
  },
);

test("leave that is none is refused before anything is said", async () => {
  const { url } = await ingress();
  const session = restateClient({ ingress: url, agent: "clerk" }).session("s");
  await expect(session.approve("c", { allways: true } as never)).rejects.toThrow("allways");
  await expect(session.approve("c", { always: "yes" } as never)).rejects.toThrow("always");
});
