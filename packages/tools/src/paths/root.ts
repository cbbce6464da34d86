// The room of the root: no file tool reaches a path outside it. A path is checked three times:
//
// 1. As text: `..` and absolute paths that leave the root are refused before the file system is touched.
// 2. By its real path: symlinks are resolved, and the nearest existing part must lie under the real root.
// 3. After opening: the real path of what was opened is checked, as a symlink may have been put there after 2.
// Files are created and renamed through an open folder (on Linux by /proc/self/fd, which names the folder itself and
// not a path to it), so that swapping a parent folder changes nothing.

import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath, stat } from "node:fs/promises";
import ours, {
  basename,
  dirname,
  isAbsolute,
  join,
  type PlatformPath,
  relative,
  resolve,
  sep,
} from "node:path";
import { codeOf, Refusal, shown } from "../reasons.ts";
import { isThere, nearPaths } from "./near-names.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Some Linux environments have no /proc, a chroot for example. */
const viaProc = process.platform === "linux" && existsSync("/proc/self/fd");

/** Where a path leads. */
export interface Place {
  /** Relative to the root, with `/`; `.` for the root itself. */
  shown: string;
  /** Absolute, with symlinks resolved as far as the path exists. */
  real: string;
  exists: boolean;
}

/** An open folder. `path` names it (on Linux: that very folder, even after it is moved). */
export interface Folder {
  path: string;
  real: string;
  close(): Promise<void>;
}

/** Whether `path` is `root` or under it; both absolute and without `..`. @param system whose paths they are */
export function isUnder(root: string, path: string, system: PlatformPath = ours): boolean {
  const way = system.relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${system.sep}`) && !system.isAbsolute(way));
}

export class Root {
  readonly given: string;
  readonly real: string;

  /** @throws Refusal when `path` is not a folder */
  constructor(path: string) {
    this.given = resolve(path);
    try {
      this.real = realpathSync.native(this.given);
      if (!statSync(this.real).isDirectory()) throw new Refusal(`the root is not a folder: ${path}`);
    } catch (thrown) {
      if (thrown instanceof Refusal) throw thrown;
      throw new Refusal(`the root cannot be used (${codeOf(thrown) ?? "unknown error"}): ${path}`);
    }
  }

  /**
   * Where `path` leads, relative to the root or absolute.
   * @throws Refusal when it leaves the root; file system errors other than "not found"
   */
  locate(path: string): Place {
    if (path.includes("\0")) throw new Refusal(`the path holds a NUL character: ${shown(path)}`);
    const wanted = this.#inWords(path);
    let real: string;
    try {
      real = realpathSync.native(wanted);
    } catch (thrown) {
      if (codeOf(thrown) !== "ENOENT") {
        // Errors for a path outside would tell what exists there: a symlink is refused before they show.
        if (isLink(wanted)) throw astray(path);
        if (wanted !== this.real) this.locate(dirname(wanted));
        throw thrown;
      }
      if (!isThere(this.real)) throw new Refusal("the root folder is no longer there");
      return this.#missing(path, wanted);
    }
    this.#mustHold(real, path);
    return { shown: this.name(real), real, exists: true };
  }

  /** A real path relative to the root, with `/`. */
  name(real: string): string {
    const way = relative(this.real, real);
    return way === "" ? "." : way.split(sep).join("/");
  }

  /**
   * Opens `place` and checks that it is still where it was. Follows no symlink, and does not block on a pipe.
   * @param kind what it must be; devices, pipes and sockets are refused
   */
  async open(place: Place, kind: "file" | "folder"): Promise<FileHandle> {
    if (!place.exists) throw this.notThere(kind, place);
    // Checked before it is opened: opening a device can have effects.
    this.#mustBe(kind, await stat(place.real), place);
    const handle = await open(
      place.real,
      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (kind === "folder" ? O_DIRECTORY : 0),
    ).catch((thrown: unknown) => {
      throw this.#moved(thrown, place);
    });
    try {
      this.#mustBe(kind, await handle.stat(), place);
      this.#mustHold(await realOf(handle, place.real), place.shown);
      return handle;
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  /**
   * Like `open` for a file, but synchronous: for a thread of its own, where that is many times as fast.
   * @returns a file descriptor, which the caller must close, and the file's size in bytes
   */
  openSync(place: Place): { fd: number; size: number } {
    if (!place.exists) throw this.notThere("file", place);
    this.#mustBe("file", statSync(place.real), place);
    let fd: number;
    try {
      fd = openSync(place.real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (thrown) {
      throw this.#moved(thrown, place);
    }
    try {
      const found = fstatSync(fd);
      this.#mustBe("file", found, place);
      this.#mustHold(realOfSync(fd, place.real), place.shown);
      return { fd, size: found.size };
    } catch (thrown) {
      closeSync(fd);
      throw thrown;
    }
  }

  /** Says that nothing is at `place`, and which similar names exist. */
  notThere(kind: "file" | "folder", place: Place): Refusal {
    const near = nearPaths(place.real).map((path) => shown(this.name(path)));
    const other = isNoUtf8(place.shown) ? noUtf8Hint : /[*?]/.test(place.shown) ? globHint : "";
    const hint = near.length > 0 ? ` (there is ${near.join(", ")})` : other;
    return new Refusal(`${kind === "file" ? "File" : "Directory"} not found: ${shown(place.shown)}${hint}`);
  }

  /** Opens a folder under the root. */
  async folder(place: Place): Promise<Folder> {
    const handle = await this.open(place, "folder");
    return {
      path: viaProc ? `/proc/self/fd/${handle.fd}` : place.real,
      real: place.real,
      close: () => handle.close(),
    };
  }

  /** Opens the parent folder of `place`, creating it and its parents if missing. `made` counts them. */
  async parent(place: Place): Promise<Folder & { made: number }> {
    const steps: string[] = [];
    let at = this.locate(dirname(place.real));
    while (!at.exists) {
      steps.unshift(basename(at.real));
      at = this.locate(dirname(at.real));
    }
    let folder = await this.folder(at);
    let made = 0;
    for (const step of steps) {
      try {
        const real = join(folder.real, step);
        await mkdir(join(folder.path, step)).then(
          () => made++,
          (thrown: unknown) => {
            if (codeOf(thrown) !== "EEXIST") throw thrown;
          },
        );
        const next = await this.#step(folder, step, real);
        await folder.close();
        folder = next;
      } catch (thrown) {
        await folder.close();
        throw thrown;
      }
    }
    return { ...folder, made };
  }

  async #step(folder: Folder, name: string, real: string): Promise<Folder> {
    const handle = await open(join(folder.path, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      this.#mustHold(await realOf(handle, real), this.name(real));
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
    return { path: viaProc ? `/proc/self/fd/${handle.fd}` : real, real, close: () => handle.close() };
  }

  /** The path made absolute, without `..`. It may begin with the root as given, or with its real path. */
  #inWords(path: string): string {
    const wanted = isAbsolute(path) ? resolve(path) : resolve(this.real, path);
    if (isUnder(this.real, wanted)) return wanted;
    if (isUnder(this.given, wanted)) return join(this.real, relative(this.given, wanted));
    throw outside(path);
  }

  #missing(path: string, wanted: string): Place {
    let above = dirname(wanted);
    for (;;) {
      try {
        const real = realpathSync.native(above);
        this.#mustHold(real, path);
        const whole = join(real, relative(above, wanted));
        // An entry without a real path is a dangling symlink: following it could create a file anywhere.
        if (isLink(join(real, relative(above, wanted).split(sep)[0]!))) throw astray(path);
        return { shown: this.name(whole), real: whole, exists: false };
      } catch (thrown) {
        if (codeOf(thrown) !== "ENOENT" || above === this.real) throw thrown;
        above = dirname(above);
      }
    }
  }

  #mustHold(real: string, path: string): void {
    if (!isUnder(this.real, real)) throw astray(path);
  }

  #mustBe(kind: "file" | "folder", found: { isFile(): boolean; isDirectory(): boolean }, place: Place): void {
    const name = shown(place.shown);
    if (kind === "folder") {
      if (!found.isDirectory()) throw new Refusal(`Path is not a directory: ${name}`);
    } else if (found.isDirectory())
      throw new Refusal(`Path is not a file: ${name} (it is a directory: list_files shows what is in it)`);
    else if (!found.isFile())
      throw new Refusal(
        `Path is not a file: ${name} (it is a device, pipe or socket, which is never opened)`,
      );
  }

  #moved(thrown: unknown, place: Place): unknown {
    return codeOf(thrown) === "ELOOP"
      ? new Refusal(`a link took the place of ${shown(place.shown)} while it was opened; it is not followed`)
      : thrown;
  }
}

/** A name that is not valid UTF-8 is shown with U+FFFD, and cannot be opened under that name. */
const isNoUtf8 = (name: string): boolean => name.includes("\ufffd");
const noUtf8Hint =
  " (\ufffd is shown for bytes that are no UTF-8: rename it with a command, by a pattern such as caf?.txt)";

const globHint =
  " (a path is no glob: list_files takes one as its pattern, and search_files as its glob, relative to path)";

function outside(path: string): Refusal {
  return new Refusal(`Path is outside the root: ${shown(path)} (only paths under the root can be used)`);
}

/** The same message for a symlink that leads out and for a dangling one: the difference would tell what exists outside. */
function astray(path: string): Refusal {
  return new Refusal(
    `Path is outside the root: ${shown(path)} (it goes through a link that leads out of the root or to nothing)`,
  );
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function realOfSync(fd: number, path: string): string {
  if (viaProc) return readlinkSync(`/proc/self/fd/${fd}`);
  const now = realpathSync.native(path);
  mustBeSame(fstatSync(fd, { bigint: true }), statSync(now, { bigint: true }));
  return now;
}

function mustBeSame(opened: BigIntStats, named: BigIntStats): void {
  if (opened.ino !== named.ino || opened.dev !== named.dev)
    throw new Refusal("the path was changed while it was opened");
}

/** The real path of an open handle, from the kernel; without /proc, that of `path`, after comparing identities. */
async function realOf(handle: FileHandle, path: string): Promise<string> {
  if (viaProc) return readlink(`/proc/self/fd/${handle.fd}`);
  const now = await realpath(path);
  mustBeSame(await handle.stat({ bigint: true }), await stat(now, { bigint: true }));
  return now;
}
