// The room of what a drive is given: the handler it runs in, and what the worker has for it.

import type { ObjectContext } from "@restatedev/restate-sdk";
import type { State } from "@rondo/core";
import type { SessionParts } from "@rondo/core/driving";
import type { Above, Hub } from "../hub.ts";
import type { RecordStore } from "../state/store.ts";
import type { Workplaces } from "../workplace.ts";
import type { AbandonedRuns } from "./abandoned-runs.ts";
import type { ChildCalls } from "./child-calls.ts";

/** What the driver takes from the worker and the handler it runs in. */
export interface DriverPlace {
  ctx: ObjectContext;
  parts: SessionParts;
  store: RecordStore;
  hub: Hub;
  /** Where a sub-agent's events are told as well. */
  above: readonly Above[];
  workplaces: Workplaces;
  children: ChildCalls;
  /** What whoever asked for the run calls it. */
  run: string | undefined;
  unwanted: AbandonedRuns;
  /** Hears that calls wait for somebody while the run goes on. */
  waiting(state: State): void;
  /** Says to the inbox that mail is heard here. */
  listen(awakeable: string): void;
  /** Holds back what would begin something, while the worker is being closed. */
  gate(): Promise<never> | undefined;
}
