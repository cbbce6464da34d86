// The room of the logger: where a host hears what it did not ask for. Silent unless a host gives one.

import type { RondoEvent } from "./events.ts";

export interface Logger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** Tells a logger what happens in a run. Deltas are not logged. */
export function logEvent(logger: Logger, event: RondoEvent): void {
  switch (event.type) {
    case "text_delta":
    case "reasoning_delta":
    case "tool_args_delta":
    case "tool_update":
      return;
    case "warning":
      logger.warn(event.message, { code: event.code });
      return;
    case "retry":
    case "fallback":
    case "limit":
    case "nudge":
      logger.warn(event.type, event);
      return;
    case "run_end":
      if (event.end.reason === "error") logger.error("run_end", event.end);
      else logger.info("run_end", event.end);
      return;
    default:
      logger.debug(event.type, event);
  }
}
