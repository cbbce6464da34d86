// The room of what a request carries over from answers beside their blocks: the container that the provider's code runs in,
// and the tools that a search of the provider's has found.
//
// Code that waits for a result of ours is lost without its container, and a tool that a search has named must be declared
// for as long as it is named: the provider refuses the request otherwise.

import {
  type AssistantMessage,
  isSameOrigin,
  type Json,
  type JsonObject,
  type ModelRequest,
  type Part,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { listIn, objectIn, textIn } from "../../json-values.ts";
import { longestName } from "./blocks.ts";
import { isContainer } from "./container.ts";
import { nameToWire } from "./names.ts";
import type { Waiting } from "./server-tools.ts";
import { calledTools, type Turn } from "./turns.ts";

/** What stands in a request beside its own tools, and what the calls of the provider's may wait for. */
export interface Carried {
  /** The provider's own, as the caller wrote them. */
  serverTools: Json[];
  /** The names, as on the wire, of the tools that only the history knows. */
  retired: string[];
  /** What the body says of the container. */
  container: Json | undefined;
  waiting: Waiting;
}

type History = { natives: readonly AssistantMessage[]; turns: readonly Turn[] };

/** @param told the provider options */
export function carriedOn(
  request: ModelRequest,
  told: JsonObject,
  history: History,
  target: Target,
): Carried {
  const serverTools = listIn(told.tools);
  const container = containerField(told.container, () =>
    serverTools.length === 0 ? undefined : containerOf(history, target),
  );
  const waiting = {
    runs: serverTools.length > 0 && target.compat?.resumesPauses !== false,
    inContainer: namesContainer(container),
  };
  return { serverTools, retired: retiredTools(request, history, serverTools, target), container, waiting };
}

/**
 * The id of the container that was told last; undefined where a tool has found since that it is gone: a request without
 * one gets a new one. @param natives the answers that hold blocks of the provider's own
 */
function containerOf({ natives, turns }: History, target: Target): string | undefined {
  const answer = natives.findLast(
    ({ origin, content }) =>
      isSameOrigin(origin, target.origin) && content.some((part) => tellsOfContainer(part)),
  );
  if (answer === undefined || answer.content.some(isExpired)) return undefined;
  if (target.compat?.containers === "turn") {
    const at = turns.findLastIndex((turn) => turn.kind === "assistant" && turn.message === answer);
    if (turns.findLastIndex((turn) => turn.kind === "user") > at) return undefined;
  }
  const part = answer.content.findLast((one) => one.type === "native" && isContainer(one));
  return part?.type === "native" ? textIn(part.opaque.id) : undefined;
}

const tellsOfContainer = (part: Part): boolean =>
  (part.type === "native" && isContainer(part)) || isExpired(part);

const isExpired = (part: Part): boolean =>
  part.type === "native" && objectIn(part.opaque.content)?.error_code === "container_expired";

/** What the body says of the container. The caller's own word counts first; their object (of skills) gets the id. */
function containerField(told: Json | undefined, history: () => string | undefined): Json | undefined {
  const object = objectIn(told);
  if (told !== undefined && (object === undefined || object.id !== undefined)) return told;
  const id = history();
  return id === undefined ? told : object === undefined ? id : { ...object, id };
}

/** Whether it names one, and not only what is to be in it. */
const namesContainer = (field: Json | undefined): boolean =>
  typeof field === "string" || objectIn(field)?.id !== undefined;

/**
 * Those that were called, where none is declared, and those that a search has found. (What a set of tools of a server's
 * holds, nobody knows here.)
 */
function retiredTools(
  { tools }: ModelRequest,
  { turns, natives }: History,
  serverTools: readonly Json[],
  target: Target,
): string[] {
  const called = tools.length > 0 ? [] : calledTools(turns).map((name) => nameToWire(name, longestName));
  const found = natives.length === 0 ? [] : foundTools(natives, target);
  if (found.length === 0) return called;
  const own = serverTools.map((tool) => objectIn(tool));
  if (own.some((tool) => tool?.type === "mcp_toolset")) return called;
  const declared = new Set<Json | undefined>([
    ...tools.map(({ name }) => nameToWire(name, longestName)),
    ...own.map((tool) => tool?.name),
    ...called,
  ]);
  return [...called, ...found.filter((name) => !declared.has(name))];
}

/** The names, as on the wire, of the tools that searches have found. */
function foundTools(answers: readonly AssistantMessage[], target: Target): string[] {
  const names = new Set<string>();
  for (const { origin, content } of answers)
    if (isSameOrigin(origin, target.origin))
      for (const part of content)
        if (part.type === "native") for (const name of referencesIn(part.opaque)) names.add(name);
  return [...names].sort();
}

function referencesIn({ content }: JsonObject): string[] {
  const references = objectIn(content)?.tool_references;
  return listIn(references).flatMap((reference) => textIn(objectIn(reference)?.tool_name) ?? []);
}
