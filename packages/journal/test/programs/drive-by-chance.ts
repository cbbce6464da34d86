// Does by chance what can be done with session `s` of a journal, again and again on new objects of it, until it is killed. Each line of
// its output is a text that it is about to say, or that was taken.
//
// Arguments: the journal, a name that no other process has, the file in which tools leave the keys of their calls.

import { appendFileSync, writeSync } from "node:fs";
import { RondoError, type Session } from "@rondo/core";
import { call, fail, say, scripted } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";
import { chanceAgent } from "../random-agent.ts";

const [place = "", me = "", effects = ""] = process.argv.slice(2);
const tell = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const below = (count: number): number => Math.floor(Math.random() * count);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let number = 0;
const model = scripted(
  async () => {
    await pause(below(6));
    const n = number++;
    const answers = [
      fail("overloaded"),
      call("press", { n }),
      call("look", { n }),
      [call("save", { n }), call("look", { n })],
    ];
    return answers[below(8)] ?? say(`${me} answers ${n}`);
  },
  { keepRequests: false },
);
const ran = async (key: string): Promise<string> => {
  appendFileSync(effects, `${key}\n`);
  await pause(below(6));
  return "done";
};
const journal = namedJournal(place);
const agent = chanceAgent({ journal, model, ran, leaseMs: [300, 1000, 60_000][below(3)] ?? 300 });

/** Says a text in some way; it was taken if that resolves. */
async function said(how: (text: string) => Promise<unknown>): Promise<void> {
  const text = `${me} says ${number++}.`;
  tell({ did: "say", text });
  await how(text);
  tell({ did: "taken", text });
}

async function streamed(session: Session, text: string): Promise<void> {
  const stream = session.stream(() => session.send(text));
  let left = below(20);
  for await (const _ of stream) if (left-- === 0) break;
  await stream.result;
}

const deeds: ((session: Session) => unknown)[] = [
  (session) => said((text) => session.send(text)),
  (session) => said((text) => streamed(session, text)),
  (session) =>
    said((text) => {
      if (below(2) === 0) session.steer(text);
      else session.followUp(text);
      return session.settled();
    }),
  (session) => session.resume(),
  (session) => session.continue(),
  (session) => session.approve(session.pending[0]?.id ?? "none"),
  (session) => session.deny(session.pending[0]?.id ?? "none"),
  (session) => session.abort("by chance"),
  (session) => session.drain({ withinMs: 5 }),
];

/** It was not the moment for it, or another process was faster. */
const refused = (thrown: unknown): void => {
  if (!(thrown instanceof RondoError && ["conflict", "invalid_request", "aborted"].includes(thrown.kind)))
    throw thrown;
};

async function live(): Promise<void> {
  const session = await agent.open("s", { takeOver: below(4) === 0 });
  const underWay: Promise<void>[] = [];
  for (let count = 1 + below(5); count > 0; count -= 1) {
    const deed = deeds[below(deeds.length)];
    const doing = (async () => void (await deed?.(session)))().catch(refused);
    underWay.push(doing);
    await (below(3) > 0 ? doing : pause(below(5)));
  }
  await Promise.all(underWay);
}

for (;;) {
  await live().catch(refused);
  await pause(below(30));
}
