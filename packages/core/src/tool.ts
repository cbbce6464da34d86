// The room of the tool: what a tool is, and how one is made.
//
// A tool declares what it does to the world (`effect`), what it touches (`keys`), how long it may take, and whether
// it needs an approval. The loop decides from these declarations; it knows nothing of `execute`.

import { executable, permission, schema } from "./checks/ready-made.ts";
import { toolWords } from "./checks/tool-words.ts";
import {
  type Check,
  type ChecksOf,
  callable,
  checkGiven,
  either,
  finite0,
  flag,
  listOf,
  membersOf,
  number,
  object,
  oneOf,
  text,
} from "./checks.ts";
import type { Clock } from "./clock.ts";
import { knownAcrossCopies } from "./copies.ts";
import { invalidRequest, type RondoError } from "./errors.ts";
import type { RondoEvent } from "./events.ts";
import type { BlobStore } from "./journal/blobs.ts";
import type { Journal } from "./journal.ts";
import type { AgentFacts, ParentFacts, PassedAnswer, Spent, WaitingCall } from "./loop/child-facts.ts";
import type { Json, JsonObject, Message } from "./message.ts";
import type { ToolDefinition } from "./model.ts";
import type { Texts } from "./rules/texts.ts";
import type { UnknownKeys } from "./schema/unknown-keys.ts";
import { compileSchema, type InferInput, type InferOutput, type SchemaLike } from "./schema.ts";
import type { Dependency, Given, PassedOn } from "./tool/dependency.ts";
import type { Effect, Permission } from "./tool/effect.ts";
import { checkedOutput, type Returned } from "./tool/output-check.ts";

export interface ToolContext {
  /** Fires on an abort, a timeout, or when the result is no longer wanted. */
  signal: AbortSignal;
  /** The same for the same call after any crash or resume. `reconcile` gets the key that the call was started with; in a fork, that of the original session. */
  idempotencyKey: string;
  /** The call's id in the history. */
  callId: string;
  /** The id of the session that the call is made in: in a sub-agent its own. */
  readonly session: string;
  /**
   * Emits a `tool_update` event. Ignored once the call has its result.
   * @param details plain JSON, for programs: `{ done: 3, of: 10 }`
   */
  update(progress: string, details?: Json): void;
  /** The agent's clock, in milliseconds since 1970. */
  now(): number;
  /** Values of dependencies given by the agent or the run, by the key's id. */
  readonly deps: Given;
  /** The value of a dependency: the one given by the run or the agent, else what the key creates, once per call. */
  resolve<T>(key: Dependency<T>): Promise<T>;
  /** In `resume`: what the tool had asked (`waitForAnswer`). */
  readonly asked?: Json;
  /** The conversation before the answer that made the call, in which other calls of that answer are not yet. The list is a copy; the messages in it are the history itself, frozen. */
  messages(): Message[];
  /** The full text of an earlier result that was cut, by the ref in its note. Undefined: there is none under that ref. */
  output?(ref: string): Promise<string | undefined>;
  /** Refs of all earlier results whose full text was kept, oldest first. */
  outputs?(): readonly string[];
  /** What a sub-agent gets from its parent. Only for tools made by `subAgent`. */
  readonly child?: ChildStart;
}

/** Where a sub-agent's records are; the same after every crash. */
export interface ChildPlace {
  /** Its session. */
  readonly session: string;
  /** The call that it is. */
  readonly parent: Pick<ParentFacts, "session" | "call">;
  /** Its parent's. */
  readonly journal: Journal;
  readonly blobs?: BlobStore | undefined;
  readonly clock: Clock;
  /** How long it may take to settle after an abort, in milliseconds: less than its parent's own grace. */
  readonly graceMs: number;
  /** The dependencies of its parent. Absent: none. */
  readonly passedOn?: PassedOn;
}

/** What a sub-agent is started or resumed with. */
export interface ChildStart extends ChildPlace {
  readonly parent: ParentFacts;
  /** Answers to its calls since it last parked. */
  readonly answers: readonly PassedAnswer[];
  /** What it has reported as spent. */
  readonly told: Spent;
  /** The loop's texts for the parent's model. */
  readonly texts: Texts;
  /** Passes an event to the parent's listeners. */
  emit(event: RondoEvent): void;
  /** Tells the parent which calls wait for an approval or an answer while others are running. */
  waits(pending: WaitingCall[]): void;
  /** Listens for answers to its calls while it is running. */
  onAnswer(heard: (answer: PassedAnswer) => void): void;
  /** Listens for a drain: the sub-agent must stop where it is, to be resumed later. `now`: without waiting for work in flight. */
  onLeave(heard: (now: boolean) => void): void;
  /** The journal refused the sub-agent's records. That is not a result of its call: the parent's run stops as if its own records were refused. */
  lose(error: RondoError): void;
}

/** Returned by a sub-agent that is parked until one of its calls is answered, or until its parent is driven again. */
export class ChildWaits {
  readonly pending: WaitingCall[];
  readonly spent: Spent;
  /** It was drained, and waits for no approval. */
  readonly left: boolean;

  constructor(pending: WaitingCall[], spent: Spent, left: boolean) {
    this.pending = pending;
    this.spent = spent;
    this.left = left;
  }
}

knownAcrossCopies({ ChildWaits });

/** The agent's options for tools without their own. */
export interface ArgumentDefaults {
  coerce?: boolean;
  unknownKeys?: UnknownKeys;
}

/** The outcome of checking arguments against the schema. `args` is JSON (coerced if that is allowed); `value` is what `execute` gets. */
export type ArgsCheck = { ok: true; args: JsonObject; value: unknown } | { ok: false; error: string };

/** A tool without the types of its arguments, as an agent takes it. */
export interface Tool {
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly effect: Effect;
  /** If it depends on the arguments (`permissionOf`), `ask`; `deny` outranks that. */
  readonly permission: Permission;
  /** The permission of one call, from its arguments. If it throws, the call is denied. */
  readonly permissionOf?: (args: never) => Permission;
  /** Milliseconds; absent: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** `capped`: offered only once the history contains a ref to a kept text. `offered`: only once a result has offered it (`toolResult(text, { offers })`), and from then on in the whole session. Default: always. */
  readonly when?: "capped" | "offered";
  /** Names of what a call touches: two calls that share one do not run in parallel unless both only read. */
  readonly keys?: (args: never) => readonly string[];
  /** Names of the arguments that are shell code. */
  readonly shellArgs?: readonly string[];
  /** Checks and coerces arguments as the model wrote them. */
  check(args: JsonObject, defaults?: ArgumentDefaults): ArgsCheck | Promise<ArgsCheck>;
  execute(args: never, context: ToolContext): unknown;
  /** Makes the text that the model reads of what `execute` returned, or of what `answer` gave in its place. Presets put their wording here. If it throws, the tool counts as having thrown. */
  readonly tell?: (returned: unknown) => unknown;
  /** Goes on with a call once the question that it asked is answered. */
  readonly resume?: (args: never, answer: Json, context: ToolContext) => unknown;
  /** Finds out the outcome of a write that a crash interrupted. */
  readonly reconcile?: (key: string, args: never, context: ToolContext) => MaybeLater<Reconciled | undefined>;
  /** Recorded with each run: raise it if the tool does something else under the same definition. Grants for another version do not cover its calls. */
  readonly version?: number | string;
  /** Runs a call whose arguments are not a JSON object, with the text as the model wrote it. Used only under `argumentErrors: "pass_raw"`. */
  readonly executeRaw?: (raw: string, context: ToolContext) => unknown;
  /** Set if its calls are sub-agents. */
  readonly agent?: AgentFacts;
  /** Ends a sub-agent that waits for somebody outside and that its parent's run no longer needs. Returns what it spent in all. */
  readonly endChild?: (place: ChildPlace, reason: string) => Promise<Spent | undefined>;
  /** Invalid parts of its JSON Schema, e.g. `#/properties/city/type ("text")`: they were left out of the definition. Absent: none. */
  readonly leftOut?: readonly string[];
  /** The agent behind it. Only `subAgentOf` reads it, because tools do not depend on agents. */
  readonly subAgent?: object;
}

/** A tool with the types of its arguments: what `tool` returns. It can be executed directly: `weather.execute({ city: "Oslo" }, context)`. */
export interface TypedTool<Args = never, Result = unknown, Input = unknown> extends Tool {
  /** If you call it directly, nothing is validated, approved or recorded. For a context see `toolContext` of `@rondo/testkit`. */
  execute(args: Args, context: ToolContext): Result;
  /** The type of the arguments as the model writes them; only a type, never set. */
  readonly input?: Input;
}

/** The outcome of a call that a crash interrupted. `done`: what `execute` would have returned. `notDone`: it had and will have no effect, and may start again. */
export type Reconciled = { done: unknown } | { notDone: true };

type MaybeLater<T> = T | Promise<T>;

export interface ToolOptions<
  S extends SchemaLike = SchemaLike,
  Result = unknown,
  O extends SchemaLike = SchemaLike,
> {
  /** `[A-Za-z0-9_-]`, 1 to 64 characters. */
  name: string;
  /** What the tool does, for the model to read. */
  description: string;
  /** A Standard Schema (zod, arktype, valibot with its JSON Schema) or a JSON Schema of type object. */
  inputSchema: S;
  /** What `execute` returns: a Standard Schema or a JSON Schema, which the model does not read. What does not fit is an error that says that the tool ran. A `toolResult` is not checked. Default: anything. */
  outputSchema?: O;
  /** What a call does to the world. `read`: nothing. `idempotent`: it may be repeated without further effect. `write`: anything else; it does not run again after a crash. Default: `write`. */
  effect?: Effect;
  /** Returns names (of your choice) of what a call touches: two writes that share none may run in parallel. Default: a call may touch anything, so that a write runs alone. */
  keys?: (args: InferOutput<S>) => readonly string[];
  /** Milliseconds after which the model reads that the call timed out. Default: the agent's `toolTimeoutMs`, 120,000. */
  timeoutMs?: number;
  /** `ask`: the run parks until somebody answers (`approve`, `deny`, `edit`, `answer`). `deny`: the model reads that it may not. A function decides from the arguments, at once; if it throws, the call is denied. Default: `allow`. */
  permission?: Permission | ((args: InferOutput<S>) => Permission);
  /** Names of the arguments that are shell code: in these a grant's wildcard matches only words of one command, never `; rm -r x`. Default: none. */
  shellArgs?: readonly string[];
  /** Whether to coerce arguments (`"3"` to 3, JSON in a string to an object) as the schema requires, only if they are invalid as they are. Default: the agent's, true. */
  coerce?: boolean;
  /** What happens to argument keys that the schema does not name: `allow`, `strip` or `reject`. Default: the agent's, `allow`. */
  unknownKeys?: UnknownKeys;
  /** `offered`: the model is not told of it before a result offers it (`toolResult(text, { offers: [name] })`); from then on it is there in the whole session. Default: always offered. */
  when?: "offered";
  /** Runs a call. Returns a string, outputs, a `toolResult`, or any value (which the model reads as JSON); or `waitForAnswer(question)`. May be async. If it throws, the model reads that as an error. */
  execute: (args: InferOutput<S>, context: ToolContext) => Result;
  /** Goes on with a call whose question (`waitForAnswer`) was answered, and returns what `execute` may return: another question too. Default: the answer is the result. */
  resume?: (args: InferOutput<S>, answer: Json, context: ToolContext) => Returned<O>;
  /**
   * For a `write`: called with the call's idempotency key when the run is resumed after a crash that interrupted the call.
   * If it returns nothing, throws or times out, the outcome is unknown, and the agent's `onInterrupted` decides. Default: none.
   */
  reconcile?: (key: string, args: InferOutput<S>, context: ToolContext) => MaybeLater<Reconciled | undefined>;
  /** Raise it if the tool does something else under the same definition: resumed sessions then report a change, and grants given before no longer cover its calls. */
  version?: number | string;
  /** Called in place of `execute` with arguments that are not a JSON object, as the model wrote them; only with the agent's `argumentErrors: "pass_raw"`. */
  executeRaw?: (raw: string, context: ToolContext) => unknown;
}

const toolChecks: ChecksOf<ToolOptions<SchemaLike>> = {
  name: text,
  description: text,
  inputSchema: schema("a schema (a Standard Schema, or a JSON Schema of type object)"),
  outputSchema: schema("a schema (a Standard Schema, or a JSON Schema)"),
  execute: executable,
  resume: callable,
  effect: oneOf("read", "write", "idempotent"),
  keys: callable,
  timeoutMs: finite0,
  permission: either(callable, permission),
  shellArgs: listOf(text),
  coerce: flag,
  unknownKeys: oneOf("allow", "strip", "reject"),
  reconcile: callable,
  version: either(number, text),
  when: oneOf("offered"),
  executeRaw: callable,
};
const toolMembers = membersOf(toolChecks, ["name", "description", "inputSchema", "execute"], "let_pass");

/** Users may put members of their own on a tool: they are ignored and not sent to a provider. Only those that look like a misspelt option are refused. */
const toolOptions: Check = (value) => {
  const meant = object(value) === undefined ? toolWords(value as object, Object.keys(toolChecks)) : undefined;
  return meant === undefined ? toolMembers(value) : { at: `.${meant.name}`, says: meant.says };
};

// The length is checked separately: a counted repetition is costly to compile.
const namePattern = /^[A-Za-z0-9_-]+$/;
const longestName = 64;

/**
 * Makes a tool. The types of `execute`'s arguments come from the schema.
 * @throws RondoError `invalid_request` naming the tool, if its name, its schema or an option is invalid
 */
export function tool<
  const S extends SchemaLike,
  const O extends SchemaLike = never,
  Result extends Returned<O> = Returned<O>,
>(options: ToolOptions<S, Result, O>): TypedTool<InferOutput<S>, Result, InferInput<S>> {
  const { name, execute } = { ...options };
  checkGiven(toolOptions, options, `tool ${JSON.stringify(name) ?? "without a name"}`);
  if (name.length > longestName || !namePattern.test(name))
    throw invalidRequest(
      `tool name ${JSON.stringify(name)} cannot be used: 1 to 64 letters, digits, "_" or "-" are allowed`,
    );
  const schema = compileSchema(options.inputSchema, `tool "${name}"`, options.coerce ?? true);
  const { shellArgs = [], outputSchema } = options;
  checkShellArgs(shellArgs, schema.json, name);
  return {
    name,
    definition: { name, description: options.description, inputSchema: schema.json },
    effect: options.effect ?? "write",
    ...(typeof options.permission === "function"
      ? { permission: "ask", permissionOf: options.permission as (args: never) => Permission }
      : { permission: options.permission ?? "allow" }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.keys === undefined ? {} : { keys: options.keys as (args: never) => readonly string[] }),
    ...(schema.leftOut === undefined ? {} : { leftOut: schema.leftOut }),
    ...(shellArgs.length === 0 ? {} : { shellArgs: [...shellArgs] }),
    check: ((args: JsonObject, defaults: ArgumentDefaults = {}) =>
      schema.check(args, {
        coerce: options.coerce ?? defaults.coerce ?? true,
        unknownKeys: options.unknownKeys ?? defaults.unknownKeys ?? "allow",
      })) as Tool["check"],
    execute,
    ...(options.resume === undefined ? {} : { resume: options.resume as NonNullable<Tool["resume"]> }),
    ...(outputSchema === undefined ? {} : { tell: checkedOutput(outputSchema, name) }),
    ...(options.reconcile === undefined
      ? {}
      : { reconcile: options.reconcile as NonNullable<Tool["reconcile"]> }),
    ...(options.version === undefined ? {} : { version: options.version }),
    ...(options.when === undefined ? {} : { when: options.when }),
    ...(options.executeRaw === undefined ? {} : { executeRaw: options.executeRaw }),
  };
}

/** Refuses names in `shellArgs` that the schema lacks: a misspelt one would protect nothing. A schema composed of others (`allOf`, …) may have its arguments there. */
function checkShellArgs(names: readonly string[], { properties, ...rest }: JsonObject, tool: string): void {
  const isWhole = !["allOf", "anyOf", "oneOf", "$ref"].some((word) => word in rest);
  const known = Object.keys(Object(properties));
  const unknown = names.find((one) => !known.includes(one));
  if (unknown === undefined || !isWhole) return;
  throw invalidRequest(
    `tool "${tool}": shellArgs names ${JSON.stringify(unknown)}, and its schema has ${known.length === 0 ? "no arguments" : known.join(", ")}`,
  );
}

/** The names of all tools, for errors about an unknown one. */
export const toolsThere = (tools: ReadonlyMap<string, Tool>): string =>
  tools.size === 0 ? "there are no tools" : `there are ${[...tools.keys()].join(", ")}`;
