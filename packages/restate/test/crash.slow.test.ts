// Workers that die while a tool works: a write never starts twice, a read starts again, and nothing that ended is lost.

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { textOf } from "@rondo/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withPackages } from "../../../scripts/built.ts";
import { type RestateSession, register, restateClient } from "../src/index.ts";
import { freePorts, startServer, type TestServer, whyNoServer } from "./server.ts";

describe.skipIf(whyNoServer !== undefined)(
  `a worker that dies${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;
    let folder: string;
    let port: number;
    let worker: ChildProcess;
    const begun = (): string[] => {
      try {
        return readFileSync(join(folder, "log"), "utf8").trim().split("\n").filter(Boolean);
      } catch {
        return [];
      }
    };

    const start = (): Promise<string> => {
      const child = fork(
        fileURLToPath(new URL("programs/worker.ts", import.meta.url)),
        [String(port), join(folder, "log"), join(folder, "hang")],
        { execArgv: [...withPackages], stdio: ["ignore", "ignore", "inherit", "ipc"] },
      );
      worker = child;
      return new Promise((resolve, reject) => {
        child.once("message", ({ address }: { address: string }) => resolve(address));
        child.once("exit", (code) => reject(new Error(`the worker ended with ${code}`)));
      });
    };

    const die = async (): Promise<void> => {
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      worker.kill("SIGKILL");
      await ended;
    };

    beforeAll(async () => {
      server = await startServer();
      folder = mkdtempSync(join(tmpdir(), "rondo-restate-crash-"));
      [port = 0] = await freePorts(1);
      await register({ admin: server.admin, worker: await start() });
    });

    afterAll(async () => {
      await die();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const hang = (): void => writeFileSync(join(folder, "hang"), "");
    const goOn = (): void => rmSync(join(folder, "hang"), { force: true });
    const until = async (so: () => boolean | Promise<boolean>): Promise<void> => {
      while (!(await so())) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const open = (id: string): RestateSession =>
      restateClient({ ingress: server.ingress, agent: "agent" }).session(id);
    const starts = (id: string): number => begun().filter((line) => line.includes(` ${id}:`)).length;

    it("in a write leaves its outcome unknown: it is never started twice, and the model is told", async () => {
      const session = open("a-write");
      hang();
      const running = session.send("do it");
      await until(() => starts("a-write") === 1);
      await die();
      goOn();
      await start();
      const { text, end, messages } = await running;
      expect([text, end?.reason]).toEqual(["done", "completed"]);
      expect(starts("a-write")).toBe(1);
      const records = await session.records();
      const types = records.map(({ type }) => type);
      expect(types.filter((type) => type === "tool_started")).toHaveLength(1);
      expect(types).toContain("opened");
      expect(records.find(({ type }) => type === "tool_finished")).toMatchObject({
        result: { code: "outcome_unknown", isError: true },
      });
      expect(messages.some((message) => message.role === "tool" && /unknown/i.test(textOf(message)))).toBe(
        true,
      );
    });

    it("in a read starts it again", async () => {
      const session = open("a-read");
      hang();
      const running = session.send("read it");
      await until(() => starts("a-read") === 1);
      await die();
      goOn();
      await start();
      const { text, toolCalls } = await running;
      expect([text, toolCalls]).toEqual(["done", 1]);
      expect(starts("a-read")).toBe(2);
      const records = await session.records();
      const ours = records.filter(({ type }) => ["opened", "tool_started", "tool_finished"].includes(type));
      expect(ours.map(({ type }) => type)).toEqual([
        "tool_started",
        "opened",
        "tool_started",
        "tool_finished",
      ]);
    });

    it("before the call of a run reaches it loses nothing", async () => {
      await die();
      const session = open("nobody-there");
      const running = session.send("do it");
      await start();
      const { text } = await running;
      expect(text).toBe("done");
      expect(starts("nobody-there")).toBe(1);
    });

    it("is told to leave: what is under way comes back, and another goes on", async () => {
      const session = open("leaving");
      hang();
      const running = session.send("do it");
      await until(() => starts("leaving") === 1);
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      worker.send("leave");
      goOn();
      await ended;
      await start();
      const { text } = await running;
      expect(text).toBe("done");
      expect(starts("leaving")).toBe(1);
      const records = await session.records();
      expect(records.find(({ type }) => type === "tool_finished")).toMatchObject({
        result: { isError: false },
      });
    });
  },
);
