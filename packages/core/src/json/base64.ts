// The room of bytes in JSON.

/** Bytes as base64, in pieces: a call with a million arguments would overflow the stack. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
