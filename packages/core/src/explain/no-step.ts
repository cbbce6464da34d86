// The room of one error: a step that a run does not have.

/** The error that a run has no such step, with those it has. @param last 0: none */
export const noStep = (run: string, step: number, last: number): string =>
  `${run} has no step ${step}: ` +
  (last === 0 ? "no model was asked" : `it has ${last === 1 ? "step 1 alone" : `1 to ${last}`}`);
