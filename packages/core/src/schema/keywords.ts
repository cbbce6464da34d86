// The room of a schema's keywords: what a type may be, and those behind which further schemas stand, and how they stand there.

/** What a `type` may be. */
export const typeWords: ReadonlySet<unknown> = new Set(
  "object array string number integer boolean null".split(" "),
);

/** One schema, or, in older drafts, a list of them. */
export const oneSchema: ReadonlySet<string> = new Set(
  "items additionalProperties additionalItems contains propertyNames unevaluatedProperties unevaluatedItems not if then else".split(
    " ",
  ),
);

export const listOfSchemas: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

/** Schemas by names of somebody's own, which may be any of these words. */
export const schemasByName: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
