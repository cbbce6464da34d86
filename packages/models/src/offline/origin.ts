// The room of the planner's origin, as in every answer.

import type { Origin } from "@rondo/core";

export const origin: Origin = { api: "offline", provider: "rondo", model: "planner" };
