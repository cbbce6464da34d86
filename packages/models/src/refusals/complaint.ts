// The room of a refusal's complaint: the beginning of its text.

/** In characters. */
const head = 2000;

/** The part of a refusal that is its own text: after that it may repeat the request, and what people wrote there is not a complaint. */
export const complaintOf = (words: string): string => words.slice(0, head);
