// The room of JSON Schema's keywords: which hold schemas, which rule values, which mean something only together.

import { partners } from "./removed.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

export const definitions: ReadonlySet<string> = words("$defs definitions");
/** Keywords that hold schemas by name, and all that hold any. */
export const maps: ReadonlySet<string> = words("patternProperties dependentSchemas $defs definitions");
export const holders: ReadonlySet<string> = words(
  "patternProperties dependentSchemas anyOf oneOf allOf not if then else contains propertyNames prefixItems additionalItems unevaluatedProperties unevaluatedItems",
);
/** Keywords told apart in a node of their own. */
export const structural: ReadonlySet<string> = words(
  "$ref type properties required items enum const additionalProperties",
);
/** Keywords that rule something by themselves. Others are words of some vendor: dropped where unknown, and no loss. */
export const rules: ReadonlySet<string> = words(
  "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minContains maxContains minProperties maxProperties dependentRequired dependencies $dynamicRef $recursiveRef",
);
export const valueWords: ReadonlySet<string> = words("const enum type title description default");

/** The keyword that another one only means something beside; undefined for one that stands alone. */
export function partnerOf(word: string): string | undefined {
  return Object.keys(partners).find((head) => partners[head]?.includes(word));
}
