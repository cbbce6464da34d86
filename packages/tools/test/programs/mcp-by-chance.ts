// An MCP server over standard input and output in which each call says what goes wrong with it (`how`). A call that has an effect
// leaves its number in the file that is the first argument; the server's process is in the second.

import { appendFileSync, writeSync } from "node:fs";

const [effects = "", processes = ""] = process.argv.slice(2);
appendFileSync(processes, `${process.pid}\n`);

interface Asked {
  id?: number;
  method?: string;
  params?: {
    name?: string;
    protocolVersion?: string;
    arguments?: { how?: string; n?: number };
    _meta?: { progressToken?: number };
  };
}
const schema = { type: "object", properties: { how: { type: "string" }, n: { type: "number" } } };
const tools = [
  { name: "look", inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: "set", inputSchema: schema, annotations: { idempotentHint: true } },
  { name: "note", inputSchema: schema },
];
const write = (text: string): void => void writeSync(1, text);
const tell = (message: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const exit = (): never => process.exit(0);
const progress = (token: unknown, more: object): void =>
  tell({ method: "notifications/progress", params: { progressToken: token, ...more } });

interface Called {
  id: number;
  token: unknown;
  answer(): void;
  result: object;
}
/** What happens to a call after it had its effect. */
const ways: Readonly<Record<string, (called: Called) => void>> = {
  late: ({ answer }) => void setTimeout(answer, 40),
  never: () => {},
  dies: exit,
  killed: () => void process.kill(process.pid, "SIGKILL"),
  "dies in its answer": () => {
    write('{"jsonrpc":"2.0","id":');
    exit();
  },
  "dies after": ({ answer }) => {
    answer();
    exit();
  },
  "dies soon": ({ answer }) => {
    answer();
    setTimeout(exit, 5);
  },
  garbage: ({ answer }) => {
    write('starting up ...\n{}\n[]\nnull\n7\n\n"x"\n');
    answer();
  },
  twice: ({ answer }) => {
    answer();
    answer();
  },
  "another id": ({ answer, result }) => {
    tell({ id: 99_999, result });
    answer();
  },
  "list changes": ({ answer }) => {
    tell({ method: "notifications/tools/list_changed" });
    answer();
  },
  progress: ({ answer, token }) => {
    for (let at = 0; at < 20; at += 1) progress(token, { progress: at, total: -1 });
    answer();
    progress(token, { progress: 99 });
  },
  "odd progress": ({ answer, token }) => {
    progress(token, { progress: "half", message: 7 });
    answer();
  },
  noise: ({ answer }) => {
    process.stderr.write("x".repeat(300_000));
    answer();
  },
  null: ({ id }) => tell({ id, result: null }),
  "no result": ({ id }) => tell({ id }),
  list: ({ id }) => tell({ id, result: [1, 2] }),
  both: ({ id, result }) => tell({ id, result, error: { code: 1, message: "and not" } }),
  asks: ({ answer }) => {
    for (const [at, method] of ["ping", "sampling/createMessage", "roots/list"].entries())
      tell({ id: at, method, params: {} });
    answer();
  },
  cancels: ({ answer, id }) => {
    tell({ method: "notifications/cancelled", params: { requestId: id, reason: "by the server" } });
    answer();
  },
  "odd error": ({ id }) => tell({ id, error: "no" }),
  "closes its output": ({ answer }) => {
    answer();
    process.stdout.destroy();
  },
};

function called(id: number, params: Asked["params"]): void {
  const { how = "ok", n } = params?.arguments ?? {};
  if (how === "dies first") process.exit(1);
  if (how === "error") {
    tell({ id, error: { code: -32_000, message: "no" } });
    return;
  }
  appendFileSync(effects, `${params?.name} ${n}\n`);
  const result = { content: [{ type: "text", text: `done ${n}` }] };
  const answer = (): void => tell({ id, result });
  const way = ways[how];
  if (way === undefined) answer();
  else way({ id, token: params?._meta?.progressToken ?? id, answer, result });
}

let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line) as Asked;
    if (id === undefined || method === undefined) continue;
    if (method === "initialize")
      tell({
        id,
        result: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "chance", version: "1" },
        },
      });
    else if (method === "tools/list") tell({ id, result: { tools } });
    else if (method === "tools/call") called(id, params);
    else tell({ id, error: { code: -32601, message: "Method not found" } });
  }
});
