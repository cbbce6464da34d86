// The room of refusals about a schema. For typed output: a server that accepts no schema, a model that accepts none together
// with tools, a schema too large for a grammar (F142). For a tool: a keyword that the server's dialect of JSON Schema does
// not have (F137).
//
// Typed output can be requested in other ways, which the loop chooses; a tool's schema can be sent with fewer rules.

/** The schema's field in each protocol, and other names for it. In one protocol the effort is in the same object. */
const field: RegExp =
  /\bresponse[ _]?format\b|\bjson[ _]?schema\b|\bresponse[ _]?(?:json[ _]?)?schema\b|\bresponse[ _]?mime[ _]?type\b|\boutput[ _]?format\b|\boutput[ _]?config\b(?!\.effort)|\bstructured[ _]outputs?\b|\bjson[ _]mode\b|\btext\.format\b|\bcompiled grammar\b|\bspecified schema\b|\bschema(?= is too complex\b)|\bschema in generation_?config\b|\binvalid format\b/gi;
const refused: RegExp =
  /unsupported|not (?:be )?(?:supported|permitted|allowed|enabled|available)|(?:not|n't) support|unavailable|only (?:available|enabled)|is enabled only|unknown|unrecogni[sz]ed|extra inputs|extraneous|invalid|too (?:large|complex|many|deep)|(?:cannot|can't) be (?:combined|used)|must be\b|exceeds the maximum allowed nesting/i;
/** Tools have schemas as well; requesting the output in another way would not help there. */
const ofTools: RegExp =
  /\btools?(?:[.[]\d|\.function\b)|\binput_?schema\b|\bfor function\b|\bfunction_?declarations?\b/i;
/** A grammar that some servers fail to compile. If it was a tool's, the output is requested in another way once, in vain. */
const noGrammar: RegExp = /failed to parse grammar|schema conversion failed|failed to initialize samplers/i;
/** A server without grammars, or without this kind: it can force nothing, neither a call, nor its arguments, nor the output. */
const lacksGrammars: RegExp =
  /\bgrammar-based generation\b[^{}]{0,120}\bnot supported\b|\binvalid grammar specification\b|\b(?:guided|constrained) (?:decoding|generation)\b[^{}]{0,60}\bnot (?:supported|enabled|available)\b/i;
/** Groq's phrase for a model that did not follow the schema. */
const notKept: RegExp = /\bfailed to (?:generate|validate) json\b/i;
/** Tool schemas that the server's grammar, or its flavour of JSON Schema, cannot express (F137, F142). */
const toolSchema: RegExp =
  /failed to parse grammar|error parsing grammar|\blook-?(?:around|ahead|behind)\b|schema conversion failed|unrecognized schema\b|pattern must start with|invalid json schema for tool\b|json schema not supported|unsupported json schema fields|(?:schema|grammar)[^{}]{0,60}(?:features? )?not supported by (?:xgrammar|outlines|guidance)|invalid schema for function\b|\btools\[\d+\]\.function\.parameters\b[^{}]{0,40}unsupported|\bparameters[`'"\\]* is not a valid\b[^{}]{0,40}schema/i;
/** The most characters between the refused thing and the reason. */
const near = 120;

/** Whether a server failed because of a grammar, with whatever status it reports that. */
export const failsGrammar = (words: string): boolean => noGrammar.test(words) || refusesGrammars(words);

/** Whether a server can force neither a call nor its arguments. */
export const refusesGrammars = (words: string): boolean => lacksGrammars.test(words);

/** Whether a server of OpenAI's protocols complains about a tool's schema. */
export const refusesToolSchema = (words: string): boolean => toolSchema.test(words);

/** Whether a refusal complains about the output schema. */
export function refusesSchema(words: string): boolean {
  if (failsGrammar(words) || notKept.test(words)) return true;
  if (ofTools.test(words)) return false;
  for (const { 0: found, index } of words.matchAll(field))
    if (refused.test(words.slice(Math.max(0, index - near), index + found.length + near))) return true;
  return false;
}
