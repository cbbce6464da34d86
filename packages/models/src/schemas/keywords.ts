// The room of JSON Schema's keywords: which contain schemas, which constrain values, which only mean something together.

import { partners } from "./removed.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

export const definitions: ReadonlySet<string> = words("$defs definitions");
/** Keywords that contain schemas by name, and all that contain any. */
export const maps: ReadonlySet<string> = words("patternProperties dependentSchemas $defs definitions");
export const holders: ReadonlySet<string> = words(
  "patternProperties dependentSchemas anyOf oneOf allOf not if then else contains propertyNames prefixItems additionalItems unevaluatedProperties unevaluatedItems",
);
/** Keywords that the conversion of a node handles separately. */
export const structural: ReadonlySet<string> = words(
  "$ref type properties required items enum const additionalProperties",
);
/** Keywords that constrain something by themselves. All others are some vendor's: dropped where unknown, which is no loss. */
export const rules: ReadonlySet<string> = words(
  "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minContains maxContains minProperties maxProperties dependentRequired dependencies $dynamicRef $recursiveRef",
);
export const valueWords: ReadonlySet<string> = words("const enum type title description default");

/** The keyword without which another one means nothing; undefined for one that stands alone. */
export function partnerOf(word: string): string | undefined {
  return Object.keys(partners).find((head) => partners[head]?.includes(word));
}
