// The room of a request as a line of a file: all of it but what lets somebody in.
//
// A program may be tried with its real key, and the file outlives the trial.

import { redacted, secretHeader } from "@rondo/core";
import type { WireRequest } from "./faults.ts";

/** One JSON object, and the end of its line. Of a credential stays how it was brought: `Bearer ${redacted}`. */
export function requestLine({ text: _, headers, path, ...request }: WireRequest): string {
  const told = Object.entries(headers).map(([name, value]) => [
    name,
    secretHeader.test(name)
      ? value.replace(/^((?:Bearer|Basic|AWS4-HMAC-SHA256) +)?.*$/is, `$1${redacted}`)
      : value,
  ]);
  return `${JSON.stringify({
    ...request,
    path: path.replace(/([?&]key=)[^&]*/g, `$1${redacted}`),
    headers: Object.fromEntries(told),
  })}\n`;
}
