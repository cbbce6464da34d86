// The room of the logger: passes events to the program's logger, if it has one.

import type { RondoEvent } from "./events.ts";

export interface Logger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** Logs an event of a run. Deltas are not logged. If the logger throws or rejects, only its line is lost. */
export function logEvent(logger: Logger, event: RondoEvent): void {
  try {
    const said: unknown = lineOf(logger, event);
    if (said instanceof Promise) said.catch(() => {});
  } catch {
    // A failing logger must not affect the run.
  }
}

function lineOf(logger: Logger, event: RondoEvent): unknown {
  switch (event.type) {
    case "text_delta":
    case "reasoning_delta":
    case "tool_args_delta":
    case "tool_update":
      return undefined;
    case "warning":
      return logger.warn(event.message, { code: event.code });
    case "retry":
    case "fallback":
    case "limit":
    case "nudge":
      return logger.warn(event.type, event);
    case "run_end":
      return event.end.reason === "error"
        ? logger.error("run_end", event.end)
        : logger.info("run_end", event.end);
    default:
      return logger.debug(event.type, event);
  }
}
