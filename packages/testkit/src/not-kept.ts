// The room of what is not kept: the requests of a model or a server that was told to keep none.
//
// It is one list, so that who looks in there for a request is told that none is kept, and not that none went out.

/** In place of `requests`, where `keepRequests` is false. */
export const notKept: never[] = Object.freeze([]) as unknown as never[];
