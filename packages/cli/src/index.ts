// The room of the public face: what the package `rondo` exports to programs.
export { type ExitCode, exitCodeOf, exitCodes } from "./exit-codes.ts";
export { type RenderOptions, renderRun } from "./render/run.ts";
