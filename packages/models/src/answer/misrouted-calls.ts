// The room of calls that gateways mix up: sent twice, or with their arguments under another call's index.
//
// Nothing here completes a call. A call sent twice counts once. A call whose arguments may have gone astray does not run
// without them, because empty arguments could be valid ones.

import type { Json, Opaque } from "@rondo/core";
import { isNothing, meantArgs } from "./call-args.ts";

/** A call while it arrives; only the members used here. */
interface ToldCall {
  readonly id: string;
  readonly name: string;
  readonly pieces: readonly string[];
  readonly opaque?: Opaque;
  /** Why it must not run. */
  fault?: string;
}

const astray =
  "its arguments came apart from it, so that some may be another call's: make the call again, with all its arguments";

/**
 * The repeated calls. The same tool, arguments and id (or signature) twice are one call that was passed on twice; without
 * an id or a signature that cannot be known, and they are two calls.
 */
export function toldTwice<K>(calls: readonly (readonly [K, ToldCall])[]): K[] {
  const told = new Map<Json, ToldCall[]>();
  const again: K[] = [];
  for (const [key, call] of calls) {
    const mark = call.id || call.opaque?.thoughtSignature;
    if (!mark) continue;
    const before = told.get(mark);
    if (before === undefined) told.set(mark, [call]);
    else if (before.some((one) => one.name === call.name && argsOf(one) === argsOf(call))) again.push(key);
    else before.push(call);
  }
  return again;
}

/**
 * Marks calls without arguments as faulty if some arguments belong to no call, or to one without a name, or another call has
 * the arguments of two.
 */
export function faultWithoutArgs(calls: readonly ToldCall[], stray: boolean): void {
  const bare = calls.filter(isBare);
  const isStray = (call: ToldCall): boolean => call.name === "" && !bare.includes(call);
  if (bare.length === 0) return;
  if (!(stray || calls.some((call) => isStray(call) || holdsTwo(argsOf(call))))) return;
  for (const call of bare) call.fault = astray;
}

const argsOf = (call: ToldCall): string => call.pieces.join("");

/** Whether a call has no arguments, or an empty object. Long ones are not joined to find out. */
function isBare(call: ToldCall): boolean {
  if (call.pieces.some((piece) => piece.trim().length > 2)) return false;
  const args = argsOf(call);
  return args === "{}" || isNothing(args);
}

function holdsTwo(text: string): boolean {
  if (!/\}\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return meantArgs(text) === undefined;
  }
}
