// The room of reasons: refusals, messages for file system errors, and how names, counts and sizes are shown.
//
// Does not import @rondo/core: the search worker loads this file too, and should load little.

/** Something a tool will not or cannot do, worded for the model. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

const words: Record<string, string> = {
  ENOENT: "File not found",
  ENOTDIR: "A part of the path is a file, not a folder",
  EISDIR: "Path is not a file",
  EACCES: "Permission denied",
  EPERM: "Permission denied",
  EROFS: "The file system is read-only",
  ELOOP: "Too many links in the path",
  ENAMETOOLONG: "The name is too long",
  ENOSPC: "No space left on the device",
  EDQUOT: "The disk quota is used up",
  ENOTEMPTY: "The folder is not empty",
  EEXIST: "The name is taken",
  EMFILE: "Too many files are open",
  ENFILE: "Too many files are open",
  EBUSY: "The file is in use",
  EIO: "The device failed to read or write",
};

/** The message for a file system error about `subject`; `undefined` for any other error. */
export function reasonOf(thrown: unknown, subject: string): string | undefined {
  const code = codeOf(thrown);
  if (code === undefined) return undefined;
  const said = words[code];
  return said === undefined ? undefined : `${said}: ${shown(subject)}`;
}

/** The `code` of a Node error, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const hidden = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** A name as shown in a result: as it is, or as a JSON string if it contains control characters (a newline in a file name must not start a line). */
export function shown(name: string): string {
  if (!hidden.test(name)) return name;
  const coded = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(name).replace(new RegExp(hidden, "g"), coded);
}

/** `1 file`, `2 files`, `12,345 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;
}

/** A size for people: `12 bytes`, `1.5 MiB`. */
export function sized(bytes: number): string {
  if (bytes < 10_240) return counted(bytes, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
