// The room of regular expressions in schemas: which ones only JavaScript's engine can match.
//
// A provider makes a grammar of a pattern, and a grammar cannot look around or refer back. zod 4 and arktype write such
// patterns for common texts (an e-mail address, a number), and one of them fails the whole request.

import type { Json } from "@rondo/core";

const special = /\\.|[[\]]|\(\?<?[=!]/gs;

/** Whether a pattern has neither lookaround nor backreferences. What is no text counts as having none. */
export function isRegular(pattern: Json): boolean {
  if (typeof pattern !== "string") return true;
  let inClass = false;
  for (const [found] of pattern.matchAll(special))
    if (found === "[") inClass = true;
    else if (found === "]") inClass = false;
    else if (!inClass && (found.startsWith("(") || /[1-9k]/.test(found))) return false;
  return true;
}

/** Whether an irregular pattern may be anywhere in a schema: quick, and never wrongly false. */
export const mayBeIrregular = (schema: Json): boolean => /\(\?<?[=!]|\\\\[1-9k]/.test(JSON.stringify(schema));

/** Whether a pattern also asks nothing about word boundaries, which Anthropic's grammars do not have. */
export const isPlain = (pattern: Json): boolean =>
  isRegular(pattern) && (typeof pattern !== "string" || !/\\b|\\B/.test(pattern.replaceAll("\\\\", "")));
