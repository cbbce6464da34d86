// The room of refusals about the tool choice.
//
// Some models support tools but cannot be forced to call one, mostly those that think (F135). Some servers, and gateways that
// translate, do not know the choice that forbids calls, which a landing needs.

import { phrases } from "../patterns.ts";

/**
 * A refusal of the choice that forbids calls: it is the value that is wrong, or it is not among those that are right. A list
 * of what is right in which it stands is about another choice.
 */
export const refusesNone: RegExp = phrases(
  /\btool[_ ]?choice(?: (?:type|value|option))?[`'"\\:= ]{1,6}none\b(?!(?:[`'\\][`'"\\]*)?(?:,| or\b| and\b|[/|]))/,
  /[`'"]none[`'"\\]* is (?:not|un|in)[^{}]{0,60}\btool[_ ]?choice\b/,
  /\binvalid value:? [`'"\\]*none\b[^{}]{0,200}\btool_choice\b/,
  // Rust's, before the list of what is known.
  /\btool_choice\b[^{}]{0,40}\bunknown variant [`'"\\]*none\b/,
  // LiteLLM's, for a request in Anthropic's form.
  /\btool choice param submitted - \{[`'"\\]*type[`'"\\]*: ?[`'"\\]*none\b/,
  // Pydantic's, which repeats the value, and Anthropic's own.
  /\btool_choice\b[^{}]{0,200}[`'"\\]input[`'"\\]*: ?[`'"\\]*none\b/,
  /\btool_choice\b[^{}]{0,20}: input tag [`'"\\]*none\b/,
  /\btool_choice[\w.]*[`'"\\]*: input should be [`'"\\]*auto\b(?![^{}.]{0,80}\bnone\b)/,
  // Zod's.
  /\bexpected [`'"\\]*auto[`'"\\]* at [`'"\\]*[\w.]*\btool_choice\b(?![^{}]{0,400}\bnone\b)/,
);

/** A refusal of a forced call. OpenRouter answers 404: it knows no model that supports the tool choice. */
export const refusesForcing: RegExp = phrases(
  /(?:no endpoints found that support|(?:not|n't) support(?:ed)?|unsupported|incompatible|invalid|\bonly a)[^{}]{0,80}\btool[_ ]choice\b/,
  /\btool[_ ]choice\b[^{}]{0,80}(?:not (?:yet )?support|unsupported|incompatible|must (?:either )?be (?:a named tool|[`'"\\]*auto)|only[^{}]{0,20}auto|unknown variant [`'"\\]*(?:required|any|function)\b|one of the strings that should be[^{}]{0,20}\bauto\b(?![^{}]{0,30}\brequired\b))/,
);
