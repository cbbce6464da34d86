// The room of error bodies: the few shapes in which compatible servers say no.

import type { Violation } from "../rules/violation.ts";

export interface Refused {
  status: number;
  body: string;
}

/** `{"error": {…}}`, as OpenAI says it. */
export function nested({ message, path }: Violation): Refused {
  return {
    status: 400,
    body: JSON.stringify({ error: { message, type: "invalid_request_error", param: path, code: null } }),
  };
}

/** Flat, with `object: "error"`. */
export function flat({ message }: Violation): Refused {
  return {
    status: 400,
    body: JSON.stringify({ object: "error", message, type: "invalid_request_error", param: null, code: 400 }),
  };
}

/** xAI: words for a code, words for an error. */
export function worded({ message }: Violation): Refused {
  return {
    status: 400,
    body: JSON.stringify({ code: "Client specified an invalid argument", error: message }),
  };
}

/** Pydantic's list, as Mistral says it. */
export function listed({ message, path }: Violation): Refused {
  return {
    status: 422,
    body: JSON.stringify({
      object: "error",
      message: { detail: [{ type: "extra_forbidden", loc: ["body", path], msg: message }] },
      type: "invalid_request_error",
      param: null,
      code: null,
    }),
  };
}

/** A text for an error. */
export function plain({ message }: Violation): Refused {
  return { status: 400, body: JSON.stringify({ error: message }) };
}
