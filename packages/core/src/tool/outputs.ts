// The room of outputs: what a tool may return, as parts that a model can read.
//
// It never fails: what cannot be shown is described in words.

import { isError, messageOf } from "../errors.ts";
import { unwrapped } from "../input/file-content.ts";
import { withoutControls } from "../input/sanitize.ts";
import { base64, isBytes } from "../json/base64.ts";
import { type ContentPart, type FilePart, holdsFile, type Json } from "../message.ts";

/** One output of a tool. A tool may return a list of them, or a `toolResult` with one. */
export type ToolOutput =
  | ContentPart
  /** The model reads the address. */
  | { type: "link"; url: string }
  /** The model reads it as JSON. */
  | { type: "json"; json: Json }
  /** `mediaType` defaults to `image/png`. */
  | { type: "image"; url?: string; data?: string | Uint8Array; mediaType?: string; name?: string }
  | { type: "blob"; data: string | Uint8Array; mediaType: string; name?: string };

/** The text for nothing: providers refuse blank texts. */
export const noOutput = "(no output)";

type Shaped = Partial<Record<string, unknown>>;

/** An output as a part; undefined for anything else. An object with further members is the user's data, not an output. */
export function outputPart(value: unknown): ContentPart | undefined {
  try {
    return partOf(value);
  } catch {
    return undefined;
  }
}

/**
 * A file that is the whole result of a tool: its bytes as JSON would only fill the window. Undefined for anything else. With a
 * member that no file has it is the user's data, as any other object.
 */
export function fileAlone(value: unknown): ContentPart | undefined {
  const part = outputPart(value);
  return part?.type === "file" && Object.keys(value as object).every((name) => fileMembers.has(name))
    ? part
    : undefined;
}

const fileMembers: ReadonlySet<string> = new Set(["type", "mediaType", "data", "url", "name", "opaque"]);

/** The parts of a list of outputs. An item that is no output is shown as a value, and not left out; an empty list gives no parts. */
export const outputParts = (given: readonly unknown[]): ContentPart[] =>
  given
    .filter((one) => one !== undefined && one !== null)
    .map((one) => outputPart(one) ?? { type: "text", text: textFor(one) });

function partOf(value: unknown): ContentPart | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const one = value as Shaped;
  const only = (...names: string[]): boolean =>
    Object.keys(one).every((name) => name === "type" || names.includes(name));
  switch (one.type) {
    case "text":
      return typeof one.text === "string" ? own(value as ContentPart) : undefined;
    case "file":
      return typeof one.mediaType === "string" && holdsFile(one) ? filePart(one, one.mediaType) : undefined;
    case "link":
      return typeof one.url === "string" && only("url") ? { type: "text", text: one.url } : undefined;
    case "json":
      return "json" in one && only("json") ? { type: "text", text: textFor(one.json) } : undefined;
    case "image": {
      if (!holdsFile(one) || !only("url", "data", "mediaType", "name")) return undefined;
      return filePart(one, typeof one.mediaType === "string" ? one.mediaType : "image/png");
    }
    case "blob":
      if (!holdsFile({ data: one.data }) || typeof one.mediaType !== "string") return undefined;
      return only("data", "mediaType", "name") ? filePart(one, one.mediaType) : undefined;
    default:
      return undefined;
  }
}

/** Bytes become base64: a result is journaled as JSON. */
function filePart(given: Shaped, type: string): ContentPart | undefined {
  const one = unwrapped(given);
  const mediaType = one === given || typeof one.mediaType !== "string" ? type : one.mediaType;
  if (one.type === "file" && one.data !== null && !isBytes(one.data)) return own(one as unknown as FilePart);
  return {
    type: "file",
    mediaType,
    ...(one.data === undefined || one.data === null
      ? {}
      : { data: isBytes(one.data) ? base64(one.data) : (one.data as string) }),
    ...(typeof one.url === "string" ? { url: one.url } : {}),
    ...(typeof one.name === "string" ? { name: one.name } : {}),
  };
}

/** A copy of a part: a tool may reuse its object, and other members in it must be JSON to be stored. */
const own = (part: ContentPart): ContentPart => plain(part, []) as ContentPart;

/** Any value as text for a model. */
export function textFor(value: unknown): string {
  if (value === undefined || value === null) return noOutput;
  if (typeof value === "string") return value;
  if (typeof value === "bigint") return String(value);
  if (isError(value)) return messageOf(value);
  try {
    const whole = plain(value, []);
    const text = JSON.stringify(whole) ?? noOutput;
    return escaped.test(text) ? JSON.stringify(whole, cleaned) : text;
  } catch (thrown) {
    return unshown(thrown);
  }
}

/** What control characters become in JSON: there they would be letters, which nothing takes out later. */
const escaped = /\\(?:u00[01]|[bfr])/;

const cleaned = (_: string, item: unknown): unknown =>
  typeof item === "string" ? withoutControls(item) : item;

/** The text for a value that throws when it is read. */
export const unshown = (thrown: unknown): string => `(a value that cannot be shown: ${messageOf(thrown)})`;

/**
 * The value with everything that JSON lacks described in words: bigints, circular references, binary data, maps, sets,
 * errors, functions.
 */
function plain(value: unknown, parents: readonly object[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[Circular]";
  // Of any realm: a tool may run code in another one.
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (isOf(Date, value, kind)) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (isError(value)) return { name: value.name, message: value.message };
  if (kind === "RegExp") return String(value);
  if (isUnheard(value)) return "[Promise]";
  const size = bytesOf(value);
  if (size !== undefined) return `[binary, ${size} bytes]`;
  const inside = [...parents, value];
  if (isOf(Map, value, kind)) return mapped([...value], inside);
  if (isOf(Set, value, kind)) return [...value].map((item) => plain(item, inside));
  if (Array.isArray(value)) return value.map((item) => plain(item, inside));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return plain(toJSON.call(value), inside);
  // A Response, a Promise, a Proxy: everything in them is behind functions.
  if (kind !== "Object" && Object.keys(value).length === 0) return `[${kind}]`;
  return Object.fromEntries(
    Object.keys(value).map((key) => [key, plain((value as Record<string, unknown>)[key], inside)]),
  );
}

const isOf = <Kind>(kind: new () => Kind, value: unknown, tag: string): value is Kind =>
  value instanceof kind || tag === kind.name;

/** A map as an object, or as a list of its entries if its keys have no distinct texts. */
function mapped(entries: [unknown, unknown][], inside: readonly object[]): unknown {
  const isNamed = entries.every(([key]) => typeof key !== "object" || key === null);
  const names = isNamed ? new Set(entries.map(([key]) => String(key))) : undefined;
  return names?.size === entries.length
    ? Object.fromEntries(entries.map(([key, item]) => [String(key), plain(item, inside)]))
    : plain(entries, inside);
}

/**
 * Whether a value is a promise. Nobody will wait for it, and an unhandled rejection would end the process, so its
 * rejection is handled here.
 */
export function isUnheard(value: unknown): boolean {
  if (!(value instanceof Promise)) return false;
  value.catch(() => {});
  return true;
}

function bytesOf(value: object): number | undefined {
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength;
  return typeof Blob !== "undefined" && value instanceof Blob ? value.size : undefined;
}
