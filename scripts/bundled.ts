// The room of bundling a program: one file for a program that is started hundreds of times, so that it loads quickly.

import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** @returns the path of the bundle, in `folder` */
export async function bundled(source: URL, folder: string): Promise<string> {
  const input = fileURLToPath(source);
  const file = join(folder, `${basename(input, ".ts")}.mjs`);
  const bundle = await rolldown({
    input,
    platform: "node",
    resolve: { conditionNames: ["rondo-source", "node", "import"] },
  });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  return file;
}
