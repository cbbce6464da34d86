// The room of the live token: who may receive live events of a worker.
//
// Live events bypass Restate, so what protects the worker's calls does not protect them: anybody who can reach the port
// would read what the model says and what tools are given. With protected calls and no token, nobody gets them.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Check } from "@rondo/core/checks";

/** Valid in a header, and too long to guess. */
const form = /^[\w.~+/-]{16,}=*$/;

/** Checks a live token. Messages do not show the value: it may be a real token with a typo. */
export const liveToken: Check = (value) =>
  typeof value === "string" && form.test(value)
    ? undefined
    : {
        at: "",
        says: "a text of at least 16 letters, digits or -._~+/ is needed (= at its end may follow), and this is none; it is not shown, for it may be a secret",
      };

/** Why a follower is refused, as it is answered. */
export interface Refusal {
  status: 401 | 404;
  says: string;
}

/** Checks the header of a follower: a refusal, or undefined when it is accepted. */
export type LiveGuard = (authorization: string | undefined) => Refusal | undefined;

const missing: Refusal = {
  status: 401,
  says: "live events of this worker are told to those who send its liveToken (Authorization: Bearer …)",
};

const closed: Refusal = {
  status: 404,
  says: "this worker tells no live events: it takes calls from its servers alone (identityKeys), and was given no liveToken",
};

/** @param areCallsGuarded whether only one's own servers may call */
export function liveGuard(token: string | undefined, areCallsGuarded: boolean): LiveGuard {
  if (token === undefined) return () => (areCallsGuarded ? closed : undefined);
  const own = digestOf(token);
  return (authorization = "") => {
    const [, shown] = /^bearer +(.+)$/i.exec(authorization) ?? [];
    // Digests have equal length and are compared in constant time, so timing reveals nothing.
    return shown !== undefined && timingSafeEqual(digestOf(shown), own) ? undefined : missing;
  };
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
