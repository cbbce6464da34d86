// The room of conversion: one walk through a schema, whatever the dialect.
//
// Every rule that is lost is recorded, so that the converted schema and the recorded rules together are never wider than
// the original. Members, items, parts of an `allOf`, references and a lone alternative keep their path; a rule lost
// anywhere else (in one of several alternatives, in a condition) is recorded as the whole keyword it was in. What is sent
// may be narrower: objects are closed, cycles cut. If the model then cannot write what the tool would accept, `narrowed`
// has the path.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import { alternativesOf, type Trail, type Walk } from "./alternatives.ts";
import { Cycles } from "./cycles.ts";
import type { Dialect } from "./dialects.ts";
import { definitions, holders, maps, partnerOf, rules, structural } from "./keywords.ts";
import { Losses } from "./losses.ts";
import { merge, valuesOf } from "./merge.ts";
import { annotations, meta, objectOf, pointed, same, typesOf } from "./node.ts";
import type { Removed } from "./removed.ts";
import { isArrayType, isObjectType, only, orNull } from "./types.ts";

export interface Converted {
  schema: Json;
  removed: Removed[];
  /** Paths where the schema accepts less than the original. */
  narrowed: string[];
}

/** References that fan out would grow without end: after this many nodes each further one becomes a permissive object. */
const maxNodes = 2000;
/** References that stay are followed to find lost rules, at most this many times in all. */
const maxFollowed = 200;
const maxDepth = 24;

/** Converts one schema to one dialect. The input is never changed. */
export function convert(schema: Json, dialect: Dialect, optional: "nullable" | "required"): Converted {
  const conversion = new Conversion(schema, dialect, optional);
  return {
    schema: conversion.node(schema, "", []),
    removed: conversion.losses.removed,
    narrowed: conversion.losses.narrowed,
  };
}

class Conversion implements Walk {
  readonly losses: Losses;
  readonly root: Json;
  readonly dialect: Dialect;
  readonly #optional: "nullable" | "required";
  readonly #circles: Cycles;
  #nodesLeft = maxNodes;
  #followsLeft = maxFollowed;

  constructor(root: Json, dialect: Dialect, optional: "nullable" | "required") {
    this.root = root;
    this.dialect = dialect;
    this.losses = new Losses(dialect.silent);
    this.#optional = optional;
    this.#circles = new Cycles(root);
  }

  node(given: Json, path: string, trail: Trail): Json {
    const dialect = this.dialect;
    if (!isObject(given)) {
      if (dialect.open) return given;
      if (given === false) this.losses.lose("not", path, {});
      return this.#typed({}, path);
    }
    const inlines = dialect.references === "inline";
    if ((inlines && --this.#nodesLeft < 0) || trail.length > maxDepth) {
      this.losses.lose("allOf", path, [given]);
      return this.#typed({ ...dialect.recursion, ...this.meta(given) }, path);
    }
    const settled = this.#settled(given, path, trail, inlines);
    if (!("node" in settled)) return settled.cut;
    const { node, refs } = settled;
    const inner = [...trail, ...refs];
    if (typeof node.$ref === "string") return this.#reference(node, node.$ref, path, inner);
    return alternativesOf(this, node, path, inner) ?? this.plain(node, path, inner);
  }

  /** The node with references inlined (if the dialect needs that) and `allOf` merged; `cut` if it contains itself or points nowhere. */
  #settled(
    given: JsonObject,
    path: string,
    trail: Trail,
    inline: boolean,
  ): { node: JsonObject; refs: string[] } | { cut: JsonObject } {
    let node = given;
    // The node with the reference: a definition may itself be one.
    let holder: Json = given;
    const refs: string[] = [];
    while (inline && typeof node.$ref === "string") {
      const { $ref, ...beside } = node;
      const found = pointed(this.root, $ref);
      if (found === undefined || this.#circles.has($ref, holder, trail) || refs.includes($ref)) {
        this.losses.lose("$ref", path, $ref);
        this.losses.loseAll(beside, path);
        const { recursion } = this.dialect;
        const bare = found !== undefined && Object.keys(recursion).length === 0;
        return { cut: bare ? {} : { ...recursion, ...this.meta(node) } };
      }
      const merged = merge(beside, found === false ? { not: {} } : objectOf(found));
      if (merged.clash) this.losses.lose("$ref", path, $ref);
      refs.push($ref);
      node = merged.node;
      holder = found;
    }
    if (!Array.isArray(node.allOf) || this.dialect.unions.includes("allOf")) return { node, refs };
    const { allOf, ...rest } = node;
    let whole: JsonObject = rest;
    let clash = false;
    for (const part of listIn(allOf)) {
      if (part === true) continue;
      const followed = isObject(part) && --this.#nodesLeft >= 0;
      const settled = followed ? this.#settled(part, path, [...trail, ...refs], true) : undefined;
      if (settled === undefined || !("node" in settled)) {
        clash = true;
        continue;
      }
      const merged = merge(whole, settled.node);
      whole = merged.node;
      refs.push(...settled.refs);
      clash ||= merged.clash;
    }
    if (clash) this.losses.lose("allOf", path, allOf as Json);
    return { node: whole, refs };
  }

  /** A reference that stays. It is followed all the same, to find the rules that its definition loses. */
  #reference(node: JsonObject, ref: string, path: string, trail: Trail): Json {
    const { open } = this.dialect;
    const { $ref: _, ...beside } = node;
    const found = pointed(this.root, ref);
    const lasting = open || /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/.test(ref);
    if (found === undefined || (!lasting && trail.includes(ref))) {
      this.losses.lose("$ref", path, ref);
      if (!open) this.losses.loseAll(beside, path);
      return open ? node : this.#typed(this.meta(node), path);
    }
    if (!lasting) {
      const merged = merge(beside, objectOf(found));
      if (merged.clash) this.losses.lose("$ref", path, ref);
      return this.node(merged.node, path, [...trail, ref]);
    }
    if (trail.includes(ref)) this.losses.circle(path, ref);
    else if (--this.#followsLeft < 0) this.losses.lose("$ref", path, ref);
    else if (trail.every((followed) => followed === ""))
      this.losses.following(() => this.node(found, path, [...trail, ref]));
    else this.node(found, path, [...trail, ref]);
    if (open) return { ...objectOf(this.node(beside, path, trail)), $ref: ref };
    this.losses.loseAll(beside, path);
    const told = this.meta(node);
    if (!this.dialect.referencesAlone || Object.keys(told).length === 0) return { ...told, $ref: ref };
    return { ...told, anyOf: [{ $ref: ref }] };
  }

  plain(node: JsonObject, path: string, trail: Trail): Json {
    const dialect = this.dialect;
    const out: JsonObject = {};
    const types = typesOf(node);
    const real = dialect.nulls === undefined ? types : types.filter((type) => type !== "null");
    if (real.length > 1 && !dialect.typeLists) {
      const variants = real.map((type) => this.plain(only(type, node), path, trail));
      return this.nulled({ ...this.meta(node), anyOf: variants }, this.#takesNull(node, types));
    }
    if (node.type !== undefined) {
      if (dialect.nulls === undefined || (real.length === 0 && dialect.open)) out.type = node.type;
      else if (real.length > 0) out.type = real.length === 1 ? (real[0] as string) : real;
      else this.losses.lose("type", path, node.type);
    }
    this.#values(node, out, path);
    this.#members(node, out, path, trail);
    this.#items(node, out, path, trail);
    const others = Object.entries(node).flatMap(([word, value]): [string, Json][] => {
      if (structural.has(word)) return [];
      const kept = this.#other(word, value, node, path, trail);
      return kept === undefined ? [] : [[word, kept]];
    });
    const whole = { ...Object.fromEntries(others), ...out };
    return this.#typed(this.nulled(whole, this.#takesNull(node, types)), path);
  }

  #takesNull(node: JsonObject, types: readonly string[]): boolean {
    const values = valuesOf(node);
    if (values === undefined) return types.includes("null");
    return values.includes(null) && (types.length === 0 || types.includes("null"));
  }

  nulled(out: JsonObject, nullable: boolean): JsonObject {
    return nullable && this.dialect.nulls === "nullable" ? { ...out, nullable: true } : out;
  }

  #values(node: JsonObject, out: JsonObject, path: string): void {
    const { constants, enums } = this.dialect;
    const values = valuesOf(node);
    if (node.const !== undefined && node.enum !== undefined && !constants)
      this.losses.lose("enum", path, node.enum);
    if (enums === "any") {
      if (node.const !== undefined && !constants) out.enum = [node.const];
      else {
        if (node.const !== undefined) out.const = node.const;
        if (node.enum !== undefined) out.enum = node.enum;
      }
      return;
    }
    if (values === undefined) return;
    const told = values.filter((value) => value !== null && value !== "");
    const strings = told.length > 0 && told.every((value) => typeof value === "string");
    if (strings && (out.type === undefined || out.type === "string")) {
      out.type = "string";
      out.enum = told;
      return;
    }
    this.losses.lose("enum", path, values);
    if (told.length === 0) return;
    const kinds = new Set(told.map((value) => typeof value));
    if (node.type === undefined && kinds.size === 1 && typeof told[0] !== "object") out.type = typeof told[0];
    if (this.dialect.allows("description", "")) {
      const said = `One of: ${told.map((value) => JSON.stringify(value)).join(", ")}`;
      out.description = typeof node.description === "string" ? `${node.description} ${said}` : said;
    }
  }

  /** Members of objects. Their names are data, whatever they are. */
  #members(node: JsonObject, out: JsonObject, path: string, trail: Trail): void {
    const { open, closed, allRequired } = this.dialect;
    // Members constrain nothing if the value is not an object.
    const named = isObject(node.properties) && (open || out.type === undefined || isObjectType(out.type));
    const properties = named
      ? Object.entries(node.properties as JsonObject).map(
          ([name, schema]) =>
            [name, this.node(schema, path === "" ? name : `${path}.${name}`, [...trail, ""])] as const,
        )
      : [];
    if (open) {
      if (named) out.properties = Object.fromEntries(properties);
      if (node.required !== undefined) out.required = node.required;
    } else {
      if (named && node.type === undefined) out.type = "object";
      const known = new Set(properties.map(([name]) => name));
      const required = listIn(node.required).filter((name): name is string => typeof name === "string");
      const ghosts = required.filter((name) => !known.has(name));
      if (ghosts.length > 0) this.losses.lose("required", path, ghosts);
      if (allRequired && isObjectType(out.type)) {
        const told = new Set(required);
        const loose = this.#optional === "nullable";
        out.properties = Object.fromEntries(
          properties.map(([name, schema]) => [name, loose && !told.has(name) ? orNull(schema) : schema]),
        );
        out.required = [...known].sort();
      } else {
        // Google refuses an empty list of members.
        const told = properties.length > 0 || this.dialect.nulls !== "nullable";
        if (named && told) out.properties = Object.fromEntries(properties);
        const real = required.filter((name) => known.has(name));
        if (real.length > 0) out.required = real;
      }
    }
    this.#others(node, out, path, trail, closed && isObjectType(out.type));
  }

  /** Unnamed members: a closed dialect accepts none, even if the original does. */
  #others(node: JsonObject, out: JsonObject, path: string, trail: Trail, closed: boolean): void {
    const { additionalProperties: given } = node;
    if (closed) {
      out.additionalProperties = false;
      const free = given === undefined ? !isObject(node.properties) : given !== false;
      if (free || node.patternProperties !== undefined) this.losses.narrowed.push(path);
    } else if (given !== undefined) {
      if (this.dialect.nests("additionalProperties"))
        out.additionalProperties = this.losses.within("additionalProperties", given, path, () =>
          this.node(given, path, [...trail, ""]),
        );
      else if (given !== true) this.losses.lose("additionalProperties", path, given);
    }
  }

  #items(node: JsonObject, out: JsonObject, path: string, trail: Trail): void {
    const { open, typed } = this.dialect;
    const { items } = node;
    const depth = [...trail, ""];
    if (Array.isArray(node.prefixItems) && !this.dialect.nests("prefixItems")) {
      this.#tuple(node.prefixItems, items, node, out, path, depth);
      this.losses.lose("prefixItems", path, node.prefixItems, node);
      return;
    }
    if (open) {
      if (Array.isArray(items))
        out.items = this.losses.within("items", items, path, () =>
          items.map((one) => this.node(one, `${path}[]`, depth)),
        );
      else if (items !== undefined) out.items = this.node(items, `${path}[]`, depth);
      return;
    }
    if (Array.isArray(items)) {
      this.#tuple(items, node.additionalItems, node, out, path, depth);
      this.losses.lose("items", path, items);
      return;
    }
    if (items !== undefined && node.type === undefined && out.type === undefined) out.type = "array";
    if (!isArrayType(out.type)) return;
    if (items !== undefined || typed === "always") out.items = this.node(items ?? {}, `${path}[]`, depth);
    this.#itemsTyped(out, path);
  }

  /** A tuple, for dialects without them: a list whose items may be anything that one of its places accepts. */
  #tuple(
    places: readonly Json[],
    rest: Json | undefined,
    node: JsonObject,
    out: JsonObject,
    path: string,
    trail: Trail,
  ): void {
    if (node.type === undefined && out.type === undefined) out.type = "array";
    if (!isArrayType(out.type)) return;
    const told = [...places, ...(isObject(rest) && Object.keys(rest).length > 0 ? [rest] : [])];
    const variants = told.filter((one, at) => told.findIndex((other) => same(one, other)) === at);
    const whole: Json = variants.length === 1 ? (variants[0] as Json) : { anyOf: variants };
    out.items = this.losses.within("items", whole, path, () => this.node(whole, `${path}[]`, trail));
    const full = rest === false || (isObject(rest) && Object.keys(rest).length > 0);
    if (!full && !(Number(node.maxItems) <= places.length)) this.losses.narrowed.push(`${path}[]`);
    this.#itemsTyped(out, path);
  }

  #itemsTyped(out: JsonObject, path: string): void {
    if (this.dialect.typed !== "arrays" || Object.keys(objectOf(out.items)).length > 0) return;
    out.items = { type: "string" };
    this.losses.narrowed.push(`${path}[]`);
  }

  #other(word: string, value: Json, node: JsonObject, path: string, trail: Trail): Json | undefined {
    const dialect = this.dialect;
    if (annotations.has(word)) return dialect.allows(word, value) ? value : undefined;
    if (definitions.has(word)) return this.definitions({ [word]: value }, trail)[word];
    if (holders.has(word)) {
      const stays =
        word === "anyOf" || word === "oneOf" || word === "allOf"
          ? dialect.unions.includes(word)
          : dialect.nests(word);
      if (stays) {
        const inner = (): Json => this.#nested(word, value, path, [...trail, ""]);
        if (word === "allOf") return inner();
        const kept = this.losses.within(word, value, path, inner, node);
        // A "not" with fewer rules refuses more: without any it would refuse everything.
        if (word !== "not" || !this.losses.has(word, path, value)) return kept;
        this.losses.lose(word, path, value);
        return undefined;
      }
    } else if (!rules.has(word)) return dialect.open && dialect.allows(word, value) ? value : undefined;
    else if (
      partnerOf(word) === undefined
        ? dialect.allows(word, value)
        : dialect.open && dialect.allows(word, value)
    )
      return value;
    this.losses.lose(word, path, value, node);
    return undefined;
  }

  #nested(word: string, value: Json, path: string, trail: Trail): Json {
    if (Array.isArray(value)) return value.map((one) => this.node(one, path, trail));
    if (!maps.has(word)) return this.node(value, path, trail);
    return Object.fromEntries(
      Object.entries(objectOf(value)).map(([name, one]) => [name, this.node(one, path, trail)]),
    );
  }

  /** Definitions that stay. What they lose is recorded where they are referred to. */
  definitions(node: JsonObject, trail: Trail): JsonObject {
    const out: JsonObject = {};
    for (const word of definitions)
      if (isObject(node[word]) && this.dialect.nests(word)) {
        const follows = this.#followsLeft;
        this.#followsLeft = 0;
        const value = node[word];
        out[word] = this.losses.aside(() => this.#nested(word, value, "", [...trail, ""]));
        this.#followsLeft = follows;
      }
    return out;
  }

  meta(node: JsonObject): JsonObject {
    const kept = meta(node);
    return Object.fromEntries(
      Object.entries(kept).filter(([word, value]) => this.dialect.allows(word, value)),
    );
  }

  /** A node without a type, if the dialect requires one on each: any plain value, or any text. */
  #typed(out: JsonObject, path: string): JsonObject {
    const { typed } = this.dialect;
    if (typed !== "always" && typed !== "single") return out;
    if (["type", "enum", "const", "anyOf", "$ref"].some((word) => out[word] !== undefined)) return out;
    this.losses.narrowed.push(path);
    return { ...out, type: typed === "single" ? "string" : ["string", "number", "boolean", "null"] };
  }
}
