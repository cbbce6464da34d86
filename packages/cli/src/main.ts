// The door: the process, its streams and its exit code. Nothing is decided here.

import { perform } from "./command-line.ts";
import { Console } from "./console/console.ts";
import { failureOf } from "./console/failure.ts";
import { exitCodes } from "./exit-codes.ts";

const { stdin, stdout, stderr, env } = process;

// Standard output is ours: what a model's module or a library logs goes where it breaks nothing.
globalThis.console = new globalThis.console.Console(stderr, stderr);

// What nobody caught is a defect of ours; it is told like any other failure.
process.on("uncaughtException", (thrown) => {
  stderr.write(`${failureOf(thrown, env).line}\n`);
  process.exit(exitCodes.error);
});

const console = new Console({ stdin, stdout, stderr }, env);
const code = await perform(process.argv.slice(2), console);
await console.drained();
// What is left (a tool that is deaf to its signal, a connection kept warm) must not keep the process.
process.exit(console.readerGone ? exitCodes.readerGone : code);
