// The room of removed rules: what a provider's schema could not express, in words.
//
// The loop validates arguments and answers against the original schema anyway. The words are for the model, so that it
// follows a rule that it would otherwise learn from an error.

import type { Json, JsonObject } from "@rondo/core";
import { isObject } from "../json-values.ts";

/** A rule that an adapted schema lacks. */
export interface Removed {
  /**
   * The keyword. For `if`, `contains` and `prefixItems`, `value` is an object that includes their partners. For a rule
   * inside alternatives, the keyword is `anyOf` or `oneOf` and the value is all alternatives.
   */
  type: string;
  /** Names joined by `.`, with `[]` after an array for its items: `orders[].price`. Empty: the value itself. */
  fieldPath: string;
  value: Json;
}

/** Keywords that belong together, by the first of them. */
export const partners: { readonly [word: string]: readonly string[] } = {
  if: ["if", "then", "else"],
  contains: ["contains", "minContains", "maxContains"],
  prefixItems: ["prefixItems", "items"],
};

/** A removed rule as the schema it was. */
export function ruleOf({ type, value }: Removed): JsonObject {
  return partners[type] !== undefined && isObject(value) ? value : { [type]: value };
}

/** One line per rule, for a prompt or a description. */
export function renderRemoved(removed: readonly Removed[]): string[] {
  return removed.map(line);
}

function line(rule: Removed): string {
  const { type, fieldPath, value } = rule;
  const name = fieldPath === "" ? "response" : fieldPath;
  const field = `The '${name}' field must`;
  const array = `The '${name}' array must`;
  const object = `The '${name}' object must`;
  const said = words(value);
  switch (type) {
    case "minimum":
      return `${field} be at least ${said}.`;
    case "maximum":
      return `${field} be at most ${said}.`;
    case "exclusiveMinimum":
      return `${field} be greater than ${said} (exclusive).`;
    case "exclusiveMaximum":
      return `${field} be less than ${said} (exclusive).`;
    case "multipleOf":
      return `${field} be a multiple of ${said}.`;
    case "minItems":
      return `${array} have at least ${said} item(s).`;
    case "maxItems":
      return `${array} have at most ${said} item(s).`;
    case "uniqueItems":
      return `${array} have no item twice.`;
    case "minLength":
      return `${field} be at least ${said} character(s) long.`;
    case "maxLength":
      return `${field} be at most ${said} character(s) long.`;
    case "pattern":
      return `${field} match the pattern: ${said}`;
    case "format":
      return `${field} be in ${said} format.`;
    case "minProperties":
      return `${object} have at least ${said} member(s).`;
    case "maxProperties":
      return `${object} have at most ${said} member(s).`;
    case "required":
      return `${object} have: ${Array.isArray(value) ? value.map(words).join(", ") : said}.`;
    case "enum":
      return `${field} be one of: ${Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join(", ") : said}.`;
    case "additionalProperties":
      return value === false
        ? `${object} have no other members than those named.`
        : `Other members of the '${name}' object must satisfy: ${JSON.stringify(value)}`;
    case "not":
      return `${field} not satisfy: ${JSON.stringify(value)}`;
    default:
      return `${field} satisfy: ${JSON.stringify(ruleOf(rule))}`;
  }
}

const words = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
