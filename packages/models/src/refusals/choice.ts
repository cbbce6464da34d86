// The room of refusals about the tool choice.
//
// Some models support tools but cannot be forced to call one, mostly those that think (F135).

import { phrases } from "../patterns.ts";

/** A refusal of a forced call. OpenRouter answers 404: it knows no model that supports the tool choice. */
export const refusesForcing: RegExp = phrases(
  /(?:no endpoints found that support|not support(?:ed)?|unsupported|incompatible|invalid|\bonly a)[^{}]{0,80}\btool[_ ]choice\b/,
  /\btool[_ ]choice\b[^{}]{0,80}(?:not (?:yet )?support|unsupported|incompatible|must (?:either )?be (?:a named tool|[`'"\\]*auto)|only[^{}]{0,20}auto)/,
);
