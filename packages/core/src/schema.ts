// The room of schemas: one way to check a value, whatever the schema was written in.
//
// A Standard Schema checks values itself and must be able to convert itself to JSON Schema. A JSON Schema is checked by an
// interpreter (without generated code, so it runs anywhere). Coercion is tried only after the value failed as it is.

import { type Schema as InterpretedSchema, Validator } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidRequest, messageOf, RondoError } from "./errors.ts";
import { jsonCopy } from "./json/copy.ts";
import type { Json, JsonObject } from "./message.ts";
import { coerce } from "./schema/coerce.ts";
import { hasPatterns, isForeign, linear, patternIn, withoutPatterns } from "./schema/foreign.ts";
import type { ArgumentsOf } from "./schema/inferred.ts";
import { leftOut, toCheckBy, wellFormedSchema } from "./schema/malformed.ts";
import { demandSchema, whyNoArguments } from "./schema/no-schema.ts";
import { fitsPlainly, type PlainSchema, plainSchema } from "./schema/plain.ts";
import {
  demandChecks,
  failed,
  isStandard,
  onCopy,
  standardJson,
  standardVerdict,
  type Verdict,
} from "./schema/standard.ts";
import { type UnknownKeys, unknownText, withoutUnknown } from "./schema/unknown-keys.ts";

/** A Standard Schema that can convert itself to JSON Schema, or a JSON Schema. */
export type SchemaLike =
  | StandardSchemaV1
  | { readonly type?: string; readonly [keyword: string]: unknown }
  | OfItsLibrary;

/** A JSON Schema of a library with an interface for each kind, such as TypeBox from 1.0: to the compiler it has no keywords but its own. */
type OfItsLibrary = { readonly type: string } | { readonly anyOf: readonly object[] };

/** The type a schema accepts. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : ArgumentsOf<S>;

/** The type of a checked value. That of a JSON Schema is inferred from its literals; without literals it is `JsonObject`. */
export type InferOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : ArgumentsOf<S>;

export type SchemaCheck = { ok: true; args: Json; value: unknown } | { ok: false; error: string };

/** How values are checked. */
export interface CheckHow {
  /** Coerce types as the schema asks, if nothing is lost, and only if the value fails as it is. */
  coerce: boolean;
  /** What happens to members that the schema does not name. `allow`: as the schema itself says. */
  unknownKeys: UnknownKeys;
}

export interface CompiledSchema {
  json: JsonObject;
  /** Invalid parts of the given schema, by their place, which are not in `json`. Absent: none. */
  leftOut?: readonly string[];
  /** @param how default: as compiled, unknown keys as the schema says */
  check(value: Json, how?: CheckHow): SchemaCheck | Promise<SchemaCheck>;
}

/**
 * Compiles a schema once.
 * @param owner is named in every error, e.g. `tool "weather"`
 */
export function compileSchema(
  schema: SchemaLike,
  owner: string,
  mayCoerce: boolean,
  wants: "object" | "any" = "object",
): CompiledSchema {
  const { json, lost } = jsonSchemaOf(schema, owner, wants);
  const isLate = isForeign(schema) && hasPatterns(json);
  const byHere = isStandard(schema) ? json : toCheckBy(json);
  const checked = isLate ? withoutPatterns(byHere) : byHere;
  const verdict = isStandard(schema)
    ? onCopy(standardVerdict(schema))
    : isLate
      ? foreignVerdict(byHere, owner)
      : interpretedVerdict(checked, owner);
  // A schema that names no members accepts any.
  const names = isStandard(schema) || (schema as JsonObject).properties !== undefined;
  return {
    json,
    ...(lost.length === 0 ? {} : { leftOut: lost }),
    check(given, how = { coerce: mayCoerce, unknownKeys: "allow" }) {
      const known = how.unknownKeys === "allow" || !names ? undefined : withoutUnknown(given, json);
      if (known !== undefined && known.unknown.length > 0 && how.unknownKeys === "reject")
        return { ok: false, error: unknownText(known.unknown, json) };
      const value = known?.value ?? given;
      const second = (first: Verdict): SchemaCheck | Promise<SchemaCheck> => {
        if (first.ok) return { ok: true, args: value, value: first.value };
        if (!how.coerce) return first;
        const coerced = coerce(value, checked);
        if (coerced === value) return first;
        return then(verdict(coerced), (again) =>
          again.ok ? { ok: true, args: coerced, value: again.value } : first,
        );
      };
      return then(verdict(value), second);
    },
  };
}

/**
 * Checks values against a schema that no model reads, so that it needs no JSON Schema. A JSON Schema checks what JSON keeps of the value.
 * @param owner named in every error, e.g. `the output schema of tool "weather"`
 */
export function checkerOf(schema: SchemaLike, owner: string): (value: unknown) => Verdict | Promise<Verdict> {
  if (isStandard(schema)) {
    demandChecks(schema, owner);
    return standardVerdict(schema);
  }
  const { check } = compileSchema(schema, owner, false, "any");
  return (value) => {
    try {
      const json = value === undefined ? null : jsonCopy(value, "the value");
      return then(check(json as Json), (checked) => (checked.ok ? { ok: true, value } : checked));
    } catch (thrown) {
      return failed(thrown);
    }
  };
}

/** Maps a value that may be a promise. If it is none, the result is none either. */
function then<A, B>(value: A | Promise<A>, map: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(map) : map(value);
}

function interpretedVerdict(json: JsonObject, owner: string): (value: Json) => Verdict {
  let validator: Validator;
  try {
    validator = new Validator(json as InterpretedSchema, "2020-12", false);
  } catch (thrown) {
    throw new RondoError(
      "invalid_request",
      `${owner}: the input schema cannot be used: ${messageOf(thrown)}`,
      {
        cause: thrown,
      },
    );
  }
  let plain: PlainSchema | undefined | "unread" = "unread";
  return (value) => {
    if (plain === "unread") plain = plainSchema(json);
    if (plain !== undefined && fitsPlainly(value, plain)) return { ok: true, value };
    try {
      const result = validator.validate(value);
      if (result.valid) return { ok: true, value };
      return { ok: false, error: leafErrors(result.errors) };
    } catch (thrown) {
      return failed(thrown);
    }
  };
}

/** The same with foreign patterns: created with the first value, because it needs another engine. */
function foreignVerdict(json: JsonObject, owner: string): (value: Json) => Promise<Verdict> {
  let made: Promise<(value: Json) => Verdict> | undefined;
  return async (value) => {
    made ??= linear(json).then((schema) => interpretedVerdict(schema, owner));
    return (await made)(value);
  };
}

interface Misfit {
  keyword: string;
  instanceLocation: string;
  error: string;
}

/** Keywords that only say that something below them does not fit. The error below says it better. */
const aboveLeaves = ["properties", "additionalProperties", "items", "allOf", "$ref"];

function leafErrors(errors: readonly Misfit[]): string {
  const leaves = errors.filter((one) => !aboveLeaves.includes(one.keyword));
  return (leaves.length > 0 ? leaves : errors)
    .map((one, at, all) => {
      const path = one.instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
      // The validator ends each with a full stop; here they are in one list.
      const said = at === all.length - 1 ? saidOf(one) : saidOf(one).replace(/\.$/, "");
      return path === "" ? said : `${path}: ${said}`;
    })
    .join("; ");
}

/** The validator's words. For an exclusive limit it would say that 0 is less than 0. */
function saidOf({ keyword, error }: Misfit): string {
  if (keyword === "false") return "not allowed";
  const pattern = keyword === "format" ? patternIn(error) : undefined;
  if (pattern !== undefined) return `String does not match pattern ${pattern}`;
  return keyword === "exclusiveMinimum"
    ? error.replace(" is less than ", " is less than or equal to ")
    : error;
}

function jsonSchemaOf(
  schema: SchemaLike,
  owner: string,
  wants: "object" | "any",
): { json: JsonObject; lost: string[] } {
  const given = isStandard(schema) ? standardJson(schema, owner) : (schema as JsonObject);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalidRequest(
      `${owner}: a schema (a Standard Schema, or a JSON Schema) is needed, not ${JSON.stringify(given)}`,
    );
  const unusable = isForeign(given) && wants === "object" ? whyNoArguments(given) : undefined;
  if (unusable !== undefined) return { json: { type: "object", properties: {} }, lost: [unusable] };
  if (!isStandard(schema)) demandSchema(given, owner);
  const json = isStandard(schema) ? given : wellFormedSchema(given);
  const lost = leftOut(given, json);
  if (wants === "any") return { json, lost };
  // Providers take only objects as arguments, so a null that the schema allows is left out.
  const type = Array.isArray(json.type) && json.type.includes("object") ? "object" : json.type;
  if (type !== undefined && type !== "object")
    throw invalidRequest(
      `${owner}: the input schema must have type "object", not ${JSON.stringify(json.type)}: give the value a name, as a member of an object`,
    );
  const isWhole = json.type === "object" && "properties" in json;
  return { json: isWhole ? json : { ...json, type: "object", properties: json.properties ?? {} }, lost };
}
