// The room of pipes: gives a command real pipes for its output, as a shell would.
//
// Node gives a child sockets, which no program can reopen by name: `echo … > /dev/stderr`, `tee /dev/stderr` and
// `curl -o /dev/stdout` fail on Linux. So two named pipes are made and opened at both ends; their names are removed
// before the command starts. If none can be made, sockets must do, and so they must where only Node can read them: Bun reads
// nothing from a descriptor of ours, and Deno closes it.

import { execFile } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

export interface Pipes {
  /** File descriptors for the child's stdout and stderr. */
  ends: readonly [stdout: number, stderr: number];
  stdout: Socket;
  stderr: Socket;
  /** Closes our copies of the child's ends; otherwise the output would never reach its end. */
  letGo(): void;
}

/** Other runtimes name themselves beside the Node that they are like. */
const isNode = (): boolean => process.versions.bun === undefined && process.versions.deno === undefined;

/** Two pipes; undefined if none are needed, or none can be made. */
export async function openPipes(): Promise<Pipes | undefined> {
  if (process.platform !== "linux" || !isNode()) return undefined;
  const open: number[] = [];
  const close = (): void => open.splice(0).forEach((fd) => void closeSync(fd));
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "rondo-pipes-"));
    const names = [join(folder, "stdout"), join(folder, "stderr")] as const;
    await promisify(execFile)("mkfifo", ["-m", "600", ...names]);
    // Reader first, non-blocking: opening a writer without a reader would block.
    const [out, outEnd] = [opened(names[0], O_RDONLY | O_NONBLOCK), opened(names[0], O_WRONLY)];
    const [err, errEnd] = [opened(names[1], O_RDONLY | O_NONBLOCK), opened(names[1], O_WRONLY)];
    const [stdout, stderr] = [reader(out), reader(err)];
    return { ends: [outEnd, errEnd], stdout, stderr, letGo: close };
  } catch {
    close();
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }

  function opened(name: string, flags: number): number {
    const fd = openSync(name, flags);
    open.push(fd);
    return fd;
  }

  /** From here on the stream closes it. */
  function reader(fd: number): Socket {
    const socket = new Socket({ fd, readable: true, writable: false });
    open.splice(open.indexOf(fd), 1);
    return socket;
  }
}
