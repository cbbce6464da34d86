// The room of the location: resolves a path or a `file:` URL to an absolute path.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, RondoError } from "@rondo/core";

/**
 * The absolute path that is meant.
 * @param owner what the place is for, in messages: `a JSONL journal`
 * @throws RondoError `invalid_request` unless it is a path or a `file:` URL
 */
export function placeOf(
  given: string | URL,
  owner: string,
  kind: "file" | "folder" | "file or folder",
): string {
  const needed = (not: string): RondoError =>
    new RondoError("invalid_request", `${owner} needs the path of a ${kind}, or a file: URL, not ${not}`);
  if (given instanceof URL)
    try {
      return fileURLToPath(given);
    } catch (thrown) {
      throw needed(`${given.href} (${messageOf(thrown)})`);
    }
  if (typeof given !== "string" || given === "")
    throw needed(
      given === "" ? "an empty text" : given === null ? "null" : `a value of type ${typeof given}`,
    );
  return resolve(given);
}
