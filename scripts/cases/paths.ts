// The room of paths: `messages[-1].content[*].text`, `input[?type=function_call].call_id`, `$`, `$.messages`.
//
// JSON path's own spellings are read too: `[?(@.type=='function_call')]`, `[?function.name=g]`, `[?tool_calls]`, `['role']`,
// `[-2:]`. A path with `[*]`, `[?…]` or a slice names many values, with `undefined` for an element that lacks the last member. Applied to
// something other than a list, such a step names nothing. After a filter, an index counts the remaining elements.

import { Unsupported } from "./format.ts";
import type { SeenRequest } from "./observation.ts";

export interface Found {
  values: unknown[];
  /** The path may name several values. */
  many: boolean;
}

type Step =
  | { member: string }
  | { index: number }
  | { all: true }
  | { from: number | undefined; to: number | undefined }
  | { where: string[]; fits: (value: unknown) => boolean };

/** The values that a path names in a request. `url` and `headers.NAME` are the request's; everything else is in its body. */
export function find(path: string, request: SeenRequest, asText = false): Found {
  if (path === "$") return { values: [request.text], many: false };
  if (path === "url") return { values: [request.url], many: false };
  if (path.startsWith("headers."))
    return { values: [request.headers[path.slice("headers.".length).toLowerCase()]], many: false };
  const steps = stepsOf(inBody(path));
  return walk(steps, asText ? exactBody(request) : request.body);
}

const inBody = (path: string): string => path.replace(/^\$\.|^\$(?=\[)/, "");

/** The body of a request, whose integers keep the digits that they have in its text. */
function exactBody({ text, body }: SeenRequest): unknown {
  if (!/\d{16}/.test(text)) return body;
  const exact = JSON as unknown as {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  };
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    source !== undefined
      ? exact.rawJSON(source)
      : value,
  );
}

/** The parent of what a path names. */
export function findParent(path: string, request: SeenRequest): Found {
  return walk(stepsOf(inBody(path)).slice(0, -1), request.body);
}

const quoted = /^(['"])(.*)\1$/s;
const unquoted = (text: string): string => quoted.exec(text)?.[2] ?? text;

/** The ways to read the beginning of a path, each with the step that it is. */
const readings: readonly (readonly [RegExp, (...read: string[]) => Step])[] = [
  [/^(?:\.?\*(?=[.[]|$)|\[\*?\])/, () => ({ all: true })],
  [/^\.?([^.[\]]+)/, (member = "") => ({ member })],
  [/^\[(-?\d+)\]/, (index) => ({ index: Number(index) })],
  [/^\[(-?\d*):(-?\d*)\]/, (from, to) => ({ from: numberIn(from), to: numberIn(to) })],
  [/^\[(['"][^\]]*['"])\]/, (member = "") => ({ member: unquoted(member) })],
  [/^\[\?\(?(?:@\.)?([^=!\])]+?) ?(!?={1,2}) ?([^\]]*?)\)?\]/, filterOf],
  [/^\[\?\(?(?:@\.)?([^=!\])]+)\)?\]/, (where) => filterOf(where)],
];

const numberIn = (text: string | undefined): number | undefined => (text ? Number(text) : undefined);

function filterOf(where: string = "", sign?: string, is: string = ""): Step {
  const wanted = unquoted(is);
  const fits = (value: unknown): boolean =>
    sign === undefined ? value !== undefined : (String(value) === wanted) !== sign.startsWith("!");
  return { where: where.split("."), fits };
}

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== "") {
    const found = readings.find(([begins]) => begins.test(rest));
    const [all = "", ...read] = found?.[0].exec(rest) ?? [];
    if (found === undefined || all === "")
      throw new Unsupported(`path ${JSON.stringify(path)} cannot be read at ${JSON.stringify(rest)}`);
    steps.push(found[1](...read));
    rest = rest.slice(all.length);
  }
  return steps;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

function walk(steps: readonly Step[], from: unknown): Found {
  let values: unknown[] = [from];
  let many = false;
  let filtered = false;
  for (const step of steps) {
    // An index after a filter.
    if (filtered && "index" in step && !values.some(Array.isArray)) {
      values = [values.at(step.index)];
      many = false;
      filtered = false;
      continue;
    }
    filtered = "where" in step;
    if ("all" in step || "where" in step || "from" in step) {
      many = true;
      values = values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
      if ("from" in step) values = values.slice(step.from, step.to);
      if ("where" in step)
        values = values.filter((value) => step.fits(step.where.reduce<unknown>(memberOf, value)));
      continue;
    }
    values = values.map((value) => {
      if ("index" in step) return Array.isArray(value) ? (value as unknown[]).at(step.index) : undefined;
      return memberOf(value, step.member);
    });
  }
  return { values, many };
}
