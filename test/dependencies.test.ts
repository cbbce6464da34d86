// What the packages that run anywhere depend on runs anywhere too: as ES modules, without Node.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readManifest, root } from "../scripts/packages.ts";

interface Manifest {
  type?: string;
  module?: string;
  exports?: unknown;
}

const dependenciesOf = (name: string): string[] =>
  Object.keys(readManifest(join(root, "packages", name)).dependencies ?? {});

/** Whether a browser, or a bundler without a converter of CommonJS, can import it. Without code there is nothing to import. */
const isModule = ({ type, module, exports }: Manifest): boolean =>
  type === "module" || module !== undefined || /"(?:import|module)"/.test(JSON.stringify(exports ?? ""));

describe("what runs in browsers and on edge platforms", () => {
  it.each(["core", "models"])("depends only on ES modules: %s", (name) => {
    const names = dependenciesOf(name).filter((one) => !one.startsWith("@rondo/"));
    const others = names.filter(
      (one) => !isModule(readManifest(join(root, "node_modules", one)) as Manifest),
    );
    expect(names).not.toEqual([]);
    expect(others).toEqual([]);
  });
});
