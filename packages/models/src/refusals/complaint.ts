// The room of a refusal's complaint: the words at its start.

/** In characters. */
const head = 2000;

/** The words of a refusal that are its own: after them it may repeat the request, and what people wrote there is no complaint. */
export const complaintOf = (words: string): string => words.slice(0, head);
