// The file guard, on real files, and in an agent strategy.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Agent, tool } from "@rondo/core";
import { agentStrategy, type StrategyMessage, strategyMessages } from "@rondo/core/presets";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { fileGuard } from "../src/index.ts";
import { folder, put } from "./calling.ts";

const bound = 5 * 1024 * 1024;

/** A root `files` with a neighbour `files-evil`, and links that lead out. */
function world(): { base: string; root: string } {
  const base = folder({
    "files/cat.png": "cat",
    "files/sub/dog.png": "dog",
    "files-evil/secret.png": "SECRET",
  });
  const root = join(base, "files");
  symlinkSync(join(base, "files-evil", "secret.png"), join(root, "out.png"));
  symlinkSync(join(base, "files-evil"), join(root, "out"));
  symlinkSync("cat.png", join(root, "in.png"));
  symlinkSync(join(base, "nothing.png"), join(root, "dangling.png"));
  return { base, root };
}

/** What the guard says of a path: the text of the file, none, or why not. */
async function said(root: string, path: string): Promise<string> {
  try {
    const file = await fileGuard({ root })(path);
    return file === undefined ? "none" : `${file.name}: ${new TextDecoder().decode(file.data)}`;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

describe("the file guard", () => {
  test("E6.32 reads what lies under its root, links resolved, and finds no file where there is none", async () => {
    const { root } = world();
    expect(await said(root, `${root}/cat.png`)).toBe("cat.png: cat");
    expect(await said(root, `${root}/sub/../sub/dog.png`)).toBe("dog.png: dog");
    expect(await said(root, `${root}/in.png`)).toBe("in.png: cat");
    expect(await said(root, `${root}/none.png`)).toBe("none");
    expect(await said(join(root, "no-root"), join(root, "no-root", "a.png"))).toBe("none");
  });

  test("has a root that is relative to where the process stands, or the whole file system", async () => {
    const near = relative(process.cwd(), import.meta.dirname);
    for (const root of [near, `./${near}/`]) {
      expect(await said(root, `${root}/programs/../calling.ts`)).toContain(
        "calling.ts: // The room of calling",
      );
      expect(await said(root, `${root}/../package.json`)).toBe("local file cannot be read");
    }
    expect(await said("/", join(world().root, "cat.png"))).toBe("cat.png: cat");
  });

  test("E6.32 refuses what leads out of its root, and names no path", async () => {
    const { base, root } = world();
    const cannot = "local file cannot be read";
    const outside = "local file is outside the root";
    expect(await said(root, `${root}/out.png`)).toBe(cannot);
    expect(await said(root, `${root}/out/secret.png`)).toBe(cannot);
    expect(await said(root, `${root}/dangling.png`)).toBe(cannot);
    expect(await said(root, `${root}/../files-evil/secret.png`)).toBe(cannot);
    expect(await said(root, `${root}/a\0b`)).toBe(cannot);
    expect(await said(root, `${root}/sub`)).toBe(cannot);
    expect(await said(root, join(base, "files-evil", "secret.png"))).toBe(outside);
    expect(await said(root, root)).toBe(outside);
    expect(await said(root, "cat.png")).toBe(outside);
  });

  test("E6.32 reads exactly 5 MiB and not a byte more", async () => {
    const { root } = world();
    writeFileSync(join(root, "full.png"), new Uint8Array(bound));
    writeFileSync(join(root, "over.png"), new Uint8Array(bound + 1));
    expect((await fileGuard({ root })(`${root}/full.png`))?.data).toHaveLength(bound);
    await expect(fileGuard({ root })(`${root}/over.png`)).rejects.toThrow(/^local file is too large$/);
    await expect(fileGuard({ root, maxBytes: 2 })(`${root}/cat.png`)).rejects.toThrow(
      "local file is too large",
    );
  });

  test("E6.32 looks under /files unless told otherwise", async () => {
    expect(fileGuard().root).toBe("/files");
    await expect(fileGuard()("/etc/passwd")).rejects.toThrow("local file is outside the root");
    await expect(fileGuard()("/filesystem/a.png")).rejects.toThrow("local file is outside the root");
  });

  test.each([
    ["cat.png", [{ type: "blob", blob: btoa("cat"), meta: { mime_type: "image/png", filename: "cat.png" } }]],
    ["none.png", []],
    ["out.png", [{ type: "text", text: "Failed to process generated image file." }]],
    ["over.png", [{ type: "text", text: "Failed to process generated image file." }]],
  ])(
    "E6.32 in an agent strategy makes of an image at %s what the user gets beside the original",
    async (name, wanted) => {
      const { root } = world();
      mkdirSync(root, { recursive: true });
      put(join(root, "over.png"), new Uint8Array(bound + 1));
      const url = `${root}/${name}`;
      const draw = tool({
        name: "draw",
        description: "draws",
        inputSchema: { type: "object" },
        execute: () => ({ type: "image", url }),
      });
      const model = scripted([call("draw"), say("done")]);
      const strategy = {
        model,
        tools: [draw],
        localFiles: fileGuard({ root }),
        emitIntermediateThoughts: false,
      };
      const messages: StrategyMessage[] = [];
      for await (const message of strategyMessages(new Agent(agentStrategy(strategy)).stream("go"), strategy))
        messages.push(message);
      const start = messages.findIndex((one) => one.type === "log" && one.label === "CALL draw");
      const end = messages.findLastIndex((one) => one.type === "log" && one.label === "CALL draw");
      const original = { type: "file", file: { type: "file", mediaType: "image/png", url } };
      expect(messages.slice(start + 1, end)).toEqual([...wanted, original]);
      expect(JSON.stringify(model.requests[1])).not.toContain(name);
    },
  );
});
