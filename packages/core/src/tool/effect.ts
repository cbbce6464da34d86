// The room of effects: what a tool declares about its calls in advance.

/**
 * What a call does to the world. `read`: nothing. `idempotent`: the same twice as once. `write`: anything else;
 * it starts at most once per call, whatever crashes.
 */
export type Effect = "read" | "idempotent" | "write";

/** Whether a call may run: at once, never, or after an approval. */
export type Permission = "allow" | "ask" | "deny";

export const isPermission = (word: unknown): boolean => word === "allow" || word === "ask" || word === "deny";
