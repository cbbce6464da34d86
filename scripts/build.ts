// The build: every package's src to its dist, in dependency order.
//
// Plain tsc, a file in for a file out. tsc rewrites `./x.ts` to `./x.js` in code but leaves it in declarations, where
// it would point beside dist; those are rewritten here. A dist that still names a .ts file fails the build.

import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packagesInOrder, root } from "./packages.ts";
import { mustRun } from "./run-command.ts";
import { specifiersOf } from "./source-rules.ts";

const isRelativeSource = (specifier: string): boolean => /^\.{1,2}\/.*(?<!\.d)\.[cm]?ts$/.test(specifier);

/** Makes the relative imports of one declaration file end as the code's do. Lengths stay, so its source map holds. */
function rewriteDeclaration(path: string): void {
  const text = readFileSync(path, "utf8");
  let rewritten = text;
  for (const { value, start, end } of specifiersOf(text, path))
    if (isRelativeSource(value)) {
      const quoted = text.slice(start, end).replace(/\.([cm]?)ts(["'])$/, ".$1js$2");
      rewritten = rewritten.slice(0, start) + quoted + rewritten.slice(end);
    }
  if (rewritten !== text) writeFileSync(path, rewritten);
}

/** Builds every package. Throws with the compiler's words when one does not compile. */
export async function build(say: (line: string) => void = () => {}): Promise<void> {
  for (const { name, folder } of packagesInOrder()) {
    const dist = join(folder, "dist");
    rmSync(dist, { recursive: true, force: true });
    await mustRun("tsc", ["-p", join(folder, "tsconfig.json")], { cwd: root });
    for (const file of globSync("**/*.d.ts", { cwd: dist })) rewriteDeclaration(join(dist, file));
    const files = globSync("**/*.{js,d.ts}", { cwd: dist });
    for (const file of files)
      for (const { value } of specifiersOf(readFileSync(join(dist, file), "utf8"), file))
        if (isRelativeSource(value))
          throw new Error(`${name}: dist/${file} imports ${value}, which is not published`);
    say(`built ${name}: ${files.filter((file) => file.endsWith(".js")).length} modules`);
  }
}

if (import.meta.main) await build((line) => console.log(line));
