// The room of bytes in JSON.

/** Whether a value is a list of bytes, also one of another realm (an iframe, `node:vm`, a test runner), which `instanceof` does not know. */
export const isBytes = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array ||
  (ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]");

/** Bytes as base64, in pieces: a call with a million arguments would overflow the stack. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
