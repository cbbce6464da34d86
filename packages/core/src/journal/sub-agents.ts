// The room of sub-agents' sessions: whose they are, from their names alone.
//
// The name of a sub-agent's session is its parent's name and the key of its call. Records say this too, but deleting one
// session of a thousand must not read them all.

const below = /^(?::\d+\.\d+)+$/;

/** Whether a session belongs to a sub-agent of another session, directly or further below: `SESSION:12.0`, `SESSION:12.0:3.1`. */
export const isSubAgentOf = (id: string, session: string): boolean =>
  id.startsWith(session) && below.test(id.slice(session.length));

/**
 * From a list of sessions the deleted one and those of its sub-agents, in the order of deletion: it comes last, so that it
 * exists until all of them are gone.
 */
export const withSubAgents = (ids: Iterable<string>, session: string): string[] =>
  [...new Set(ids)]
    .filter((id) => id === session || isSubAgentOf(id, session))
    .sort((a, b) => b.length - a.length);
