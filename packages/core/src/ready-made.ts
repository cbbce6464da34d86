// The room of the checks of what is written in another way elsewhere: models, tools, prompts, what must be called or allowed.
//
// What is none of it is told how it becomes one.

import {
  able,
  type Check,
  callable,
  flag,
  having,
  listOf,
  membersOf,
  needed,
  object,
  oneOf,
  text,
} from "./checks.ts";

const modelWords = "a Model, e.g. offline() of @rondo/models,";
const modelFace = able(modelWords, "call");

/** A model. A provider's function can be called as well, and is none before it is. */
export const model: Check = (value) => {
  const said = typeof value === "function" ? needed(modelWords, () => false)(value) : modelFace(value);
  if (said === undefined) return undefined;
  const { doGenerate } = Object(value) as { doGenerate?: unknown };
  const name = JSON.stringify(value);
  const hint =
    typeof value === "function"
      ? ": call it"
      : typeof value === "string"
        ? `: openai(${name}), anthropic(${name}), … or await modelFromName("PROVIDER/MODEL") gives one`
        : typeof doGenerate === "function"
          ? ": fromAiSdk(model) of @rondo/models makes one of the AI SDK's"
          : "";
  return { ...said, says: `${said.says}${hint}` };
};

const journalFace = able("a journal (append, read, list)", "append", "read", "list");

/** A journal. It is not known by the name of its file. */
export const journal: Check = (value) => {
  const said = journalFace(value);
  if (said === undefined) return undefined;
  const hint =
    typeof value === "function"
      ? ": call it"
      : typeof value === "string"
        ? `: sqliteJournal(${JSON.stringify(value)}) of @rondo/journal makes one`
        : "";
  return { ...said, says: `${said.says}${hint}` };
};

/** What fires when something is no longer wanted: the controller of it fires nothing. */
export const abortSignal: Check = (value) => {
  const said = signalFace(value);
  if (said === undefined) return undefined;
  const { signal } = Object(value) as { signal?: unknown };
  return signalFace(signal) === undefined ? { ...said, says: `${said.says}: give its signal` } : said;
};

const signalFace = having("an AbortSignal", {
  aborted: flag,
  addEventListener: callable,
  removeEventListener: callable,
});

const madeTool = having("a tool, as tool() makes it,", {
  name: text,
  definition: object,
  check: callable,
  execute: callable,
});

const oneTool: Check = (value) => {
  const said = madeTool(value);
  return said === undefined ? undefined : { ...said, says: `${said.says}${toolHint(value)}` };
};

function toolHint(value: unknown): string {
  const { run, open, listTools, name, execute } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof value === "function") return ": call it";
  if (Array.isArray(value)) return ": spread it, ...list";
  if (typeof run === "function" && typeof open === "function")
    return ": subAgent({ name, description, agent }) makes one of an agent";
  if (typeof listTools === "function") return ": make one of each of the server's tools";
  return typeof name === "string" && typeof execute === "function" ? ": tool({ … }) makes one of it" : "";
}

const listOfTools = listOf(oneTool);

/** Tools, in a list: each has its name in it. */
export const tools: Check = (value) => {
  const said = listOfTools(value);
  if (said === undefined || Array.isArray(value) || object(value) !== undefined) return said;
  return { ...said, says: `${said.says}: [tool({ name, … }), …], each with its name in it` };
};

/** A prompt. One that is made anew for each run is so with the agent around it. */
export const system: Check = (value) => {
  const said = text(value);
  if (said === undefined || typeof value !== "function") return said;
  return {
    ...said,
    says: `${said.says}: where it depends on the run, new Agent({ ...options, system }) for each`,
  };
};

/** Whether a call must be allowed. What depends on its arguments is a hook's to say. */
export const permission: Check = (value) => {
  const said = permissions(value);
  if (said === undefined || typeof value !== "function") return said;
  return { ...said, says: `${said.says}: hooks.permission of the agent judges a call by its arguments` };
};

const permissions = oneOf("allow", "ask", "deny");
const choiceWords = oneOf("auto", "any", "none");
const choiceOfTool = membersOf({ tool: text }, ["tool"]);

/** What a model must call. */
export const toolChoice: Check = (value) => {
  if (typeof value !== "string") return choiceOfTool(value);
  const said = choiceWords(value);
  if (said === undefined) return undefined;
  const meant = value === "required" ? '"any"' : `{ tool: ${JSON.stringify(value)} } for one tool`;
  return { ...said, says: `${said.says}; did you mean ${meant}?` };
};
