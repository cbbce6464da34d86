// The room of the inner model: a check for functions that wrap a model.

import type { Model } from "@rondo/core";
import { callable, checkGiven, having, membersOf, object } from "@rondo/core/checks";

const given = membersOf<{ model: Model }>(
  { model: having("a Model of Rondo, e.g. offline(),", { call: callable, origin: object }) },
  ["model"],
);

/**
 * @throws RondoError `invalid_request` naming `owner`, if the value is not a Rondo model but, say, one of the AI SDK, or a
 * promise
 */
export const checkInner = (model: Model, owner: string): void => checkGiven(given, { model }, owner);
