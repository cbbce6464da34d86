// The room of the inbox: takes messages to a session, whether it is being driven or not.
//
// A virtual object of its own: the session's is busy while a run is driven, and a message to an invocation still waiting
// for its turn would be lost. Each mail goes two ways: to the listening driver, at once, and to the session's object,
// which takes it when nobody drives any more. Mails are numbered, so that each is taken once.

import * as restate from "@restatedev/restate-sdk";
import type { Services } from "../names.ts";
import { jsonOf } from "../state/kv.ts";
import { Taken } from "../state/taken-mails.ts";
import { type ListenRequest, type Mail, maxFactBytes, type Posted, type PostRequest } from "../wire.ts";

interface Waiting {
  count: number;
  /** The awakeable of the listening driver. */
  awakeable: string | null;
  /** Mails not known to be taken. */
  mails: Mail[];
}

/** More than ever accumulate; older ones go to the session's object only. */
const keptMails = 256;
/** Limit for all kept mails in bytes; a single mail may be larger. They are one value, and go in one message. */
const keptBytes = maxFactBytes;

export function inboxObject(services: Services): restate.VirtualObjectDefinition<string, unknown> {
  const load = async (ctx: restate.ObjectContext): Promise<Waiting> =>
    (await ctx.get<Waiting>("waiting")) ?? { count: 0, awakeable: null, mails: [] };
  return restate.object({
    name: services.inbox,
    handlers: {
      post: async (ctx: restate.ObjectContext, { agent, say }: PostRequest): Promise<Posted> => {
        const waiting = await load(ctx);
        const at = await ctx.date.now();
        const mail: Mail = { n: waiting.count + 1, at, agent, say };
        const mails = newest([...waiting.mails, mail]);
        if (waiting.awakeable !== null) ctx.resolveAwakeable(waiting.awakeable, mails);
        ctx.set("waiting", { count: mail.n, awakeable: null, mails } satisfies Waiting);
        ctx.genericSend<Mail>({
          service: services.session,
          method: "take",
          key: ctx.key,
          parameter: mail,
          inputSerde: jsonOf(),
        });
        return { n: mail.n, at };
      },
      forget: async (ctx: restate.ObjectContext): Promise<void> => {
        const { count } = await load(ctx);
        // The count continues: a deleted session that begins anew still knows which mails it took.
        if (count > 0) ctx.set("waiting", { count, awakeable: null, mails: [] } satisfies Waiting);
        else ctx.clear("waiting");
      },
      listen: async (ctx: restate.ObjectContext, { awakeable, taken }: ListenRequest): Promise<void> => {
        const waiting = await load(ctx);
        const known = new Taken(taken);
        const mails = waiting.mails.filter(({ n }) => !known.has(n));
        if (mails.length > 0) ctx.resolveAwakeable(awakeable, mails);
        const heard = mails.length > 0 ? null : awakeable;
        ctx.set("waiting", { count: waiting.count, awakeable: heard, mails } satisfies Waiting);
      },
    },
  }) as restate.VirtualObjectDefinition<string, unknown>;
}

/** The newest mails within the limits; always the last one. */
export function newest(mails: readonly Mail[]): Mail[] {
  let first = mails.length;
  let bytes = 0;
  while (first > 0 && mails.length - first < keptMails) {
    bytes += Buffer.byteLength(JSON.stringify(mails[first - 1]));
    if (bytes > keptBytes && first < mails.length) break;
    first -= 1;
  }
  return mails.slice(first);
}
