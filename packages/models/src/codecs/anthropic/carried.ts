// The room of what a request carries on from answers beside their blocks: the container that the provider's code runs in,
// and the tools that a search of the provider's has found.
//
// Code that waits for a result of ours is lost without its container, and a tool that a search has named must be declared
// for as long as it is named: the provider refuses the request otherwise.

import type { AssistantMessage, Json, JsonObject, Part } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { objectIn, textIn } from "../../json-values.ts";
import { isSameOrigin } from "../../same-origin.ts";
import { isContainer } from "./container.ts";
import type { Turn } from "./turns.ts";

/**
 * The id of the container that was told last; undefined where a tool has found since that it is gone: a request without
 * one gets a new one. @param natives the answers that hold blocks of the provider's own
 */
export function containerOf(
  { natives, turns }: { natives: readonly AssistantMessage[]; turns: readonly Turn[] },
  target: Target,
): string | undefined {
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
export function containerField(told: Json | undefined, history: () => string | undefined): Json | undefined {
  const object = objectIn(told);
  if (told !== undefined && (object === undefined || object.id !== undefined)) return told;
  const id = history();
  return id === undefined ? told : object === undefined ? id : { ...object, id };
}

/** Whether it names one, and not only what is to be in it. */
export const namesContainer = (field: Json | undefined): boolean =>
  typeof field === "string" || objectIn(field)?.id !== undefined;

/** The names, as on the wire, of the tools that searches have found. */
export function foundTools(answers: readonly AssistantMessage[], target: Target): string[] {
  const names = new Set<string>();
  for (const { origin, content } of answers)
    if (isSameOrigin(origin, target.origin))
      for (const part of content)
        if (part.type === "native") for (const name of referencesIn(part.opaque)) names.add(name);
  return [...names].sort();
}

function referencesIn({ content }: JsonObject): string[] {
  const references = objectIn(content)?.tool_references;
  return (Array.isArray(references) ? references : []).flatMap(
    (reference) => textIn(objectIn(reference)?.tool_name) ?? [],
  );
}
