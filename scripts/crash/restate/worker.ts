// The room of the Restate worker's program: serves the scene's agent, once for each slot.
//
// It may be killed at any instant. Arguments: the folder of the worlds, the number of slots, the addresses for
// clients, and whether to make the mistake `write_again`.

import { join } from "node:path";
import { Agent, type Tool } from "@rondo/core";
import { fileBlobs } from "@rondo/journal";
import { restateClient, restateJournal, restateWorker } from "@rondo/restate";
import { scene } from "../scene.ts";
import { until } from "./until.ts";
import { agentOf, mainOf, slotWorld } from "./world.ts";

const [scratch = ".", slots = "1", addresses = "", mistake] = process.argv.slice(2);
const ingress = addresses.split(",");
const working = (session: string): void => void process.send?.({ working: session });
const journal = restateJournal({ ingress });

/** Resolves once a message is in the records: what the run does next must not depend on timing. */
const stored = (session: string, id: string): Promise<boolean> =>
  until(async () =>
    (await journal.read(session)).some((record) => record.type === "queued" && record.id === id),
  );

/** A tool that reports when it starts. */
const watched = (one: Tool): Tool =>
  one.agent === undefined
    ? {
        ...one,
        execute: (args, context) => {
          working(mainOf(context.idempotencyKey));
          return one.execute(args, context);
        },
      }
    : one;

const agents: Record<string, Agent> = {};
for (let slot = 0; slot < Number(slots); slot += 1) {
  const client = restateClient({ ingress, agent: agentOf(slot) });
  const options = scene(
    slotWorld(scratch, slot),
    {
      async steer(text, id, session) {
        await client.session(session).steer(text, id);
        await stored(session, id);
      },
      async followUp(text, id, session) {
        await client.session(session).followUp(text, id);
        await stored(session, id);
      },
    },
    mistake === "write_again" ? { noteEffect: "idempotent" } : {},
  );
  agents[agentOf(slot)] = new Agent({ ...options, tools: (options.tools ?? []).map(watched) });
}
const listening = await restateWorker({ agents, blobs: fileBlobs(join(scratch, "blobs")) }).listen();
process.send?.({ listening });
// The parent process is gone.
process.once("disconnect", () => process.exit());
