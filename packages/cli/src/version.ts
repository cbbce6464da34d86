// The room of the version: read from the package's manifest.

import { readFileSync } from "node:fs";

/** Version of the command, e.g. `0.1.0`. */
export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}
