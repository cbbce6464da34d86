// The face of @rondo/models.
export type * from "./codec.ts";
export { type OfflineOptions, offline } from "./offline/offline.ts";
