// The room of the live token: who may hear what happens in a worker while it happens.
//
// Live events go past Restate, so what guards the worker's calls does not guard them: what a model says and what tools
// are given would be told to whoever reaches the port. Where calls are guarded and there is no token, nobody hears them.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Check } from "@rondo/core/checks";

/** What a header can carry, and nobody guesses. */
const form = /^[\w.~+/-]{16,}=*$/;

/** A live token. It may be a real one with a slip in it: what was given is not shown. */
export const liveToken: Check = (value) =>
  typeof value === "string" && form.test(value)
    ? undefined
    : {
        at: "",
        says: "a text of at least 16 letters, digits or -._~+/ is needed (= at its end may follow), and this is none; it is not shown, for it may be a secret",
      };

/** Why somebody hears nothing, as it is answered. */
export interface Refusal {
  status: 401 | 404;
  says: string;
}

/** What is asked of whoever wants to hear: the header they sent, and why they are refused; undefined: they are not. */
export type LiveGuard = (authorization: string | undefined) => Refusal | undefined;

const missing: Refusal = {
  status: 401,
  says: "live events of this worker are told to those who send its liveToken (Authorization: Bearer …)",
};

const closed: Refusal = {
  status: 404,
  says: "this worker tells no live events: it takes calls from its servers alone (identityKeys), and was given no liveToken",
};

/** @param areCallsGuarded whether calls are taken from servers of one's own alone */
export function liveGuard(token: string | undefined, areCallsGuarded: boolean): LiveGuard {
  if (token === undefined) return () => (areCallsGuarded ? closed : undefined);
  const own = digestOf(token);
  return (authorization = "") => {
    const [, shown] = /^bearer +(.+)$/i.exec(authorization) ?? [];
    // Digests are of one length, and how long it takes to compare them says nothing of where they part.
    return shown !== undefined && timingSafeEqual(digestOf(shown), own) ? undefined : missing;
  };
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
