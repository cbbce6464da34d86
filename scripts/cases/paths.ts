// The room of paths: `messages[-1].content[*].text`, `input[?type=function_call].call_id`, `$`, `$.messages`.
//
// A path with `[*]` or `[?…]` names many values, with `undefined` for an element that lacks the last member. Applied to
// something other than a list, such a step names nothing. After a filter, an index counts the remaining elements.

import { Unsupported } from "./format.ts";
import type { SeenRequest } from "./observation.ts";

export interface Found {
  values: unknown[];
  /** The path may name several values. */
  many: boolean;
}

type Step = { member: string } | { index: number } | { all: true } | { where: string; is: string };

/** The values that a path names in a request. `url` and `headers.NAME` are the request's; everything else is in its body. */
export function find(path: string, request: SeenRequest, asText = false): Found {
  if (path === "$") return { values: [request.text], many: false };
  if (path === "url") return { values: [request.url], many: false };
  if (path.startsWith("headers."))
    return { values: [request.headers[path.slice("headers.".length).toLowerCase()]], many: false };
  const steps = stepsOf(path.startsWith("$.") ? path.slice(2) : path);
  return walk(steps, asText ? exactBody(request) : request.body);
}

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
  return walk(stepsOf(path.startsWith("$.") ? path.slice(2) : path).slice(0, -1), request.body);
}

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== "") {
    const read = /^\.?([^.[\]]+)|^\[(-?\d+)\]|^\[(\*)\]|^\[\?([^=\]]+)=([^\]]*)\]/.exec(rest);
    if (read === null)
      throw new Unsupported(`path ${JSON.stringify(path)} cannot be read at ${JSON.stringify(rest)}`);
    const [all, member, index, star, where, is] = read;
    if (member !== undefined) steps.push({ member });
    else if (index !== undefined) steps.push({ index: Number(index) });
    else if (star !== undefined) steps.push({ all: true });
    else steps.push({ where: where as string, is: is as string });
    rest = rest.slice(all.length);
  }
  return steps;
}

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
    if ("all" in step || "where" in step) {
      many = true;
      values = values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
      if ("where" in step)
        values = values.filter(
          (value) => String((value as Record<string, unknown> | null)?.[step.where]) === step.is,
        );
      continue;
    }
    values = values.map((value) => {
      if ("index" in step) return Array.isArray(value) ? (value as unknown[]).at(step.index) : undefined;
      return typeof value === "object" && value !== null && Object.hasOwn(value, step.member)
        ? (value as Record<string, unknown>)[step.member]
        : undefined;
    });
  }
  return { values, many };
}
