// The room of the checks for values that other libraries write in another way: models, tools, prompts, tool choice,
// permission.
//
// The error says how to convert such a value.

import {
  able,
  above0,
  type Check,
  callable,
  data,
  finite0,
  flag,
  having,
  isPromise,
  listOf,
  membersOf,
  name,
  needed,
  object,
  oneOf,
  text,
} from "../checks.ts";
import type { Origin } from "../message.ts";
import type { Model, ModelFacts } from "../model.ts";
import type { LongPromptRates, Price } from "../price.ts";

/** A check with an additional hint in its error: how to make a valid value of the given one. */
const hinted =
  (check: Check, hintOf: (value: unknown) => string): Check =>
  (value) => {
    const said = check(value);
    return said === undefined ? undefined : { ...said, says: said.says + hintOf(value) };
  };

const modelWords = "a Model, e.g. offline() of @rondo/models,";
const modelCalled = able(modelWords, "call");

const rates = {
  input: finite0,
  output: finite0,
  cachedInput: finite0,
  cacheWrite: finite0,
  cacheWrite1h: finite0,
};

const knownFacts = membersOf<ModelFacts>(
  {
    contextWindow: above0,
    maxOutputTokens: above0,
    maxInputTokens: above0,
    price: membersOf<Price>(
      {
        ...rates,
        longPrompts: listOf(
          membersOf<LongPromptRates>({ ...rates, above: finite0 }, ["above", "input", "output"], "let_pass"),
        ),
      },
      ["input", "output"],
      "let_pass",
    ),
    accepts: listOf(text),
    tools: flag,
    output: oneOf("native", "native_without_tools", "none"),
    closedOutput: flag,
    offersInPlace: flag,
  },
  [],
  "let_pass",
);

const knownOrigin = membersOf<Origin>(
  { api: text, provider: text, model: text },
  ["api", "provider", "model"],
  "let_pass",
);

/** A model's identity is stored in the records of every run. */
const kept =
  (known: Check): Check =>
  (value) =>
    known(value) ?? data(value);
const modelKnown = membersOf<Pick<Model, "id" | "origin" | "facts">>(
  { id: name, origin: kept(knownOrigin), facts: kept(knownFacts) },
  ["id", "origin"],
  "let_pass",
);
const modelFace: Check = (value) => modelCalled(value) ?? modelKnown(value);
const noModel = needed(modelWords, () => false);

/** A model. A provider's function must be called first to get one. */
export const model: Check = hinted(
  (value) => (typeof value === "function" ? noModel(value) : modelFace(value)),
  (value) => {
    if (typeof value === "function") return ": call it";
    if (isPromise(value)) return ": await it";
    if (typeof value === "string") {
      const name = JSON.stringify(value);
      if (value.includes("/")) return `: await modelFromName(${name}) of @rondo/models gives one`;
      return `: openai(${name}), anthropic(${name}), … or await modelFromName("PROVIDER/MODEL") gives one`;
    }
    const { doGenerate } = Object(value) as { doGenerate?: unknown };
    return typeof doGenerate === "function"
      ? ": fromAiSdk(model) of @rondo/models makes one of the AI SDK's"
      : "";
  },
);

/** A journal, not the name of its file. */
export const journal: Check = hinted(
  able("a journal (append, read, list)", "append", "read", "list"),
  (value) => {
    if (typeof value === "function") return ": call it";
    return typeof value === "string"
      ? `: sqliteJournal(${JSON.stringify(value)}) of @rondo/journal makes one`
      : "";
  },
);

const signalFace = having("an AbortSignal", {
  aborted: flag,
  addEventListener: callable,
  removeEventListener: callable,
});

/** An abort signal, not its controller. */
export const abortSignal: Check = hinted(signalFace, (value) => {
  const { signal } = Object(value) as { signal?: unknown };
  return signalFace(signal) === undefined ? ": give its signal" : "";
});

const madeTool = having("a tool, as tool() makes it,", {
  name: text,
  definition: object,
  check: callable,
  execute: callable,
});

const faceOfTool: Check = hinted(madeTool, (value) => {
  const { run, open, listTools, name, execute } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof value === "function") return ": call it";
  if (Array.isArray(value)) return ": spread it, ...list";
  if (typeof run === "function" && typeof open === "function")
    return ": subAgent({ name, description, agent }) makes one of an agent";
  if (typeof listTools === "function") return ": make one of each of the server's tools";
  if (typeof execute !== "function") return "";
  // Other libraries keep the name beside the tool.
  return `: tool({ ${typeof name === "string" ? "" : "name, "}… }) makes one of it`;
});

/** A tool that is offered under one name and found under another could never be called. */
const oneTool: Check = (value) => {
  const fault = faceOfTool(value);
  const { name, definition } = Object(value) as { name: string; definition: { name?: unknown } };
  if (fault !== undefined || definition.name === name) return fault;
  const as = `it is declared as ${JSON.stringify(definition.name)} and named ${JSON.stringify(name)}`;
  return { at: "", says: `${as}: toolWith(tool, { name }) gives it another name` };
};

/** A list of tools: each has its name in itself. */
export const tools: Check = hinted(listOf(oneTool), (value) => {
  if (isPromise(value)) return ": await it";
  const isToolset = object(value) === undefined && oneTool(value) !== undefined;
  return isToolset ? ": [tool({ name, … }), …], each with its name in it" : "";
});

const nothing = needed("nothing", (value) => value === undefined);

/** A value given for a key. The key alone gives no value. */
export const provided: Check = hinted(
  having("what dependency(…).as(value) gives", { id: text, create: nothing }),
  (value) => (able("", "as")(value) === undefined ? ": give its as(value)" : ""),
);

/** A prompt. If it should be made anew for each run, make a new agent for each. */
export const system: Check = hinted(text, (value) =>
  typeof value === "function"
    ? ": where it depends on the run, new Agent({ ...options, system }) for each"
    : "",
);

/** What `Output.object` and its like of the AI SDK give. */
const isOutputOfAiSdk = (value: unknown): boolean =>
  able("", "parseCompleteOutput", "parsePartialOutput")(value) === undefined;

/** A schema, named by `words` in errors. A Standard Schema is an object of its library; a JSON Schema is sent and stored as it is. */
export const schema =
  (words: string): Check =>
  (value) => {
    if (typeof value === "function" || "~standard" in Object(value)) return undefined;
    if (isOutputOfAiSdk(value))
      return { at: "", says: `${words} is needed: give the one that this Output was made of` };
    return object(value) === undefined ? data(value) : needed(words, () => false)(value);
  };

/**
 * The function that does a tool's work. A generator gives no result: the loop would get an object that nobody reads, and
 * only the model would be told.
 */
export const executable: Check = (value) =>
  /Generator/.test(Object.prototype.toString.call(value))
    ? {
        at: "",
        says: "a generator has no result: use a function that returns the result and reports progress with update()",
      }
    : work(value);

const work = hinted(callable, (value) =>
  value === undefined
    ? ': a tool that runs elsewhere has permission: "ask", and session.answer() gives the results of its calls'
    : "",
);

/** Whether a call needs an approval, in one word. */
export const permission: Check = hinted(oneOf("allow", "ask", "deny"), (value) =>
  typeof value === "function"
    ? ": toolWith(tool, { permissionOf }) takes one, and hooks.permission of the agent"
    : "",
);

const choiceOfTool = membersOf({ tool: text }, ["tool"]);
const choiceWord = hinted(oneOf("auto", "any", "none"), (value) => {
  const meant = value === "required" ? '"any"' : `{ tool: ${JSON.stringify(value)} } for one tool`;
  return `; did you mean ${meant}?`;
});

/**
 * How other libraries write one tool (`{ type: "tool", toolName }`, `{ type: "function", function: { name } }`), or a word
 * (`{ type: "any" }`).
 */
function choiceMeant(given: Readonly<Record<string, unknown>>): string {
  const { type, toolName, name = toolName, function: inner } = given;
  const { name: tool = name } = Object(inner) as { name?: unknown };
  if (typeof tool === "string") return `{ tool: ${JSON.stringify(tool)} }`;
  if (type === "required") return '"any"';
  return type === "auto" || type === "any" || type === "none" ? JSON.stringify(type) : "{ tool: NAME }";
}

/** The tool choice. */
export const toolChoice: Check = (value) => {
  if (typeof value === "string") return choiceWord(value);
  if (object(value) !== undefined || Object.hasOwn(value as object, "tool")) return choiceOfTool(value);
  const given = value as Readonly<Record<string, unknown>>;
  const held = Object.keys(given).join(", ");
  const seen = held === "" ? "an empty object" : `an object with ${held}`;
  return { at: "", says: `${choiceMeant(given)} is needed, not ${seen}` };
};
