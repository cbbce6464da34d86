// The room of a streamed stretch: what a session's listeners hear while one of its methods starts or continues a run.

import { invalidRequest } from "../errors.ts";
import type { Listener } from "../events.ts";
import { isObject, kindOf } from "../json/object.ts";
import type { RunResult } from "../result.ts";

/** What of a session is needed here. */
interface Heard {
  subscribe(listener: Listener): () => void;
  abort(reason?: string): void;
}

/**
 * Calls `act`, and `hear` with every live event until its promise settles. The signal aborts the run.
 * @throws RondoError `invalid_request` if `act` has no result: it called a method and did not return its promise
 */
export async function streamed<Output>(
  session: Heard,
  act: () => Promise<RunResult<Output>>,
  hear: Listener,
  signal: AbortSignal,
): Promise<RunResult<Output>> {
  const abort = (): void => session.abort(String(signal.reason));
  const stop = session.subscribe((event) => {
    // It waited for another run to end when it was aborted.
    if (signal.aborted && event.type === "run_start") abort();
    return hear(event);
  });
  signal.addEventListener("abort", abort, { once: true });
  try {
    const result: unknown = await act();
    if (!isObject(result))
      throw invalidRequest(
        `stream: the function returned ${kindOf(result)}, and not the promise of a result: () => session.approve(id) is needed`,
      );
    return result as unknown as RunResult<Output>;
  } finally {
    stop();
    signal.removeEventListener("abort", abort);
  }
}
