// The room of what a request carries over from the history besides its blocks: the container in which the provider's code
// runs, the tools that the provider's tool search has found, and those that our results have offered.
//
// Code that waits for one of our results is lost without its container, and a tool that was found or offered must be declared
// as long as the history mentions it: otherwise the provider refuses the request.

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
import { tellsInPlace } from "../in-place.ts";
import { longestName } from "./blocks.ts";
import { isContainer } from "./container.ts";
import { nameToWire } from "./names.ts";
import type { Waiting } from "./server-tools.ts";
import { calledTools, type Turn } from "./turns.ts";

/** Members of a request besides its own tools, and what calls of server-run tools may wait for. */
export interface Carried {
  /** The provider's own tools, as the caller wrote them. */
  serverTools: Json[];
  /** Wire names of the tools that are only in the history. */
  retired: string[];
  /** The body's member `container`. */
  container: Json | undefined;
  /** Names of the tools that the model is told of where a result offered them. */
  inPlace: ReadonlySet<string>;
  waiting: Waiting;
}

type History = {
  natives: readonly AssistantMessage[];
  turns: readonly Turn[];
  offered: ReadonlySet<string>;
};

const none: ReadonlySet<string> = new Set();

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
  const inPlace = tellsInPlace(target) ? history.offered : none;
  const retired = retiredTools(request, { ...history, offered: inPlace }, serverTools, target);
  return { serverTools, retired, container, inPlace, waiting };
}

/**
 * The id of the last container named in the history. Undefined if a tool has since reported that it expired: a request
 * without one gets a new one. @param natives the answers with blocks of the provider's own
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

/** The body's member `container`. The caller's own value wins; an object of theirs without an id (for skills) gets one. */
function containerField(told: Json | undefined, history: () => string | undefined): Json | undefined {
  const object = objectIn(told);
  if (told !== undefined && (object === undefined || object.id !== undefined)) return told;
  const id = history();
  return id === undefined ? told : object === undefined ? id : { ...object, id };
}

/** Whether it names a container, rather than only what should be in one. */
const namesContainer = (field: Json | undefined): boolean =>
  typeof field === "string" || objectIn(field)?.id !== undefined;

/**
 * Tools called in the history, if none is declared now, and tools found by searches or offered in place. (The tools of a declared MCP toolset
 * are not known here, so nothing is added beside one.)
 */
function retiredTools(
  { tools }: ModelRequest,
  { turns, natives, offered }: History,
  serverTools: readonly Json[],
  target: Target,
): string[] {
  const called = tools.length > 0 ? [] : calledTools(turns).map((name) => nameToWire(name, longestName));
  const found = [
    ...(natives.length === 0 ? [] : foundTools(natives, target)),
    ...[...offered].map((name) => nameToWire(name, longestName)),
  ];
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

/** Wire names of the tools that searches have found. */
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
