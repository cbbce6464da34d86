// The face of @rondo/models.
export type * from "./codec.ts";
