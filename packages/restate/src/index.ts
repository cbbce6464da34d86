// The room of the public face: what @rondo/restate exports.

export type { RestateClientOptions } from "./client/options.ts";
export {
  type RestateClient,
  RestateSession,
  type RestateSessionStatus,
  restateClient,
} from "./client.ts";
export type { Followed, FollowSessionOptions } from "./follow.ts";
export type { IngressOptions } from "./ingress.ts";
export { type RestateJournal, type RestateJournalOptions, restateJournal } from "./journal.ts";
export { type RegisterOptions, register } from "./register.ts";
export { type RestateWorker, type RestateWorkerOptions, restateWorker } from "./worker.ts";
