// The room of the worker's parts: what its handlers share.

import { createHash } from "node:crypto";
import {
  type Agent,
  type BlobStore,
  type Clock,
  canonical,
  type JsonObject,
  type Logger,
  type Resolved,
  RondoError,
  type Tool,
} from "@rondo/core";
import { subAgentOf } from "@rondo/core/driving";
import type { Hub } from "./hub.ts";
import type { Services } from "./names.ts";
import type { Workplaces } from "./workplace.ts";

/** An agent, found by its name and the path of tools it stands under. */
export interface AgentAt {
  name: string;
  resolved: Resolved;
  clock: Clock;
  logger: Logger | undefined;
  about: JsonObject | undefined;
  blobs: BlobStore | undefined;
  /** Digest of what determines its decisions and requests. */
  code: string;
  /** Its tool, if it is a sub-agent. */
  tool: Tool | undefined;
}

/** The agent that ends a run: its own, or, if that no longer exists, one of a run above it. Ending needs nothing of the agent. */
export function agentToEnd({ agentAt }: Pick<WorkerParts, "agentAt">, path: string): string {
  const end = path.lastIndexOf("/");
  if (end < 0) return path;
  try {
    agentAt(path);
    return path;
  } catch {
    return agentToEnd({ agentAt }, path.slice(0, end));
  }
}

export interface WorkerParts {
  services: Services;
  hub: Hub;
  workplaces: Workplaces;
  agentAt(path: string): AgentAt;
  /** The agents' blob stores, as far as known without running a sub-agent's tool. */
  stores: ReadonlySet<BlobStore>;
  /** While the worker is closing: a promise that never settles. */
  gate(): Promise<never> | undefined;
}

/** Finds agents by name, and caches them. @param blobs for agents without a store of their own */
export function agentFinder(
  agents: { readonly [name: string]: Agent },
  blobs: BlobStore | undefined,
): WorkerParts["agentAt"] {
  const known = new Map<string, AgentAt>();
  const find = (path: string): AgentAt => {
    const at = known.get(path);
    if (at !== undefined) return at;
    const end = path.lastIndexOf("/");
    const name = path.slice(end + 1);
    const { agent, parent } =
      end < 0
        ? { agent: namedAgent(agents, name), parent: undefined }
        : subAgentIn(find(path.slice(0, end)).resolved, name);
    const found = agentOf(name, agent, blobs, parent);
    known.set(path, found);
    return found;
  };
  return find;
}

/** Whose sub-agent an agent is, and the tool that it is there. */
interface Parent {
  resolved: Resolved;
  tool: Tool;
}

/** @throws RondoError `invalid_request` if the worker has no such agent */
function namedAgent(agents: { readonly [name: string]: Agent }, name: string): Agent {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent === undefined)
    throw new RondoError(
      "invalid_request",
      `this worker has no agent ${JSON.stringify(name)}; it has: ${Object.keys(agents).join(", ")}`,
    );
  return agent;
}

/** @throws RondoError `invalid_request` if the parent has no such sub-agent any more */
function subAgentIn(resolved: Resolved, name: string): { agent: Agent; parent: Parent } {
  const tool = resolved.tools.get(name);
  const parts = subAgentOf(tool);
  if (tool === undefined || parts === undefined)
    throw new RondoError(
      "invalid_request",
      `the ${tool === undefined ? "tool" : "sub-agent"} ${name} is not here any more.`,
    );
  return { agent: parts.agent(), parent: { resolved, tool } };
}

/** A sub-agent also gets the dependencies of its parent. */
function agentOf(
  name: string,
  agent: Agent,
  blobs: BlobStore | undefined,
  parent: Parent | undefined,
): AgentAt {
  const { resolved, clock, logger, about, blobs: own } = agent.parts;
  return {
    name,
    resolved: {
      ...resolved,
      dependencies: [...(parent?.resolved.dependencies ?? []), ...resolved.dependencies],
    },
    clock,
    logger,
    about,
    blobs: own === null ? undefined : (own ?? blobs),
    code: createHash("sha256")
      .update(canonical(resolved.options as unknown as JsonObject))
      .digest("base64url")
      .slice(0, 22),
    tool: parent?.tool,
  };
}
