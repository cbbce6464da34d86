// The room of the sandbox: a command sees the root, the system's programs, and nothing else.
//
// bubblewrap gives it its own namespaces: no network unless allowed, no other processes, a read-only system, an
// empty /tmp and home. Writes anywhere else fail, rather than vanish silently with the sandbox. Whether bubblewrap works
// is tested once by running it, as some containers forbid it; a command without it is reported as such.

import { execFile } from "node:child_process";
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { isUnder } from "../paths/root.ts";
import { codeOf, Refusal } from "../reasons.ts";
import type { GitGuard } from "./git-guard.ts";

/** `auto`: use it if there is one; `require`: refuse to run without; `off`: never. */
export type SandboxMode = "auto" | "require" | "off";

export interface SandboxSettings {
  /** The real path of the root: the only place that can be written. */
  root: string;
  network: boolean;
  /** More paths that can be read. */
  readable: readonly string[];
  /** Protects the repository's hooks and settings. */
  git: GitGuard | undefined;
}

/** Where the system looks for programs when the environment has no PATH. */
export const usualPath: string = "/usr/bin:/bin";

const homes = ["/tmp/home", "/var/tmp/home"] as const;

/** The home of a command in the sandbox: empty, temporary, and at a path that the root does not cover. */
export const sandboxHome = (root: string): string => (isUnder(root, homes[0]) ? homes[1] : homes[0]);

export type Sandbox = { program: string; hard: readonly string[] } | { missing: string };

let probed: Promise<Sandbox> | undefined;

/** Finds bubblewrap and tests it, once per process. `missing` says why there is none. @throws like {@link probe} */
export function findSandbox(): Promise<Sandbox> {
  probed ??= probe().catch((thrown: unknown) => {
    // What this process lacks now it may have the next time.
    probed = undefined;
    throw thrown;
  });
  return probed;
}

/** Looks for bubblewrap along a PATH and tests it. @throws Refusal when this process lacks the resources to test it */
export async function probe(path: string = process.env.PATH ?? usualPath): Promise<Sandbox> {
  if (process.platform !== "linux") return { missing: `there is no bubblewrap on ${process.platform}` };
  const program = path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "bwrap"))
    .find((file) => existsSync(file));
  if (program === undefined) return { missing: "bubblewrap not found" };
  // `--disable-userns` (0.8 and later) keeps the command from creating namespaces itself.
  let reason = "";
  for (const hard of [["--disable-userns"], []]) {
    const failed = await tried(program, [
      ...walls(false),
      ...hard,
      ...system(),
      ...shut,
      "--",
      "/bin/sh",
      "-c",
      ":",
    ]);
    if (failed === undefined) return { program, hard };
    reason = failed;
  }
  return { missing: `bubblewrap does not work here: ${reason}` };
}

/** Lack of resources that keeps a process from starting another one. */
const lacks: ReadonlySet<string | undefined> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

/** Why it does not work; undefined if it does. */
function tried(program: string, args: string[]): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  execFile(program, args, { timeout: 10_000, env: {} }, (error, _stdout, stderr) => {
    if (error === null) resolve(undefined);
    else if (lacks.has(codeOf(error)))
      reject(
        new Refusal(
          `the command was not run: whether bubblewrap works could not be found out (${codeOf(error)}); try again`,
        ),
      );
    else resolve((stderr.trim().split("\n")[0] ?? "") || error.message);
  });
  return promise;
}

function walls(network: boolean): string[] {
  return [
    "--die-with-parent",
    "--unshare-all",
    "--unshare-user",
    ...(network ? ["--share-net"] : []),
    // Root outside becomes an ordinary user inside, without capabilities.
    ...(process.getuid?.() === 0 ? ["--uid", "1000", "--gid", "1000"] : []),
    "--hostname",
    "sandbox",
  ];
}

/** Parts of /etc that programs need and that hold no secrets. */
const etc = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "group",
  "hosts",
  "host.conf",
  "java",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "pki",
  "protocols",
  "resolv.conf",
  "services",
  "ssl",
  "terminfo",
  "timezone",
];

/** Private keys of the machine in those parts. A process run by root could read them, even in the sandbox. */
const keys = ["ssl/private", "pki/tls/private", "pki/CA/private", "pki/entitlement", "pki/consumer"];

/** Whether a folder exists and is no symlink: nothing can be mounted on a symlink. */
const isPlainFolder = (path: string): boolean => existsSync(path) && realpathSync.native(path) === path;

function system(): string[] {
  const args: string[] = ["--ro-bind", "/usr", "/usr"];
  for (const name of ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]) {
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) args.push("--symlink", readlinkSync(name), name);
    else if (found !== undefined) args.push("--ro-bind", name, name);
  }
  for (const path of ["/opt", "/nix"]) args.push("--ro-bind-try", path, path);
  for (const name of etc) args.push("--ro-bind-try", `/etc/${name}`, `/etc/${name}`);
  for (const path of keys.map((name) => `/etc/${name}`).filter(isPlainFolder))
    args.push("--tmpfs", path, "--remount-ro", path);
  args.push("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp");
  args.push("--dir", homes[0], "--dir", homes[1]);
  return args;
}

/** After all mounts: makes read-only the parent folders that bubblewrap created for them. */
const shut = ["--remount-ro", "/"];

/** The bubblewrap arguments that run `command` in the sandbox. */
export function sandboxArgs(
  sandbox: { hard: readonly string[] },
  settings: SandboxSettings,
  cwd: string,
  command: readonly string[],
): string[] {
  const { root } = settings;
  const args = [...walls(settings.network), ...sandbox.hard, ...system()];
  // The running Node and its npm, when outside the system's folders; its bin folder has only links to npm.
  const node = dirname(process.execPath);
  const own = isUnder("/usr", node) ? [] : [node, join(dirname(node), "lib", "node_modules")];
  for (const path of [...own, ...settings.readable]) args.push("--ro-bind-try", path, path);
  args.push("--bind", root, root);
  if (settings.git !== undefined) args.push(...settings.git.mounts);
  args.push(...shut, "--chdir", cwd, "--", ...command);
  return args;
}
