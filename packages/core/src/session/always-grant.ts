// The room of grants made with an approval (`always`), for later calls like the approved one.

import { checkGiven, either, flag, membersOf, object } from "../checks.ts";
import { invalidRequest } from "../errors.ts";
import type { CallView } from "../events.ts";
import type { ArgsPattern, Grant } from "../rules/grants.ts";

/** A grant for calls like an approved one. `args`: the same arguments (the default), any, or a pattern. */
export type Always =
  | true
  | (Pick<Grant, "until" | "uses"> & { id?: string; args?: "same" | "any" | ArgsPattern });

const approval = membersOf<{ always?: Always }>({ always: either(flag, object) });

/** The grant that an approval makes for later calls; undefined: none. @throws RondoError `invalid_request` for invalid options */
export function alwaysIn(options: { always?: Always }): Always | undefined {
  checkGiven(approval, options, "approve");
  // `always: false` makes no grant, though the types do not allow it.
  return options.always || undefined;
}

/** The grant for calls like this one. @throws RondoError `invalid_request` for a call inside a sub-agent */
export function grantLike(
  { id, name, args, child }: CallView,
  always: Always,
): Omit<Grant, "id"> & { id?: string } {
  if (child !== undefined)
    throw invalidRequest(
      `the call ${id} stands inside a sub-agent, and a grant for calls to come holds in one session: approve it without always`,
    );
  const { args: wanted = "same", ...rest } = always === true ? {} : always;
  const pattern = wanted === "same" ? { exact: args } : wanted === "any" ? undefined : wanted;
  return { ...rest, tool: name, ...(pattern === undefined ? {} : { args: pattern }) };
}
