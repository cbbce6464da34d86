// The room of the model inside: what those that are put around a model of ours must be given.

import type { Model } from "@rondo/core";
import { callable, checkGiven, having, membersOf, object } from "@rondo/core/checks";

const given = membersOf<{ model: Model }>(
  { model: having("a Model of Rondo, e.g. offline(),", { call: callable, origin: object }) },
  ["model"],
);

/** @throws RondoError `invalid_request` naming `owner`, for what is no model of ours: one of the AI SDK, or a promise of one */
export const checkInner = (model: Model, owner: string): void => checkGiven(given, { model }, owner);
