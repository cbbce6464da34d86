// The room of the location: the file or folder that somebody means by a path or an address.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, RondoError } from "@rondo/core";

/**
 * The place that is meant, from the root of the file system on.
 * @param owner whose place it is, in words: `a JSONL journal`
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
