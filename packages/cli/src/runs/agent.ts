// The room of the agent: builds the command's agent, for a run that starts or continues.

import { statSync } from "node:fs";
import {
  Agent,
  type AgentOptions,
  type Budget,
  type Journal,
  type Model,
  messageOf,
  RondoError,
  type Tool,
} from "@rondo/core";
import { hintAt } from "@rondo/core/checks";
import { calculate, fileToolSet, fileTools, runCommand } from "@rondo/tools";
import { Failure, UsageError } from "../console/failure.ts";
import { aboutRun, type Invocation } from "../invocation.ts";

export interface AgentParts {
  invocation: Invocation;
  model: Model;
  /** Default: in memory. */
  journal?: Journal;
}

export interface MadeAgent {
  agent: Agent;
  /** The options it was made with. */
  options: AgentOptions;
  tools: readonly Tool[];
}

function budgetOf({ budgetUsd, budgetTokens, sessionUsd, sessionTokens, timeoutMs }: Invocation): Budget {
  const session = {
    ...(sessionUsd === undefined ? {} : { usd: sessionUsd }),
    ...(sessionTokens === undefined ? {} : { tokens: sessionTokens }),
  };
  return {
    ...(budgetUsd === undefined ? {} : { usd: budgetUsd }),
    ...(budgetTokens === undefined ? {} : { tokens: budgetTokens }),
    ...(timeoutMs === undefined ? {} : { ms: timeoutMs }),
    ...(Object.keys(session).length === 0 ? {} : { session }),
  };
}

/**
 * The agent of a run.
 * @throws Failure when the folder does not exist; UsageError when an option does not fit the tools or the model
 */
export function makeAgent({ invocation, model, journal }: AgentParts): MadeAgent {
  const { root, system, maxSteps } = invocation;
  const tools = permitted(toolsOf(root), invocation);
  const budget = budgetOf(invocation);
  if (model.facts?.price === undefined)
    for (const [given, option] of [
      [budget.usd, "budget"],
      [budget.session?.usd, "session"],
    ] as const)
      if (given !== undefined)
        throw new UsageError(
          `--${option}-usd needs the price of the model, and none is known for ${model.id}; use --${option}-tokens`,
        );
  const options: AgentOptions = {
    model,
    // An empty one means none: providers refuse a blank system prompt.
    ...(system?.trim() === "" ? {} : { system: system ?? defaultSystem(root, tools) }),
    tools,
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    ...(journal === undefined ? {} : { journal }),
    ...(invocation.redact === true ? { redact: { secrets: secretsIn(process.env) } } : {}),
    about: aboutRun(invocation),
  };
  return { agent: new Agent(options), options, tools };
}

const secretName = /(?:key|token|secret|password|passwd|_pass|passphrase|credentials?)$/i;

/** Values of variables whose names mark them as secret. Short values are ordinary words, which occur in many texts. */
const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value = ""]) => {
    // A value that was read from a file often ends in a line feed that is not part of the secret.
    const secret = value.trim();
    return secretName.test(name) && secret.length >= 8 ? [secret] : [];
  });

function defaultSystem(root: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name).join(", ");
  return `You work in the folder ${root} with these tools: ${names}. Paths are relative to that folder.`;
}

function toolsOf(root: string): Tool[] {
  const stat = statSync(root, { throwIfNoEntry: false });
  if (stat === undefined) throw new Failure(`there is no folder ${root}; name another with --root`);
  if (!stat.isDirectory()) throw new Failure(`${root} is not a folder; name one with --root`);
  try {
    const set = fileToolSet(root);
    // A question about a folder is no permission to write in it.
    return [...fileTools({ root: set, writePermission: "ask" }), calculate(), ...shell(set)];
  } catch (thrown) {
    throw new Failure(`the folder ${root} cannot be worked in: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** Without a POSIX shell there is no run_command. */
function shell(root: ReturnType<typeof fileToolSet>): Tool[] {
  try {
    return [runCommand({ root })];
  } catch (thrown) {
    if (thrown instanceof RondoError && thrown.kind === "capability") return [];
    throw thrown;
  }
}

/** The tools with the requested permissions: `--deny` wins over `--allow`, which wins over `--yes`. */
function permitted(tools: readonly Tool[], { yes, allow, deny }: Invocation): Tool[] {
  const names = tools.map((tool) => tool.name);
  for (const [option, given] of [
    ["--allow", allow],
    ["--deny", deny],
  ] as const)
    for (const name of given)
      if (!names.includes(name))
        throw new UsageError(
          `${option} ${name}: there is no tool ${name}.${hintAt(name, names)} There are ${names.join(", ")}`,
        );
  return tools.map((tool) => {
    if (deny.includes(tool.name)) return { ...tool, permission: "deny" };
    const allowed = allow.includes(tool.name) || (yes && tool.permission === "ask");
    return allowed ? { ...tool, permission: "allow" } : tool;
  });
}
