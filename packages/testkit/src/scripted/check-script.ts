// The room of the script's check: what is no turn is told by its place, before anything is played.
//
// Whoever writes JavaScript, or comes from a script file, where a text is speech, would else learn of it in the middle
// of a run, or take it for a model that has nothing to say.

import { RondoError } from "@rondo/core";
import { isObject } from "../json.ts";
import { clipped } from "../text.ts";
import type { Act } from "./turns.ts";

const acts: { readonly [act in Act["act"]]: true } = {
  part: true,
  call: true,
  stop: true,
  usage: true,
  emit: true,
  late: true,
  misorder: true,
  tick: true,
  gate: true,
  fail: true,
  throw: true,
};

/** Something that a word of the script has made. */
export const isAct = (value: unknown): value is Act =>
  isObject(value) && typeof value.act === "string" && Object.hasOwn(acts, value.act);

/**
 * Looks at every turn of a list. A turn that a function makes is looked at when it was made.
 * @param isWord whether a thing that is no list is a word of this script
 * @throws RondoError `invalid_request` naming the first place that is no turn, and what makes one
 */
export function checkScript(
  whose: string,
  script: readonly unknown[],
  isWord: (value: unknown) => boolean,
): void {
  for (const [at, turn] of script.entries())
    if (typeof turn !== "function") checkTurn(`${whose}: script[${at}]`, turn, isWord);
}

/** Looks at one turn. @param place where it stands, in words: `scripted: script[2]` */
export function checkTurn(place: string, turn: unknown, isWord: (value: unknown) => boolean): void {
  const parts = isAct(turn) && turn.act === "misorder" ? turn.turn : turn;
  if (!Array.isArray(parts)) {
    if (!isWord(turn)) throw noTurn(place, turn);
    return;
  }
  for (const [at, one] of parts.entries()) checkTurn(`${place}[${at}]`, one, isWord);
}

/** What to say of something in a script that is no turn. */
export function noTurn(place: string, given: unknown): RondoError {
  const said = isObject(given) ? given.say : given;
  const way =
    typeof said === "string"
      ? `say(${JSON.stringify(clipped(said, 40))})`
      : "say(…), call(…) or a list of them";
  return new RondoError("invalid_request", `${place} is ${shown(given)}, and no turn: ${way} makes one`);
}

function shown(given: unknown): string {
  if (typeof given === "function") return "a function inside of a turn";
  if (given instanceof Promise) return "a promise";
  try {
    return clipped(JSON.stringify(given) ?? String(given), 60);
  } catch {
    return `a ${typeof given}`;
  }
}
