// npm run -s lock -- [--check] [LOCK]
//
// Completes the lock file. npm leaves an optional package out of it when the registry does not have that package (a partial
// mirror without the binaries of other platforms, for example). Then `npm ci` rejects the lock, and a person on that
// platform gets no binary. This adds the missing entries: from the registry if it has the package (with its integrity), else
// from the package's name, which tells its platform. It also removes download URLs, so that the lock names
// no host.
//
// It changes package-lock.json in place, or the lock file that is named. `--check` changes nothing, reports what is wrong,
// and exits with 1 if anything is.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** Parses the command line like other scripts, but without anything that must be installed first. */
function given() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { check: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
    });
  } catch (thrown) {
    console.error(`lock: ${thrown.message}`);
    process.exit(2);
  }
}

const {
  values: { check, help },
  positionals: [named],
} = given();
if (help) {
  const [opening] = readFileSync(fileURLToPath(import.meta.url), "utf8").split(/^(?!\/\/)/m);
  console.log(opening.trimEnd().replaceAll(/^\/\/ ?/gm, ""));
  process.exit(0);
}
const path = named ?? fileURLToPath(new URL("../package-lock.json", import.meta.url));
const before = readFileSync(path, "utf8");
const lock = JSON.parse(before);
const problems = [];

/** Short names that some packages use for platforms. */
const shortNames = { mac: "darwin", win: "win32" };

/** npm's platform fields, from the last parts of a name such as `@x/cli-linux-arm64-musl`. */
function platformOf(name) {
  const words = name
    .split("/")
    .at(-1)
    .split(/[-.]/)
    .map((word) => shortNames[word] ?? word);
  const known = [
    "aix",
    "android",
    "darwin",
    "freebsd",
    "linux",
    "netbsd",
    "openbsd",
    "openharmony",
    "sunos",
    "win32",
  ];
  const os = words.findLast((word) => known.includes(word));
  if (os === undefined) return undefined;
  const cpu = words[words.lastIndexOf(os) + 1];
  if (cpu === undefined) return undefined;
  const abi = words[words.lastIndexOf(os) + 2];
  const libc =
    os !== "linux"
      ? undefined
      : abi?.startsWith("musl")
        ? "musl"
        : abi?.startsWith("gnu")
          ? "glibc"
          : undefined;
  return { os: [os], cpu: [cpu], ...(libc === undefined ? {} : { libc: [libc] }) };
}

/** What the registry knows of a version; undefined if it does not have it, for whatever reason. */
function ask(name, version) {
  try {
    const fields = ["version", "os", "cpu", "libc", "engines", "license", "dist.integrity"];
    const text = execFileSync("npm", ["view", `${name}@${version}`, ...fields, "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const answer = JSON.parse(text);
    return answer.version === version ? answer : undefined;
  } catch {
    return undefined;
  }
}

const list = (value) => (value === undefined ? undefined : Array.isArray(value) ? value : [value]);

for (const [place, entry] of Object.entries(lock.packages)) {
  if (entry.resolved !== undefined && !entry.link) {
    problems.push(`${place} carries a download address`);
    delete entry.resolved;
  }
  if (entry.hasInstallScript && !entry.optional) problems.push(`${place} has an install script`);
}

for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, wanted] of Object.entries(entry.optionalDependencies ?? {})) {
    const inside = `${parent === "" ? "" : `${parent}/`}node_modules/${name}`;
    const top = `node_modules/${name}`;
    const found = lock.packages[inside] ?? lock.packages[top];
    // Only an exact version identifies a package; a range is for the registry to resolve.
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(wanted)) continue;
    if (found?.version === wanted && (found.integrity !== undefined || check)) continue;
    if (found !== undefined && found.version !== wanted) {
      problems.push(`${name} is locked at ${found.version}, but ${parent} wants ${wanted}`);
      continue;
    }
    if (check) {
      problems.push(`${name}@${wanted}, an optional package of ${parent || "the workspace"}, is missing`);
      continue;
    }
    const known = ask(name, wanted);
    if (known === undefined && found !== undefined) continue;
    const platform = known ?? platformOf(name);
    if (platform === undefined) {
      problems.push(`${name}@${wanted} is not in the registry, and its name does not tell its platform`);
      continue;
    }
    const [os, cpu, libc] = [list(platform.os), list(platform.cpu), list(platform.libc)];
    lock.packages[top] = {
      version: wanted,
      ...(known?.["dist.integrity"] === undefined ? {} : { integrity: known["dist.integrity"] }),
      ...(cpu === undefined ? {} : { cpu }),
      ...(entry.dev ? { dev: true } : {}),
      ...(libc === undefined ? {} : { libc }),
      ...(known?.license === undefined ? {} : { license: known.license }),
      optional: true,
      ...(os === undefined ? {} : { os }),
      ...(known?.engines === undefined ? {} : { engines: known.engines }),
    };
    console.log(
      `added ${name}@${wanted}${known === undefined ? " (platform told from its name, no integrity)" : ""}`,
    );
  }
}

if (check) {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error("Run `npm run lock` and commit package-lock.json.");
  process.exit(problems.length > 0 ? 1 : 0);
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")),
);
const after = `${JSON.stringify(lock, null, 2)}\n`;
if (after !== before) writeFileSync(path, after);
for (const problem of problems) console.log(problem);
