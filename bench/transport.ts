// The bench of the transport: processor time of our client beside loops written by hand, over a real server in another
// process. `node scripts/run.mjs bench/transport.ts` prints a table; nothing here passes or fails.
//
// "by hand" is the shortest loop one would write: send, split at blank lines, JSON.parse, add the text up.

import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Message, type Model, userText } from "@rondo/core";
import { fetchClient, nodeClient, openaiCompatible } from "@rondo/models";

interface Scene {
  name: string;
  /** Requests of one run, each with a history this much longer. */
  steps: number;
  growth: number;
  /** Text deltas of an answer, and how many the server sends in one write. */
  deltas: number;
  perWrite: number;
}

const scenes: Scene[] = [
  { name: "50 steps", steps: 50, growth: 400, deltas: 10, perWrite: 10 },
  { name: "400 steps", steps: 400, growth: 400, deltas: 10, perWrite: 10 },
  { name: "20,000 deltas, one a write", steps: 1, growth: 0, deltas: 20_000, perWrite: 1 },
  { name: "20,000 deltas, 50 a write", steps: 1, growth: 0, deltas: 20_000, perWrite: 50 },
];

function frame(text: string): string {
  return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
}

const finish = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

function serve(): void {
  const server = createServer((message, response) => {
    const scene = scenes[Number(message.headers["x-scene"])] as Scene;
    message.resume();
    message.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.socket?.setNoDelay(true);
      let sent = 0;
      const next = (): void => {
        if (sent >= scene.deltas) {
          response.end(finish);
          return;
        }
        let text = "";
        for (let i = 0; i < scene.perWrite; i++) text += frame(`tok${sent++} `);
        response.write(text, () => setImmediate(next));
      };
      next();
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

type Ask = (scene: number, body: string) => Promise<string>;

function byHandFetch(url: string): Ask {
  return async (scene, body) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-scene": String(scene) },
      body,
    });
    const utf8 = new TextDecoder();
    const feed = splitter();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      feed(utf8.decode(chunk, { stream: true }));
    return feed("");
  };
}

function byHandNode(url: string): Ask {
  const agent = new Agent({ keepAlive: true });
  return (scene, body) =>
    new Promise((resolve, reject) => {
      const wire = httpRequest(
        `${url}/v1/chat/completions`,
        {
          method: "POST",
          agent,
          headers: {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
            "x-scene": String(scene),
          },
        },
        (message) => {
          message.setEncoding("utf8");
          const feed = splitter();
          message.on("data", feed);
          message.on("end", () => resolve(feed("")));
          message.on("error", reject);
        },
      );
      wire.on("error", reject);
      wire.end(body);
    });
}

function splitter(): (text: string) => string {
  let rest = "";
  let answer = "";
  return (text) => {
    rest += text;
    for (;;) {
      const end = rest.indexOf("\n\n");
      if (end === -1) return answer;
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      const event = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] };
      answer += event.choices[0]?.delta.content ?? "";
    }
  };
}

async function runByHand(ask: Ask, index: number): Promise<number> {
  const scene = scenes[index] as Scene;
  const messages: { role: string; content: string }[] = [{ role: "user", content: "hi" }];
  let length = 0;
  for (let step = 0; step < scene.steps; step++) {
    const text = await ask(index, JSON.stringify({ model: "m", stream: true, messages }));
    length += text.length;
    messages.push({ role: "assistant", content: text }, { role: "user", content: "x".repeat(scene.growth) });
  }
  return length;
}

async function runOurs(model: Model, index: number): Promise<number> {
  const scene = scenes[index] as Scene;
  const messages: Message[] = [userText("hi")];
  const { signal } = new AbortController();
  let length = 0;
  for (let step = 0; step < scene.steps; step++) {
    const answer = await model.call(
      { messages, tools: [], toolChoice: "auto", settings: {} },
      {
        signal,
        emit: (event) => {
          if (event.type === "text_delta") length += event.text.length;
        },
      },
    );
    messages.push(answer, userText("x".repeat(scene.growth)));
  }
  return length;
}

async function main(): Promise<void> {
  const server = fork(fileURLToPath(import.meta.url), ["serve"], { execArgv: process.execArgv });
  const [port] = (await once(server, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  const node = nodeClient();
  const portable = fetchClient();
  const ours = (http: ReturnType<typeof nodeClient>, index: number): Promise<number> =>
    runOurs(
      openaiCompatible({ model: "m", baseURL: `${url}/v1`, http, headers: { "x-scene": String(index) } }),
      index,
    );
  const handFetch = byHandFetch(url);
  const handNode = byHandNode(url);
  const loops: [string, (index: number) => Promise<number>][] = [
    ["fetch by hand", (index) => runByHand(handFetch, index)],
    ["node:http by hand", (index) => runByHand(handNode, index)],
    ["Rondo over fetch", (index) => ours(portable, index)],
    ["Rondo over node:http", (index) => ours(node, index)],
  ];
  const rounds = Number(process.argv[2] ?? 5);
  console.log(`processor time in ms (median of ${rounds}), and in units of the fetch loop written by hand\n`);
  for (const [index, scene] of scenes.entries()) {
    if (process.argv[3] !== undefined && String(index) !== process.argv[3]) continue;
    const times = new Map<string, number[]>(loops.map(([name]) => [name, []]));
    const lengths = new Set<number>();
    for (const [, run] of loops) await run(index);
    for (let round = 0; round < rounds; round++)
      for (const [name, run] of loops) {
        globalThis.gc?.();
        const before = process.cpuUsage();
        lengths.add(await run(index));
        const { user, system } = process.cpuUsage(before);
        times.get(name)?.push((user + system) / 1000);
      }
    if (lengths.size !== 1) throw new Error(`the loops read different answers: ${[...lengths].join(", ")}`);
    const median = (list: number[]): number => list.sort((a, b) => a - b)[list.length >> 1] ?? 0;
    const unit = median(times.get("fetch by hand") ?? []);
    console.log(scene.name);
    for (const [name, list] of times)
      console.log(
        `  ${name.padEnd(22)} ${median(list).toFixed(1).padStart(8)} ${(median(list) / unit).toFixed(2).padStart(6)}`,
      );
  }
  server.kill();
  await once(server, "exit");
}

if (process.argv[2] === "serve") serve();
else await main();
