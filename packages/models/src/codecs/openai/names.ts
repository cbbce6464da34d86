// The room of names and ids as OpenAI's protocols allow them.
//
// A name that is sent must fit the provider's pattern, stay distinct, and always be the same (the request's prefix is
// cached); a name that comes back must be matched to its tool. Names and ids that already fit are never changed.

import type { Json } from "@rondo/core";
import { digest } from "../../json-values.ts";
import { bareName } from "../bare-name.ts";

const nameLimit = 64;
// OpenAI takes any of these characters first; Kimi requires a letter, and Gemini, which may be behind this protocol, no
// digit or dash.
const nameForm: RegExp = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** A tool's name as it is sent: unchanged if it fits, otherwise cleaned, with a digest that keeps it distinct (F059, F060). */
export function wireName(name: string): string {
  if (nameForm.test(name)) return name;
  const mark = `_${digest(name, 8)}`;
  const clean = name.replace(/[^a-zA-Z0-9_-]+/g, "_").replace(/^(?![a-zA-Z])[_-]*/, "tool_");
  return `${clean.slice(0, nameLimit - mark.length)}${mark}`;
}

/** Which names were sent under an alias. All encoders and decoders of a model share one table. */
export class NameTable {
  readonly #own = new Map<string, string>();
  /** Tools that were sent as custom tools: a call to any other custom tool is the provider's own business. */
  readonly custom: Set<string> = new Set();
  /** All names that were sent. */
  readonly offered: Set<string> = new Set();

  wire(name: string): string {
    const wire = wireName(name);
    this.offered.add(wire);
    if (wire !== name) this.#own.set(wire, name);
    return wire;
  }

  /** Whether a tool of this name was sent as a custom tool. */
  isCustom(name: Json | undefined): boolean {
    return typeof name === "string" && this.custom.has(name);
  }

  /** Whether a tool of this name was sent, of either sort. */
  offers(name: Json | undefined): boolean {
    return this.isCustom(name) || (typeof name === "string" && this.offered.has(name));
  }

  /** The name by which the caller knows the tool. */
  own(told: string): string {
    const name = bareName(told);
    return this.#own.get(name) ?? name;
  }
}

// A model's encoder and decoder are made separately; only the model's origin is common to both.
const tables = new WeakMap<object, NameTable>();

export function nameTable(origin: object): NameTable {
  let table = tables.get(origin);
  if (table === undefined) {
    table = new NameTable();
    tables.set(origin, table);
  }
  return table;
}

/** What a provider accepts as a call id. */
export interface IdForm {
  fits(id: string): boolean;
  make(seed: string): string;
}

/** Chat Completions: any text of at most 40 characters. */
export const chatIds: IdForm = {
  fits: (id) => id.length > 0 && id.length <= 40,
  make: (seed) => `call_${digest(seed, 24)}`,
};

/** Mistral: exactly nine letters and digits (F055). */
export const mistralIds: IdForm = {
  fits: (id) => /^[a-zA-Z0-9]{9}$/.test(id),
  make: (seed) => digest(seed, 9),
};

/** Kimi: the id contains the tool's name, however long it is. */
export const functionIds: IdForm = {
  fits: (id) => id.length > 0,
  make: chatIds.make,
};

/** Responses: at most 64 letters, digits, `_` and `-`, with no `_` at the end (F056). */
export const responsesIds: IdForm = {
  fits: (id) => /^[A-Za-z0-9_-]{1,63}[A-Za-z0-9-]$|^[A-Za-z0-9-]$/.test(id),
  make: (seed) => `call_${digest(seed, 24)}`,
};

/** LiteLLM puts a call's thought signature into its id, and reads it back from there, whatever its length. */
export const isSignedId = (id: string): boolean => /__thought__./.test(id);

/** The form, for a server that may have put signatures into its ids (F106). */
export const withSigned = (form: IdForm): IdForm => ({
  ...form,
  fits: (id) => form.fits(id) || isSignedId(id),
});

/**
 * An id as it is sent: unchanged if it fits, otherwise a digest of it. The digest depends on the id alone, so that a long
 * history needs no table, and the same request has the same bytes in every process. Nine characters are 53 bits: enough to
 * be distinct.
 */
export function wireId(id: string, form: IdForm): string {
  return form.fits(id) ? id : form.make(id);
}

/** An id for a call that came without one, or with the id of another call in its answer. */
export function freshId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
