// The room of a schema's keywords: the valid types, the keywords that contain schemas, by how they contain them, and those that contain data.

/** The valid values of `type`. */
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

/** Schemas by names that the author chose, which may equal any of these keywords. */
export const schemasByName: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** Values that only look like schemas. */
export const dataWords: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
