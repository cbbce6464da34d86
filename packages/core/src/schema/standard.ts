// The room of Standard Schemas: how one checks a value, and how it says itself as JSON Schema.
//
// Such a schema is user code: it may throw, change what it is given, or return somebody else's promise.

import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { invalidRequest, messageOf, RondoError } from "../errors.ts";
import { jsonCopy } from "../json/copy.ts";
import type { JsonObject } from "../message.ts";

/** The outcome of a check. */
export type Verdict = { ok: true; value: unknown } | { ok: false; error: string };

/** Whether it is a Standard Schema, or the function that makes one. */
export function isStandard(schema: object): schema is StandardSchemaV1 {
  return (
    typeof (schema as Partial<StandardSchemaV1>)["~standard"] === "object" || typeof schema === "function"
  );
}

export function standardVerdict(schema: StandardSchemaV1): (value: unknown) => Verdict | Promise<Verdict> {
  const verdictOf = (result: StandardSchemaV1.Result<unknown>): Verdict =>
    result.issues === undefined
      ? { ok: true, value: result.value }
      : { ok: false, error: issuesText(result.issues) };
  return (value) => {
    try {
      const result = schema["~standard"].validate(value);
      // A foreign promise has no issues yet either, and must not be taken for a valid result.
      return typeof (result as Partial<Promise<unknown>>)?.then === "function"
        ? Promise.resolve(result).then(verdictOf).catch(failed)
        : verdictOf(result as StandardSchemaV1.Result<unknown>);
    } catch (thrown) {
      return failed(thrown);
    }
  };
}

/** A schema is user code, and may change what it is given: the arguments that are recorded and approved stay as the model wrote them. */
export const onCopy =
  (verdict: ReturnType<typeof standardVerdict>): ReturnType<typeof standardVerdict> =>
  (value) =>
    verdict(typeof value === "object" ? jsonCopy(value) : value);

/** The outcome of a check that threw. */
export const failed = (thrown: unknown): Verdict => ({ ok: false, error: messageOf(thrown) });

function issuesText(issues: readonly StandardSchemaV1.Issue[]): string {
  return issues
    .map((issue) => {
      const path = (issue.path ?? [])
        .map((step) => String(typeof step === "object" ? step.key : step))
        .join(".");
      return path === "" ? issue.message : `${path}: ${issue.message}`;
    })
    .join("; ");
}

/** How to get JSON Schema from a library's schemas. */
const ways: { readonly [vendor: string]: string } = {
  zod: "make it with zod 4.2 or newer (before, and in zod/mini, z.toJSONSchema alone says it; zod 3 cannot), or put its JSON Schema beside it, or",
  arktype: "make it with arktype 2.1.29 or newer, or",
  valibot: "wrap it in toStandardJsonSchema of @valibot/to-json-schema, or",
  effect:
    "with effect 4 give Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(Schema.toCodecJson(schema))), or put its JSON Schema beside it, or",
};

/** A schema of arktype or effect is a function, and so is z.object; only the first says by itself that it is one. */
export function demandChecks(schema: StandardSchemaV1, owner: string): void {
  const standard: Partial<StandardSchemaV1["~standard"]> | undefined = schema["~standard"];
  if (typeof standard !== "object") {
    const said =
      "ast" in schema ? `not an effect schema: ${ways.effect} give a JSON Schema` : "not a function: call it";
    throw invalidRequest(`${owner}: a schema is needed, ${said}`);
  }
  if (typeof standard.validate !== "function")
    throw invalidRequest(
      `${owner}: this ${standard.vendor} schema cannot check values (it has no validate); ${ways[standard.vendor ?? ""] ?? ""} give a JSON Schema`,
    );
}

/** The JSON Schema of a Standard Schema. @throws RondoError `invalid_request` if it has none */
export function standardJson(schema: StandardSchemaV1, owner: string): JsonObject {
  const standard = schema["~standard"] as StandardSchemaV1["~standard"] &
    Partial<StandardJSONSchemaV1["~standard"]>;
  demandChecks(schema, owner);
  if (standard.jsonSchema === undefined)
    throw invalidRequest(
      `${owner}: this ${standard.vendor} schema cannot say itself as JSON Schema; ${ways[standard.vendor] ?? "put its JSON Schema beside it, or"} give a JSON Schema`,
    );
  try {
    const { $schema: _, ...json } = standard.jsonSchema.input({ target: "draft-2020-12" }) as JsonObject;
    return json;
  } catch (thrown) {
    throw new RondoError(
      "invalid_request",
      `${owner}: its ${standard.vendor} schema has no JSON Schema: ${messageOf(thrown)}. Let the model write what JSON has (a date as a text), and make the rest of it in a transform`,
      {
        cause: thrown,
      },
    );
  }
}
