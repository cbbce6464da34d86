// The room of refusals about a schema. For typed output: a server that accepts no schema, a model that accepts none together
// with tools, a schema too large for a grammar (F142). For a tool: a keyword that the server's dialect of JSON Schema does
// not have (F137).
//
// Typed output can be requested in other ways, which the loop chooses; a tool's schema can be sent with fewer rules.

import type { Json } from "@rondo/core";
import { anyOf, phrases } from "../patterns.ts";
import { isNear } from "./near.ts";

/** The schema's field in each protocol, and other names for it. In one protocol the effort is in the same object. */
const field: RegExp = anyOf(
  "gi",
  /\bresponse[ _]?format\b/,
  /\bjson[ _]?schema\b/,
  /\bresponse[ _]?(?:json[ _]?)?schema\b/,
  /\bresponse[ _]?mime[ _]?type\b/,
  /\boutput[ _]?format\b/,
  /\boutput[ _]?config\b(?!\.effort)/,
  /\bstructured[ _]outputs?\b/,
  /\bjson[ _]mode\b/,
  /\btext\.format\b/,
  /\bcompiled grammar\b/,
  /\bspecified schema\b/,
  /\bschema(?= is too complex\b)/,
  /\bschema in generation_?config\b/,
  /\binvalid format\b/,
);
const refused: RegExp = phrases(
  /unsupported/,
  /not (?:be )?(?:supported|permitted|allowed|enabled|available)/,
  /(?:not|n't) support/,
  /unavailable/,
  /only (?:available|enabled)/,
  /is enabled only/,
  /unknown/,
  /unrecogni[sz]ed/,
  /extra inputs/,
  /extraneous/,
  /invalid/,
  /too (?:large|complex|many|deep)/,
  /(?:cannot|can't) be (?:combined|used)/,
  /must (?:be|contain)\b/,
  /input should be\b/,
  /is not one of\b/,
  /exceeds the maximum allowed nesting/,
);
/** Tools have schemas as well; requesting the output in another way would not help there. */
const ofTools: RegExp =
  /\btools?(?:[.[]\d|\.function\b)|\binput_?schema\b|\bfor function\b|\bfunction_?declarations?\b/i;
/** A router that has no server for the request; one without a schema may have some. */
const noServer: RegExp = /\bno endpoints found that can handle the requested parameters\b/i;
/** What llama.cpp, vLLM, SGLang and llguidance say of a schema that they make no grammar of. */
const ungrammatical: RegExp = phrases(
  /failed to parse grammar/,
  /\bgrammar error: /,
  /\bunimplemented keys\b/,
  /failed to compile \w+ grammar/,
  /\bgrammar (?:preprocessing|compilation) (?:timed out|failed)/,
  /schema conversion failed/,
);
/** A grammar that some servers fail to compile, or have no words for (Ollama). If it was a tool's, the output is requested in another way once, in vain. */
const noGrammar: RegExp = phrases(
  ungrammatical,
  /failed to initialize samplers/,
  /vocabulary required for format/,
);
/** A server without grammars, or without this kind: it can force nothing, neither a call, nor its arguments, nor the output. */
const lacksGrammars: RegExp = phrases(
  /\bgrammar-based generation\b[^{}]{0,120}\bnot supported\b/,
  /\binvalid grammar specification\b/,
  /\b(?:guided|constrained) (?:decoding|generation)\b[^{}]{0,60}\bnot (?:supported|enabled|available)\b/,
);
/** Groq's phrase for a model that did not follow the schema. */
const notKept: RegExp = /\bfailed to (?:generate|validate) json\b/i;
/** Tool schemas that the server's grammar, or its flavour of JSON Schema, cannot express (F137, F142). */
const toolSchema: RegExp = phrases(
  ungrammatical,
  /error parsing grammar/,
  /\blook-?(?:around|ahead|behind)\b/,
  /unrecognized schema\b/,
  /pattern must start with/,
  /invalid json schema for tool\b/,
  /json schema not supported/,
  /unsupported json schema fields/,
  /(?:schema|grammar)[^{}]{0,60}(?:features? )?not supported by (?:xgrammar|outlines|guidance)/,
  /invalid schema for function\b/,
  /\btools\[\d+\]\.function\.parameters\b[^{}]{0,40}unsupported/,
  /\bparameters[`'"\\]* is not a valid\b[^{}]{0,40}schema/,
  /\bresolving schema reference\b/,
  /\bconflict in schema definitions\b/,
  // Google's path, whatever follows: gateways hand on its words.
  /\bfunction_?declarations\[[^\]]{1,9}\]\.parameters\b/,
);
/** A place in a tool's schema, as a path (Pydantic's lists, Go's members, Amazon's names) or as people put it. */
const toolPlace: RegExp = anyOf(
  "gi",
  /\btools?[`'"\\\].[,\s]+(?:\d+[`'"\\\].[,\s]+)?(?:\w+[`'"\\\].[,\s]+){0,2}(?:parameters|input_?schema)\b/,
  /\btoolSpec\.inputSchema\b/,
  /\binput_?schema\b/,
  /\btool(?:'s)? (?:\w+ )?schemas?\b/,
  /\b(?:function|tool) parameters? (?:json )?schema\b/,
  /\bschema (?:for|of) (?:the )?(?:tool|function)\b/,
);
const wrong: RegExp = phrases(
  /unsupported/,
  /not (?:supported|permitted|allowed|defined|specified|valid|a valid)/,
  /(?:not|n't) support/,
  /\binvalid\b/,
  /illegal/,
  /unknown/,
  /unrecogni[sz]ed/,
  /cannot unmarshal/,
  /expected \w+, (?:received|got|but)/,
  /\w+ found, \w+ expected/,
  /must (?:be|have|match|not)\b/,
  /should be\b/,
  /too (?:complex|deep|large)/,
  /参数有误/,
  /非法/,
);
/** A keyword that a server does not have, without saying where. */
const noKeyword: RegExp = /\bunsupported[_ ]keyword/i;
/** A template that computes with each place's type as with one word: Gemma's, in the words of llama.cpp, LM Studio and Python, and Doubao's. */
const noTypeWord: RegExp = phrases(
  /\bfilter [`'"\\]*(?:upper|lower)[`'"\\]* (?:for|to) type:? (?:array|undefined|none|null)/,
  /\b(?:list|dict) object[`'"\\]* has no attribute [`'"\\]*(?:upper|lower)\b/,
  /\binvalid function format: unhashable type\b/,
);
/** A place without a type, or with several, where Moonshot and others require one in each. */
const noType: RegExp = phrases(
  noTypeWord,
  /\btype[`'"\\]*(?: key| field)? (?:is|was) not (?:defined|specified|set)/,
  /\bmust have an? [`'"\\]*type\b/,
  /\.type\b[^{}]{0,4}: must be specified/,
  /\bschema type field\b/,
  /\bmissing (?:an? )?[`'"\\]*type\b/,
);
/** Whether a server failed because of a grammar, with whatever status it reports that. */
export const failsGrammar = (words: string): boolean => noGrammar.test(words) || refusesGrammars(words);

/** The server does not know strict tools, or the field that requests them, or wants all tools alike (F140, F142). */
export const refusesStrict: RegExp = phrases(
  /\bstrict\b[^{}]{0,60}(?:not (?:supported|permitted|allowed)|unsupported|unknown field)/,
  /(?:unknown|unrecogni[sz]ed|unsupported|extra_forbidden|extra inputs)[^{}]{0,80}\bstrict\b/,
);

/** Whether a server can force neither a call nor its arguments. */
export const refusesGrammars = (words: string): boolean => lacksGrammars.test(words);

/**
 * How plain the schemas of tools have to be for a server that complains about one (the quirk `plainSchemas`); undefined if it
 * does not, or already gets them like that.
 */
export function plainerSchemas(words: string, now: Json | undefined): true | "typed" | undefined {
  if (now === "typed" || !refusesToolSchema(words)) return undefined;
  if (noType.test(words)) return "typed";
  return now === true ? undefined : true;
}

const refusesToolSchema = (words: string): boolean =>
  toolSchema.test(words) ||
  noKeyword.test(words) ||
  noTypeWord.test(words) ||
  isNear(toolPlace, wrong, words);

/** Whether a refusal complains about the output schema. */
export function refusesSchema(words: string): boolean {
  if (failsGrammar(words) || notKept.test(words) || noServer.test(words)) return true;
  if (ofTools.test(words)) return false;
  return isNear(field, refused, words);
}
