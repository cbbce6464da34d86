// The room of the entry point: the process, its streams and its exit code. Nothing is decided here.

import { perform } from "./command-line.ts";
import { Console } from "./console/console.ts";
import { failureOf } from "./console/failure.ts";
import { exitCodes } from "./exit-codes.ts";

const { stdin, stdout, stderr, env } = process;

// stdout is for the command's output: what a model's module or a library logs goes to stderr.
globalThis.console = new globalThis.console.Console(stderr, stderr);

// An uncaught error is a bug of ours; it is reported like any other failure.
process.on("uncaughtException", (thrown) => {
  stderr.write(`${failureOf(thrown, env).line}\n`);
  process.exit(exitCodes.error);
});

const console = new Console({ stdin, stdout, stderr }, env);
const code = await perform(process.argv.slice(2), console);
await console.drained();
// Whatever is still open (a tool that ignores its signal, an idle connection) must not keep the process alive.
process.exit(console.readerGone ? exitCodes.readerGone : code);
