// The room of refusals: what a journal that is only read says to whoever would write it.

import { RondoError } from "@rondo/core";

/** Why a journal is not written that somebody opened so. */
export const openedToRead = "it was opened to be read only (readOnly)";

/** @param journal its file or folder @param why it is not written */
export function refusals(
  journal: string,
  why: string,
): Record<"append" | "lease" | "delete" | "put" | "deleteTexts", () => never> {
  const refuse = (doing: string) => (): never => {
    throw new RondoError("invalid_request", `cannot ${doing} the journal ${journal}: ${why}`);
  };
  return {
    append: refuse("append to"),
    lease: refuse("take a lease in"),
    delete: refuse("delete from"),
    put: refuse("keep a text in"),
    deleteTexts: refuse("delete texts in"),
  };
}
