// The room of scripts as files: JSON in, a script out; or a complaint that names the place.
//
// A turn is a word or a list of words; a word is an object whose first known member names it, or a text, which is said.
// The words are those of `scripted/turns.ts` and `faults.ts`, for programs in any language.

import {
  type ErrorKind,
  errorKinds,
  type Json,
  type JsonObject,
  messageOf,
  type StopKind,
  type Usage,
} from "@rondo/core";
import { isObject, membersIn } from "../json.ts";
import * as turns from "../scripted/turns.ts";
import { clipped, withoutMark } from "../text.ts";
import * as wire from "./faults.ts";

/** What was wrong with a script file. */
export class ScriptFormatError extends Error {
  override readonly name: string = "ScriptFormatError";
}

/** What a script file may say beside its turns. */
export interface ScriptFile {
  script: wire.WireScript;
  strict?: boolean;
  repeatLast?: boolean;
  chunks?: wire.Chunks;
  chunk?: number;
  key?: string;
  models?: string[];
}

/** Reads a script: `{ "turns": […], … }`, or the turns alone. Throws `ScriptFormatError`. */
export function readScript(text: string): ScriptFile {
  let value: Json;
  try {
    value = JSON.parse(withoutMark(text)) as Json;
  } catch (thrown) {
    throw new ScriptFormatError(`the script is not JSON: ${(thrown as Error).message}`);
  }
  const file = Array.isArray(value) ? { turns: value } : objectAt(value, "the script");
  const list = file.turns;
  if (!Array.isArray(list)) throw new ScriptFormatError('the script needs a list of "turns"');
  const settings: { [name in Exclude<keyof ScriptFile, "script">]: Check } = {
    strict: "boolean",
    repeatLast: "boolean",
    chunks: ["frame", "byte", "whole"],
    chunk: "number",
    key: "string",
    models: "strings",
  };
  const { turns: _, ...rest } = file;
  check(rest, settings, "the script");
  return {
    ...(rest as Omit<ScriptFile, "script">),
    script: list.map((turn, at) => readTurn(turn, `turns[${at}]`)),
  };
}

function readTurn(given: Json, path: string): wire.WireTurn {
  if (typeof given === "string") return turns.say(given);
  if (Array.isArray(given)) return given.map((one, at) => readTurn(one, `${path}[${at}]`));
  const word = objectAt(given, path);
  const name = Object.keys(words).find((known) => Object.hasOwn(word, known));
  const reader = name === undefined ? undefined : words[name];
  if (name === undefined || reader === undefined)
    throw new ScriptFormatError(
      `${path}: ${clipped(JSON.stringify(given), 80)} holds no word; there are ${Object.keys(words).join(", ")}`,
    );
  check(word, reader.members, `${path}.${name}`);
  try {
    return reader.make(word);
  } catch (thrown) {
    throw new ScriptFormatError(`${path}: ${messageOf(thrown)}`);
  }
}

type Check =
  | "string"
  | "number"
  | "boolean"
  | "true"
  | "object"
  | "strings"
  | "place"
  | "any"
  | readonly string[];

interface Word {
  members: { readonly [member: string]: Check };
  make(word: JsonObject): wire.WireTurn;
}

/** Makes a word's type; what its members are was checked before. */
function word<T>(members: { readonly [member in keyof T]: Check }, make: (told: T) => wire.WireTurn): Word {
  return { members, make: (given) => make(given as T) };
}

type Streamed = { chunk?: number; opaque?: JsonObject };
const streamed = { chunk: "number", opaque: "object" } as const;
type Failing = { message?: string; retryAfterMs?: number; status?: number; raw?: Json };

/** Every word, by the member that names it. Of two in one object the first here wins. */
const words: { readonly [name: string]: Word } = {
  say: word<{ say: string } & Streamed>({ say: "string", ...streamed }, ({ say, ...more }) =>
    turns.say(say, more),
  ),
  think: word<{ think: string } & Streamed>({ think: "string", ...streamed }, ({ think, ...more }) =>
    turns.think(think, more),
  ),
  refuse: word<{ refuse: string }>({ refuse: "string" }, ({ refuse }) => turns.refuse(refuse)),
  call: word<{ call: string; args?: JsonObject; id?: string } & Streamed>(
    { call: "string", args: "object", id: "string", ...streamed },
    ({ call, args, ...more }) => turns.call(call, args, more),
  ),
  badArgs: word<{ badArgs: string; text: string; id?: string } & Streamed>(
    { badArgs: "string", text: "string", id: "string", ...streamed },
    ({ badArgs, text, ...more }) => turns.badArgs(badArgs, text, more),
  ),
  native: word<{ native: JsonObject }>({ native: "object" }, ({ native }) =>
    turns.part({
      type: "native",
      kind: typeof native.type === "string" ? native.type : "native",
      opaque: native,
    }),
  ),
  empty: word<{ empty: true }>({ empty: "true" }, () => turns.empty()),
  stop: word<{ stop: StopKind; raw?: string; detail?: string }>(
    { stop: turns.stopKinds, raw: "string", detail: "string" },
    ({ stop, ...more }) => turns.stop(stop, more),
  ),
  usage: word<{ usage: Usage }>({ usage: "object" }, ({ usage }) => turns.usage(usage)),
  fail: word<{ fail: ErrorKind } & Failing>(
    { fail: errorKinds, message: "string", retryAfterMs: "number", status: "number", raw: "any" },
    ({ fail, ...more }) => turns.fail(fail, more),
  ),
  stall: word<{ stall: true }>({ stall: "true" }, () => turns.stall()),
  status: word<{ status: number } & wire.StatusOptions>(
    {
      status: "number",
      message: "string",
      code: "string",
      retryAfterMs: "number",
      form: ["seconds", "ms", "date", "retry_info", "words", "resets", "none"],
      headers: "object",
      body: "any",
    },
    ({ status, ...more }) => wire.status(status, more),
  ),
  raw: word<{ raw: Json; code?: number; headers?: Record<string, string> }>(
    { raw: "any", code: "number", headers: "object" },
    ({ raw, code, headers }) =>
      wire.raw(raw, {
        ...(code === undefined ? {} : { status: code }),
        ...(headers === undefined ? {} : { headers }),
      }),
  ),
  frames: word<{ frames: { event?: string; data: Json }[] }>({ frames: "any" }, ({ frames }) =>
    wire.frames(frames),
  ),
  cutAt: word<{ cutAt: wire.Place; how?: wire.CutHow }>(
    { cutAt: "place", how: ["end", "close", "reset"] },
    ({ cutAt, how }) => wire.cutAt(cutAt, how),
  ),
  stallAfter: word<{ stallAfter: wire.Place; pings?: boolean }>(
    { stallAfter: "place", pings: "boolean" },
    ({ stallAfter, ...more }) => wire.stallAfter(stallAfter, more),
  ),
  slow: word<{ slow: number; ms?: number }>({ slow: "number", ms: "number" }, ({ slow, ms }) =>
    wire.slow(slow, ms),
  ),
  delay: word<{ delay: number }>({ delay: "number" }, ({ delay }) => wire.delayed(delay)),
  chunks: word<{ chunks: wire.Chunks }>({ chunks: ["frame", "byte", "whole"] }, ({ chunks }) =>
    wire.chunked(chunks),
  ),
  garbage: word<{ garbage: string; afterFrames?: number }>(
    { garbage: "string", afterFrames: "number" },
    ({ garbage, afterFrames }) => wire.garbage(garbage, afterFrames),
  ),
  duplicate: word<{ duplicate: number }>({ duplicate: "number" }, ({ duplicate }) =>
    wire.duplicate(duplicate),
  ),
  corrupt: word<{ corrupt: number }>({ corrupt: "number" }, ({ corrupt }) => wire.corrupt(corrupt)),
  contentType: word<{ contentType: string }>({ contentType: "string" }, ({ contentType }) =>
    wire.contentType(contentType),
  ),
  plainJson: word<{ plainJson: true }>({ plainJson: "true" }, () => wire.plainJson()),
  reset: word<{ reset: true }>({ reset: "true" }, () => wire.reset()),
};

function objectAt(value: Json, path: string): JsonObject {
  if (!isObject(value))
    throw new ScriptFormatError(`${path}: an object is needed, not ${JSON.stringify(value)}`);
  return value;
}

function check(given: JsonObject, members: { readonly [member: string]: Check }, path: string): void {
  for (const [name, value] of Object.entries(given)) {
    const wanted = Object.hasOwn(members, name) ? members[name] : undefined;
    if (wanted === undefined)
      throw new ScriptFormatError(
        `${path}: there is no member ${JSON.stringify(name)}; there are ${Object.keys(members).join(", ")}`,
      );
    if (!fits(value, wanted))
      throw new ScriptFormatError(
        `${path}: ${JSON.stringify(name)} is ${clipped(JSON.stringify(value), 60)}; needed is ${
          typeof wanted === "string" ? needs[wanted] : `one of ${wanted.join(", ")}`
        }`,
      );
  }
}

const needs: { readonly [K in Extract<Check, string>]: string } = {
  string: "a text",
  number: "a number, 0 or more",
  boolean: "true or false",
  true: "true; leave the word out where it is not meant",
  object: "an object",
  strings: "a list of texts",
  place: 'a number of bytes, or { "frames": a number }',
  any: "anything",
};

function fits(value: Json, wanted: Check): boolean {
  const isCount = (one: Json | undefined): boolean => typeof one === "number" && one >= 0;
  switch (wanted) {
    case "string":
    case "boolean":
      return typeof value === wanted;
    case "true":
      return value === true;
    case "number":
      return isCount(value);
    case "object":
      return isObject(value);
    case "strings":
      return Array.isArray(value) && value.every((one) => typeof one === "string");
    case "place":
      return isCount(value) || isCount(membersIn(value).frames);
    case "any":
      return true;
    default:
      return typeof value === "string" && wanted.includes(value);
  }
}
