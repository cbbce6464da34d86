// The room of Gemini's thought signatures, as its own protocol and the Chat Completions in front of it have them in common.

/** What Google documents for calls that another model made: the signature check is skipped for them. */
export const foreignSignature = "skip_thought_signature_validator";

/** A call in a history lost its signature, or never had one (F106). */
export const lacksSignature: RegExp = /missing a [`'"\\]*thought_?signature/i;
