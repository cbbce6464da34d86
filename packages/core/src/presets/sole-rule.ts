// The room of the sole rule: what presets switch off that have an own word on every answer.

type Others =
  | "maxTruncations"
  | "malformedRetries"
  | "pauseResumes"
  | "emptyNudges"
  | "degenerateRetries"
  | "repeats";

/** No rule for odd answers or for repeats speaks before the continue rule. */
export const soleRule: { readonly [other in Others]: null } = {
  maxTruncations: null,
  malformedRetries: null,
  pauseResumes: null,
  emptyNudges: null,
  degenerateRetries: null,
  repeats: null,
};
