// The room of filler messages, for servers that require one of the other role between two messages (F046, F128).

/** The assistant's filler before a user message. */
export const noted = "Noted.";

/** The user's filler before the model continues. */
export const goOn = "Continue.";
