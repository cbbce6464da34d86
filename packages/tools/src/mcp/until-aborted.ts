// The room of waiting that an abort ends: what is waited for may not hear of the abort, or long after it.

/** What a promise resolves with, or the signal's reason if that comes first. */
export function untilAborted<Value>(coming: Promise<Value> | Value, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  Promise.resolve(coming).then(resolve, reject);
  return promise.finally(() => signal.removeEventListener("abort", stop));
}
