// Drives session `s` of a journal to the end of its run, or as far as the disk lets it, and says a line of JSON a try.
//
// Arguments: the journal, the file of effects, how many steps, then what happens: `die=STEP` (SIGKILL in that step's
// write), `free=FILE` (after a failure the file is removed, and it tries again in the same process).

import { appendFileSync, rmSync } from "node:fs";
import { Agent, type Journal, RondoError, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";

const [place = "", effects = "", steps = "0", ...events] = process.argv.slice(2);
const event = (name: string): string | undefined =>
  events.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);

const inputSchema = { type: "object", properties: {} } as const;
const tools = [
  tool({
    name: "read",
    description: "reads",
    inputSchema,
    effect: "read",
    execute: () => "x".repeat(8_000),
  }),
  tool({
    name: "write",
    description: "writes",
    inputSchema,
    execute: ({ step }: { step?: number }, { idempotencyKey }) => {
      // Elsewhere than the journal: that disk is well.
      appendFileSync(effects, `${idempotencyKey}\n`);
      if (event("die") === String(step)) process.kill(process.pid, "SIGKILL");
      return "written";
    },
  }),
];
const model = scripted(
  (request) => {
    const step = request.messages.filter(({ role }) => role === "assistant").length + 1;
    return step > Number(steps)
      ? say(`done after ${steps}`)
      : [call("read", { step }), call("write", { step })];
  },
  { keepRequests: false },
);

/** One try: opens the session and goes on with its run, or begins it. */
async function drive(): Promise<boolean> {
  let acknowledged = -1;
  let error: unknown;
  let came: object = {};
  try {
    const journal = namedJournal(place);
    const counting: Journal = {
      append: (session, seq, records, token) => {
        journal.append(session, seq, records, token);
        acknowledged = seq + records.length;
      },
      read: (session, from) => journal.read(session, from),
      list: () => journal.list(),
      lease: (session, request) => journal.lease(session, request),
    };
    const session = await new Agent({ model, tools, journal: counting, maxSteps: 1_000 }).open("s");
    try {
      const { end, text } =
        session.status === "interrupted" ? await session.resume() : await session.send("go");
      came = { reason: end?.reason, text };
    } finally {
      came = { ...came, status: session.status, readable: journal.read("s").length };
      journal.close();
    }
  } catch (thrown) {
    error = thrown instanceof RondoError ? thrown.toJSON() : { message: String(thrown) };
  }
  console.log(JSON.stringify({ ...came, acknowledged, ...(error === undefined ? {} : { error }) }));
  return error === undefined;
}

const ballast = event("free");
if (!(await drive()) && ballast !== undefined) {
  rmSync(ballast);
  await drive();
}
