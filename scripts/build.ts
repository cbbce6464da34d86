// The room of the build: compiles every package's src to its dist, in dependency order.
//
// tsc compiles file by file. In code it rewrites `./x.ts` to `./x.js`, but not in declarations, so these are rewritten
// here; a dist that still mentions a .ts file fails the build. Then a package's code is bundled into as few files as its
// dynamic imports allow, because finding and linking files is most of the cost of a first import (core: 24 ms as 50 files,
// 10 ms as one). Other packages stay imports, except those that a manifest lists as `inlined`: their code is included, with
// a notice. Comments are removed from the code, local names are short, and non-ASCII characters are escaped: one
// character beyond Latin-1 doubles the memory of a file. Line breaks stay, and source maps lead to the published sources.

import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OutputAsset, type OutputChunk, type OutputOptions, type Plugin, rolldown } from "rolldown";
import { packagesInOrder, readManifest, root } from "./packages.ts";
import { mustRun } from "./run-command.ts";
import { specifiersOf } from "./source-rules.ts";

const isRelativeSource = (specifier: string): boolean => /^\.{1,2}\/.*(?<!\.d)\.[cm]?ts$/.test(specifier);

/** Makes the relative imports in a declaration file end in .js, like the code's. The length stays, so its source map stays valid. */
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

/** The programs in a package: a command, a worker. Together with the manifest's exports they are its entry points. */
const programs = "**/main.js";

/** The entry points of a package among the files of `dist`. */
function entriesOf(folder: string, dist: string): string[] {
  const { exports = {} } = readManifest(folder);
  const faces = Object.values(exports).flatMap((face) =>
    typeof face === "object" && face.default !== undefined ? [face.default.replace(/^\.\/dist\//, "")] : [],
  );
  return [...new Set([...faces, ...globSync(programs, { cwd: dist })])];
}

/** Packages whose code is included in a package's own, and the notice to publish with it. */
function inlinedBy(folder: string): { names: readonly string[]; notice: string } {
  const { inlined: names = [] } = readManifest(folder);
  const notices = names.map((name) => {
    const { version, license, author } = readManifest(join(root, "node_modules", name));
    return `/*! Holds ${name} ${version} by ${author}, under the ${license} licence. */`;
  });
  return { names, notice: notices.join("\n") };
}

/** Bundles the code in `dist`. Imports of packages stay; so do declarations. */
async function bundle(folder: string, dist: string): Promise<void> {
  const input = Object.fromEntries(
    entriesOf(folder, dist).map((file) => [file.replace(/\.js$/, ""), join(dist, file)]),
  );
  const inlined = inlinedBy(folder);
  const bundled = await rolldown({
    input,
    external: (id) => !/^[./]/.test(id) && !inlined.names.includes(id),
    plugins: [mapped],
    // `modelFromName` imports dynamically what the main entry also exports, for those who import other entries.
    checks: { ineffectiveDynamicImport: false },
  });
  const written: OutputOptions = {
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    banner: (chunk) => (chunk.moduleIds.some((id) => id.includes("/node_modules/")) ? inlined.notice : ""),
    comments: { legal: true, annotation: true, jsdoc: false },
    charset: "ascii",
    minify: {
      compress: false,
      mangle: { toplevel: false },
      codegen: { removeWhitespace: false },
    },
    sourcemap: true,
    sourcemapExcludeSources: true,
  };
  // Everything the main entry loads statically becomes one file, even parts shared with dynamic imports.
  const atOnce = loadedBy("index.js", (await bundled.generate(written)).output);
  const { output } = await bundled.generate({
    ...written,
    codeSplitting: { groups: [{ name: "shared", test: (id) => atOnce.has(id) }] },
  });
  await bundled.close();
  for (const file of globSync("**/*.js{,.map}", { cwd: dist })) rmSync(join(dist, file));
  for (const file of output)
    writeFileSync(join(dist, file.fileName), file.type === "chunk" ? file.code : file.source);
}

/** Passes on the compiler's source map of each file, so that the bundle's map leads to the original source. */
const mapped: Plugin = {
  name: "mapped",
  load(id) {
    if (!existsSync(`${id}.map`)) return null;
    return { code: readFileSync(id, "utf8"), map: readFileSync(`${id}.map`, "utf8") };
  },
};

/** The modules that a file loads through static imports. */
function loadedBy(file: string, output: readonly (OutputChunk | OutputAsset)[]): ReadonlySet<string> {
  const modules = new Set<string>();
  const files = new Set([file]);
  for (const name of files) {
    const chunk = output.find((one) => one.fileName === name);
    if (chunk?.type !== "chunk") continue;
    for (const id of chunk.moduleIds) modules.add(id);
    for (const imported of chunk.imports) files.add(imported);
  }
  return modules;
}

/** Builds every package. Throws with the compiler's output when one does not compile. */
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
    await bundle(folder, dist);
    const code = globSync("**/*.js", { cwd: dist }).length;
    say(`built ${name}: ${files.filter((file) => file.endsWith(".js")).length} modules in ${code} files`);
  }
}

if (import.meta.main) await build((line) => console.log(line));
