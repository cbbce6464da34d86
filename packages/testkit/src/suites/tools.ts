// The room of the tool's conformance suite: what any tool must do, whoever makes it.
//
// The subject gives the tool and arguments; the tool runs for real, with them. What a check needs and the subject does not
// give is not checked: there is no check without its arguments.

import { fail as failed, ok, strictEqual } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import {
  Agent,
  type ArgsCheck,
  compileSchema,
  type Effect,
  type Json,
  type JsonObject,
  type LogRecord,
  memoryJournal,
  messageOf,
  type Provided,
  RondoError,
  renderResult,
  type Tool,
  type ToolContext,
  textOf,
  toolWith,
} from "@rondo/core";
import { callable, count, finite, listOf, object, oneOf, text } from "@rondo/core/checks";
import { givenBy, resolver } from "@rondo/core/driving";
import { listIn, membersIn } from "../json.ts";
import { call, say } from "../scripted/turns.ts";
import { scripted } from "../scripted.ts";
import {
  type Check,
  checksOf,
  madeTool,
  mustBe,
  type RegisterTest,
  subjectCheck,
  thenLetGo,
} from "./check.ts";
import { schemaProblems } from "./tools/schema-problems.ts";

export interface ToolUnderTest {
  /** Stands before the name of every check. Default: the tool's name. */
  name?: string;
  tool: Tool;
  /** Arguments it takes: each is run for real, several times. At least one. */
  examples: readonly JsonObject[];
  /** Arguments it must refuse. Default: made from its schema (a required member left out, a member of another type). */
  refuses?: readonly JsonObject[];
  /** Arguments that make it fail. */
  fails?: readonly JsonObject[];
  /** Arguments that keep it at work until its signal fires. */
  slow?: JsonObject;
  /** What the tool is meant to do to the world. */
  effect: Effect;
  /**
   * The world it touches, as it is now, or a promise of it: plain data, maps and sets, all of which is compared. `read`
   * leaves it as it was; `idempotent` twice is the same as once.
   */
  world?(): unknown;
  /** Put in order before each check, and after it. */
  before?(): void | Promise<void>;
  after?(): void | Promise<void>;
  /** What is given for keys of the tool. */
  dependencies?: readonly Provided[];
  /** How long an abort may take to be heard, in milliseconds. Default: 2,000. */
  abortWithinMs?: number;
  /** The most a result may leave in a conversation, in bytes. Default: 64 KiB, the default cap and its notice. */
  resultBytes?: number;
}

const checkSubject = subjectCheck<ToolUnderTest>(
  "testTool",
  {
    name: text,
    tool: madeTool,
    examples: listOf(object),
    refuses: listOf(object),
    fails: listOf(object),
    slow: object,
    effect: oneOf("read", "idempotent", "write"),
    world: callable,
    before: callable,
    after: callable,
    dependencies: listOf(object),
    abortWithinMs: finite,
    resultBytes: count,
  },
  ["tool", "examples", "effect"],
);

/**
 * What a tool must do, check by check.
 *
 *     testTool({ tool: weather, effect: "read", examples: [{ city: "Oslo" }], slow: { city: "nowhere" } }, test);
 *
 * @param test the runner's: registers the checks as well
 */
export function testTool(subject: ToolUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const { tool, examples, before, after } = subject;
  if (examples.length === 0)
    throw new RondoError("invalid_request", `tool ${tool.name}: an example of its arguments is needed`);
  const checks = demands
    .filter(({ needs }) => needs === undefined || needs(subject))
    .map(({ name, body }): [string, () => Promise<void>] => [
      name,
      async () => {
        await before?.();
        await thenLetGo(
          () => body(subject),
          "after()",
          () => after?.(),
        );
      },
    ]);
  return checksOf(subject.name ?? tool.name, checks, test);
}

interface Demand {
  name: string;
  needs?(subject: ToolUnderTest): boolean;
  body(subject: ToolUnderTest): Promise<void>;
}

let keys = 0;

function contextOf(subject: ToolUnderTest, signal: AbortSignal = new AbortController().signal): ToolContext {
  keys += 1;
  const given = givenBy(subject.dependencies);
  return {
    signal,
    idempotencyKey: `test/${keys}`,
    callId: `call_${keys}`,
    update: () => {},
    now: () => Date.now(),
    deps: given,
    resolve: resolver(given),
  };
}

/** Runs it as the loop would: checked first, then with what the check made of the arguments. */
async function run(
  subject: ToolUnderTest,
  args: JsonObject,
  context: ToolContext = contextOf(subject),
): Promise<unknown> {
  return subject.tool.execute(await taken(subject, args), context);
}

/** What its check makes of arguments that it must take. */
async function taken(subject: ToolUnderTest, args: JsonObject): Promise<never> {
  const checked = await check(subject, args);
  if (!checked.ok)
    failed(`it refuses arguments that are to be taken, ${JSON.stringify(args)}: ${checked.error}`);
  return checked.value as never;
}

async function check({ tool }: ToolUnderTest, args: JsonObject): Promise<ArgsCheck> {
  return tool.check(structuredClone(args), { coerce: true, unknownKeys: "allow" });
}

/** A thing as it is now, in words: it may change later. */
function inWords(thing: unknown): string {
  const all = Number.POSITIVE_INFINITY;
  const bounds = { depth: all, maxArrayLength: all, maxStringLength: all, breakLength: all };
  return inspect(thing, { ...bounds, getters: true });
}

/** Does something with arguments, which must be as they were when it is done. */
async function leaving(args: never, what: string, act: () => unknown): Promise<void> {
  const before = inWords(args);
  await act();
  mustBe(inWords(args), before, `its arguments, after ${what} had them (make a copy of what is to change)`);
}

/** One call by a scripted model, through the whole loop. */
async function throughTheLoop(
  subject: ToolUnderTest,
  args: JsonObject,
): Promise<{ executed: number; text: string; bytes: number; isError: boolean; code: string | undefined }> {
  let executed = 0;
  const { tool } = subject;
  const counting = toolWith(tool, {
    permission: "allow",
    execute: (given: never, context) => {
      executed += 1;
      return tool.execute(given, context);
    },
  });
  const journal = memoryJournal();
  const agent = new Agent({
    model: scripted([call(tool.name, args), say("done")]),
    tools: [counting],
    journal,
    ...(subject.dependencies === undefined ? {} : { dependencies: subject.dependencies }),
  });
  const { messages } = await agent.run("go", { session: "s" });
  const result = messages.find((message) => message.role === "tool");
  if (result?.role !== "tool") failed("the call has no result");
  const finished = ((await journal.read("s")) as LogRecord[]).find(({ type }) => type === "tool_finished");
  return {
    executed,
    text: textOf(result),
    bytes: Buffer.byteLength(JSON.stringify(result.content)),
    isError: result.isError,
    code: finished?.type === "tool_finished" ? finished.result.code : undefined,
  };
}

/** Arguments that its schema says it cannot take: nothing left of what is required, and values of another type. */
function badArguments(schema: JsonObject, example: JsonObject): JsonObject[] {
  const list: JsonObject[] = [];
  for (const name of listIn(schema.required))
    if (typeof name === "string") {
      const { [name]: _, ...rest } = example;
      list.push(rest);
    }
  // What no coercion makes anything of.
  const other: { [type: string]: Json } = {
    string: { no: "text" },
    integer: { no: "number" },
    number: { no: "number" },
    boolean: { no: "boolean" },
    array: { no: "list" },
    object: ["no object"],
  };
  for (const [name, property] of Object.entries(membersIn(schema.properties))) {
    const { type } = membersIn(property);
    const wrong = typeof type === "string" ? other[type] : undefined;
    if (wrong !== undefined) list.push({ ...example, [name]: wrong });
  }
  return list;
}

const refusedBy = (subject: ToolUnderTest): readonly JsonObject[] =>
  subject.refuses ?? badArguments(subject.tool.definition.inputSchema, subject.examples[0] ?? {});

const demands: readonly Demand[] = [
  {
    name: "it has a name a model can call, and says what it is for",
    async body({ tool }) {
      ok(
        /^[A-Za-z0-9_-]{1,64}$/.test(tool.name),
        `its name is ${JSON.stringify(tool.name)}: 1 to 64 of A-Z, a-z, 0-9, _ and - are needed`,
      );
      mustBe(tool.definition.name, tool.name, "the name in its definition");
      ok(tool.definition.description.trim() !== "", "its description is empty");
      ok(tool.timeoutMs === undefined || tool.timeoutMs > 0, `timeoutMs is ${tool.timeoutMs}`);
    },
  },
  {
    name: "its schema is a JSON Schema of an object",
    async body({ tool }) {
      const { inputSchema } = tool.definition;
      mustBe(inputSchema, JSON.parse(JSON.stringify(inputSchema)), "the schema, as plain JSON");
      mustBe(inputSchema.type, "object", "the schema's type");
      mustBe(schemaProblems(inputSchema), [], "what is wrong with the schema");
    },
  },
  {
    name: "it takes its own examples, and so does its schema alone",
    async body(subject) {
      const { inputSchema } = subject.tool.definition;
      const told = listIn(inputSchema.examples) as JsonObject[];
      const schema = compileSchema(inputSchema, `tool ${subject.tool.name}`, false);
      for (const example of [...subject.examples, ...told]) {
        const checked = await check(subject, example);
        ok(checked.ok, checked.ok ? "" : `${JSON.stringify(example)} is refused: ${checked.error}`);
        const verdict = await schema.check(structuredClone(example));
        ok(
          verdict.ok,
          verdict.ok ? "" : `what the model is told refuses ${JSON.stringify(example)}: ${verdict.error}`,
        );
      }
    },
  },
  {
    name: "bad arguments are refused with words, before it is run",
    needs: (subject) => refusedBy(subject).length > 0,
    async body(subject) {
      for (const args of refusedBy(subject)) {
        const checked = await check(subject, args);
        ok(
          !checked.ok,
          `${JSON.stringify(args)} is taken, and must be refused${subject.refuses === undefined ? ": its schema does not fit them (where it is to take them, say in `refuses` what it must not)" : ""}`,
        );
        ok(checked.error.trim() !== "", `${JSON.stringify(args)} is refused without a word`);
        const { executed, isError, code } = await throughTheLoop(subject, args);
        mustBe(
          { executed, isError, code },
          { executed: 0, isError: true, code: "invalid_args" },
          "what came of them (executed: how often it ran; code: that of the result)",
        );
      }
    },
  },
  {
    name: "it says what it does to the world, and does no more",
    async body(subject) {
      const { tool, effect, examples, world } = subject;
      mustBe(tool.effect, effect, "its effect, by what the subject says");
      if (world === undefined || effect === "write") return;
      for (const example of examples) {
        const before = inWords(await world());
        const context = contextOf(subject);
        await run(subject, example, context);
        const once = inWords(await world());
        if (effect === "read") strictEqual(once, before, `${JSON.stringify(example)} changed the world`);
        await run(subject, example, context);
        strictEqual(inWords(await world()), once, `${JSON.stringify(example)} twice is not the same as once`);
      }
    },
  },
  {
    name: "what it touches is a list of names, the same each time",
    needs: ({ tool }) => tool.keys !== undefined,
    async body(subject) {
      for (const example of subject.examples) {
        const value = await taken(subject, example);
        const asked: unknown[] = [];
        await leaving(value, "keys", () => {
          for (let time = 0; time < 2; time += 1) asked.push(subject.tool.keys?.(value));
        });
        const [one, other] = asked;
        ok(
          Array.isArray(one) && one.every((key) => typeof key === "string"),
          `keys are ${inspect(one)}; needed is a list of texts, at once`,
        );
        mustBe(one, other, "its keys, asked a second time");
      }
    },
  },
  {
    name: "it leaves its arguments as they were",
    async body(subject) {
      for (const example of subject.examples) {
        const value = await taken(subject, example);
        await leaving(value, "execute", () => subject.tool.execute(value, contextOf(subject)));
      }
    },
  },
  {
    name: "what it returns can be read, and is no larger than a conversation bears",
    async body(subject) {
      const most = subject.resultBytes ?? 64 * 1024;
      for (const example of subject.examples) {
        const { content } = renderResult(await run(subject, example));
        mustBe(content, JSON.parse(JSON.stringify(content)), "the result, as plain JSON");
        const { text, bytes, isError } = await throughTheLoop(subject, example);
        ok(!isError, `its own example ${JSON.stringify(example)} comes to an error: ${text}`);
        ok(
          bytes <= most,
          `the result of ${JSON.stringify(example)} takes ${bytes} bytes of the conversation`,
        );
        ok(!/\[object \w+\]|^undefined$/.test(text), `the model reads ${JSON.stringify(text.slice(0, 200))}`);
      }
    },
  },
  {
    name: "where it fails, it throws an error with words, or returns one",
    needs: ({ fails }) => fails !== undefined && fails.length > 0,
    async body(subject) {
      for (const args of subject.fails ?? []) {
        const value = await taken(subject, args);
        let returned: unknown;
        try {
          returned = await subject.tool.execute(value, contextOf(subject));
        } catch (thrown) {
          ok(thrown instanceof Error, `${JSON.stringify(args)}: it threw ${typeof thrown}, no Error`);
          ok(thrown.message.trim() !== "", `${JSON.stringify(args)}: its error has no message`);
          continue;
        }
        const { isError } = renderResult(returned);
        ok(isError, `${JSON.stringify(args)}: it returned as if it had not failed`);
      }
    },
  },
  {
    name: "an abort is heard in time",
    needs: ({ slow }) => slow !== undefined,
    async body(subject) {
      const controller = new AbortController();
      const args = subject.slow ?? {};
      const value = await taken(subject, args);
      let came: string | undefined;
      const working = async (): Promise<unknown> =>
        subject.tool.execute(value, contextOf(subject, controller.signal));
      const settled = working().then(
        () => {
          came = "it returned";
        },
        (thrown: unknown) => {
          came = `it threw ${JSON.stringify(messageOf(thrown))}`;
        },
      );
      // It is to be at work when the signal fires.
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      ok(
        came === undefined,
        `slow: ${JSON.stringify(args)} did not keep it at work: ${came} before its signal fired`,
      );
      controller.abort(new Error("enough"));
      const most = subject.abortWithinMs ?? 2_000;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, most);
      });
      await Promise.race([settled, late]);
      clearTimeout(timer);
      ok(came !== undefined, `it was still at work ${most} ms after its signal fired`);
      strictEqual(getEventListeners(controller.signal, "abort").length, 0, "it still listens to its signal");
    },
  },
  {
    name: "it leaves no listener on its signal",
    async body(subject) {
      const { signal } = new AbortController();
      for (const example of subject.examples) await run(subject, example, contextOf(subject, signal));
      mustBe(getEventListeners(signal, "abort").length, 0, "the number of listeners left on its signal");
    },
  },
  {
    name: "asked about a call that never was, it does not say that it was done",
    needs: ({ tool }) => tool.reconcile !== undefined,
    async body(subject) {
      const value = await taken(subject, subject.examples[0] ?? {});
      let found: unknown;
      try {
        found = await subject.tool.reconcile?.("never/was", value, contextOf(subject));
      } catch {
        return; // Nothing is known then.
      }
      if (found === undefined) return;
      const said = `it says ${inspect(found)}`;
      const { done, notDone } = Object(found) as { done?: unknown; notDone?: unknown };
      ok(done === undefined, `${said} of a call that never was`);
      ok(
        notDone === true,
        `${said}; needed is { done: result }, { notDone: true }, or nothing where it is not known`,
      );
    },
  },
];
