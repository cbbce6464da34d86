// An MCP server over standard input and output that answers as it is told, whatever the protocol says of it. The first argument is
// JSON: `tools`, what it lists, and `answers`, what each tool returns; one with `code` is an error.

interface Told {
  tools?: unknown[];
  answers?: Record<string, { code?: number }>;
}
interface Asked {
  id?: number;
  method: string;
  params?: { name?: string; protocolVersion?: string };
}

const { tools, answers = {} } = JSON.parse(process.argv[2] ?? "{}") as Told;

function answerTo({ method, params }: Asked): object {
  if (method === "initialize") {
    const capabilities = tools === undefined ? {} : { tools: {} };
    const serverInfo = { name: "raw", version: "1" };
    return { result: { protocolVersion: params?.protocolVersion, capabilities, serverInfo } };
  }
  if (method === "tools/list" && tools !== undefined) return { result: { tools } };
  const given = method === "tools/call" ? answers[params?.name ?? ""] : undefined;
  if (given === undefined) return { error: { code: -32601, message: "Method not found" } };
  return typeof given.code === "number" ? { error: given } : { result: given };
}

let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const asked = JSON.parse(line) as Asked;
    if (asked.id === undefined) continue;
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...answerTo(asked) })}\n`);
  }
});
