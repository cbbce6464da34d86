// The room of what a refusal complains of: the words at its head.

/** Characters. */
const head = 2000;

/** The words of a refusal's body, or of its message, that are its own: behind them it may repeat the request, and what people wrote there is no complaint. */
export const complaintOf = (words: string): string => words.slice(0, head);
