// The room of the inbox: what is said to a session, whoever drives it or nobody.
//
// An object of its own, for the session's own is busy while a run is driven, and a word said to an invocation that still
// waits for its turn would be lost. Each mail goes two ways: to whoever listens, at once, and to the session's object,
// which takes it when nobody drives any more. Mails are numbered, so that each is taken once.

import * as restate from "@restatedev/restate-sdk";
import type { Services } from "../names.ts";
import { jsonOf } from "../state/kv.ts";
import { Taken } from "../state/taken-mails.ts";
import { type ListenRequest, type Mail, maxFactBytes, type Posted, type PostRequest } from "../wire.ts";

interface Waiting {
  count: number;
  /** Who listens. */
  awakeable: string | null;
  /** What nobody is known to have taken. */
  mails: Mail[];
}

/** More than anybody leaves lying; what is older goes to the session's object alone. */
const keptMails = 256;
/** What kept mails have together at most, in bytes; one alone may have more. They are one value, and go in one message. */
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
        // Counted on: a session that begins anew knows which mails it has taken.
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

/** As many of the newest mails as are kept, the last in any case. */
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
