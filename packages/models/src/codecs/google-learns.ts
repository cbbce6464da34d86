// The room of what a refusal teaches of a Gemini: what it thinks of the signatures in a history.
//
// A signature is of one model, one account and one day. What is refused once is refused with every later request of the
// conversation, so it is kept for the model, as a quirk (`codec.ts`).

import type { ErrorResponse, Target } from "../codec.ts";
import { complaintOf } from "../complaint.ts";
import { googleTraits } from "./google-target.ts";
import { lacksSignature } from "./thought-signatures.ts";

/** F102: another account's, another model's, or too old. */
const spoilt: RegExp =
  /(?:corrupted|invalid) [`'"\\]*thought[ _]?signature|thought[ _]?signature[`'"\\]* is (?:not valid|invalid)/i;

/** The quirks that a refusal tells of, or undefined: then there is nothing to send otherwise. */
export function learned({ status, body }: ErrorResponse, target: Target): Target["compat"] {
  if (status !== 400) return undefined;
  const words = complaintOf(body);
  const { needsSignatures, ownSignatures } = googleTraits(target);
  if (lacksSignature.test(words) && !needsSignatures) return { ...target.compat, needsSignatures: true };
  if (spoilt.test(words) && ownSignatures)
    return { ...target.compat, needsSignatures: true, ownSignatures: false };
  return undefined;
}
