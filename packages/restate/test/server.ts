// A Restate server for the tests: one process on free ports, in a folder of its own, gone when the tests are.
//
// Its binary is that of examples/cluster, installed there by whoever needs it first; where it cannot be had the tests
// skip and say why. RONDO_RESTATE_SERVER names another.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { haveServer } from "../../../examples/cluster/engine/server.ts";

const found = await haveServer();

/** Why there is no server here, or undefined when there is one. */
export const whyNoServer: string | undefined = "missing" in found ? found.missing : undefined;

export interface TestServer {
  ingress: string;
  admin: string;
  /** Kills it, and starts it again over what it had kept. */
  restart(): Promise<TestServer>;
  stop(): Promise<void>;
}

export async function startServer(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "rondo-restate-"));
  return serverIn(folder, await freePorts(3));
}

async function serverIn(folder: string, ports: readonly number[]): Promise<TestServer> {
  const [node, ingress, admin] = ports;
  if ("missing" in found) throw new Error(found.missing);
  const child = spawn(found.path, ["--no-logo", "--base-dir", folder, "--node-name", "test"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_DEFAULT_NUM_PARTITIONS: "4",
      // What nobody asked for otherwise is given up soon: a server by itself tries for minutes, and then waits for somebody's hand.
      RESTATE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS: "3",
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "256MiB",
      RESTATE_LOG_FILTER: "warn",
    },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-8_000);
    });
  const place = {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    restart: async () => {
      await end(child);
      return serverIn(folder, ports);
    },
    stop: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const deadline = Date.now() + 60_000;
  while (!(await isHealthy(place.admin)) || !(await isHealthy(place.ingress, "/restate/health"))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await place.stop();
      throw new Error(`the Restate server did not start:\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return place;
}

async function isHealthy(url: string, path = "/health"): Promise<boolean> {
  try {
    return (await fetch(url + path)).ok;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** Ports that nobody has at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const { port } = server.address() as { port: number };
      await new Promise<void>((resolve) => server.close(() => resolve()));
      return port;
    }),
  );
}
