// The command reads the sessions of a Restate server like those of any other journal.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isBuilt, withPackages } from "../../../scripts/built.ts";
import { type RestateWorker, register, restateClient, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

const main = fileURLToPath(
  new URL(isBuilt ? "../../cli/dist/main.js" : "../../cli/src/main.ts", import.meta.url),
);

describe.skipIf(whyNoServer !== undefined)(
  `rondo --journal restate:${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;
    let worker: RestateWorker;

    const rondo = async (...args: string[]): Promise<string> => {
      const said = await promisify(execFile)(
        process.execPath,
        [...withPackages, main, ...args, "--journal", `restate:${server.ingress}`],
        { env: { ...process.env, NO_COLOR: "1" } },
        // `diff` says by its exit code that there are differences.
      ).catch((error: { stdout: string; stderr: string }) => error);
      expect(said.stderr).not.toMatch(/^rondo: /m);
      return said.stdout;
    };

    beforeAll(async () => {
      server = await startServer();
      const look = tool({
        name: "look",
        description: "looks",
        inputSchema: { type: "object", properties: {} },
        effect: "read",
        execute: () => "a cat",
      } as Parameters<typeof tool>[0]);
      const agent = new Agent({
        model: scripted(({ messages }) =>
          messages.at(-1)?.role === "tool" ? say("I see a cat") : call("look"),
        ),
        tools: [look],
      });
      worker = restateWorker({ agents: { agent } });
      await register({ admin: server.admin, worker: await worker.listen() });
      const client = restateClient({ ingress: server.ingress, agent: "agent" });
      await client.session("first").send("What do you see?");
      await client.session("second").send("And now?");
    });

    afterAll(async () => {
      await worker.close({ withinMs: 0 });
      await server.stop();
    });

    it("runs, show, explain, replay and diff read them", async () => {
      expect(await rondo("runs")).toMatch(/second[\s\S]*first/);
      expect(await rondo("show", "first")).toMatch(/What do you see[\s\S]*look[\s\S]*I see a cat/);
      expect(await rondo("explain", "first")).toMatch(/completed/);
      expect(await rondo("replay", "first")).toMatch(/2 requests rebuilt .* byte for byte/);
      expect(await rondo("diff", "first", "second")).toMatch(/And now/);
    });

    it("run keeps its session there, and fork takes it up to a step and drives it on", async () => {
      await rondo("run", "--model", "offline", "What is 2 + 3?");
      expect(await rondo("show", "last")).toMatch(/2 \+ 3/);
      await rondo("fork", "last", "1", "--go", "--model", "offline");
      expect(await rondo("show", "last")).toMatch(/fork/i);
    });
  },
);
