// The room of tools in place: whether a request tells of an offered tool where the result is that offered it.
//
// Providers cache the front of a request, and the tools are at its very front: one more there, and everything after it is
// read anew. Some protocols take the definition of a tool in the middle of the conversation instead.

import type { Target } from "../codec.ts";

/** The model can, as far as is known, and the server has not refused it. */
export const tellsInPlace = ({ facts, compat }: Target): boolean =>
  facts.offersInPlace === true && compat?.offersInPlace !== false;
