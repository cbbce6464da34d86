// The room of the ways to a typed output: how a model is held to a schema, depending on what it supports.
//
// Natively, with a schema in the request. With a tool made for this, whose call is the answer. Or by the prompt alone. The way
// changes what the request contains, never what the loop does: the answer is always a text, and is checked as one.

import type { OutputOptions } from "../loop/run-options.ts";
import { modelInUse, type RunState } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import type { ModelRequest, ToolChoice, ToolDefinition } from "../model.ts";
import { oncePer } from "../once-per.ts";
import { hasOpenObjects } from "./open-objects.ts";
import { isRecursive } from "./recursive.ts";
import { objectSchema } from "./wrapped.ts";

/** The name of the tool whose call is the answer. */
export const outputToolName = "final_output";

/** How the output is asked for now. `alone`: not together with tools. */
export interface Way {
  by: "native" | "tool" | "prompted";
  alone: boolean;
}

/** How the next model is held to the schema. */
export function outputWay(state: RunState): Way {
  const { models, output } = state.options;
  const { run } = state;
  const facts = models[modelInUse(run)]?.facts ?? {};
  const alone = facts.output === "native_without_tools";
  const given = output?.way ?? "auto";
  if (given === "native") return { by: "native", alone };
  if (given !== "auto") return { by: given, alone: false };
  // If a model's abilities are unknown, its codec decides: it leaves out what the server does not support, and warns. A
  // schema that the server then refuses is not used again.
  const refused = run.dropped.includes("schema");
  const schema = output?.schema;
  // In a schema with closed objects, an object with arbitrary keys could only be empty, and in one that contains itself nothing ends.
  const beyond =
    facts.closedOutput === true && schema !== undefined && (hasOpenObjects(schema) || isRecursive(schema));
  if (facts.output !== "none" && !refused && !beyond) return { by: "native", alone };
  return { by: facts.tools === false ? "prompted" : "tool", alone: false };
}

/** Whether the request has a schema that another way would not need. If `native` was chosen explicitly, the schema is kept. */
export function hasSpareSchema(state: RunState): boolean {
  const { output } = state.options;
  if (output === undefined || (output.way ?? "auto") !== "auto") return false;
  return offersOutput(state) && outputWay(state).by === "native";
}

/** Whether the request has the schema of the typed output: not while tools are in use. */
export function offersOutput(state: RunState): boolean {
  const { output, landing } = state.run;
  return output !== undefined || landing !== undefined || state.options.tools.length === 0;
}

const nothing: readonly ToolDefinition[] = [];
const made = new WeakMap<readonly ToolDefinition[], ToolDefinition>();

/** The tools of a request and its tool choice. Equal lists are the same object from step to step. */
export function toolsWithOutput(
  declared: readonly ToolDefinition[],
  asked: OutputOptions | undefined,
  way: Way | undefined,
  usual: { toolless: boolean; toolChoice: ToolChoice },
): Pick<ModelRequest, "tools" | "toolChoice"> {
  // The tools stay declared even if they may not be used: their calls are in the history, and the prefix stays the same.
  const tools = asked?.tools === "none" || way?.alone ? nothing : declared;
  if (asked !== undefined && way?.by === "tool")
    return { tools: extended(tools)(asked.schema), toolChoice: { tool: outputToolName } };
  return { tools, toolChoice: usual.toolless ? "none" : possible(usual.toolChoice, tools) };
}

/** The tool choice must not name a hidden tool: a provider would refuse the request. */
function possible(choice: ToolChoice, tools: readonly ToolDefinition[]): ToolChoice {
  const isPossible =
    typeof choice === "string"
      ? choice !== "any" || tools.length > 0
      : tools.some(({ name }) => name === choice.tool);
  return isPossible ? choice : "auto";
}

/** The tool of a request whose call is the answer, if there is one. */
export function outputToolOf(tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  return made.get(tools);
}

const extended = oncePer((tools: readonly ToolDefinition[]) =>
  oncePer((schema: JsonObject) => {
    const tool: ToolDefinition = {
      name: outputToolName,
      description: "Gives the final response. Call it once, with the whole response.",
      inputSchema: objectSchema(schema),
    };
    const list: readonly ToolDefinition[] = [...tools, tool];
    made.set(list, tool);
    return list;
  }),
);
