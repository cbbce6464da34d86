// The room of module hooks: loads instrumented sources instead of the originals, and our replacement for vitest.

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const face = new URL("vitest-face.ts", import.meta.url).href;
const seeded = new URL("../../test/seeded.ts", import.meta.url).href;

/** @param places path of each source, with the path of its instrumented text */
export function hookLoading(places: { readonly [path: string]: string }): void {
  const byUrl = new Map(Object.entries(places).map(([path, place]) => [pathToFileURL(path).href, place]));
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === "vitest") return { url: face, shortCircuit: true };
      // As in vitest.config.ts: one seed for every property.
      if (specifier === "fast-check") return { url: seeded, shortCircuit: true };
      return nextResolve(specifier, context);
    },
    load(url, context, nextLoad) {
      const place = byUrl.get(url);
      if (place === undefined) return nextLoad(url, context);
      return { format: "module-typescript", source: readFileSync(place, "utf8"), shortCircuit: true };
    },
  });
}
