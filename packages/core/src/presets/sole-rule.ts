// The room of the sole rule: what a preset switches off if its own rule decides about every answer.

type Others =
  | "maxTruncations"
  | "malformedRetries"
  | "pauseResumes"
  | "emptyNudges"
  | "degenerateRetries"
  | "repeats";

/** No rule for unusual answers or for repeats decides before the continue rule. */
export const soleRule: { readonly [other in Others]: null } = {
  maxTruncations: null,
  malformedRetries: null,
  pauseResumes: null,
  emptyNudges: null,
  degenerateRetries: null,
  repeats: null,
};
