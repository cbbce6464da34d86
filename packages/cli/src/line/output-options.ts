// The room of the output options: how the run is to be shown.

import { UsageError } from "../console/failure.ts";
import type { Arguments } from "./arguments.ts";

/** `text`: as it comes, for a person. `trace`: a tagged line per action. `json`: one event per line. `quiet`: only the answer. */
export type Shown = "text" | "trace" | "json" | "quiet";

/** @throws UsageError for an unknown view, or conflicting options */
export function shownBy(args: Arguments): Shown {
  const view = args.text("view");
  const other = args.has("json") ? "json" : args.has("quiet") ? "quiet" : undefined;
  if (view !== undefined && view !== "live" && view !== "trace")
    throw new UsageError(`--view takes live or trace, not ${JSON.stringify(view)}`);
  if (view !== undefined && other !== undefined)
    throw new UsageError(`--view and --${other} exclude each other; give one`);
  if (args.has("json") && args.has("quiet"))
    throw new UsageError("--json and --quiet exclude each other; give one");
  return other ?? (view === "trace" ? "trace" : "text");
}
