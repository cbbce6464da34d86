// The room of the checks of what an agent is given ready made: its model, its tools, and what must be called.
//
// Each is written in many ways elsewhere, so that what is no such thing is told how it becomes one.

import { able, type Check, callable, having, membersOf, needed, object, oneOf, text } from "./checks.ts";

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

const madeTool = having("a tool, as tool() makes it,", {
  name: text,
  definition: object,
  check: callable,
  execute: callable,
});

/** A tool. */
export const tool: Check = (value) => {
  const said = madeTool(value);
  if (said === undefined) return undefined;
  const { run, open, listTools } = Object(value) as { run?: unknown; open?: unknown; listTools?: unknown };
  const hint =
    typeof run === "function" && typeof open === "function"
      ? ": subAgent({ name, description, agent }) makes one of an agent"
      : typeof listTools === "function"
        ? ": make one of each of the server's tools"
        : "";
  return { ...said, says: `${said.says}${hint}` };
};

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
