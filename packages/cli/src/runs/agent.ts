// The room of the agent: what the command's agent is made of, for a run that starts or goes on.

import { statSync } from "node:fs";
import {
  Agent,
  type AgentOptions,
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
  /** Default: memory. */
  journal?: Journal;
}

export interface MadeAgent {
  agent: Agent;
  /** What it was made of. */
  options: AgentOptions;
  tools: readonly Tool[];
}

/**
 * The agent of a run.
 * @throws Failure when the folder is not there; UsageError when an option does not fit the tools or the model
 */
export function makeAgent({ invocation, model, journal }: AgentParts): MadeAgent {
  const { root, system, maxSteps, budgetUsd, budgetTokens, timeoutMs } = invocation;
  const tools = permitted(toolsOf(root), invocation);
  if (budgetUsd !== undefined && model.facts?.price === undefined)
    throw new UsageError(
      `--budget-usd needs the price of the model, and none is known for ${model.id}; use --budget-tokens`,
    );
  const budget = {
    ...(budgetUsd === undefined ? {} : { usd: budgetUsd }),
    ...(budgetTokens === undefined ? {} : { tokens: budgetTokens }),
    ...(timeoutMs === undefined ? {} : { ms: timeoutMs }),
  };
  const options: AgentOptions = {
    model,
    // An empty one is none: providers refuse a blank system prompt.
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

/** What stands in variables that are called a secret. What is short is a word, and stands in many a text. */
const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value = ""]) => {
    // A variable that was read from a file often ends in a line feed, which the secret itself has not.
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
    // Whoever asks a question of a folder has not said that it may be written over.
    return [...fileTools({ root: set, writePermission: "ask" }), calculate(), ...shell(set)];
  } catch (thrown) {
    throw new Failure(`the folder ${root} cannot be worked in: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** Where there is no POSIX shell there is no run_command. */
function shell(root: ReturnType<typeof fileToolSet>): Tool[] {
  try {
    return [runCommand({ root })];
  } catch (thrown) {
    if (thrown instanceof RondoError && thrown.kind === "capability") return [];
    throw thrown;
  }
}

/** The tools with the permissions that were asked for: `--deny` wins over `--allow`, and that over `--yes`. */
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
