// The room of data URLs: a file whose content is in its URL.
//
// Most providers take a URL or bytes, and none takes a data URL as a URL. So from here on it is bytes.

interface FileWords {
  mediaType?: unknown;
  data?: unknown;
  url?: unknown;
}

const form: RegExp = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;

/** The file with its content as plain base64, and the media type of its URL; any other file unchanged. */
export function unwrapped<File extends FileWords>(file: File): File {
  const { url } = file;
  const held = typeof file.data === "string" ? file.data : typeof url === "string" ? url : "";
  const [head, mediaType] = form.exec(held) ?? [];
  if (head === undefined) return file;
  const { url: _, ...rest } = file;
  return {
    ...(held === url ? rest : file),
    ...(mediaType === "" ? {} : { mediaType }),
    data: held.slice(head.length),
  } as File;
}
