// The room of the contest's server: a separate process that plays a plan, and records what it received.
//
// All subjects of a protocol get the same bytes, prepared in advance. Requests are told apart by what a subject cannot
// change: the URL identifies the cell, and the prompt the agent (`#17`; 0 is the warm-up). No request is parsed while the
// cell runs; the last one of each agent is examined afterwards.

import { createServer, type ServerResponse } from "node:http";
import { isServing, listen, type Serving, startServing, stream } from "../serving.ts";
import { type WireProtocol, writesOf } from "./bodies.ts";
import { framesPerWrite, plans, warmTurns } from "./plan.ts";

/** What an agent sent in total. */
export interface Sent {
  requests: number;
  bytes: number;
  /** Whether the last request asked for a stream. */
  streamed: boolean;
  /** The tool results in the last request, in order. */
  results: string[];
  /** Number of tools declared in the last request. */
  tools: number;
}

export interface ContestServer extends Serving {
  /** What the agents of a cell sent, by agent number; then forgets it. */
  report(cell: string): Promise<Record<string, Sent>>;
}

/** Starts the server. A cell's base address is `url/SCENARIO/PROTOCOL/CELL`. */
export async function startContestServer(): Promise<ContestServer> {
  const serving = await startServing(import.meta.url);
  return {
    ...serving,
    async report(cell) {
      const response = await fetch(`${serving.url}/report/${cell}`);
      return (await response.json()) as Record<string, Sent>;
    },
  };
}

interface Noted {
  requests: number;
  bytes: number;
  last: Buffer;
}

function noteOf(last: Buffer): Pick<Sent, "streamed" | "results" | "tools"> {
  const body = JSON.parse(last.toString()) as { stream?: boolean; messages: Message[]; tools?: unknown[] };
  return {
    streamed: body.stream === true,
    results: body.messages.flatMap(resultsIn),
    tools: body.tools?.length ?? 0,
  };
}

interface Part {
  type: string;
  text?: string;
  content?: string | Part[];
}
type Message = { role: string; content: string | Part[] | null };

const textOf = (content: string | Part[] | null | undefined): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");

function resultsIn({ role, content }: Message): string[] {
  if (role === "tool") return [textOf(content)];
  if (typeof content === "string" || content === null) return [];
  return content.flatMap((part) => (part.type === "tool_result" ? [textOf(part.content)] : []));
}

/** The agent's number, from the prompt: `#17`. */
function agentOf(body: Buffer): string {
  const at = body.indexOf("agent #");
  return at === -1 ? "?" : (/^\d+/.exec(body.toString("latin1", at + 7, at + 15))?.[0] ?? "?");
}

/** What the agents of each cell sent, and what to send them. */
class Cells {
  readonly #made = new Map<string, Buffer[][]>();
  readonly #cells = new Map<string, Map<string, Noted>>();

  answer(path: string, body: Buffer, response: ServerResponse): void {
    const [, scenario = "", protocol = "", cell = ""] = path.split("/");
    if (scenario === "report") {
      response.end(JSON.stringify(this.#report(protocol)));
      return;
    }
    if (scenario === "prepare") {
      this.#bodies(protocol, cell as WireProtocol, false);
      this.#bodies(protocol, cell as WireProtocol, true);
      response.end();
      return;
    }
    const agent = agentOf(body);
    const number = this.#note(cell, agent, body);
    const writes = this.#bodies(scenario, protocol as WireProtocol, agent === "0")[number];
    if (writes === undefined) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "the plan has no further turn", type: "bench" } }));
      return;
    }
    stream(response, writes);
  }

  /** @returns how many requests the agent had sent before */
  #note(cell: string, agent: string, body: Buffer): number {
    let agents = this.#cells.get(cell);
    if (agents === undefined) {
      agents = new Map();
      this.#cells.set(cell, agents);
    }
    const { requests, bytes } = agents.get(agent) ?? { requests: 0, bytes: 0 };
    agents.set(agent, { requests: requests + 1, bytes: bytes + body.length, last: body });
    return requests;
  }

  #report(cell: string): Record<string, Sent> {
    const noted = this.#cells.get(cell) ?? new Map<string, Noted>();
    this.#cells.delete(cell);
    return Object.fromEntries(
      [...noted].map(([agent, { last, ...rest }]) => [agent, { ...rest, ...noteOf(last) }]),
    );
  }

  #bodies(scenario: string, protocol: WireProtocol, warm: boolean): Buffer[][] {
    const key = `${scenario} ${protocol} ${warm}`;
    let found = this.#made.get(key);
    if (found === undefined) {
      const plan = plans[scenario];
      if (plan === undefined) throw new Error(`there is no scenario ${scenario}`);
      found = (warm ? warmTurns(plan) : plan.turns).map((turn, at) =>
        writesOf(protocol, turn, at + 1, framesPerWrite),
      );
      this.#made.set(key, found);
    }
    return found;
  }
}

function serve(): void {
  const cells = new Cells();
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => cells.answer(message.url ?? "/", Buffer.concat(chunks), response));
  });
  server.keepAliveTimeout = 0;
  listen(server);
}

if (isServing()) serve();
