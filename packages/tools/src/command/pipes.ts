// The room of pipes: what a command writes to is a pipe, as a shell would have given it.
//
// Node gives a child sockets, and no program can open these by name: `echo … > /dev/stderr`, `tee /dev/stderr` and
// `curl -o /dev/stdout` fail on Linux. So two named pipes are made and opened at both ends; their names are gone again
// before the command starts. Where none can be made, sockets must do.

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
  /** The child has its ends, or there is none: they are closed here, or nobody would see the end of the output. */
  letGo(): void;
}

/** Two pipes; undefined where none are needed, or none can be made. */
export async function openPipes(): Promise<Pipes | undefined> {
  if (process.platform !== "linux") return undefined;
  const open: number[] = [];
  const close = (): void => open.splice(0).forEach((fd) => void closeSync(fd));
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "rondo-pipes-"));
    const names = [join(folder, "stdout"), join(folder, "stderr")] as const;
    await promisify(execFile)("mkfifo", ["-m", "600", ...names]);
    // The reader first, and it waits for nobody: a writer without one would wait.
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
