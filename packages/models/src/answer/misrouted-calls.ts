// The room of misrouted calls, as gateways tell them: twice, or with their arguments at another call's place.
//
// Nothing here makes a call whole. A call that was told once more is one call; a call whose arguments may have gone astray
// does not run without them, for empty arguments are arguments too.

import type { Json, Opaque } from "@rondo/core";
import { isNothing } from "./call-args.ts";

/** A call in the making, as far as it is looked at here. */
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
 * The calls that were told before. Under one id, or one signature, the same arguments for the same tool are one call, which
 * somebody passed on twice; without either nobody knows, and it is two.
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

/** A call without arguments must not run where some came that are nobody's, or where another call has those of two. */
export function faultWithoutArgs(calls: readonly ToldCall[], stray: boolean): void {
  const bare = calls.filter(isBare);
  if (bare.length === 0 || !(stray || calls.some((call) => holdsTwo(argsOf(call))))) return;
  for (const call of bare) call.fault = astray;
}

const argsOf = (call: ToldCall): string => call.pieces.join("");

/** Whether no arguments came, or an empty object. Long ones are not put together to find out. */
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
    return true;
  }
}
