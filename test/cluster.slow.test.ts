// Restate's server as tests and examples start it, and the cluster of the example, whole.

import { existsSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createEndpointHandler, type ObjectContext, object } from "@restatedev/restate-sdk";
import { beforeEach, describe, expect, test } from "vitest";
import { startBalancer } from "../examples/cluster/engine/balancer.ts";
import { startEngine } from "../examples/cluster/engine/engine.ts";
import { haveServer } from "../examples/cluster/engine/server.ts";
import { root } from "../scripts/packages.ts";
import { run } from "../scripts/run-command.ts";

const found = await haveServer();

beforeEach(({ skip }) => {
  if ("missing" in found) skip(found.missing);
});

/** A service of Restate's own, which says how often it was gone through. */
async function serving(times: { count: number }): Promise<{ address: string; stop: () => void }> {
  const counter = object({
    name: "counter",
    handlers: {
      add: async (ctx: ObjectContext, by: number): Promise<number> => {
        times.count += 1;
        const sum = ((await ctx.get<number>("sum")) ?? 0) + by;
        ctx.set("sum", sum);
        return sum;
      },
    },
  });
  const server = createServer(createEndpointHandler({ services: [counter], logger: () => {} }));
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => server.close(),
  };
}

async function add(ingress: string, by: number): Promise<unknown> {
  const response = await fetch(`${ingress}/counter/one/add`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(by),
  });
  return response.ok ? response.json() : response.text();
}

const isThere = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("the server of the example", () => {
  test("serves a worker behind a balancer, keeps what it was told when it is killed, and leaves nothing behind", async () => {
    const times = { count: 0 };
    const service = await serving(times);
    const balancer = await startBalancer(["http://127.0.0.1:1", service.address]);
    const engine = await startEngine();
    const [node] = engine.nodes;
    const pid = node?.pid;
    const folder = dirname(node?.logFile ?? "");
    try {
      // Nobody is at the first of the two addresses: the other is asked.
      await engine.register(balancer.address);
      expect(await add(engine.ingress, 2)).toBe(2);
      await node?.kill();
      expect(node?.alive).toBe(false);
      expect(isThere(pid)).toBe(false);
      node?.start();
      await engine.ready();
      expect(await add(engine.ingress, 3)).toBe(5);
      expect(times.count).toBe(2);
      const rows = await engine.query("select target_handler_name as name, status from sys_invocation");
      expect(rows).toEqual([
        { name: "add", status: "completed" },
        { name: "add", status: "completed" },
      ]);
    } finally {
      await engine.stop();
      await balancer.stop();
      service.stop();
    }
    expect(isThere(node?.pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    await engine.stop();
  });
});

describe("the cluster of the example", () => {
  test("runs its sessions while a worker and a node are killed, loses nothing, and says so", async () => {
    const { code, text } = await run(process.execPath, [
      "--conditions=rondo-source",
      "--disable-warning=ExperimentalWarning",
      join(root, "examples", "cluster", "main.ts"),
      "--sessions",
      "24",
      "--together",
      "8",
    ]);
    expect(text).toContain("sessions completed     24 of 24");
    expect(text).toContain("records lost           0");
    expect(text).toContain("writes executed twice  0");
    expect(text).toMatch(/worker 1 killed with SIGKILL/);
    expect(text).toMatch(/node 1 killed with SIGKILL/);
    expect(text.trimEnd().split("\n").at(-1)).toBe("verified");
    expect(code).toBe(0);
  });
});
