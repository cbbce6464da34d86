// A person's answer to a call is told by the worker, in its agent's words: a client knows neither them nor what is masked.

import { Agent, type AgentOptions, type RondoEvent, subAgent, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { register, restateClient, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

const ask = tool({
  name: "ask",
  description: "asks",
  inputSchema: { type: "object", properties: {} },
  permission: "ask",
  execute: () => "never",
});

describe.skipIf(whyNoServer !== undefined)(
  `an error that somebody brings${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await startServer();
    });

    afterAll(() => server.stop());

    it.each<[string, string, Partial<AgentOptions>]>([
      ["in the agent's own words", "ask says: gone", { texts: { threw: (of, why) => `${of} says: ${why}` } }],
      ["masked where the agent masks", "Error: ask failed.", { toolErrors: "masked" }],
      [
        "masked in the agent's own words",
        "No ask.",
        { toolErrors: "masked", texts: { masked: (of) => `No ${of}.` } },
      ],
      [
        "in our own words where the agent's fail",
        "Error: gone",
        {
          texts: {
            threw: () => {
              throw new Error("no words today");
            },
          },
        },
      ],
    ])(
      "is told %s, in a run and inside a sub-agent, and why to those who watch",
      async (how, told, options) => {
        const model = scripted(({ messages }) =>
          messages.some(({ role }) => role === "tool") ? say("done") : call("ask"),
        );
        const subject = new Agent({ model, tools: [ask], ...options });
        const helper = subAgent({ name: "helper", description: "helps", agent: subject });
        const lead = new Agent({
          model: scripted([call("helper", { task: "t" }), say("done")]),
          tools: [helper],
        });
        const namespace = how.replaceAll(/\W/g, "_");
        const worker = restateWorker({ agents: { subject, lead }, namespace });
        const workers = await worker.listen();
        await register({ admin: server.admin, worker: workers, force: true });
        for (const agent of ["subject", "lead"]) {
          const client = restateClient({ ingress: server.ingress, namespace, agent, workers });
          const session = client.session(agent);
          const { parked } = await session.send("go");
          const waiting = parked?.pending[0];
          await session.answer(
            waiting?.id ?? "",
            new Error("gone", { cause: new Error("away since the morning") }),
          );
          // The run that asked, wherever it stands.
          const asking = client.session(waiting?.child?.session ?? agent);
          const heard: RondoEvent[] = [];
          for await (const thing of asking.follow({ cursor: "0" })) {
            if ("event" in thing) heard.push(thing.event);
            if ("record" in thing && thing.record.type === "run_ended") break;
          }
          expect(heard).toContainEqual(
            expect.objectContaining({
              type: "warning",
              code: "tool_error",
              message: expect.stringMatching(/^ask \(.+\): gone: away since the morning$/),
            }),
          );
          const [result] = (await asking.records()).flatMap((one) =>
            one.type === "tool_finished" ? [one.result] : [],
          );
          expect(result).toMatchObject({ content: [{ text: told }], isError: true, code: "answered" });
        }
        await worker.close({ withinMs: 0 });
      },
    );
  },
);
