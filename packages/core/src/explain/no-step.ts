// The room of one refusal: a step is asked for that a run does not have.

/** That a run has no such step, and which it has. @param last 0: none */
export const noStep = (run: string, step: number, last: number): string =>
  `${run} has no step ${step}: ` +
  (last === 0 ? "no model was asked" : `it has ${last === 1 ? "step 1 alone" : `1 to ${last}`}`);
