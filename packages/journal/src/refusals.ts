// The room of refusals: how a read-only journal answers calls that would write.

import { RondoError } from "@rondo/core";

/** The reason when it was opened with `readOnly`. */
export const openedToRead = "it was opened to be read only (readOnly)";

/** @param journal its file or folder @param why it is read-only */
export function refusals(
  journal: string,
  why: string,
): Record<"append" | "lease" | "delete" | "put" | "deleteTexts", () => never> {
  const refuse =
    (doing: string, instead = "") =>
    (): never => {
      throw new RondoError("invalid_request", `cannot ${doing} the journal ${journal}: ${why}${instead}`);
    };
  return {
    append: refuse("append to"),
    // An agent asks for one when it opens a session with an open run.
    lease: refuse("take a lease in", "; read() or follow() the records of a session with an open run"),
    delete: refuse("delete from"),
    put: refuse("keep a text in"),
    deleteTexts: refuse("delete texts in"),
  };
}
