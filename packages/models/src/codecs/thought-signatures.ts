// The room of Gemini's thought signatures, for its own protocol and for Chat Completions in front of it.

/** The signature that Google documents for calls that another model made: it skips the check. */
export const foreignSignature = "skip_thought_signature_validator";

/** A call in the history lost its signature, or never had one (F106). */
export const lacksSignature: RegExp = /missing a [`'"\\]*thought_?signature/i;
