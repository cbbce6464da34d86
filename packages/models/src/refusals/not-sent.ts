// The room of refusals of something that was not sent.
//
// A backend may add a member to a request on its way, and then refuse it, at random: the same request passes a little
// later. What was sent is never meant here, nor what a gateway calls by another name inside a member.

import { objectIn, parseJson, textIn } from "../json-values.ts";

const refused: RegExp = /unknown|unsupported|not supported|unrecogni[sz]ed/i;
const named: RegExp = /\b(?:unknown|unsupported) parameter: [`'"\\]*(\w+)(?![\w.[])/i;

/** The member of a request that a refusal is about, if the request has none of this name. */
export function notSent(words: string, sent: string): string | undefined {
  if (!refused.test(words)) return undefined;
  const param = textIn(objectIn(objectIn(parseJson(words))?.error)?.param);
  const name = param !== undefined && /^\w+$/.test(param) ? param : named.exec(words)?.[1];
  return name === undefined || sent.includes(`"${name}"`) ? undefined : name;
}
