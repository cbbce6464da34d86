// The room of scripted tools: a case's tools, which do what it says and count what they did.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { foreignSchema, type JsonObject, type Tool, tool, toolResult } from "@rondo/core";
import {
  editFile,
  type FileToolSet,
  fileToolSet,
  httpTools,
  listFiles,
  readFile,
  runCommand,
  searchFiles,
  writeFile,
} from "@rondo/tools";
import {
  type Behaviour,
  type ExpectedCall,
  type Given,
  type GivenTool,
  repeated,
  Unsupported,
  unescaped,
} from "./format.ts";
import { contentPart } from "./given-messages.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Running tools that will end by themselves in real time. */
export class Workload {
  working = 0;
}

/** The tools of a case. If it declares none, the tools that its answers call, which return "ok". */
export function toolsOf(
  given: Given,
  implied: readonly ExpectedCall[],
  folder: string,
  clock: VirtualClock,
  load: Workload,
  spawn: () => Tool,
): Tool[] {
  // One tool may overwrite what another one has read: they share a set.
  const root = fileToolSet(folder);
  if (given.tools !== undefined)
    return given.tools.map((one) =>
      one.builtin === "spawn_agent" ? spawn() : toolOf(one, root, clock, load),
    );
  const names = new Set(implied.map((call) => call.name));
  return [...names].map((name) => toolOf({ name, behaviour: { returns: "ok" } }, root, clock, load));
}

function toolOf(given: GivenTool, root: FileToolSet, clock: VirtualClock, load: Workload): Tool {
  if (given.builtin !== undefined) {
    const made = builtin(given.builtin, root, load);
    return given.timeout_ms === undefined ? made : { ...made, timeoutMs: given.timeout_ms };
  }
  const {
    name,
    description,
    parameters,
    behaviour = {},
    needs_approval,
    effect,
    timeout_ms,
    strict: _strict,
    defer_loading,
    annotations,
    metadata,
    title,
    ...inner
  } = given;
  const beside = { defer_loading, annotations, metadata, title };
  if (name === undefined) throw new Unsupported("a tool without a name");
  let calls = 0;
  // Tools from elsewhere (from a server, say) have names that `tool` would reject.
  const plainName = /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : "tool";
  const made = tool({
    ...inner,
    name: plainName,
    // Not the name, which may be one that must not be sent.
    description: description ?? "A tool of the case",
    inputSchema: isObjects(parameters) ? parameters : foreignSchema(parameters ?? {}),
    effect: effect ?? "read",
    ...(needs_approval === true ? { permission: "ask" as const } : {}),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    execute: (args) => {
      calls += 1;
      const given = behaviour.echo === true ? { ...behaviour, returns: args } : behaviour;
      return behave(given, calls, clock);
    },
  });
  return { ...made, name, definition: { ...made.definition, ...defined(beside), name } };
}

const defined = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Whether a schema is an object's. One that is not comes from a server: whoever writes a tool is told at once. */
const isObjects = (schema: GivenTool["parameters"]): schema is JsonObject =>
  typeof schema === "object" && schema !== null && [schema.type ?? "object"].flat().includes("object");

function behave(behaviour: Behaviour, call: number, clock: VirtualClock): unknown {
  const words = behaviour.throws ?? behaviour.throws_sync;
  if (words !== undefined) throw new Error(String(words));
  if (behaviour.rejects !== undefined) return Promise.reject(new Error(behaviour.rejects));
  if (behaviour.rejects_after_ms !== undefined)
    return clock.sleep(behaviour.rejects_after_ms).then(() => Promise.reject(new Error("rejected")));
  if (behaviour.never_settles === true) return new Promise(() => {});
  const plain = valueFrom(behaviour, call);
  const value = behaviour.is_error === true ? toolResult(String(plain), { isError: true }) : plain;
  const delay = behaviour.returns_after_ms ?? behaviour.resolves_after_ms ?? behaviour.delay_ms;
  return delay === undefined ? value : clock.sleep(delay).then(() => value);
}

function valueFrom(behaviour: Behaviour, call: number): unknown {
  const { returns_escaped, returns_js, returns_repeat, returns_sequence, returns_parts } = behaviour;
  if (returns_escaped !== undefined) return unescaped(returns_escaped);
  // The case's own expression, for values that JSON cannot express.
  if (returns_js !== undefined) return new Function(`return (${returns_js})`)();
  if (returns_repeat !== undefined) return repeated(returns_repeat);
  if (returns_sequence !== undefined) return returns_sequence[Math.min(call, returns_sequence.length) - 1];
  if (returns_parts !== undefined) return returns_parts.map(contentPart);
  return behaviour.returns;
}

// ---- real tools --------------------------------------------------------------------------------------------------

/** Rondo's own tools under the names and arguments that cases use. */
function builtin(name: string, root: FileToolSet, load: Workload): Tool {
  switch (name) {
    case "shell":
    case "bash":
    case "run_command":
      return renamed(name, runCommand({ root, permission: "allow" }), { command: "command" }, load);
    case "edit":
    case "edit_file":
      return renamed(name, editFile({ root }), { path: "path", old: "oldText", new: "newText" }, load);
    case "read":
    case "read_file":
      return renamed(name, readFile({ root }), { path: "path" }, load);
    case "write":
    case "write_file":
      return renamed(name, writeFile({ root }), { path: "path", content: "content" }, load);
    case "list":
    case "list_files":
    case "ls":
      return renamed(name, listFiles({ root }), { path: "path" }, load);
    case "search_files":
      return renamed(name, searchFiles({ root }), { pattern: "pattern", path: "path" }, load);
    case "grep":
      return renamed("grep", searchFiles({ root }), { pattern: "pattern", path: "path" }, load);
    case "fetch":
    case "fetch_url":
    case "http":
    case "http_fetch":
    case "http_get":
    case "web_fetch":
      return renamed(name, httpTools()[0]!, { url: "url" }, load);
    default:
      throw new Unsupported(`given.tools[].builtin ${JSON.stringify(name)}: Rondo has no such tool yet`);
  }
}

function renamed(name: string, inner: Tool, members: { [theirs: string]: string }, load: Workload): Tool {
  const ours = (args: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(args).map(([member, value]) => [members[member] ?? member, value]));
  const properties = Object.fromEntries(Object.keys(members).map((member) => [member, { type: "string" }]));
  const { keys } = inner;
  return tool({
    name,
    description: inner.definition.description,
    inputSchema: { type: "object", properties },
    effect: inner.effect,
    ...(keys === undefined ? {} : { keys: (args: JsonObject) => keys(ours(args) as never) }),
    execute: async (args: JsonObject, context) => {
      load.working += 1;
      try {
        const check = await inner.check(ours(args));
        if (!check.ok) throw new Error(check.error);
        return await inner.execute(check.value as never, context);
      } finally {
        load.working -= 1;
      }
    },
  });
}

/** The case's own folder with its files. */
export class Folder {
  readonly path: string;

  constructor(files: Readonly<Record<string, string>> = {}, links: Readonly<Record<string, string>> = {}) {
    this.path = mkdtempSync(join(tmpdir(), "rondo-case-"));
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    for (const [name, target] of Object.entries(links)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      symlinkSync(target.startsWith("/") ? join(this.path, target) : target, join(this.path, name));
    }
  }

  /** Writes a file from outside, not through a tool. */
  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), text);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The files of a folder with their content. Symlinks are not followed. */
export function filesUnder(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) walk(inner);
      else if (entry.isFile()) files[relative(folder, inner)] = readFileSync(inner, "utf8");
    }
  };
  walk(folder);
  return files;
}
