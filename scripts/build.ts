// The build: every package's src to its dist, in dependency order.
//
// tsc compiles a file to a file. It rewrites `./x.ts` to `./x.js` in code but leaves it in declarations, where it would
// point beside dist; those are rewritten here. A dist that still names a .ts file fails the build. Then the code of a
// package is put into as few files as its dynamic imports allow: finding and linking files is most of what a first
// import costs (core: 24 ms as 50 files, 10 ms as one). Other packages stay imports, but for those that a manifest names as
// `inlined`: their code is put into ours, under a notice. Comments stay in the sources and the
// declarations, names inside functions are short, and what is no ASCII is written as escapes: one letter beyond Latin-1
// doubles what a file is in memory. Lines stay, and maps lead to the sources, which are published too.

import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OutputAsset, type OutputChunk, type OutputOptions, type Plugin, rolldown } from "rolldown";
import { packagesInOrder, readManifest, root } from "./packages.ts";
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

/** The programs in a package: a command, a worker. They and what the manifest exports are what it is entered by. */
const programs = "**/main.js";

/** The files of `dist` that a package is entered by. */
function entriesOf(folder: string, dist: string): string[] {
  const { exports = {} } = readManifest(folder);
  const faces = Object.values(exports).flatMap((face) =>
    typeof face === "object" && face.default !== undefined ? [face.default.replace(/^\.\/dist\//, "")] : [],
  );
  return [...new Set([...faces, ...globSync(programs, { cwd: dist })])];
}

/** Packages whose code becomes part of a package's own, and the words it is published under. */
function inlinedBy(folder: string): { names: readonly string[]; notice: string } {
  const { inlined: names = [] } = readManifest(folder);
  const notices = names.map((name) => {
    const { version, license, author } = readManifest(join(root, "node_modules", name));
    return `/*! Holds ${name} ${version} by ${author}, under the ${license} licence. */`;
  });
  return { names, notice: notices.join("\n") };
}

/** Puts the code in `dist` together. What is imported by name stays outside; declarations stay as they are. */
async function bundle(folder: string, dist: string): Promise<void> {
  const input = Object.fromEntries(
    entriesOf(folder, dist).map((file) => [file.replace(/\.js$/, ""), join(dist, file)]),
  );
  const inlined = inlinedBy(folder);
  const bundled = await rolldown({
    input,
    external: (id) => !/^[./]/.test(id) && !inlined.names.includes(id),
    plugins: [mapped],
    // `modelFromName` loads by name what the face exports too: for those who import less than the face.
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
  // What the face loads at once is one file, also where parts of it are shared with what is loaded later.
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

/** Gives the compiler's map with each file, so that the bundle's leads past the compiled code to its source. */
const mapped: Plugin = {
  name: "mapped",
  load(id) {
    if (!existsSync(`${id}.map`)) return null;
    return { code: readFileSync(id, "utf8"), map: readFileSync(`${id}.map`, "utf8") };
  },
};

/** The modules that a file brings with it, through what it imports at its top. */
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
    await bundle(folder, dist);
    const code = globSync("**/*.js", { cwd: dist }).length;
    say(`built ${name}: ${files.filter((file) => file.endsWith(".js")).length} modules in ${code} files`);
  }
}

if (import.meta.main) await build((line) => console.log(line));
