// The face of the package `rondo` for programs: what the command knows that others may use.
export { type ExitCode, exitCodeOf, exitCodes } from "./exit-codes.ts";
export { type RenderOptions, renderRun } from "./render/run.ts";
