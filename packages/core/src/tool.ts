// The room of the tool: what a tool is, and how one is made.
//
// A tool says what it does to the world (`effect`), what it touches (`keys`), how long it may take, and whether
// somebody must be asked first. The loop decides from these words; it never looks into `execute`.

import type { LedgerEntry } from "./context/compact/ledger.ts";
import { RondoError } from "./errors.ts";
import type { ContentPart, JsonObject } from "./message.ts";
import type { ToolDefinition } from "./model.ts";
import { compileSchema, type InferInput, type InferOutput, type SchemaLike } from "./schema.ts";

/**
 * What a call does to the world. `read`: nothing. `idempotent`: the same twice as once. `write`: anything else;
 * it starts at most once per call, whatever crashes.
 */
export type Effect = "read" | "idempotent" | "write";

/** Whether a call may run: at once, never, or after somebody was asked. */
export type Permission = "allow" | "ask" | "deny";

export interface ToolContext {
  /** Fires on abort, time-out, or when the result is no longer wanted. */
  signal: AbortSignal;
  /** Stable over crashes and resumes: the same call has the same key. */
  idempotencyKey: string;
  /** The call's id in the conversation. */
  callId: string;
  /** Tells watchers how far the work is. Ignored once the call has its result. */
  update(progress: string): void;
}

/** A result in full, for tools that need more than a plain value. Made by `toolResult`. */
export class ToolResult {
  readonly content: ContentPart[];
  readonly isError: boolean;
  /** Ends the run with reason `done_tool`; a text becomes the run's text. */
  readonly done: boolean | string;
  /** What was done, for the ledger: facts that outlive the conversation's compaction. The model does not see them here. */
  readonly ledger: readonly LedgerEntry[];

  constructor(
    content: ContentPart[],
    isError: boolean,
    done: boolean | string,
    ledger: readonly LedgerEntry[] = [],
  ) {
    this.content = content;
    this.isError = isError;
    this.done = done;
    this.ledger = ledger;
  }
}

/**
 * A tool result with content parts, an error mark, the wish to end the run, or entries for the ledger.
 * @param content a text, or parts (text, files)
 */
export function toolResult(
  content: string | ContentPart[],
  options: { isError?: boolean; done?: boolean | string; ledger?: readonly LedgerEntry[] } = {},
): ToolResult {
  const parts: ContentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return new ToolResult(parts, options.isError ?? false, options.done ?? false, options.ledger ?? []);
}

/** What checking arguments against the schema came to. `args` is JSON (coerced where that was allowed); `value` is what `execute` gets. */
export type ArgsCheck = { ok: true; args: JsonObject; value: unknown } | { ok: false; error: string };

/** A tool, its types erased: what an agent takes. */
export interface Tool {
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly effect: Effect;
  readonly permission: Permission;
  /** Milliseconds; absent: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Resources a call touches: two calls that share one do not run together unless both only read. */
  readonly keys?: (args: never) => readonly string[];
  /** Checks and coerces arguments as the model wrote them. */
  check(args: JsonObject): ArgsCheck | Promise<ArgsCheck>;
  execute(args: never, context: ToolContext): unknown;
}

export interface ToolOptions<S extends SchemaLike> {
  /** `[A-Za-z0-9_-]`, 1 to 64 characters. */
  name: string;
  description: string;
  /** A Standard Schema (zod, arktype, valibot with its JSON Schema) or a JSON Schema of type object. */
  inputSchema: S;
  /** Default: `write`. */
  effect?: Effect;
  keys?: (args: InferOutput<S>) => readonly string[];
  /** Default: the agent's, 120,000 ms. */
  timeoutMs?: number;
  /** Default: `allow`. */
  permission?: Permission;
  /** Coerce arguments (`"3"` to 3, JSON in a string to an object) where the schema asks for it and only when they fail as they are. Default: true. */
  coerce?: boolean;
  /** Returns a text, parts, a `toolResult`, or any value (told to the model as JSON). May be async. Whatever it throws is told to the model as an error. */
  execute: (args: InferOutput<S>, context: ToolContext) => unknown;
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Makes a tool. The types of `execute`'s arguments come from the schema.
 * @throws RondoError `invalid_request` when the name or the schema cannot be used, naming the tool.
 */
export function tool<const S extends SchemaLike>(
  options: ToolOptions<S>,
): Tool & { readonly input?: InferInput<S> } {
  const { name, execute } = options;
  if (!namePattern.test(name))
    throw new RondoError(
      "invalid_request",
      `tool name ${JSON.stringify(name)} cannot be used: 1 to 64 letters, digits, "_" or "-" are allowed`,
    );
  const schema = compileSchema(options.inputSchema, `tool "${name}"`, options.coerce ?? true);
  return {
    name,
    definition: { name, description: options.description, inputSchema: schema.json },
    effect: options.effect ?? "write",
    permission: options.permission ?? "allow",
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.keys === undefined ? {} : { keys: options.keys as (args: never) => readonly string[] }),
    check: schema.check as Tool["check"],
    execute: execute as (args: never, context: ToolContext) => unknown,
  };
}
