// The room of the other process's program: it works on a case's session, and prints one line: that it drives, or what happened as the second.

import { Agent, messageOf, RondoError } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { hold, say, scripted } from "@rondo/testkit";
import type { OtherOrders } from "./other-processes.ts";

const { role, kind, place, session: id, input } = JSON.parse(process.argv[2] ?? "") as OtherOrders;
const journal = kind === "sqlite" ? sqliteJournal(place) : jsonlJournal(place);
const held = hold(say("nobody hears this"));
const agent = new Agent({ model: scripted([held]), journal, lease: { owner: role } });

if (role === "drive") {
  const session = await agent.open(id);
  void session.send(input);
  await held.reached;
  console.log("driving");
  setInterval(() => {}, 60_000);
} else {
  let words = "";
  let wrote = false;
  try {
    const session = await agent.open(id);
    // If it is admitted, it sends a message too.
    if (session.status === "idle") session.followUp("me, too");
    else session.steer("me, too");
    await session.settled();
    wrote = true;
  } catch (thrown) {
    if (!(thrown instanceof RondoError) || thrown.kind !== "conflict") throw thrown;
    words = messageOf(thrown);
  }
  const there = journal.read(id).length;
  let read = 0;
  for await (const _record of agent.follow(id)) {
    read += 1;
    if (read === there) break;
  }
  console.log(JSON.stringify({ wrote, words, read }));
  journal.close();
}
