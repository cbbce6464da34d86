// Core runs in a browser: bundled without any module of Node's, in Chromium where there is one, and in a bare context.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { type OutputChunk, rolldown } from "rolldown";
import { beforeAll, describe, expect, it } from "vitest";
import * as core from "../src/index.ts";

const chromium = [
  process.env.CHROMIUM_PATH ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => existsSync(path));

const expected = "Agent" in core ? "The tool says sum: 12" : "No agent yet; sum: 12";

/** Bundles the page as a script that leaves `page.main`. Every warning is an error: an unresolved import is one. */
async function bundlePage(): Promise<OutputChunk> {
  const warnings: string[] = [];
  const bundle = await rolldown({
    input: join(import.meta.dirname, "browser/page.ts"),
    platform: "browser",
    resolve: { conditionNames: ["rondo-source", "browser", "import", "default"] },
    onLog: (_level, log) => void warnings.push(log.message),
  });
  const { output } = await bundle.generate({ format: "iife", name: "page" });
  await bundle.close();
  expect(warnings).toEqual([]);
  expect(output).toHaveLength(1);
  return output[0];
}

/** Opens a page in Chromium and gives back what it posts to /shown: its text, once its program is through. */
async function showInChromium(path: string, code: string): Promise<string> {
  const html = `<!doctype html><meta charset="utf-8"><title>core</title><body><script src="/page.js"></script><script>
    page.main().catch((error) => "threw " + error.stack)
      .then((text) => { document.body.textContent = text; })
      .then(() => fetch("/shown", { method: "POST", body: document.body.textContent }));
    </script>`;
  const shown = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    if (request.url === "/shown") {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      request.on("end", () => {
        response.end();
        shown.resolve(text);
      });
      return;
    }
    const isCode = request.url === "/page.js";
    response.setHeader("content-type", isCode ? "text/javascript" : "text/html");
    response.end(isCode ? code : html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "rondo-chromium-"));
  const browser = spawn(
    path,
    [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      ...["--disable-dev-shm-usage", `--user-data-dir=${profile}`],
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  let said = "";
  browser.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const closed = new Promise<void>((resolve) => browser.once("close", () => resolve()));
  browser.once("error", shown.reject);
  void closed.then(() => shown.reject(new Error(`Chromium ended before the page was through\n${said}`)));
  const late = setTimeout(() => shown.reject(new Error(`the page was not through in 60 s\n${said}`)), 60_000);
  try {
    return await shown.promise;
  } finally {
    clearTimeout(late);
    try {
      if (browser.pid !== undefined) process.kill(-browser.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
    await closed;
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

describe("core, bundled for browsers", () => {
  let chunk: OutputChunk;
  beforeAll(async () => {
    chunk = await bundlePage();
  });

  it("needs no external module", () => {
    // What is loaded late is in the chunk itself: a script has no others.
    const late = chunk.dynamicImports.filter((name) => name !== chunk.fileName);
    expect([...chunk.imports, ...late]).toEqual([]);
    expect(chunk.code).not.toMatch(/["']node:|\brequire\s*\(/);
    expect(chunk.moduleIds.filter((id) => id.includes("packages") && !/packages.core/.test(id))).toEqual([]);
  });

  it("runs without anything of Node's", async () => {
    const { setTimeout, clearTimeout, queueMicrotask, AbortController, AbortSignal, DOMException } =
      globalThis;
    const { TextEncoder, TextDecoder, URL, structuredClone, performance, crypto, Event, EventTarget } =
      globalThis;
    const context = createContext({
      ...{ setTimeout, clearTimeout, queueMicrotask, AbortController, AbortSignal, DOMException },
      ...{ TextEncoder, TextDecoder, URL, structuredClone, performance, crypto, Event, EventTarget },
    });
    const text: unknown = await new Script(`${chunk.code}\npage.main()`).runInContext(context);
    expect(text).toBe(expected);
    expect(new Script("[typeof process, typeof require, typeof Buffer].join()").runInContext(context)).toBe(
      "undefined,undefined,undefined",
    );
  });

  it("runs in Chromium, and the page shows the result", async ({ skip }) => {
    if (chromium === undefined) skip("there is no Chromium: install one, or name it in CHROMIUM_PATH");
    else expect(await showInChromium(chromium, chunk.code)).toBe(expected);
  });
});
