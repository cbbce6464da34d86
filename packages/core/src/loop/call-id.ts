// The room of ids that the loop makes up for calls: providers repeat ids, or leave them out.

/**
 * The id of a call whose own is missing or taken. Unique in the session, as long as no two answers have the same number.
 * @param own the provider's id; empty if there is none
 * @param seq the answer's number
 * @param nth of the calls of that answer
 */
export const madeUpId = (own: string, seq: number, nth: number): string => `${own || "call"}_${seq}_${nth}`;
