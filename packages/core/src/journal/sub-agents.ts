// The room of sub-agents' sessions: whose they are, told by their names alone.
//
// A sub-agent's session is called by its parent's and the key of the call that it is. Records say it too, but whoever deletes
// a session of a thousand need not read them all.

const below = /^(?::\d+\.\d+)+$/;

/** Whether a session is that of a sub-agent of another one, or of a sub-agent's sub-agent: `SESSION:12.0`, `SESSION:12.0:3.1`. */
export const isSubAgentOf = (id: string, session: string): boolean =>
  id.startsWith(session) && below.test(id.slice(session.length));

/** Of some sessions the one that is deleted and those of its sub-agents, in the order to delete them in: it comes last, so that it is there until all are gone. */
export const withSubAgents = (ids: Iterable<string>, session: string): string[] =>
  [...new Set(ids)]
    .filter((id) => id === session || isSubAgentOf(id, session))
    .sort((a, b) => b.length - a.length);
