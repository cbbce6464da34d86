// The room of the format: what a failure case may contain, member by member.
//
// Cases are external data. An unknown member could be an assertion that nobody checks, or a circumstance that nobody
// creates, so it makes the case fail, with its name.

import { usualGiven } from "./usual-given.ts";

export type Data = { readonly [member: string]: unknown };

/** A case needs something that this runner or Rondo does not have. The case fails with it. */
export class Unsupported extends Error {}

export interface Wire {
  status?: number;
  headers?: Record<string, string>;
  /** Raw frames; joined they are the exact body. */
  sse?: string[];
  body?: unknown;
  body_text?: string;
  body_b64?: string;
  /** Decoded view of `body_b64`, for readers. */
  events?: unknown;
  /** The exact network chunks. */
  chunks_b64?: string[];
  generated?: Data;
  eof?: "clean" | "reset" | "hang" | "repeat_last";
  delay_headers_ms?: number;
  /** Milliseconds between frames. */
  frame_delay_ms?: number;
  /** How often the last frame is repeated at the end `repeat_last`, in milliseconds. Default: every second. */
  repeat_interval_ms?: number;
  transport_error?: Data;
  transport_throws?: string;
  session_file_text?: string;
}

export interface Assertion {
  path: string;
  op: string;
  value?: unknown;
}

export interface RetryLimits {
  allowed?: boolean;
  max_attempts?: number;
  min_delay_ms?: number;
  max_delay_ms?: number;
  only_if_body_changed?: boolean;
  only_if_credentials_changed?: boolean;
}

export interface ExpectedCall {
  id?: string;
  name: string;
  arguments?: unknown;
  /** The arguments' text, where JSON cannot express it: long integers, truncated JSON. */
  arguments_raw?: string;
}

export type Expect = Data & {
  loop_outcome?: string | null;
  stop_reason?: string | null;
  error_kind?: string | null;
  text?: string | null;
  tool_calls?: ExpectedCall[] | null;
  retry?: boolean | RetryLimits | null;
  this_request_must?: Assertion[];
  next_request_must?: Assertion[];
};

export interface Turn {
  /** In `turns_after`: sent first, as a new message. */
  prompt?: string;
  wire?: Wire;
  expect?: Expect;
  this_request_must?: Assertion[];
  next_request_must?: Assertion[];
}

export interface CaseAction {
  at: string;
  do: string;
  text?: string;
  ms?: number;
  /** The abort reason: any value. */
  reason?: unknown;
  /** Arguments given to a waiting call instead of its own. */
  arguments?: Data;
  /** A file written from outside, with `text` or this content. */
  path?: string;
  content?: string;
  /** Several files, by path. */
  fs?: Record<string, string>;
}

export interface Behaviour {
  returns?: unknown;
  /** A text in which characters that JSON tools mishandle are written as `\uXXXX`. */
  returns_escaped?: string;
  returns_js?: string;
  returns_repeat?: { unit: string; bytes?: number; count?: number };
  returns_sequence?: unknown[];
  returns_parts?: Data[];
  never_settles?: boolean;
  rejects?: string;
  throws?: string;
  throws_sync?: string;
  returns_after_ms?: number;
  resolves_after_ms?: number;
  delay_ms?: number;
  rejects_after_ms?: number;
  /** The arguments that it was called with. */
  echo?: boolean;
  /** The returned value is an error. */
  is_error?: boolean;
}

export interface GivenTool {
  name?: string;
  builtin?: string;
  description?: string;
  parameters?: Data | null;
  behaviour?: Behaviour;
  needs_approval?: boolean;
  effect?: "read" | "idempotent" | "write";
  timeout_ms?: number;
  strict?: boolean;
  /** What other programs keep beside a tool's definition, which no provider may see (F130). */
  defer_loading?: boolean;
  annotations?: Data;
  metadata?: Data;
  title?: string;
  [internal: `_${string}`]: unknown;
}

export interface Given {
  tools?: GivenTool[];
  history?: Data[];
  options?: Data;
  model?: string;
  system?: string;
  prompt?: string;
  estimated_prompt_tokens?: number;
  pinned_tokens?: number;
  fs?: Record<string, string>;
  root?: string;
  symlinks?: Record<string, string>;
  requests?: { op: string; path: string; allow: boolean; content?: string; [of: string]: unknown }[];
  inputs?: Data[];
  output_schema?: Data;
  api_key?: string;
  consumer_delay_ms_per_1000_events?: number;
}

export interface Case {
  id: string;
  area?: string;
  provider: string;
  title?: string;
  given?: Given;
  wire: Wire | null;
  turns?: Turn[];
  turns_after?: Turn[];
  repeat_wire?: boolean | number;
  final_wire?: Wire;
  wire_sequence?: Wire[];
  actions?: CaseAction[];
  clock?: string;
  expect: Expect;
  final_expect?: Expect;
}

const caseMembers =
  "id area provider title top30 given wire turns turns_after repeat_wire final_wire wire_sequence actions clock note expect final_expect";
const givenMembers =
  "tools history options model system prompt estimated_prompt_tokens pinned_tokens fs root symlinks requests urls fetches inputs output_schema api_key consumer_delay_ms_per_1000_events note";
const wireMembers =
  "status headers sse body body_text body_b64 events chunks_b64 generated eof delay_headers_ms frame_delay_ms repeat_interval_ms transport_error transport_throws session_file_text note";
const requestMembers =
  "op path allow content old new pattern note url method headers redirect redirects redirect_to redirects_to location resolves_to resolves dns addresses";
const inputMembers = `${requestMembers} scanner repeat text_repeat text suffix expect`;
const turnMembers = "prompt wire expect this_request_must next_request_must note";
const toolMembers =
  "name builtin description parameters behaviour needs_approval effect timeout_ms strict defer_loading annotations metadata title";
const behaviourMembers =
  "returns returns_escaped returns_js returns_repeat returns_sequence returns_parts never_settles rejects throws throws_sync returns_after_ms resolves_after_ms delay_ms rejects_after_ms echo is_error";

/** @throws Unsupported naming an unknown member */
export function demandKnown(what: string, data: object, members: string): void {
  const known = new Set(members.split(" "));
  for (const member of Object.keys(data))
    if (!known.has(member) && !member.startsWith("_"))
      throw new Unsupported(`unknown member ${what}.${member}`);
}

/**
 * Parses one line. Members of expectations are checked where they are judged.
 * @throws Unsupported naming an unknown member
 */
export function readCase(line: string): Case {
  const one = JSON.parse(line) as Case;
  const exact = JSON.parse(line, exactly) as Case;
  for (const [at, wire] of wiresOf(one).entries()) {
    const body = wiresOf(exact)[at]?.body;
    if (wire !== undefined && wire !== null && body !== undefined) wire.body = body;
  }
  checkMembers(one);
  return one;
}

/** Numbers too long for JavaScript keep their source text, so that responses are served exactly as written. */
const exactly = ((_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined && String(value) !== source
    ? (JSON as unknown as { rawJSON(source: string): unknown }).rawJSON(source)
    : value) as (key: string, value: unknown) => unknown;

function wiresOf({ wire, final_wire, wire_sequence, turns, turns_after }: Case): (Wire | null | undefined)[] {
  const later = [...(turns ?? []), ...(turns_after ?? [])].map((turn) => turn.wire);
  return [wire, final_wire, ...(wire_sequence ?? []), ...later];
}

/** Synonyms for the times between frames. */
const times: readonly (readonly [RegExp, "frame_delay_ms" | "repeat_interval_ms"])[] = [
  [
    /^(?:(?:delay_)?(?:between_)?(?:frames?|chunks?|deltas?|events?)_(?:delay_|interval_)?ms|inter_\w+_ms)$/,
    "frame_delay_ms",
  ],
  [
    /^(?:(?:repeat|ping|heartbeat)(?:_last)?_)(?:(?:every|interval)_)?ms$|^interval_ms$/,
    "repeat_interval_ms",
  ],
];

function usualTimes(wire: Wire): void {
  for (const [name, value] of Object.entries(wire)) {
    const usual = name === "delay_headers_ms" ? undefined : times.find(([names]) => names.test(name))?.[1];
    if (usual === undefined || usual === name || typeof value !== "number") continue;
    delete (wire as { [member: string]: unknown })[name];
    wire[usual] = value;
  }
}

export function checkMembers(one: Case): void {
  usualGiven(one as unknown as { [member: string]: unknown }, givenMembers.split(" "));
  demandKnown("case", one, caseMembers);
  if (one.expect === undefined) throw new Unsupported("the case expects nothing");
  demandKnown("given", one.given ?? {}, givenMembers);
  for (const tool of one.given?.tools ?? []) {
    demandKnown("given.tools[]", tool, toolMembers);
    demandKnown("given.tools[].behaviour", tool.behaviour ?? {}, behaviourMembers);
  }
  const turns = [...(one.turns ?? []), ...(one.turns_after ?? [])];
  for (const turn of turns) demandKnown("turns[]", turn, turnMembers);
  for (const row of one.given?.requests ?? []) demandKnown("given.requests[]", row, requestMembers);
  for (const row of one.given?.inputs ?? []) demandKnown("given.inputs[]", row, inputMembers);
  for (const wire of wiresOf(one)) {
    if (wire !== undefined && wire !== null) usualTimes(wire);
    demandKnown("wire", wire ?? {}, wireMembers);
    demandKnown("wire.transport_error", wire?.transport_error ?? {}, "message cause code name");
    if (!["clean", "reset", "hang", "repeat_last"].includes(wire?.eof ?? "clean"))
      throw new Unsupported(`unknown wire.eof ${JSON.stringify(wire?.eof)}`);
  }
}

/** Decodes the `\uXXXX` of characters that JSON tools mishandle, such as lone surrogates. */
export function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\([nrt0\\])/g, (_all, four, two, one) => {
    if (four !== undefined || two !== undefined) return String.fromCharCode(Number.parseInt(four ?? two, 16));
    return { n: "\n", r: "\r", t: "\t", "0": "\0" }[one as string] ?? one;
  });
}

interface Repeated {
  unit?: string;
  char?: string;
  text?: string;
  bytes?: number;
  length?: number;
  count?: number;
  times?: number;
}

/** `{ unit, count }` or `{ unit, bytes }` as a text of whole units. Both members have synonyms. */
export function repeated(given: Repeated): string {
  demandKnown("a repeated text", given, "unit char text bytes length count times");
  const unit = given.unit ?? given.char ?? given.text ?? "";
  const bytes = given.bytes ?? given.length;
  const count = given.count ?? given.times;
  return unit.repeat(count ?? Math.ceil((bytes ?? 0) / Buffer.byteLength(unit)));
}
