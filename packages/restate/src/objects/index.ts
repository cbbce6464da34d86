// The room of the index: the list of all sessions.
//
// Restate can only look objects up by key, so a list has to be maintained. A session notifies its shard when it
// begins and whenever a run stops.

import * as restate from "@restatedev/restate-sdk";
import type { Services } from "../names.ts";
import type { Listed } from "../wire.ts";

const prefix = "s:";

export function indexObject(services: Services): restate.VirtualObjectDefinition<string, unknown> {
  return restate.object({
    name: services.index,
    options: { enableLazyState: true },
    handlers: {
      note: async (ctx: restate.ObjectContext, info: Omit<Listed, "born">): Promise<void> => {
        const key = prefix + info.id;
        const known = await ctx.get<Listed>(key);
        // A session sends its notes in order, but they may overtake each other. And an append knows the creation time only
        // from the records that it appends.
        const newest = known !== null && known.length > info.length ? known : info;
        const createdAt = Math.min(info.createdAt, known?.createdAt ?? info.createdAt);
        const born = known?.born ?? (await ctx.date.now());
        ctx.set(key, { ...newest, createdAt, born } satisfies Listed);
      },
      forget: async (ctx: restate.ObjectContext, id: string): Promise<void> => ctx.clear(prefix + id),
      list: restate.handlers.object.shared(async (ctx: restate.ObjectSharedContext): Promise<Listed[]> => {
        const keys = (await ctx.stateKeys()).filter((key) => key.startsWith(prefix));
        const listed = await restate.RestatePromise.all(
          keys.map((key) => ctx.get<Listed>(key) as restate.RestatePromise<Listed | null>),
        );
        return listed.filter((one) => one !== null);
      }),
    },
  }) as restate.VirtualObjectDefinition<string, unknown>;
}
